from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from thalweg.errors import InvalidParameter
from thalweg.papers.registry import PAPERS, Finding, Outcome
from thalweg.papers.schnackenberg2018 import reproduce
from thalweg.papers.schnackenberg2018.protocol import RATES, WINDOWS
from thalweg.papers.schnackenberg2018.reproduce import CANDIDATES, CURVES, SITUATIONS, TABLES

RUNS = 5
#: What nobody chose must reach at 100 runs.
AUTO_AT_MOST = {"Circular": 0.0955, "Crossing": 0.0590, "Passing": 0.0085, "Sudden": 0.0900}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """All of the paper, with few runs."""
    paper = PAPERS["schnackenberg2018"]
    return {outcome.item: outcome for outcome in paper.reproduce(paper.items, runs=RUNS, seed=1, workers=2)}


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams of 300 rows."""
    shortened = {name: replace(each, stream=replace(each.stream, length=300)) for name, each in SITUATIONS.items()}
    monkeypatch.setattr(reproduce, "SITUATIONS", shortened)


def cells(outcome: Outcome) -> dict[tuple[float | None, int | str | None], Finding]:
    return {(cell.rate, cell.more["window"]): cell for cell in outcome.findings}


@pytest.mark.slow
@pytest.mark.parametrize("item", TABLES)
def test_every_cell_is_near_the_paper(item: str, outcomes: dict[str, Outcome]) -> None:
    found = cells(outcomes[item])
    assert len(found) == 27
    for rate in RATES:
        for window in WINDOWS:
            cell, printed = found[rate, window], SITUATIONS[TABLES[item]].printed[rate, window]
            assert printed == (cell.printed, cell.more["paper_sd_curve"], cell.more["paper_mean_sd"])
            assert abs(cell.deviation) <= 0.004 + 1.5 * cell.ci95, cell
            if printed.sd_curve >= 0.05:
                assert cell.more["sd_curve"] == pytest.approx(printed.sd_curve, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("item", TABLES)
def test_the_window_nobody_chooses_lies_between_bayes_and_its_bound(item: str, outcomes: dict[str, Outcome]) -> None:
    found = cells(outcomes[item])
    auto, least = found[0.9, "auto"], found[None, None]
    assert auto.printed is None
    assert least.measured < auto.measured <= AUTO_AT_MOST[auto.data] + 0.0015
    assert f"Bayes error {least.measured:.4f}." in outcomes[item].summary


@pytest.mark.slow
def test_the_summary_names_the_largest_deviation_and_what_chance_may_exceed(outcomes: dict[str, Outcome]) -> None:
    _, largest, uncertain = outcomes["table3"].summary
    assert "(O-LDC, λ = 0.1)" in uncertain  # its runs differ by 0.06 and more
    telling = [
        cell
        for cell in outcomes["table3"].findings
        if cell.ci95 and cell.ci95 * np.sqrt(1 + RUNS / 100) <= 0.004 and cell.printed
    ]
    worst = max(telling, key=lambda cell: abs(cell.deviation))
    assert f"{worst.deviation:+.4f} ({worst.model}, λ = {worst.rate})" in largest


def test_a_cell_is_counted_or_named_by_what_chance_allows() -> None:
    telling = Finding("d", "O-LDC", 0.103, ci95=0.002, runs=100, printed=0.1, rate=0.5)
    unsure = replace(telling, ci95=0.003, rate=0.1)
    assert reproduce._deviations([telling, unsure]) == [
        "Largest deviation from the paper +0.0030 (O-LDC, λ = 0.5), of 1 cells.",
        "Runs differ too much to decide within 0.004: +0.0030 ± 0.0042 (O-LDC, λ = 0.1).",
    ]
    assert reproduce._deviations([replace(telling, ci95=None)] * 12) == [
        "In 12 cells these runs are too few to decide within 0.004."
    ]


@pytest.mark.slow
@pytest.mark.parametrize("item", CURVES)
def test_figures_draw_the_curves_that_the_tables_average(item: str, outcomes: dict[str, Outcome]) -> None:
    figure = outcomes[item].draw()
    found = cells(outcomes[item])
    assert len(figure.axes) == 6
    for axes, rate in zip(figure.axes, RATES, strict=False):
        lines = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        assert len(lines) == len(WINDOWS) + 1
        for window in WINDOWS:
            cell = found[rate, window]
            assert lines[cell.model].get_ydata()[:-1].mean() == pytest.approx(cell.measured, abs=0.002)
    assert "window auto" in figure.axes[-1].get_legend_handles_labels()[1]


@pytest.mark.slow
def test_figure_2_moves_running_means_back_to_the_times_they_tell_of(outcomes: dict[str, Outcome]) -> None:
    for axes, rate in zip(outcomes["fig2"].draw().axes, (0.5, 0.9), strict=True):
        lines = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        times, means = lines["running mean, at the time it is known"].get_data()
        shifted, same = lines["the same, at its shifted time"].get_data()
        np.testing.assert_array_equal(means, same)
        _, x = lines["observation of the class"].get_data()
        mean, time = x[0], times[0]
        for n in range(1, len(x)):
            gain = rate / ((1 - rate) * n + rate)
            mean, time = mean + gain * (x[n] - mean), time + gain * (times[n] - time)
            assert (means[n], shifted[n]) == pytest.approx((mean, time))
    assert [axes.get_title(loc="left") for axes in outcomes["fig3"].draw().axes if axes.get_visible()][
        -1
    ] == "row 3,999"
    assert len(outcomes["fig1"].draw().axes) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_the_number_of_workers_changes_nothing() -> None:
    one, three = (PAPERS["schnackenberg2018"].reproduce(list(TABLES), runs=4, workers=workers) for workers in (1, 3))
    assert one == three
    assert "on 3 threads" in three[0].timing
    assert one[0].findings != PAPERS["schnackenberg2018"].reproduce(["table1"], runs=4, seed=1)[0].findings


@pytest.mark.usefixtures("short")
def test_each_situation_is_measured_once_and_progress_ends_at_one() -> None:
    told: list[tuple[float, str]] = []
    PAPERS["schnackenberg2018"].reproduce(["table2", "fig5"], runs=2, progress=lambda *told_now: told.append(told_now))
    assert told == [(0.5, "Crossing"), (1.0, "Crossing")]
    assert len(CANDIDATES) == 26


@pytest.mark.parametrize(("items", "runs", "rule"), [(["table5"], 1, "be among"), (["table1"], 0, "be at least 1")])
def test_what_cannot_be_reproduced_is_refused(items: list[str], runs: int, rule: str) -> None:
    with pytest.raises(InvalidParameter, match=rule):
        PAPERS["schnackenberg2018"].reproduce(items, runs=runs)
