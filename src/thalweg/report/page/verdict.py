"""The top of the page: better or worse than the baselines, by how much, and how sure."""

from __future__ import annotations

from thalweg.report.page import rare_verdict
from thalweg.report.page.calibration import calibration_finding
from thalweg.report.page.content import Difference, Known, Metrics, Score
from thalweg.report.page.formats import count, counted, lateness, lowest_coverage, per_hundred, percent, plain
from thalweg.report.page.rare_verdict import question
from thalweg.report.page.standing import Bar, Standing, Tile, bars, interval, standing

#: From this share of skipped rows on, the headline says so.
_MANY_SKIPPED = 0.05
_BASELINES = {"no_change": "no-change", "majority": "majority"}


def best_baseline(metrics: Metrics) -> str:
    """The one with the smaller error, which is the harder to beat; no-change where both have the same."""
    scores = metrics["scores"]
    return min(_BASELINES, key=lambda name: scores[name]["error"] or 0.0)  # type: ignore[literal-required]


def tone(metrics: Metrics) -> Standing:
    """In which colour the headline stands: that of the comparison it makes."""
    asked = question(metrics)
    if asked and asked != "classes":
        return rare_verdict.tone(metrics, asked)
    return standing(metrics["verdict"][best_baseline(metrics)])  # type: ignore[literal-required]


def headline(metrics: Metrics) -> str:
    """The model beside the best baseline, its error, how late labels came, and rows skipped, if many."""
    rows, asked = metrics["rows"], question(metrics)
    said = [rare_verdict.headline(metrics, asked) if asked else _compared(metrics)]
    if rows["scored"] and (late := lateness(metrics["run"]["options"], "label")):
        said.append(f"{late.capitalize()}.")
    if rows["skipped"] >= _MANY_SKIPPED * rows["read"] > 0:
        said.append(_skipped(metrics))
    return " ".join(said)


def recent_rows(metrics: Metrics) -> str:
    """What the latest error looks back on: in a short run, all that there is."""
    window, scored = metrics["curve"]["window"], metrics["rows"]["scored"]
    return f"last {count(window)} rows" if scored > window else f"all {counted(scored, 'row')}"


def _skipped(metrics: Metrics) -> str:
    rows = metrics["rows"]
    were = "was" if rows["skipped"] == 1 else "were"
    return f"{count(rows['skipped'])} of {counted(rows['read'], 'row')} {were} skipped."


def _compared(metrics: Metrics) -> str:
    best = best_baseline(metrics)
    difference: Difference = metrics["verdict"][best]  # type: ignore[literal-required]
    gap = difference["difference"]
    if gap is None:
        return "No row had a label, so nothing can be said."
    against, error = f"{_BASELINES[best]}, the best baseline", f"error {percent(metrics['scores']['model']['error'])}"
    match standing(difference):
        case "better":
            return f"Better than {against}: {error}, {per_hundred(gap)} fewer mistakes in 100 rows."
        case "worse":
            return f"Worse than {against}: {error}, {per_hundred(gap)} more mistakes in 100 rows."
        case "even":
            return f"No significant difference from {against}: {error}."
        case _:
            return f"Too few rows to distinguish it from {against}: {error}."


def findings(metrics: Metrics) -> list[str]:
    """What happened, the comparison with both baselines, and what to make of it."""
    scores, verdict = metrics["scores"], metrics["verdict"]
    if scores["model"]["error"] is None:
        return [
            f"{metrics['model']['title']} predicted {counted(metrics['rows']['predicted'], 'row')} of "
            f"{metrics['run']['source']}; no label came for any of them."
        ]
    if asked := question(metrics):
        said = [*rare_verdict.findings(metrics, asked), *_coverage(metrics), *calibration_finding(metrics)]
        return [*said, _skipped(metrics)] if metrics["rows"]["skipped"] else said
    happened = (
        f"{metrics['model']['title']} predicted each row before it learned that row’s label, and got "
        f"{percent(scores['model']['error'])} of {counted(metrics['rows']['scored'], 'row')} wrong. "
        f"Repeating the last label known at the time (no-change) would have got "
        f"{percent(scores['no_change']['error'])} wrong; always giving the most frequent label so far (majority), "
        f"{percent(scores['majority']['error'])}."
    )
    if metrics["rows"]["skipped"]:
        happened += f" {_skipped(metrics)}"
    compared = (
        f"In 100 rows it made {_gap(verdict['no_change'], ' mistakes', 'no-change')}, "
        f"and {_gap(verdict['majority'], '', 'majority')}."
    )
    advice = _advice(standing(verdict["no_change"]), standing(verdict["majority"]))
    return [happened, compared, *advice, *_coverage(metrics), *calibration_finding(metrics)]


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
    if asked := question(metrics):
        return rare_verdict.fine_print(metrics, asked)
    difference = metrics["verdict"]["no_change"]
    if standing(difference) == "unknown":
        return ""
    return (
        f"Mistakes of neighbouring rows go together, so the intervals come from the means of "
        f"{count(difference['blocks'])} blocks of {counted(difference['block_rows'], 'row')}, not from single rows."
    )


def _gap(difference: Difference, of: str, baseline: str) -> str:
    gap = difference["difference"] or 0.0
    if gap == 0.0:
        said = f"as many{of} as {baseline}"
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
    if asked := question(metrics):
        return rare_verdict.intervals(metrics, asked)
    pairs = {name: metrics["verdict"][key] for key, name in _BASELINES.items()}  # type: ignore[literal-required]
    return bars({name: (each, interval(each, per_hundred, "fewer")) for name, each in pairs.items()})


def unit(metrics: Metrics) -> str:
    """What the bars measure."""
    return "cost of a row" if question(metrics) else "mistakes in 100 rows"


def tiles(metrics: Metrics) -> list[Tile]:
    """The scores, those that the question asks for first."""
    asked = question(metrics)
    return [*(rare_verdict.tiles(metrics, asked) if asked else ()), *_of_error(metrics)[: 1 if asked else None]]


def _of_error(metrics: Metrics) -> list[Tile]:
    model = metrics["scores"]["model"]
    found = [
        Tile("Error", percent(model["error"]), _beside(metrics, "error"), "share of wrong predictions, all rows"),
        Tile("Recent error", percent(model["recent"]), _beside(metrics, "recent"), f"of the {recent_rows(metrics)}"),
        Tile("κ", plain(model["kappa"]), _beside(metrics, "kappa"), "above 0 beats guessing by class frequency"),
        Tile(
            "κ temporal",
            plain(model["kappa_temporal"]),
            _beside(metrics, "kappa_temporal"),
            "above 0 beats repeating the last label",
        ),
    ]
    for key, name, meaning in (
        ("log_loss", "Log-loss", "nats a row; less is better"),
        ("brier", "Brier score", "from 0, the best, to 2"),
    ):
        value: Known = model.get(key)  # type: ignore[assignment]
        if value is not None:
            found.append(Tile(name, plain(value), "", meaning))
    return found


def _beside(metrics: Metrics, key: str) -> str:
    def written(score: Score) -> str:
        value: Known = score[key]  # type: ignore[literal-required]
        return percent(value) if key in ("error", "recent") else plain(value)

    return f"no-change {written(metrics['scores']['no_change'])} · majority {written(metrics['scores']['majority'])}"
