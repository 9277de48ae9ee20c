"""The runner writes what it measures, draws it from the file alone, and names who is missing."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from benchmarks.contest import Contestant, Effort, Run, contest
from benchmarks.plots.scales import amounts_on
from benchmarks.records import Record
from benchmarks.results import read
from benchmarks.run import main, measured
from benchmarks.suite import Bench, Suite
from benchmarks.suites import NAMES, suite_of
from matplotlib.figure import Figure
from rich.console import Console

TINY = ("--quick", "--rounds", "2", "--seconds", "0.0005", "--size", "50")


def test_every_suite_declares_itself() -> None:
    suites = [suite_of(name) for name in NAMES]
    assert [suite.name for suite in suites] == list(NAMES)
    assert all(suite.asks.endswith("?") for suite in suites)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["latency", "limit"])
def test_a_suite_leaves_a_file_and_pictures_that_can_be_drawn_again(name: str, tmp_path: Path) -> None:
    if name == "limit" and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    assert main([name, *TINY, "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / f"{name}.json").read_text())
    assert found["complete"]
    assert found["machine"]["cores"] >= 1
    assert found["records"]
    for record in found["records"]:
        _check(record, found["records"])
    pictures = {path.name: path.read_bytes() for path in tmp_path.glob("*.*g")}
    assert {f"{name}.png", f"{name}.svg"} <= set(pictures)
    for picture in pictures:
        (tmp_path / picture).unlink()
    assert main(["--plot-only", "--out", str(tmp_path)]) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.*g")} == pictures


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["fleet", "kernel_mean", "pca", "regression", "river_loop", "sparse_rows", "text", "untuned"]
)
def test_a_suite_runs_to_its_end(name: str, tmp_path: Path) -> None:
    assert main([name, *TINY, "--rounds", "1", "--out", str(tmp_path)]) == 0
    assert read(tmp_path / f"{name}.json").complete


def _check(record: dict[str, Any], everybody: list[dict[str, Any]]) -> None:
    assert len(record["costs"]) == record["rounds"] == 2
    assert 0 < record["best"] == min(record["costs"]) <= record["median"] == statistics.median(record["costs"])
    for name, ratio in record["ratios"].items():
        beginning = {"of C": "C, ", "× River": "River"}[name]
        rivals = [
            other["best"]
            for other in everybody
            if (other["work"], other["setting"]) == (record["work"], record["setting"])
            and other["model"].startswith(beginning)
        ]
        assert ratio == min(rivals) / record["best"]


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [((1e-9, 1e-3), [1e-9, 1e-7, 1e-5, 1e-3]), ((1.5e-8, 6e-8), [2e-8, 5e-8]), ((2.2e-8, 4.5e-8), [2.2e-8, 4.5e-8])],
)
def test_a_scale_has_ticks_however_short_it_is(ends: tuple[float, float], ticks: list[float]) -> None:
    axis = Figure().add_subplot(xlim=ends).xaxis
    amounts_on(axis, "seconds", ends)
    assert axis.get_ticklocs().tolist() == pytest.approx(ticks)


@pytest.mark.slow
def test_a_missing_peer_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "river", None)
    assert main(["latency", *TINY, "--out", str(tmp_path)]) == 0
    results = read(tmp_path / "latency.json")
    assert [reason.split(":")[0] for reason in results.left_out] == ["River"]
    assert "left out: River" in capsys.readouterr().out
    assert {record.side for record in results.records} == {"ours", "limit"}


def test_who_stops_it_keeps_what_was_measured() -> None:
    def measure(bench: Bench) -> Iterator[list[Record]]:
        yield [Record("work", "model", {}, "ours", (1.0,))]
        raise KeyboardInterrupt

    effort = Effort(1)
    suite = Suite("stopped", "Is it kept?", measure, lambda records: {}, effort, effort)
    results = measured(suite, effort, with_moa=False, console=Console(file=StringIO()))
    assert not results.complete
    assert [record.model for record in results.records] == ["model"]


def test_an_unknown_suite_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["no_such_suite"])
    assert "no_such_suite" in capsys.readouterr().err


def test_rounds_are_interleaved_and_costs_are_a_row_s() -> None:
    order: list[str] = []

    def contestant(name: str) -> Contestant:
        def prepare(count: int) -> Run:
            return lambda: order.append(f"{name}{count}")

        return Contestant("work", name, prepare, most=10)

    timings = contest([contestant("a"), contestant("b")], Effort(rounds=3))
    assert order == ["a10", "b10"] * 3
    assert all(timing.costs == tuple(taken / 10 for taken in timing.seconds) for timing in timings)
