"""One SparkSession for all tests of the engine, in one process: to begin one costs half a minute of processor time."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

#: All tests that use Spark run in one process.
spark_tests = pytest.mark.xdist_group("spark")


def why_no_spark() -> str | None:
    """What is missing for Spark to run here."""
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        return "the Spark tests need Java 17 or newer"
    if importlib.util.find_spec("pyspark") is None:
        return "the Spark tests need the spark extra: pip install 'thalweg[spark]'"
    return None


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if missing := why_no_spark():
        pytest.skip(missing)
    from tests.engines.keyed_job import frugal_session

    running = frugal_session("local[2]", tmp_path_factory.mktemp("spark"))
    yield running
    running.stop()
