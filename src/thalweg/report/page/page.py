"""One HTML page that tells how a run went: self-contained, from disk, without any network.

All assets are written into the page. A content security policy lets nothing in from outside and no script run but the
three that are ours, by their hashes, so that even a flaw in escaping would have no effect.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

from thalweg.report.page import making
from thalweg.report.page.answers import answers
from thalweg.report.page.content import Metrics, as_metrics
from thalweg.report.page.markup import Markup, joined, tag
from thalweg.report.page.numbers import percent, rounded
from thalweg.report.page.series import charts, mean_charts
from thalweg.report.page.timeline import timeline
from thalweg.report.page.verdict import scores, verdict


def build(metrics: Mapping[str, Any]) -> str:
    """The page, from what ``metrics.json`` holds (see `thalweg.report.page.content`).

    The same metrics give the same page.
    """
    content = as_metrics(metrics)
    scripts = _asset("uplot/uPlot.iife.min.js"), _asset("pictures.js"), _asset("charts.js")
    filled = {
        "title": joined([f"{content['run']['target']} in {content['run']['source']} – thalweg"]),
        "policy": _policy(scripts),
        "style": f"{_asset('uplot/uPlot.min.css')}\n{_asset('page.css')}",
        "verdict": verdict(content),
        "scores": scores(content),
        "body": joined(part(content) for part in _PARTS),
        "version": joined([content["run"]["version"]]),
        "licence": _licence(),
        "data": _for_script(_chart_data(content)),
        "library": scripts[0],
        "pictures": scripts[1],
        "script": scripts[2],
    }
    return Template(_asset("page.html")).substitute(filled)


_PARTS = (timeline, answers, making.rows, making.columns, making.model, making.run)


def _chart_data(metrics: Metrics) -> dict[str, Any]:
    calibration = metrics["calibration"]
    bins = []
    if calibration is not None:
        bins = [
            [rounded(confidence), rounded(accuracy), rows]
            for confidence, accuracy, rows in zip(
                calibration["confidence"], calibration["accuracy"], calibration["rows"], strict=True
            )
            if rows
        ]
    return {
        "changes": [
            {
                "row": change["row"],
                "text": f"error {' → '.join(percent(change[when]) for when in ('before', 'seen', 'after'))}",
            }
            for change in metrics["changes"]
        ],
        "charts": [chart.data() for chart in (*charts(metrics), *mean_charts(metrics))],
        "calibration": bins,
    }


def _for_script(data: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in, whatever labels it holds."""
    written = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(scripts: tuple[str, ...]) -> str:
    hashes = " ".join(f"'sha256-{b64encode(sha256(each.encode()).digest()).decode()}'" for each in scripts)
    return f"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src {hashes}"


def _licence() -> Markup:
    return tag("pre", _asset("uplot/LICENSE"))


@cache
def _asset(name: str) -> str:
    return files("thalweg.report.page").joinpath("assets", *name.split("/")).read_text("utf-8").rstrip("\n")
