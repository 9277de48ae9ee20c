"""Requests made of the service's own description by schemathesis: what it promises, it keeps, and nothing is a 500."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys

import pytest

from tests.service.rows import SCHEMA
from tests.waiting import PATIENCE

#: A body may follow the description and yet not fit the model: it has other columns, or the learner no such parameter.
LEFT_OUT = "positive_data_acceptance"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("schemathesis") is None, reason="schemathesis is not installed")
def test_the_service_keeps_its_description(start, tmp_path):
    server = start("--new", "oldc")
    client = server.client()
    assert client.call("POST", "/v1/models", {"name": "river", "kind": "oldc", "schema": SCHEMA})[0] == 201
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{server.port}/openapi.json"]
    options = ["--exclude-checks", LEFT_OUT, "--exclude-path-regex", "/events$", "--max-examples", "10", "--seed", "1"]
    options += ["--request-timeout", str(PATIENCE), "--suppress-health-check", "too_slow"]
    told = subprocess.run([*command, *options, "--no-color"], capture_output=True, text=True, cwd=tmp_path)
    assert told.returncode == 0, told.stdout[-4000:]
    counts = re.search(r"Selected: (\d+)/(\d+)\s+Tested: (\d+)", told.stdout)
    assert counts
    selected, described, tested = map(int, counts.groups())
    assert tested == selected == described - 1 > 30  # all but the events
    assert client.get("/healthz")
