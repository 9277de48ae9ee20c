"""What tests share: a real browser and one SparkSession, where they can be had, and how properties are tried."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from typing import Any

# Before NumPy is imported: threads of BLAS and OpenMP wait for each other in a busy loop, beside the other worker.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

from tests.examples import examples
from tests.waiting import PATIENCE

# No example fails because the machine is busy. `make test` uses "repeatable", so that a commit always gives the same
# result. Plain pytest draws new examples on each run.
settings.register_profile("no_deadline", examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("no_deadline"), derandomize=True)
settings.load_profile("no_deadline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests as slow: those with a browser, Spark or the site, and the cases that `quick` leaves out."""
    cases = defaultdict(list)
    for item in items:
        if {"new_context", "site", "spark"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
        if (quick := item.get_closest_marker("quick")) is not None:
            cases[item.nodeid.split("[")[0], quick.args[0]].append(item)
    for (_, count), found in cases.items():
        kept = {index * len(found) // count for index in range(count)}  # from the first to the last
        for index, item in enumerate(found):
            if index not in kept:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave modules and tests, which live to the end, out of every garbage collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def new_context() -> Iterator[Callable[..., Any]]:
    """Opens browser contexts, whose pages wait as long as all tests do."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need Playwright for Python")
    if CHROMIUM is None:
        pytest.skip("the browser tests need Chromium")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=1000 * PATIENCE)

        def opens(**options: Any) -> Any:
            context = running.new_context(**options)
            context.set_default_timeout(1000 * PATIENCE)
            return context

        yield opens
        running.close()


#: All tests that use Spark run in one process, so that one session is enough: to begin one costs half a minute of
#: processor time.
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
    from tests.spark.keyed_job import frugal_session

    running = frugal_session("local[2]", tmp_path_factory.mktemp("spark"))
    yield running
    running.stop()
