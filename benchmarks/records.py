"""What is measured: a record says what some work cost, round after round; a finding is a number made of records."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from benchmarks.contest import Side

Unit: TypeAlias = Literal["seconds", "bytes"]


@dataclass(frozen=True)
class Record:
    """One figure: less is better, always.

    Parameters
    ----------
    work, model : str
        What was done, and by whom.
    setting : mapping
        Where: the number of features, of classes, of rows.
    side : {"ours", "peer", "limit"}
        Whose it is.
    costs : tuple of float
        What it cost in each round.
    unit : {"seconds", "bytes"}
        What costs are counted in.
    per : str
        The one thing that costs so much: a row, a call, a whole run.
    ratios : mapping
        How many times as cheap it is as the yardsticks of the suite, by the suite's name for each.
    also : mapping
        What else is known about it, such as its share of wrong answers.
    """

    work: str
    model: str
    setting: Mapping[str, int]
    side: Side
    costs: tuple[float, ...]
    unit: Unit = "seconds"
    per: str = "row"
    ratios: Mapping[str, float] = field(default_factory=dict)
    also: Mapping[str, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """The cheapest round: other work on the machine only ever makes a round dearer."""
        return min(self.costs)

    @property
    def median(self) -> float:
        """The cost of the round in the middle."""
        return statistics.median(self.costs)

    @property
    def spread(self) -> float:
        """How much dearer the median round was than the best one, as a share of the best."""
        return self.median / self.best - 1

    @property
    def rounds(self) -> int:
        """How often it was measured."""
        return len(self.costs)

    def as_json(self) -> dict[str, Any]:
        """The record as JSON holds it, its figures written out."""
        return {
            "work": self.work,
            "model": self.model,
            "setting": dict(self.setting),
            "side": self.side,
            "unit": self.unit,
            "per": self.per,
            "best": self.best,
            "median": self.median,
            "spread": self.spread,
            "rounds": self.rounds,
            "costs": list(self.costs),
            "ratios": dict(self.ratios),
            "also": dict(self.also),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Record:
        """The record that was written."""
        plain = {name: found[name] for name in ("work", "model", "setting", "side", "unit", "per", "ratios", "also")}
        return cls(costs=tuple(found["costs"]), **plain)


@dataclass(frozen=True)
class Finding:
    """A number made of records, and what it should be.

    Parameters
    ----------
    what : str
        What the number says.
    value : float
        The number.
    at_least, at_most : float, optional
        The target, where there is one.
    unit : str
        What it is counted in; nothing for a ratio.
    """

    what: str
    value: float
    at_least: float | None = None
    at_most: float | None = None
    unit: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.at_least is not None:
            return self.value >= self.at_least
        return None if self.at_most is None else self.value <= self.at_most

    def as_json(self) -> dict[str, Any]:
        """The finding as JSON holds it."""
        target = {"at_least": self.at_least, "at_most": self.at_most}
        return {"what": self.what, "value": self.value, "unit": self.unit, **target, "met": self.met}


def beside(records: Sequence[Record], yardsticks: Mapping[str, str]) -> Iterator[Record]:
    """Records with their ratios: to the cheapest record of the same work and setting whose model's name begins so."""
    for record in records:
        rivals = [other for other in records if (other.work, other.setting) == (record.work, record.setting)]
        ratios = {}
        for name, beginning in yardsticks.items():
            costs = [other.best for other in rivals if other.model.startswith(beginning)]
            if costs:
                ratios[name] = min(costs) / record.best
        yield replace(record, ratios=ratios)


def groups(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    """Records that compare, under what they were measured at and on; in the order of their first."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        found.setdefault((place(record.setting), record.work), []).append(record)
    return found


def place(setting: Mapping[str, int]) -> str:
    """A setting in words.

    >>> place({"features": 10, "classes": 2})
    '10 features, 2 classes'
    >>> place({"cores": 1})
    '1 core'
    """
    return ", ".join(f"{value:,} {name.removesuffix('s') if value == 1 else name}" for name, value in setting.items())
