"""The top of the page: better or worse than the baselines, by how much, and how sure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thalweg.report.page import rare_verdict
from thalweg.report.page.against import beaten_by
from thalweg.report.page.calibration import calibration_finding
from thalweg.report.page.content import Difference, Metrics
from thalweg.report.page.formats import count, counted, lowest_coverage, per_hundred, percent, plain
from thalweg.report.page.label_findings import delays_by_label, is_no_better_than_shares, shares_of_labels
from thalweg.report.page.rare_verdict import question
from thalweg.report.page.standing import (
    Bar,
    Standing,
    bars,
    how_intervals_are_made,
    interval,
    skipped_rows,
    sorted_hint,
    standing,
    with_circumstances,
)

BASELINES = {"no_change": "no-change", "majority": "majority"}
#: A label that changes at most this often looks sorted, where changes are this many times rarer than rows of all
#: labels but the most frequent.
_FEW_CHANGES, _ROWS_A_CHANGE = 20, 10


def best_baseline(metrics: Metrics) -> str:
    """The one with the smaller error, which is the harder to beat; no-change where both have the same."""
    scores = metrics["scores"]
    return min(BASELINES, key=lambda name: scores[name]["error"] or 0.0)


def tone(metrics: Metrics) -> Standing:
    """In which colour the headline stands: that of the comparison it makes."""
    if _only_label(metrics) is not None:
        return "unknown"
    asked = _question_beside_error(metrics)
    return rare_verdict.tone(metrics, asked) if asked else standing(_beside_best(metrics))


def headline(metrics: Metrics) -> str:
    """The model beside the best baseline, its error, a better model of ``--against``, how late labels came, and rows
    skipped, if many.
    """
    if (label := _only_label(metrics)) is not None:
        said = f"Every scored row has the label {label}: there is nothing to learn."
    elif asked := _question_beside_error(metrics):
        said = rare_verdict.headline(metrics, asked)
    else:
        said = _compared(metrics) + (rare_verdict.balanced_accuracy(metrics) if question(metrics) else "")
        said += beaten_by(metrics)
    return with_circumstances(said, metrics, "label", lambda loss: f"error {percent(loss)}")


def _question_beside_error(metrics: Metrics) -> rare_verdict.Question | None:
    """What the headline is about where it is not the error; with rare classes it is the error, and more."""
    asked = question(metrics)
    return None if asked == "classes" else asked


def _only_label(metrics: Metrics) -> str | None:
    """The label of every scored row, where they all have the same."""
    classes = metrics["confusion"]["classes"]
    return classes[0] if len(classes) == 1 else None


def _beside_best(metrics: Metrics) -> Difference:
    return metrics["verdict"][best_baseline(metrics)]["error"]


def _compared(metrics: Metrics) -> str:
    best = best_baseline(metrics)
    gap = _beside_best(metrics)["difference"]
    if gap is None:
        return "No row had a label, so nothing can be said."
    scores = metrics["scores"]
    against, error = f"{BASELINES[best]}, the best baseline", f"error {percent(scores['model']['error'])}"
    other = percent(scores[best]["error"])
    both = f"{error} against {other}" if gap else f"{error}, the same"
    if is_no_better_than_shares(metrics):
        shares = metrics["label_shares"]
        log_loss = f"log-loss {plain(shares['model'])} against {plain(shares['log_loss'])}"
        majority = percent(scores["majority"]["error"])
        return f"No better than the share of each label known at the time: {log_loss}, {error} against {majority}."
    match standing(_beside_best(metrics)):
        case "better":
            return f"Better than {against}: {error}, {per_hundred(gap)} fewer mistakes in 100 rows."
        case "worse":
            return f"Worse than {against}: {error}, {per_hundred(gap)} more mistakes in 100 rows."
        case "even":
            return f"No significant difference from {against}: {both}."
        case _:
            return f"Too few rows to distinguish it from {against}: {both}."


def findings(metrics: Metrics) -> list[str]:
    """What happened, the comparison with both baselines, and what to make of it."""
    scores = metrics["scores"]
    verdict = {name: each["error"] for name, each in metrics["verdict"].items()}
    if scores["model"]["error"] is None:
        return [
            f"{metrics['model']['title']} predicted {counted(metrics['rows']['predicted'], 'row')} of "
            f"{metrics['run']['source']}; no label came for any of them."
        ]
    if _only_label(metrics) is not None:
        return [
            "With one label every model is always right. "
            f"Is {metrics['run']['target']} the right column, and does the file hold rows with other labels?"
        ]
    if asked := question(metrics):
        said = rare_verdict.findings(metrics, asked)
    else:
        said = [
            f"{metrics['model']['title']} predicted each row before it learned that row’s label, and got "
            f"{percent(scores['model']['error'])} of {counted(metrics['rows']['scored'], 'row')} wrong. "
            f"Repeating the last label known at the time (no-change) would have got "
            f"{percent(scores['no_change']['error'])} wrong; always giving the most frequent label so far (majority), "
            f"{percent(scores['majority']['error'])}."
        ]
    if metrics["rows"]["skipped"]:
        said[0] += f" {skipped_rows(metrics)}"
    if asked in (None, "classes"):
        compared = (
            f"In 100 rows it made {_gap(verdict['no_change'], ' mistakes', 'no-change')}, "
            f"and {_gap(verdict['majority'], '', 'majority')}."
        )
        said += [compared, *_advice(standing(verdict["no_change"]), standing(verdict["majority"]))]
    said += [*delays_by_label(metrics), *shares_of_labels(metrics)]
    return [*_sorted_by_label(metrics), *said, *_coverage(metrics), *calibration_finding(metrics)]


def _sorted_by_label(metrics: Metrics) -> list[str]:
    """A warning where the label hardly ever changes."""
    if (changes := few_label_changes(metrics)) is None:
        return []
    times = {1: "once", 2: "twice"}.get(changes, f"{count(changes)} times")
    observed = f"The label changes only {times} in {counted(metrics['rows']['scored'], 'row')}"
    return [sorted_hint(observed, metrics["run"]["options"], "label")]


def few_label_changes(metrics: Mapping[str, Any]) -> int | None:
    """How often the label changes, by the mistakes of no-change; None where that is more than a handful of times."""
    options, scored = metrics["run"]["options"], metrics["rows"]["scored"]
    by_class = sorted(sum(line) for line in metrics["confusion"]["counts"])
    mistakes = (metrics["scores"]["no_change"]["error"] or 0.0) * scored
    changes = round(mistakes / max(int(options.get("delay") or 0), 1))  # each is known so many rows later
    if mistakes > sum(by_class[:-1]):  # rare labels, each alone
        return None
    if options.get("label_time") or changes > max(_FEW_CHANGES, 2 * len(by_class) - 1):
        return None
    return changes if 0 < _ROWS_A_CHANGE * changes <= sum(by_class[:-1]) else None


def _coverage(metrics: Metrics) -> list[str]:
    """What became of prediction sets."""
    sets = metrics.get("sets")
    if sets is None or sets["coverage"] is None:
        return []
    said = (
        f"The prediction sets held the true label in {percent(sets['coverage'])} of the rows, where "
        f"{percent(sets['asked'])} were asked for. They had {sets['mean_size']:.2f} labels on average, and "
        f"{percent(sets['empty'])} of them had none."
    )
    return [said + lowest_coverage(sets["lowest"], sets["block_rows"])]


def fine_print(metrics: Metrics) -> str:
    """How the interval was made; empty where there is none."""
    if _only_label(metrics) is not None:
        return ""
    if asked := _question_beside_error(metrics):
        return rare_verdict.fine_print(metrics, asked)
    return how_intervals_are_made(metrics["verdict"]["no_change"]["error"], "Mistakes")


def _gap(difference: Difference, of: str, baseline: str) -> str:
    gap = difference["difference"] or 0.0
    if gap == 0.0:
        said = f"as many{of} as {baseline}"
        if difference["low"] == difference["high"] == 0.0:
            return said
    else:
        said = f"{per_hundred(gap)} {'fewer' if gap < 0.0 else 'more'}{of} than {baseline}"
    if standing(difference) == "unknown":
        return f"{said} (too few rows for an interval)"
    ends = interval(difference, per_hundred, "fewer")
    return f"{said} ({100 * difference['level']:g}\N{NO-BREAK SPACE}% interval: {ends})"


def _advice(no_change: Standing, majority: Standing) -> list[str]:
    """What to make of it, where it is not plainly better."""
    if no_change == "worse" and majority == "worse":
        return ["On this stream both baselines, which look at no column at all, do better than this model."]
    if no_change == "worse":
        return ["Labels here come in runs: repeating the last one, without looking at any column, does better."]
    if majority == "worse":
        return ["Always giving the most frequent label, without looking at any column, does better."]
    if "unknown" in (no_change, majority):
        return ["The figures below are what was seen; more rows are needed before they mean anything."]
    undecided = [name for name, found in (("no-change", no_change), ("majority", majority)) if found == "even"]
    return [f"The difference from {' and '.join(undecided)} may be chance."] if undecided else []


def intervals(metrics: Metrics) -> list[Bar]:
    """Each interval as a bar beside zero, both on one scale."""
    if _only_label(metrics) is not None:
        return []
    if asked := _question_beside_error(metrics):
        return rare_verdict.intervals(metrics, asked)
    pairs = {name: metrics["verdict"][key]["error"] for key, name in BASELINES.items()}
    return bars({name: (each, interval(each, per_hundred, "fewer")) for name, each in pairs.items()})


def unit(metrics: Metrics) -> str:
    """What the bars measure."""
    return "cost of a row" if _question_beside_error(metrics) else "mistakes in 100 rows"
