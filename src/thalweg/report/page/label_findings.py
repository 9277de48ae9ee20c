"""What a run says of its labels: which come late, whether more than their shares was learned, and how sure it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from thalweg.report.page.formats import count, counted, percent, plain, short
from thalweg.report.page.rare_verdict import beside_chance, question, tone
from thalweg.report.page.standing import standing
from thalweg.run_metrics import Known, Metrics

#: Units of time, in seconds, with the next smaller one beside those that have one.
_UNITS = ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
#: From this many days on, hours are left out.
_MANY_DAYS = 10
#: Log-losses up to this ratio are near each other.
_NEAR = 1.02


def duration(seconds: float) -> str:
    r"""A length of time in its largest unit and the next.

    Examples
    --------
    >>> duration(12_000), duration(7200), duration(40.25), duration(1e6)
    ('3\xa0h 20\xa0min', '2\xa0h', '40\xa0s', '12\xa0d')
    """
    for size, unit, part, smaller in _UNITS:
        if seconds >= size:
            whole, rest = divmod(round(seconds / part), size // part)
            if rest == 0 or seconds >= _MANY_DAYS * 86_400:
                return f"{round(seconds / size)}\N{NO-BREAK SPACE}{unit}"
            return f"{whole}\N{NO-BREAK SPACE}{unit} {rest}\N{NO-BREAK SPACE}{smaller}"
    return f"{round(seconds) if seconds >= 1 else short(seconds)}\N{NO-BREAK SPACE}s"


def delays_by_label(metrics: Metrics) -> list[str]:
    """Which label comes latest, and which first, where they differ."""
    delays = metrics.get("label_delays")
    if delays is None or delays["differ"] is None:
        return []
    early, late = delays["differ"]
    earliest, latest = (delays["medians"][delays["labels"].index(label)] for label in (early, late))
    if delays["kind"] == "counter":
        times = f"{short(latest)} after its row by column {metrics['run']['options']['time']}", short(earliest)
    else:
        times = f"{duration(latest)} after its row", duration(earliest)
    return [
        f"Label {late} comes {times[0]}, label {early} after {times[1]} (medians): label {late} is underrepresented "
        "among the known labels of recent rows."
    ]


def is_no_better_than_shares(metrics: Metrics) -> bool:
    """Whether the share of each label known at the time does as well: by log-loss, by error, and without a ranking."""
    shares, verdict = metrics.get("label_shares"), metrics["verdict"]
    if shares is None or standing(verdict["no_change"]["error"]) == "worse" or _ranks(metrics):
        return False
    return not {"better", "unknown"} & {standing(shares["difference"]), standing(verdict["majority"]["error"])}


def _ranks(metrics: Metrics) -> bool:
    """Whether the positive label is ranked better than by chance, or its costs are lower than a baseline's."""
    asked = question(metrics)
    by_cost = asked == "costs" and tone(metrics, asked) == "better"
    return by_cost or beside_chance(metrics) == "better"


def shares_of_labels(metrics: Metrics) -> list[str]:
    """The log-loss beside that of the shares."""
    shares = metrics.get("label_shares")
    if shares is None:
        return []
    own, other = plain(shares["model"]), plain(shares["log_loss"])
    if not is_no_better_than_shares(metrics):
        rows = f"Over {counted(shares['rows'], 'row')} whose label was not new"
        return [f"{rows}, its log-loss is {own}; giving the share of each label known at the time has {other}."]
    which = "near" if shares["model"] <= _NEAR * shares["log_loss"] else "worse than"
    return [
        f"Nothing useful was learned from the columns: its probabilities are {which} the share of each label known at "
        f"the time (log-loss {own} against {other})."
    ]


#: Of calibration: rows without which nothing is said, and the mean distance that matters.
_LEAST_ROWS, _MATTERS = 1000, 0.05
#: From this part of the mean distance on it has a direction: all too high, or all too low.
_ONE_SIDED = 0.5
#: For a rare label: the ratio that matters of expected to observed rows, and their distance in standard errors.
_RATIO, _ERRORS = 1.5, 4.0
_ADVICE = "Recalibration corrects this on line: --model calibrated, or Recalibrated(model) in Python."


class _Bin(NamedTuple):
    low: float
    high: float
    rows: int
    expected: float
    came: float


def calibration_finding(metrics: Metrics) -> list[str]:
    """Where probabilities did not come true: what was expected, what came, and what to do. Nothing where they did.

    The distance between mean probability and share of right predictions is averaged over bins, weighted by rows (the
    expected calibration error). What chance alone would give is subtracted. From `_MATTERS` on it is said.
    """
    sentence = _of_positive(metrics) or _of_predictions(metrics)
    if sentence is None:
        return []
    return [sentence if metrics["model"]["title"] == "Recalibrated" else f"{sentence} {_ADVICE}"]


def _of_predictions(metrics: Metrics) -> str | None:
    calibration = metrics.get("calibration")
    if calibration is None:
        return None
    bins = _bins(calibration["edges"], calibration["rows"], calibration["confidence"], calibration["accuracy"])
    rows = sum(part.rows for part in bins)
    if rows < _LEAST_ROWS:
        return None
    distance = sum(part.rows * abs(part.expected - part.came) for part in bins) / rows
    by_chance = sum(math.sqrt(2.0 / math.pi * part.rows * part.came * (1.0 - part.came)) for part in bins) / rows
    if distance - by_chance < _MATTERS:
        return None
    expected, came = (sum(part.rows * part[at] for part in bins) / rows for at in (3, 4))
    if abs(expected - came) < _ONE_SIDED * distance:
        worst = max(bins, key=lambda part: part.rows * abs(part.expected - part.came))
        between = f"{100 * worst.low:g} to {percent(worst.high)}"
        return (
            f"Probabilities are badly calibrated: of {count(worst.rows)} predictions with a probability of {between}, "
            f"{percent(worst.came)} were right."
        )
    word = "overconfident" if expected > came else "underconfident"
    return (
        f"The model was {word}: the probability of its predictions was {percent(expected)} on average, and "
        f"{percent(came)} of them were right."
    )


def _of_positive(metrics: Metrics) -> str | None:
    """Of the label of interest, whose rows are too few to show in the mean over all rows."""
    if question(metrics) in (None, "classes") or (reliability := metrics["rare"]["reliability"]) is None:
        return None
    bins = _bins(reliability["edges"], reliability["rows"], reliability["probability"], reliability["observed"])
    rows = sum(part.rows for part in bins)
    expected, came = (sum(part.rows * part[at] for part in bins) for at in (3, 4))
    fewer, more = sorted((expected, came))
    if rows < _LEAST_ROWS or more < _RATIO * fewer or more - fewer < _ERRORS * math.sqrt(more):
        return None
    high = "high" if expected > came else "low"
    label = metrics["rare"]["positive"]
    return (
        f"P({label}) was too {high}: {percent(expected / rows)} on average, and {percent(came / rows)} of the rows "
        f"were {label}."
    )


def _bins(edges: Sequence[float], rows: Sequence[int], expected: Sequence[Known], came: Sequence[Known]) -> list[_Bin]:
    """Those that have rows."""
    columns = zip(edges, edges[1:], rows, expected, came, strict=False)
    return [_Bin(low, high, n, p or 0.0, share or 0.0) for low, high, n, p, share in columns if n]
