"""``thalweg conformance``, and the page of the documentation that it keeps."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg
from tests.waiting import PATIENCE
from thalweg import cli, conformance
from thalweg.conformance import Finding, Suite, Tally

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        cli.main(["conformance", *arguments])
    printed = capsys.readouterr()
    return int(stop.value.code or 0), printed.out, printed.err


@pytest.mark.slow
def test_every_estimator_passes_all_of_scikit_learns_checks(tmp_path):
    """From the command line, where none is skipped; what is excepted says why."""
    options = ["--suite", "scikit-learn", "--json", "counts.json"]
    command = [sys.executable, "-c", "from thalweg import cli; cli.main()", "conformance", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout
    counts = json.loads((tmp_path / "counts.json").read_text())
    assert [each["estimator"] for each in counts] == list(conformance.estimators())
    for each in counts:
        assert (each["failed"], each["skipped"]) == ([], [])
        assert each["passed"] + len(each["excepted"]) == each["run"] >= 47
        for excepted in each["excepted"]:
            assert excepted["check"] == "check_sample_weight_equivalence_on_dense_data"
            assert "one after the other" in excepted["reason"]


def _suite(failed):
    def check(name, estimator):
        return Tally("Strict", name, 3, failed=failed, skipped=(Finding("check_moon", "it was cloudy"),))

    return Suite("Strict", "numpy", absent=lambda: "", check=check)


ABSENT = Suite("Elsewhere", "elsewhere", absent=lambda: "elsewhere is not installed", check=lambda name, each: None)


def test_a_failure_is_told_and_is_the_exit_code(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(conformance, "SUITES", (_suite(()), ABSENT))
    page = tmp_path / "page.md"
    code, out, err = run(capsys, "NoChange", "OnlineLDC", "--markdown", str(page))
    assert (code, err.splitlines()[0]) == (0, "  0%  Strict: NoChange")
    assert out.splitlines()[3:5] == [
        "NoChange     3       3       0         0        1",
        "OnlineLDC    3       3       0         0        1",
    ]
    assert "Skipped, check_moon, of NoChange, OnlineLDC: it was cloudy." in out
    assert "Elsewhere\n\nLeft out: elsewhere is not installed." in out
    assert "| OnlineLDC | 3 | 3 | 0 | 0 | 1 |" in page.read_text()
    assert "Elsewhere" not in page.read_text()
    monkeypatch.setattr(conformance, "SUITES", (_suite((Finding("check_sun", "ValueError: too bright"),)),))
    code, out, _ = run(capsys, "NoChange")
    assert code == 1
    assert "Failed, check_sun, of NoChange: ValueError: too bright." in out


def test_an_unknown_estimator_or_suite_is_refused(capsys):
    code, _, err = run(capsys, "Oracle")
    assert code == 2
    assert "'Oracle' is not one of AutoClassifier;" in err
    code, _, err = run(capsys, "NoChange", "--suite", "weka")
    assert code == 2
    assert "'weka' is not one of scikit-learn, River." in err


def test_the_page_of_the_documentation_holds_every_estimator():
    text = PAGE.read_text()
    public = {name for name in thalweg.__all__ if any(each.split(",")[0] == name for each in conformance.estimators())}
    assert {each.split(",")[0] for each in conformance.estimators()} == public
    sections = text.split("\n## ")[1:]
    assert sections[0].startswith("scikit-learn ")
    for section in sections:
        lines = re.findall(r"^\| (.*?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", section, re.MULTILINE)
        assert [name for name, *_ in lines] == list(conformance.estimators())
        for _, ran, passed, failed, excepted, _ in lines:
            assert int(failed) == 0
            assert int(ran) == int(passed) + int(excepted)
