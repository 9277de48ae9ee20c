"""A run, or several side by side, as a cell of a notebook shows it: HTML with nothing to load and nothing to run.

All that a table holds is escaped. Colours are chosen to be read on light and on dark ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from thalweg.report.page.against import against_chart, against_findings
from thalweg.report.page.change_lines import changes_sentence
from thalweg.report.page.charts import Chart, Line, charts
from thalweg.report.page.formats import count, counted, percent, short
from thalweg.report.page.row_axis import RowAxis
from thalweg.report.score_table import score_table, verdict_of
from thalweg.report.tables import written
from thalweg.run_metrics import as_metrics, target_word

#: Of the drawing, and what is left for the labels of its axes.
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 190, 48, 22
_COLOURS = {
    "model": "#1f8bd0",
    "no-change": "#8a8a8a",
    "majority": "#b0a48a",
    "c1": "#d9661f",
    "c2": "#12a378",
    "c3": "#c06fa2",
}
_OTHER = "#b08d00"
_STYLE = """
.thalweg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-size:14px;line-height:1.5;
max-width:760px;font-variant-numeric:tabular-nums}
.thalweg p{margin:.3em 0}
.thalweg .about{opacity:.7}
.thalweg .headline{font-size:1.2em;font-weight:600}
.thalweg .better{color:#12926d}.thalweg .worse{color:#d9661f}
.thalweg table{border-collapse:collapse;margin:.6em 0;font-size:1em;width:auto;display:table}
.thalweg th,.thalweg td{padding:.15em .9em .15em 0;text-align:right;border:0;background:none;font-weight:400;
min-width:0;white-space:nowrap}
.thalweg thead th{opacity:.7;border-bottom:1px solid rgba(128,128,128,.4)}
.thalweg th:first-child{text-align:left}
.thalweg tbody tr:first-child th,.thalweg tbody tr:first-child td{font-weight:600}
.thalweg table.even tbody tr:first-child th,.thalweg table.even tbody tr:first-child td{font-weight:400}
.thalweg svg{display:block;width:100%;height:auto;max-width:720px}
.thalweg svg text{font-size:11px;fill:currentColor;opacity:.75}
.thalweg details{margin:.4em 0}
.thalweg summary{cursor:pointer;opacity:.8}
"""


def run_html(metrics: Mapping[str, Any]) -> str:
    """One run: verdict, scores, the error over time, and what else there is to say behind a fold."""
    verdict, table, run = verdict_of(metrics), score_table(metrics), metrics["run"]
    about = f"{metrics['model']['title']} on {run['source']}, {target_word(metrics)} {run['target']}, "
    about += f"{counted(metrics['rows']['scored'], 'row')} scored"
    changes = changes_sentence(metrics["changes"], RowAxis(metrics))
    parts = [
        f'<p class="about">{escape(about)}</p>',
        f'<p class="headline {verdict.tone}">{escape(verdict.headline)}</p>',
        table_html(("", *table.measures), written(table.lines, table.forms)),
        chart_html(_error_chart(metrics), [change["row"] for change in metrics["changes"]]),
        *(f"<p>{escape(sentence)}</p>" for sentence in (changes, *against_findings(metrics)) if sentence),
        _folded("What happened", verdict.findings),
        _folded(counted(len(metrics.get("warnings", ())), "warning") + " about the table", metrics.get("warnings", ())),
    ]
    return cell(parts)


def cell(parts: Iterable[str]) -> str:
    """Parts of HTML in one element with the style of all cells."""
    return f'<div class="thalweg"><style>{_STYLE}</style>{"".join(parts)}</div>'


def table_html(headers: Sequence[str], lines: Iterable[Sequence[str]], *, even: bool = False) -> str:
    """A table whose first column names the lines; the first line is bold unless they are ``even``."""
    head = "".join(f"<th>{escape(header)}</th>" for header in headers)
    rows = (
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in lines
    )
    kind = "even" if even else "scores"  # a class, so that pages around it leave the table alone
    return f"<table class='{kind}'><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _error_chart(metrics: Mapping[str, Any]) -> Chart | None:
    """The error over time, with the references beside the baselines."""
    chart = next((chart for chart in charts(as_metrics(metrics)) if chart.key == "error"), None)
    beside = None if chart is None else against_chart(metrics)
    if chart is None or beside is None:
        return chart
    view = chart.views[0]
    return replace(chart, views=(replace(view, lines=(*view.lines, *beside.views[0].lines[1:])),))


def _folded(summary: str, sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f"<details><summary>{escape(summary)}</summary>{paragraphs}</details>"


def chart_html(chart: Chart | None, changes: Sequence[int] = ()) -> str:
    """The first view of a chart as a drawing, with its lines named above and moments of change dotted."""
    if chart is None:
        return ""
    lines = [line for line in chart.views[0].lines if any(value is not None for value in line.values)]
    top = max((value for line in lines for value in line.values if value is not None), default=0.0) or 1.0
    last = chart.rows[-1]

    def across(row: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 8) * row / last

    def up(value: float) -> float:
        return 8 + (_HEIGHT - _BOTTOM - 8) * (1.0 - value / top)

    value = percent if chart.unit == "share" else short
    grid = "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{up(at):.1f}" y2="{up(at):.1f}" stroke="gray" stroke-opacity=".25"/>'
        f'<text x="{_LEFT - 6}" y="{up(at) + 4:.1f}" text-anchor="end">{escape(value(at))}</text>'
        for at in (0.0, top / 2, top)
    )
    marks = "".join(
        f'<path d="M{across(row):.1f} 8V{_HEIGHT - _BOTTOM}" stroke="{_COLOURS["c1"]}" stroke-dasharray="1 3"/>'
        for row in changes
    )
    curves = "".join(_polyline(line, chart.rows, across, up) for line in lines)
    ends = (
        f'<text x="{_LEFT}" y="{_HEIGHT - 6}">row 1</text>'
        f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 6}" text-anchor="end">row {count(last)}</text>'
    )
    label = escape(f"{chart.title}, {chart.views[0].name}" if chart.views[0].name else chart.title)
    named = " · ".join(f'<span style="color:{_colour(line)}">{escape(line.name)}</span>' for line in lines)
    drawing = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{grid}{marks}{curves}{ends}</svg>'
    return f"<p>{label}: {named}</p>{drawing}"


def _colour(line: Line) -> str:
    return _COLOURS.get(line.look, _OTHER)


def _polyline(line: Line, rows: Sequence[int], across: Any, up: Any) -> str:
    points = [
        f"{across(row):.1f},{up(value):.1f}" for row, value in zip(rows, line.values, strict=True) if value is not None
    ]
    dashes = ' stroke-dasharray="5 3"' if line.dashed else ""
    return f'<polyline points="{" ".join(points)}" fill="none" stroke="{_colour(line)}" stroke-width="1.6"{dashes}/>'
