"""What the page of a run that predicts numbers shows, part by part."""

from __future__ import annotations

from typing import Any

from thalweg.report.page import number_verdict
from thalweg.report.page.against import against_findings, with_references
from thalweg.report.page.formats import count, percent, short
from thalweg.report.page.number_charts import number_charts
from thalweg.report.page.number_content import NumberMetrics
from thalweg.report.page.tiles import tiles


def number_parts(metrics: NumberMetrics) -> dict[str, Any]:
    """What the template needs; ``data`` is for the page's script."""
    charts = with_references(metrics, number_charts(metrics))
    names = {"model": metrics["model"]["title"]} | number_verdict.baseline_names(metrics)
    return {
        "target_word": "target",
        "headline": number_verdict.headline(metrics),
        "tone": number_verdict.tone(metrics),
        "findings": [*number_verdict.findings(metrics), *against_findings(metrics)],
        "fine_print": number_verdict.fine_print(metrics),
        "intervals": number_verdict.intervals(metrics),
        "interval_unit": number_verdict.unit(metrics),
        "tiles": tiles(metrics),
        "charts": charts,
        "mean_charts": [],
        "class_changes": [],
        "changing": "size of the residuals",
        "changes_note": "Residuals count up to ten times the mean of the first 1,000.",
        "size_headers": (
            "target",
            "rows",
            *(f"error of {name.removeprefix('the ')}" for name in names.values()),
            "bias",
            "coverage",
        ),
        "size_lines": _size_lines(metrics),
        "merged_confusion": None,
        "class_lines": [],
        "data": {"charts": [chart.data() for chart in charts], "bins": {}},
    }


def _size_lines(metrics: NumberMetrics) -> list[tuple[float, tuple[str, ...]]]:
    """For each group of targets its line, and the model's error as a share of the largest."""
    groups = metrics["by_size"]
    errors = list(groups["mae"].values())
    most = max(errors[0], default=0.0) or 1.0
    return [
        (
            errors[0][at] / most,
            (
                f"{short(groups['from'][at])} – {short(groups['to'][at])}",
                count(rows),
                *(short(each[at]) for each in errors),
                short(groups["bias"][at]),
                percent(groups["coverage"][at]),
            ),
        )
        for at, rows in enumerate(groups["rows"])
    ]
