"""What a run says of its labels: which come later than others, and whether more than their shares was learned."""

from __future__ import annotations

from thalweg.report.page.formats import counted, plain, short
from thalweg.report.page.rare_verdict import beside_chance, question, tone
from thalweg.report.page.standing import standing
from thalweg.run_metrics import Metrics

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
