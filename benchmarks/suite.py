"""What a benchmark is: a question, the contestants that answer it, and how the answer is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from benchmarks.contest import Contestant, Effort, contest
from benchmarks.records import Finding, Record, place

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: From records alone to pictures by name, so that they can be drawn again from a file.
Plot: TypeAlias = "Callable[[Sequence[Record]], Mapping[str, Figure]]"


@dataclass
class Bench:
    """What a suite measures with.

    Parameters
    ----------
    effort : Effort
        How long to look.
    folder : Path
        A place for files that are gone afterwards.
    with_moa : bool
        Whether MOA is asked, which starts a Java machine.
    progress : callable
        Is told what goes on, in a few words.
    """

    effort: Effort
    folder: Path
    with_moa: bool = False
    progress: Callable[[str], None] = lambda doing: None
    #: Who could not be had and why, each once.
    left_out: list[str] = field(default_factory=list)

    def leave_out(self, reason: object) -> None:
        """Name a contestant that cannot be had; the others go on."""
        if str(reason) not in self.left_out:
            self.left_out.append(str(reason))

    def measure(
        self,
        contestants: Iterable[Contestant],
        setting: Mapping[str, int],
        *,
        per: str = "row",
        effort: Effort | None = None,
    ) -> Iterator[Record]:
        """The contestants, timed in interleaved rounds; see `contest`."""
        yield from next(self.measure_each([(contestants, setting)], per=per, effort=effort))

    def measure_each(
        self,
        groups: Iterable[tuple[Iterable[Contestant], Mapping[str, int]]],
        *,
        per: str = "row",
        effort: Effort | None = None,
    ) -> Iterator[list[Record]]:
        """Contestants by setting, all in the same rounds: no slow spell of the machine hits one setting alone."""
        parts = [(list(contestants), setting) for contestants, setting in groups]
        everybody, effort = [one for contestants, _ in parts for one in contestants], effort or self.effort
        where = "; ".join(dict.fromkeys(place(setting) for _, setting in parts))
        round_number = 0

        def tell() -> None:
            nonlocal round_number
            round_number += 1
            self.progress(f"{where}: round {round_number} of {effort.rounds}")

        self.progress(f"{where}: how many rows each can take")
        timed = zip(everybody, contest(everybody, effort, tell), strict=True)
        for contestants, setting in parts:
            yield [
                Record(one.work, one.model, setting, one.side, timing.costs, per=per)
                for one, timing in islice(timed, len(contestants))
            ]


@dataclass(frozen=True)
class Suite:
    """One benchmark.

    Parameters
    ----------
    name : str
        By which it is run.
    asks : str
        What it asks, in one sentence.
    measure : callable
        Gives a list of records at a time; those of one list compare.
    plot : callable
        Draws the records.
    full, quick : Effort
        How long to look, and how long for rougher figures.
    ratios : mapping
        Names of columns, and how the models' names begin that are the yardstick of each.
    findings : callable
        What follows from the records.
    """

    name: str
    asks: str
    measure: Callable[[Bench], Iterator[list[Record]]]
    plot: Plot
    full: Effort
    quick: Effort
    ratios: Mapping[str, str] = field(default_factory=dict)
    findings: Callable[[Sequence[Record]], Iterable[Finding]] = lambda records: ()
