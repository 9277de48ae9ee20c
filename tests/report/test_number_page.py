"""The page of a run that predicts numbers: a verdict as sure as its interval, and names that change nothing."""

from __future__ import annotations

import json
import re

import pytest
from tests.sample_number_metrics import sample_number_metrics

from thalweg.report.page import build
from thalweg.report.page.verdict import findings, headline, tone
from thalweg.run_metrics import as_metrics


def test_it_holds_every_part() -> None:
    page = build(sample_number_metrics())
    parts = ("verdict", "scores", "error", "changes", "last", "course", "residuals", "coverage", "members", "rate")
    assert re.findall(r'<section id="(\w+)"', page)[: len(parts)] == list(parts)
    assert "Error by size of state" in page
    assert "the value 24 rows ago" in page
    assert "The size of the residuals changed once" in page
    assert "Confusion" not in page
    assert "label" not in re.sub(r"aria-label", "", page.split("<main>")[1].split('<section id="columns">')[0])
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    banded = {chart["key"]: chart for chart in data["charts"] if chart["band"]}
    assert list(banded) == ["last", "course"]
    upper, lower, prediction, _ = banded["last"]["views"][0]
    assert all(low < middle < high for low, middle, high in zip(lower, prediction, upper, strict=True))


@pytest.mark.parametrize(
    ("error", "rows", "found", "words"),
    [
        (0.3, 3000, "better", "Better than the last value, the best baseline: "),
        (3.0, 3000, "worse", "Worse than the last value, the best baseline: "),
        (0.75, 3000, "even", "No significant difference from the last value"),
        (0.3, 9, "unknown", "Too few rows to distinguish it from the "),
    ],
)
def test_the_verdict_is_as_sure_as_its_interval(error: float, rows: int, found: str, words: str) -> None:
    metrics = as_metrics(sample_number_metrics(rows, error=error))
    if found == "even":  # whatever the draw, an interval across zero
        metrics["verdict"]["last_value"]["mae"] |= {"low": -0.1, "high": 0.1}  # type: ignore[typeddict-item]
    assert tone(metrics) == found
    assert headline(metrics).startswith(words)
    assert build(metrics)


def test_squared_errors_that_disagree_are_told() -> None:
    metrics = as_metrics(sample_number_metrics(error=0.3))
    assert not any("By squared errors" in finding for finding in findings(metrics))
    metrics["verdict"]["last_value"]["mse"] |= {"low": 1.0, "high": 2.0, "skill": -0.25}  # type: ignore[typeddict-item]
    (told,) = [finding for finding in findings(metrics) if "By squared errors" in finding]
    assert "it is worse than the last value: they are 25.0\N{NO-BREAK SPACE}% larger" in told


def test_no_name_changes_the_page_it_stands_in() -> None:
    nasty = '</script><b onclick="x">&amp;{{ 7*7 }}'
    page = build(sample_number_metrics(names={"source": nasty, "target": nasty, "title": nasty, "column": nasty}))
    assert nasty not in page
    assert page.count("</script>") == build(sample_number_metrics()).count("</script>")


def test_a_run_without_any_target_has_a_page_too() -> None:
    metrics = sample_number_metrics(0)
    assert "nothing can be said" in headline(metrics)
    assert "There were too few rows for a curve." in build(metrics)


@pytest.mark.parametrize(("step", "time", "said"), [(0.001, None, True), (0.001, "when", False), (0.5, None, False)])
def test_a_file_sorted_by_its_target_is_asked_about(step: float, time: str | None, said: bool) -> None:
    metrics = sample_number_metrics()
    metrics["run"]["options"]["time"] = time
    metrics["scores"]["last_value"]["mae"] = step * metrics["scores"]["running_mean"]["mae"]
    assert any("is the file sorted by it?" in finding for finding in findings(metrics)) == said
    assert any("repeating the last target is hard" in finding for finding in findings(metrics)) == (time is not None)
