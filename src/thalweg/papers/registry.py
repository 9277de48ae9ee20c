"""The papers that can be reproduced, and what a reproduction returns: numbers beside the paper's, tables and figures.

The experiments of a paper are imported only when they are run, and so is NumPy.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from thalweg.errors import InvalidParameter

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from rich.table import Table


@dataclass(frozen=True)
class Finding:
    """A number measured for an item of a paper, and the paper's own number where it prints one."""

    #: The data set, or the part of the paper.
    data: str
    #: The model, or the quantity.
    model: str
    measured: float
    _: KW_ONLY
    #: By default that of its outcome.
    item: str = ""
    #: Filled in by `Paper.reproduce`.
    paper: str = ""
    #: Half-width of the mean's 95 % interval; None for a single run.
    ci95: float | None = None
    runs: int = 1
    #: None where the paper prints no number.
    printed: float | None = None
    #: The model's fixed learning rate; None where it adapts or there is none.
    rate: float | None = None
    #: Remark for the reader, such as a misprint; not part of the JSON.
    note: str = ""
    #: Further keys of the JSON object.
    more: Mapping[str, Any] = field(default_factory=dict)
    #: Whether this is a processor time: its JSON object has ``seconds`` and none of the keys of an error.
    is_time: bool = False

    @classmethod
    def of_runs(cls, data: str, model: str, values: NDArray[np.float64], **others: Any) -> Finding:
        """The mean over runs and its interval.

        Examples
        --------
        >>> import numpy as np
        >>> finding = Finding.of_runs("heart", "SVM", np.array([0.16, 0.18]))
        >>> round(finding.measured, 3), finding.runs
        (0.17, 2)
        """
        return cls(data, model, float(values.mean()), ci95=ci95(values), runs=len(values), **others)

    @property
    def deviation(self) -> float | None:
        return None if self.printed is None else self.measured - self.printed

    def as_json(self) -> dict[str, Any]:
        subject = {"paper": self.paper, "item": self.item, "data": self.data, "model": self.model}
        if self.is_time:
            return {**subject, **self.more, "seconds": self.measured}
        return {
            **subject,
            "rate": self.rate,
            "paper_value": self.printed,
            "measured": self.measured,
            "ci95": self.ci95,
            "runs": self.runs,
            **self.more,
        }


def ci95(values: NDArray[np.float64]) -> float | None:
    """Half-width of the 95 % interval of the mean over runs; None for a single run."""
    from thalweg.evaluate import mean_interval

    return mean_interval(values).halfwidth if len(values) > 1 else None


def write_json(findings: Iterable[Finding], path: Path) -> None:
    """Write the findings as a JSON list. The file is replaced as a whole, so readers never see a part of it."""
    from thalweg.files import write_atomically

    text = json.dumps([finding.as_json() for finding in findings], indent=1, allow_nan=False) + "\n"
    write_atomically(path, text.encode())


@dataclass(frozen=True)
class Paper:
    """A paper by its short name, which is also the name of its folder here."""

    name: str
    authors: str
    title: str
    #: Its tables and figures, in its order.
    items: tuple[str, ...]
    #: Further items, too slow to be part of all of them.
    on_request: tuple[str, ...] = ()
    #: Items with a picture whose names do not begin with "fig".
    drawn: tuple[str, ...] = ()
    #: Default number of runs of each generated stream, in words.
    runs: str = "100 runs"
    #: The same as a number; 0 where it depends on the learner.
    default_runs: int = 100
    #: Its short version, in words; None where it has none.
    fast: str | None = None
    #: Options that measure slow models anew instead of reading what is on record: their names, and what they do.
    slow_peers: Mapping[str, str] = field(default_factory=dict)

    def reproduce(self, items: Sequence[str], *, runs: int | None = None, **options: Any) -> list[Outcome]:
        """Run the experiments behind the items, each only once, and summarise them in the paper's order.

        Parameters
        ----------
        items : sequence of str
            Tables and figures of the paper.
        runs : int >= 1, optional
            Runs of each generated stream, or splits of each data set; by default as many as ``runs`` says.
        seed : int >= 0
            Seed for the random number generator. The outcomes do not depend on the number of workers.
        workers : int >= 1
            Threads, or processes where the learners need them.
        progress : function
            Called with the share of the work done and what is being done.
        fast : bool
            Whether to run the short version of the experiments, for papers that have one.
        with_moa, with_refitted : bool
            Whether to measure slow models anew whose results are on record, for papers that list the option in
            ``slow_peers``.
        """
        from thalweg.papers.study import Request

        request = Request(self.wanted(items, runs), self.default_runs if runs is None else runs, **options)
        outcomes: list[Outcome] = importlib.import_module(f"thalweg.papers.{self.name}.reproduce").reproduce(request)
        return [outcome.named(self.name) for outcome in outcomes]

    def draws(self, items: Sequence[str]) -> bool:
        """Whether any of the items has a picture.

        Examples
        --------
        >>> PAPERS["bounsiar"].draws(["table1"]), PAPERS["bounsiar"].draws(["growth"])
        (False, True)
        """
        return any(item.startswith("fig") or item in self.drawn for item in items)

    def wanted(self, items: Sequence[str], runs: int | None) -> list[str]:
        """The items asked for, in the paper's order.

        An unknown item, or fewer than one run, is an `InvalidParameter`.

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
            default_runs=0,
            fast="350 blocks of 700 and 80 of 200, one run, 3,000 rows of real data",
        ),
        Paper(
            "auto",
            "Our own study",
            "The untuned default beside its members, the baselines and River",
            ("data", "generated", "ranks", "fig-ranks", "fig-weights"),
            on_request=(
                "forest",
                "curved",
                "still",
                "recovery",
                "decisions",
                "rare",
                "budget",
                "checks",
                "numbers",
                "late",
            ),
            drawn=("curved", "still", "recovery", "numbers"),
            slow_peers={
                "with-moa": "MOA, 10 minutes in curved, 2 in rare, half an hour in late",
                "with-refitted": "refitted batch models, 13 minutes in curved, 20 in still",
            },
        ),
    )
}


@dataclass(frozen=True)
class Outcome:
    """An item's numbers beside the paper's, laid out as a table or drawn as a figure."""

    title: str
    findings: tuple[Finding, ...] = ()
    #: Summary, printed under the table.
    summary: tuple[str, ...] = ()
    #: How to read the numbers, printed once for all items.
    notes: tuple[str, ...] = ()
    #: Lays out the table; None for figures. Outcomes are equal if their findings are.
    table: Callable[[], Table] | None = field(default=None, compare=False)
    #: Draws the picture; None for tables.
    draw: Callable[[], Figure] | None = field(default=None, compare=False)
    #: How long the work took.
    timing: str = field(default="", compare=False)
    #: By default the item that was asked for.
    item: str = ""

    def named(self, paper: str) -> Outcome:
        """With the names of the paper and of the item in all findings."""
        findings = (replace(finding, paper=paper, item=finding.item or self.item) for finding in self.findings)
        return replace(self, findings=tuple(findings))


Subject = TypeVar("Subject")


def outcomes_of(
    study: Subject, items: Sequence[str], makers: Mapping[str, Callable[[Subject], Outcome | list[Outcome]]]
) -> list[Outcome]:
    """What is made of a study for each item, in their order and under their names."""
    outcomes = []
    for item in items:
        made = makers[item](study)
        outcomes += [
            replace(outcome, item=outcome.item or item) for outcome in (made if isinstance(made, list) else [made])
        ]
    return outcomes
