"""The papers that can be reproduced, how far a reproduction is, and what it returns.

The experiments of a paper are imported when they are asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from thalweg.errors import InvalidParameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from thalweg.papers.records import Reported


class Reproduction(Protocol):
    """What the file of a paper offers."""

    def reproduce(
        self,
        items: Sequence[str],
        *,
        runs: int = ...,
        seed: int = 0,
        workers: int = 1,
        progress: Progress = ...,
        fast: bool = ...,
    ) -> list[Outcome]:
        """Run the experiments behind the items, each only once, and sum them up in the paper's order.

        Parameters
        ----------
        items : sequence of str
            Tables and figures of the paper.
        runs : int >= 1
            Runs of each generated stream, or splits of each data set; by default as many as `Paper.runs` says.
        seed : int >= 0
            Everything random; the same seed gives the same outcomes, whatever the number of workers.
        workers : int >= 1
            Threads, or processes where the learners need them.
        progress : function
            Told the share of the work done and what is being done.
        fast : bool
            The short version of the experiments; only papers that have one take it.
        """


@dataclass(frozen=True)
class Paper:
    """A paper by its short name, which is also that of its file here."""

    name: str
    authors: str
    title: str
    #: Its tables and figures, in its order.
    items: tuple[str, ...]
    #: Further items, too slow to be part of all of them.
    on_request: tuple[str, ...] = ()
    #: Items with a picture whose names do not begin with "fig".
    drawn: tuple[str, ...] = ()
    #: Runs of each generated stream, unless others are asked for; in words.
    runs: str = "100 runs"
    #: What its short version is, in words; none where it has none.
    fast: str | None = None

    def load(self) -> Reproduction:
        """The paper's experiments."""
        return cast(Reproduction, importlib.import_module(f"thalweg.papers.{self.name}.reproduce"))

    def draws(self, items: Sequence[str]) -> bool:
        """Whether any of the items has a picture.

        Examples
        --------
        >>> PAPERS["bounsiar"].draws(["table1"]), PAPERS["bounsiar"].draws(["growth"])
        (False, True)
        """
        return any(item.startswith("fig") or item in self.drawn for item in items)

    def wanted(self, items: Sequence[str], runs: int | None) -> list[str]:
        """The items asked for, in the paper's order; an error where there is no such item or nothing to run.

        Examples
        --------
        >>> PAPERS["kuncheva2008"].wanted(["fig2", "table1"], runs=1)
        ['table1', 'fig2']
        """
        offered = (*self.items, *self.on_request)
        for item in items:
            if item not in offered:
                raise InvalidParameter.of(self.name, "items", f"be among {', '.join(offered)}", item)
        if runs is not None and runs < 1:
            raise InvalidParameter.of(self.name, "runs", "be at least 1", runs)
        return [item for item in offered if item in items]


PAPERS: Mapping[str, Paper] = {
    paper.name: paper
    for paper in (
        Paper(
            "kuncheva2008",
            "Kuncheva & Plumpton",
            "Adaptive learning rate for online linear discriminant classifiers",
            ("table1", "table2", "fig1", "fig2", "fig3"),
        ),
        Paper(
            "schnackenberg2018",
            "Schnackenberg, Ligges & Weihs",
            "Online linear discriminant analysis for data streams with concept drift",
            ("table1", "table2", "table3", "table4", "fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7"),
        ),
        Paper(
            "bounsiar",
            "Bounsiar, Beauseroy & Grall",
            "Fast training and efficient linear learning machine",
            ("table1", "fig1", "fig2", "fig3", "growth", "compression", "stream"),
            drawn=("growth", "stream"),
        ),
        Paper(
            "wusnell2016",
            "Wu & Snell",
            "An introduction to incremental learning",
            ("facts", "fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "digits", "kernel"),
        ),
        Paper(
            "karnick2008",
            "Karnick, Muhlbaier & Polikar",
            "Incremental learning in non-stationary environments with concept drift",
            ("fig2", "fig3", "fig4", "table", "drifts", "weightings", "real", "time"),
            drawn=("time",),
            runs="5 runs with naive Bayes, 3 with the MLP, 2 with the SVM",
            fast="350 blocks of 700 and 80 of 200, one run, 3,000 rows of real data",
        ),
        Paper(
            "auto",
            "Our own study",
            "The untuned default beside its members, the baselines and River",
            ("data", "generated", "ranks", "fig-ranks", "fig-weights"),
            on_request=("forest",),
        ),
    )
}


@dataclass(frozen=True)
class Outcome:
    """An item's numbers beside the paper's, laid out as a table or drawn as a figure."""

    paper: str
    item: str
    title: str
    findings: tuple[Reported, ...]
    #: What the numbers come to, said with them.
    summary: tuple[str, ...] = ()
    #: What must be known to read them, said once for all items.
    notes: tuple[str, ...] = ()
    #: Lays out the table; none for figures. Two outcomes are equal if their numbers are.
    table: Callable[[], Table] | None = field(default=None, compare=False)
    #: Draws the picture; none for tables.
    draw: Callable[[], Figure] | None = field(default=None, compare=False)
    #: How long the work took, which is never the same twice.
    timing: str = field(default="", compare=False)


#: Told the share of the work done, from 0 to 1, and what is being done.
Progress: TypeAlias = Callable[[float, str], None]


class Meter:
    """Turns the shares of named stages, weighed by their work, into a share of the whole.

    Examples
    --------
    >>> meter = Meter({"draw": 1.0, "learn": 3.0}, lambda share, label: print(f"{share:.3f} {label}"))
    >>> meter.stage("draw")(1.0)
    0.250 draw
    >>> meter.stage("learn")(0.5)
    0.625 learn
    """

    def __init__(self, work: Mapping[str, float], progress: Progress) -> None:
        self._work = dict(work)
        self._total = sum(work.values())
        self._progress = progress
        self._before = 0.0

    def stage(self, label: str) -> Callable[[float], None]:
        """Begin a stage: a function to call with the share of the stage that is done."""
        tell = self.part(label)
        return lambda share: tell(share, label)

    def part(self, label: str) -> Progress:
        """Begin a stage that says itself what it is doing.

        Examples
        --------
        >>> meter = Meter({"draw": 1.0, "learn": 3.0}, lambda share, label: print(f"{share:.3f} {label}"))
        >>> meter.part("draw")(0.5, "pencils")
        0.125 pencils
        """
        before, work = self._before, self._work[label]
        self._before += work
        return lambda share, doing: self._progress((before + work * share) / self._total, doing)
