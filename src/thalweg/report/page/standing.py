"""Better or worse than each baseline, and how sure: what every kind of verdict is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from thalweg.report.page.formats import count, counted, lateness, loss_words
from thalweg.run_metrics import Difference, Known, Metrics, loss_of, target_word

Standing = Literal["better", "worse", "even", "unknown"]

#: From this share of skipped rows on, the headline says so.
_MANY_SKIPPED = 0.05


def standing(difference: Difference) -> Standing:
    """Where the interval lies: all on one side of zero, across it, or nowhere; less is better."""
    low, high = difference["low"], difference["high"]
    if difference["difference"] is None or low is None or high is None:
        return "unknown"
    return "better" if high < 0.0 else "worse" if low > 0.0 else "even"


def interval(difference: Difference, written: Callable[[float], str], less: str) -> str:
    """Both ends, in words: how much less, as "fewer" or "less", and how much more.

    Examples
    --------
    >>> difference = {"difference": -7.0, "low": -8.0, "high": 1.0, "level": 0.95, "blocks": 40, "block_rows": 64}
    >>> interval(difference, "{:g}".format, "fewer")
    '8 fewer to 1 more'
    """
    low, high = difference["low"], difference["high"]
    if low is None or high is None:
        return "no interval yet"
    if low == high == 0.0:
        return "no difference"
    if high <= 0.0:
        return f"{written(-high)} to {written(-low)} {less}"
    if low >= 0.0:
        return f"{written(low)} to {written(high)} more"
    return f"{written(-low)} {less} to {written(high)} more"


_NAMES = {
    "no_change": "no-change",
    "majority": "majority",
    "last_value": "the last value",
    "running_mean": "the running mean",
    "running_median": "the running median",
}


class Baseline(NamedTuple):
    key: str
    name: str
    #: In a sentence.
    phrase: str
    score: Known
    difference: Difference


def baseline_names(metrics: Mapping[str, Any]) -> dict[str, str]:
    """By key, how each baseline is called in a sentence."""
    season = metrics["run"]["options"].get("season")
    names = _NAMES | {"season": f"the value {counted(int(season or 0), 'row')} ago"}
    return {key: names[key] for key in metrics["verdict"]}


def baselines(metrics: Metrics) -> list[Baseline]:
    """Those of the run, by the metric by which models are compared."""
    loss, scores, verdict = loss_of(metrics).name, metrics["scores"], metrics["verdict"]
    return [
        Baseline(key, name.removeprefix("the "), name, scores[key][loss], verdict[key][loss])
        for key, name in baseline_names(metrics).items()
    ]


def best_baseline(metrics: Metrics) -> Baseline:
    """The one with the smallest error, which is the hardest to beat; the first of several."""
    return min(baselines(metrics), key=lambda baseline: baseline.score or 0.0)


def cost_baselines(metrics: Metrics) -> list[Baseline]:
    """What the cost of a row is compared with; empty without costs."""
    costs, scores, positive = metrics["rare"]["costs"], metrics["scores"], metrics["rare"]["positive"]
    if costs is None:
        return []
    compared = [
        Baseline("majority", "majority", "majority", scores["majority"].get("cost"), costs["majority"]),
        Baseline("no_change", "no-change", "no-change", scores["no_change"].get("cost"), costs["no_change"]),
    ]
    for name, constant in (("always", costs["always"]), ("never", costs["never"])):
        phrase = f"{name} predicting {positive}"
        compared.append(Baseline(name, f"{name} {positive}", phrase, constant["cost"], constant))
    return compared


class Bar(NamedTuple):
    """The interval of one difference as it is drawn; places are percentages of the width."""

    baseline: str
    standing: Standing
    zero: str
    left: str
    width: str
    middle: str
    words: str


def bars(differences: dict[str, tuple[Difference, str]]) -> list[Bar]:
    """Each interval as a bar beside zero, all on one scale; by baseline, a difference and its words."""
    ends = [end for gap, _ in differences.values() for end in (gap["low"], gap["high"]) if end is not None]
    least, most = min([*ends, 0.0]), max([*ends, 0.0])
    margin = 0.06 * ((most - least) or 1.0)
    least, most = least - margin, most + margin

    def at(value: float) -> float:
        return 100.0 * (value - least) / (most - least)

    drawn = []
    for baseline, (difference, words) in differences.items():
        low, high, gap = difference["low"], difference["high"], difference["difference"]
        if low is None or high is None or gap is None:
            continue
        zero, left, middle = (f"{at(value):.2f}" for value in (0.0, low, gap))
        width = f"{max(at(high) - at(low), 0.4):.2f}"
        drawn.append(Bar(baseline, standing(difference), zero, left, width, middle, words))
    return drawn


class Tile(NamedTuple):
    """A metric: the model's value large, those of the baselines small."""

    name: str
    value: str
    beside: str
    meaning: str


def with_circumstances(compared: str, metrics: Mapping[str, Any]) -> str:
    """A headline; then how late labels or targets came, what that cost, and how many rows were skipped, if many."""
    rows, parts = metrics["rows"], [compared]
    if rows["scored"] and (late := lateness(metrics["run"]["options"], target_word(metrics))):
        prompt = metrics.get("against", {"references": {}})["references"].get("prompt")
        known = prompt is not None and prompt["loss"] is not None
        had = f" Had they come at once: {loss_words(metrics, prompt['loss'])}." if known else ""
        parts.append(f"{late.capitalize()}.{had}")
    if rows["skipped"] >= _MANY_SKIPPED * rows["read"] > 0:
        parts.append(skipped_rows(metrics))
    return " ".join(parts)


def skipped_rows(metrics: Mapping[str, Any]) -> str:
    rows = metrics["rows"]
    were = "was" if rows["skipped"] == 1 else "were"
    return f"{count(rows['skipped'])} of {counted(rows['read'], 'row')} {were} skipped."


def sorted_hint(observed: str, metrics: Mapping[str, Any]) -> str:
    """What to make of labels or targets that hardly change from row to row."""
    if metrics["run"]["options"].get("time"):
        return f"{observed}: repeating the last {target_word(metrics)} is hard to beat."
    return (
        f"{observed}: is the file sorted by it? Then these scores say nothing about rows in another order. Shuffle the "
        "rows, or sort them by their times with --time COLUMN --sort."
    )


def recent_rows(metrics: Mapping[str, Any]) -> str:
    """What the latest error looks back on: in a short run, all that there is."""
    window, scored = metrics["curve"]["window"], metrics["rows"]["scored"]
    return f"last {count(window)} rows" if scored > window else f"all {counted(scored, 'row')}"


def how_intervals_are_made(difference: Difference, errors: str) -> str:
    """Behind intervals of the mean of "mistakes" or "errors"; empty where there is none."""
    if standing(difference) == "unknown":
        return ""
    return (
        f"{errors} of neighbouring rows go together, so the intervals come from the means of "
        f"{count(difference['blocks'])} blocks of {counted(difference['block_rows'], 'row')}, not from single rows."
    )
