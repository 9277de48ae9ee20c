"""One self-contained HTML page about a run: verdict, charts, confusion, calibration, and how the run was made.

The page is a Jinja template, ``assets/page.html``, in which everything a file holds is escaped.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from thalweg import learners
from thalweg.errors import MissingExtra
from thalweg.report.page.against import against_findings, with_references
from thalweg.report.page.change_lines import change_lines
from thalweg.report.page.charts import charts, mean_charts
from thalweg.report.page.formats import UNKNOWN, count, counted, in_words, lateness, percent, rounded, short
from thalweg.report.page.importance import importance_part
from thalweg.report.page.input_parts import input_parts
from thalweg.report.page.label_budget import budget_curve, budget_lines, label_budget_findings
from thalweg.report.page.rare_verdict import question
from thalweg.report.page.row_axis import RowAxis
from thalweg.report.page.standing import baselines
from thalweg.report.page.tiles import tiles
from thalweg.report.page.verdict import findings, fine_print, headline, intervals, tone, unit
from thalweg.run_metrics import Known, Metrics, ReliabilityOfPositive, as_metrics, is_regression, target_word

if TYPE_CHECKING:
    from jinja2 import Template

#: Columns that are shown without being asked for.
_MOST_COLUMNS = 40
#: Alerts that are shown without being asked for.
_FIRST_LINES = 8
#: Classes of the confusion matrix that leave room for a chart beside it, and that have a line of their own.
_BESIDE = 4
_MOST_CLASSES = 16
_BY_CLASS = ("labels", "rows", "predicted", "precision", "recall", "f1")
#: Lines of the table by class that are shown without being asked for.
_MOST_LINES = 12
#: Kinds of columns whose features have no names and stand behind all others.
_SPARSE_KINDS = ("map", "sparse category", "text")
#: How much of its colour, in percent, a cell shows that holds all rows of its class.
_DEEPEST = 42


def build(metrics: Mapping[str, Any]) -> str:
    """The page, from what ``metrics.json`` holds (see `thalweg.run_metrics`).

    The same metrics give the same page.
    """
    template = _template()
    from markupsafe import Markup

    scripts = _asset("uplot/uPlot.iife.min.js"), _asset("pictures.js"), _asset("charts.js")
    parts = _parts(as_metrics(metrics))
    axis = RowAxis(metrics)
    changes = change_lines(metrics["changes"], short if is_regression(metrics) else percent, axis)
    of_classes = [
        {"row": change["row"], "name": "", "text": f"class {change['label']}: {', '.join(change['features'][:3])}"}
        for change in metrics.get("class_changes", ())
    ]
    marks = changes.marks if len(of_classes) > _FIRST_LINES else [*changes.marks, *of_classes]
    data = parts.pop("data") | {"changes": marks, "times": axis.points()}
    return template.render(
        metrics,
        **parts,
        axis=axis,
        change_lines=changes,
        left_out=metrics.get("changes_left_out", 0),
        short_rises=sum("short" in cause for cause in metrics["inputs"]["causes"]),
        why=importance_part(metrics),
        **input_parts(metrics),
        licence=_asset("uplot/LICENSE"),
        policy=Markup(_policy(scripts)),
        style=Markup(f"{_asset('uplot/uPlot.min.css')}\n{_asset('page.css')}"),
        data=Markup(_for_script(data)),
        scripts=[Markup(script) for script in scripts],
    )


def _parts(content: Metrics) -> dict[str, Any]:
    """What the template needs; a part that the run does not have is empty."""
    drawn, means = with_references(content, charts(content)), mean_charts(content)
    calibration, reliability = content.get("calibration"), _reliability(content)
    names = [content["model"]["title"], *(baseline.name for baseline in baselines(content))]
    return {
        "target_word": target_word(content),
        "headline": headline(content),
        "tone": tone(content),
        "findings": [*findings(content), *against_findings(content), *label_budget_findings(content)],
        "budget_lines": budget_lines(content),
        "budget_curve": budget_curve(content),
        "fine_print": fine_print(content),
        "intervals": intervals(content),
        "interval_unit": unit(content),
        "tiles": tiles(content),
        "charts": drawn,
        "mean_charts": means,
        "class_changes": content.get("class_changes", []),
        "merged_confusion": None if is_regression(content) else merged_confusion(content),
        "calibration_lines": _bin_lines(calibration, "confidence", "accuracy"),
        "reliability_lines": _bin_lines(reliability, "probability", "observed"),
        "class_lines": _class_lines(content),
        "size_headers": ("target", "rows", *(f"error of {name}" for name in names), "bias", "coverage"),
        "size_lines": _size_lines(content),
        "data": {
            "charts": [chart.data() for chart in (*drawn, *means)],
            "bins": {
                "calibration": {
                    "title": "Calibration",
                    "came": "is right",
                    "points": [
                        [rounded(confidence), rounded(accuracy), rows]
                        for _, rows, confidence, accuracy in _filled(calibration, "confidence", "accuracy")
                    ],
                },
                "reliability": {
                    "title": "Reliability of P(positive)",
                    "came": "is positive",
                    "points": _reliability_points(reliability),
                },
            },
        },
    }


def _size_lines(metrics: Metrics) -> list[tuple[float, tuple[str, ...]]]:
    """For each group of targets its line, and the model's error as a share of the largest."""
    groups = metrics.get("by_size")
    if groups is None:
        return []
    errors = [groups["mae"]["model"], *(groups["mae"][baseline.key] for baseline in baselines(metrics))]
    most = max(errors[0], default=0.0) or 1.0
    return [
        (
            errors[0][at] / most,
            (
                f"{short(groups['from'][at])} – {short(groups['to'][at])}",
                count(rows),
                *(short(error[at]) for error in errors),
                short(groups["bias"][at]),
                percent(groups["coverage"][at]),
            ),
        )
        for at, rows in enumerate(groups["rows"])
    ]


