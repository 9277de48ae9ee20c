"""One thing a paper says in a number, beside what was measured, with a word on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.report.finding import Row


@dataclass(frozen=True)
class Fact:
    """A quantity, as the paper prints it and as it was measured here."""

    paper: str
    item: str
    #: The part of the paper it belongs to.
    part: str
    quantity: str
    measured: float
    #: Half-width of the mean's 95 % interval; none for what has no runs, or one.
    ci95: float | None = None
    runs: int = 1
    #: None where the paper gives no number.
    printed: float | None = None
    #: What must be known of it: a misprint, a condition.
    remark: str = ""

    def rows(self) -> list[Row]:
        """The fact as one JSON object."""
        return [
            Row(
                paper=self.paper,
                item=self.item,
                data=self.part,
                model=self.quantity,
                rate=None,
                paper_value=self.printed,
                measured=self.measured,
                ci95=self.ci95,
                runs=self.runs,
            )
        ]


def distinct_remarks(facts: Sequence[Fact]) -> list[str]:
    """Each remark once, in the order of the facts."""
    return list(dict.fromkeys(fact.remark for fact in facts if fact.remark))


def remarks(facts: Sequence[Fact]) -> tuple[str, ...]:
    """The remarks, numbered as in the table."""
    return tuple(f"({number}) {said}" for number, said in enumerate(distinct_remarks(facts), start=1))