def require_jinja() -> None:
    """Raise `MissingExtra` where the page cannot be built; a run asks before its first row, not after its last."""
    MissingExtra.import_module("jinja2", "files", "the report of a run", "Jinja2")


@cache
def _template() -> Template:
    require_jinja()
    from jinja2 import DictLoader, Environment, StrictUndefined

    from thalweg.report.page.template_cache import TemplateCache

    one_line = "".join(line.strip() for line in _asset("page.html").splitlines())
    environment = Environment(
        loader=DictLoader({"page": one_line}),
        autoescape=True,
        undefined=StrictUndefined,
        bytecode_cache=TemplateCache(),
    )
    environment.globals |= {"MOST_COLUMNS": _MOST_COLUMNS, "MOST_CLASSES_BESIDE_A_CHART": _BESIDE}
    environment.globals |= {"DEEPEST_SHADE": _DEEPEST, "MOST_LINES": _MOST_LINES, "SPARSE_KINDS": _SPARSE_KINDS}
    environment.globals |= {"FIRST_LINES": _FIRST_LINES, "lateness": lateness, "parameter_lines": parameter_lines}
    environment.filters |= {"number": count, "counted": counted, "whole_percent": _whole_percent, "settings": _settings}
    return environment.get_template("page")


def _settings(given: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, in_words(value)) for name, value in given.items()]


def _whole_percent(number: int, total: int) -> str:
    """A share in two digits, none and all of it said only where true."""
    if not total:
        return UNKNOWN
    share = 100.0 * number / total
    written = "< 1" if 0.0 < share < 1.0 else "> 99" if 99.0 < share < 100.0 else f"{share:.0f}"
    return f"{written}\N{NO-BREAK SPACE}%"


_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=\n\n\S|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^(\w[\w, ]*) : [^\n]*\n((?:[ ]{4}[^\n]*\n?)+)", re.MULTILINE)


def parameter_lines(title: str, parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Of a model of the class of this name.

    Examples
    --------
    >>> for line in parameter_lines("AutoClassifier", {"curved": True, "persistence": False}):
    ...     print(*line, sep=" | ")
    curved | yes | Whether kernel, tiling and tree members take part
    persistence | no | Adds a member that predicts the label which usually follows the last one
    """
    meanings = _meanings(title)
    return [(name, in_words(value), meanings.get(name, "")) for name, value in parameters.items()]


def _meanings(title: str) -> dict[str, str]:
    """The first sentence about each parameter, by its name; nothing of a class that is not ours."""
    written = cleandoc(getattr(learners, title).__doc__ or "") if title in learners.__all__ else ""
    section = _SECTION.search(written)
    if section is None:
        return {}
    meanings: dict[str, str] = {}
    for names, text in _ENTRY.findall(section[1] + "\n"):
        sentence = re.split(r"(?<=[.]) ", " ".join(text.split()), maxsplit=1)[0]
        meanings |= dict.fromkeys(names.split(", "), sentence.rstrip(".").replace("``", "").replace("`", ""))
    return meanings


def merged_confusion(metrics: Metrics) -> tuple[list[str], list[list[int]]]:
    """The confusion matrix, with all but the most frequent classes in one."""
    classes, counts = metrics["confusion"]["classes"], metrics["confusion"]["counts"]
    names = [name or "(no prediction)" for name in classes]
    if len(classes) <= _MOST_CLASSES:
        return names, counts
    kept = sorted(sorted(range(len(classes)), key=lambda at: -sum(counts[at]))[: _MOST_CLASSES - 1])
    place = dict.fromkeys(range(len(classes)), len(kept)) | {at: place for place, at in enumerate(kept)}
    merged = [[0] * (len(kept) + 1) for _ in range(len(kept) + 1)]
    for truth, line in enumerate(counts):
        for predicted, number in enumerate(line):
            merged[place[truth]][place[predicted]] += number
    return [*(names[at] for at in kept), f"{len(classes) - len(kept)} others"], merged


def _filled(bins: Any, expected: str, came: str) -> list[tuple[int, int, float, float]]:
    """Of bins that have rows, their place, rows, the mean probability, and the share that came true."""
    if bins is None:
        return []
    columns = zip(bins["rows"], bins[expected], bins[came], strict=True)
    return [(at, *column) for at, column in enumerate(columns) if column[0]]


def _bin_lines(bins: Any, expected: str, came: str) -> list[tuple[str, ...]]:
    return [
        (
            f"{100 * bins['edges'][at]:g} – {100 * bins['edges'][at + 1]:g}\N{NO-BREAK SPACE}%",
            percent(probability),
            percent(share),
            count(rows),
        )
        for at, rows, probability, share in _filled(bins, expected, came)
    ]


def _reliability(metrics: Metrics) -> ReliabilityOfPositive | None:
    """Of the label of interest, where the report is about one."""
    return None if question(metrics) in (None, "classes") else metrics["rare"]["reliability"]


def _class_lines(metrics: Metrics) -> list[tuple[str, ...]]:
    """Scores by class, the rarest first."""
    if is_regression(metrics):
        return []
    columns = metrics["rare"]["classes"]
    lines = zip(*(columns[key] for key in _BY_CLASS), strict=True)  # type: ignore[literal-required]
    return [
        (label, count(rows), count(predicted), *map(percent, scores))
        for label, rows, predicted, *scores in sorted(lines, key=lambda line: line[1])
    ]


def _reliability_points(bins: ReliabilityOfPositive | None) -> list[list[Known]]:
    """For the chart, bins of 0.1: the narrow ones near 0, which the table has, would lie on one another."""
    sums = [[0.0, 0.0, 0] for _ in range(10)]
    for at, rows, probability, observed in _filled(bins, "probability", "observed"):
        assert bins is not None
        into = sums[min(int(10 * bins["edges"][at] + 1e-9), 9)]
        into[0] += rows * probability
        into[1] += rows * observed
        into[2] += rows
    return [[rounded(expected / rows), rounded(came / rows), rows] for expected, came, rows in sums if rows]


def _for_script(data: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in, whatever labels it holds."""
    written = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(scripts: tuple[str, ...]) -> str:
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    return f"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src {hashes}"


@cache
def _asset(name: str) -> str:
    return files("thalweg.report.page").joinpath("assets", *name.split("/")).read_text("utf-8").rstrip("\n")
