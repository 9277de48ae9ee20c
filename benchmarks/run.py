"""The runner: one suite after the other; what was measured is written at once, printed and drawn."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks import machine
from benchmarks.contest import Effort, Unavailable
from benchmarks.records import Record, beside
from benchmarks.results import Results, read
from benchmarks.suite import Bench, Suite
from benchmarks.suites import NAMES, suite_of
from benchmarks.tables import findings_table, tables

OUT = Path("out") / "benchmarks"
WIDTH_IN_A_FILE = 120


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, or only draw, what is asked for; the status that the process leaves with."""
    parser = _parser()
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no suite {unknown[0]!r}; there are {', '.join(NAMES)}")
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH_IN_A_FILE)
    if given.list:
        for name in NAMES:
            console.print(f"{name:<14}{suite_of(name).asks}", markup=False)
        return 0
    if given.plot_only:
        names = given.names or [name for name in NAMES if (given.out / f"{name}.json").exists()]
        for name in names:
            _draw(read(given.out / f"{name}.json"), given.out, console)
        return 0
    for name in given.names or NAMES:
        suite = suite_of(name)
        effort = _effort(suite.quick if given.quick else suite.full, given)
        results = measured(suite, effort, given.with_moa, console)
        if results.records:
            path = results.write(given.out)
            show(results, console)
            _draw(results, given.out, console)
            console.print(f"\nwritten: {path}", style="dim", markup=False)
        for reason in results.left_out:
            console.print(f"left out: {reason}", style="yellow", markup=False)
        if not results.complete:
            console.print("stopped: what was measured until then is kept", style="yellow")
            return 130
    return 0


def measured(suite: Suite, effort: Effort, with_moa: bool, console: Console) -> Results:
    """One suite, to its end or until somebody stops it."""
    records: list[Record] = []
    complete, before = True, machine.load()
    # One core for everybody: threads of the linear algebra would go on spinning beside whoever is timed next.
    with (
        threadpool_limits(1),
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        console.status(suite.name) as status,
    ):
        bench = Bench(effort, Path(folder), with_moa, lambda doing: status.update(f"{suite.name}: {doing}"))
        try:
            for together in suite.measure(bench):
                records += beside(together, suite.ratios)
        except KeyboardInterrupt:
            complete = False
        except Unavailable as reason:
            bench.leave_out(reason)
    return Results(
        suite=suite.name,
        asks=suite.asks,
        machine=machine.description(),
        load=(before, machine.load()),
        effort=effort,
        records=records,
        findings=list(suite.findings(records)),
        left_out=bench.left_out,
        complete=complete,
    )


def show(results: Results, console: Console) -> None:
    """Print the results."""
    console.print(f"\n{results.suite}: {results.asks}", style="bold", markup=False)
    told = ", ".join(f"{name} {value}" for name, value in results.machine.items() if value)
    console.print(f"{told}; load {results.load[0]} before, {results.load[1]} after", style="dim", markup=False)
    for heading, table in tables(results.records):
        console.print(f"\n{heading}\n", style="bold", markup=False)
        console.print(table)
    if results.findings:
        console.print()
        console.print(findings_table(results.findings))
    rounds = results.records[0].rounds
    if rounds > 1:
        told = f"Best of {rounds} interleaved rounds. Spread: how much longer the median round took."
        console.print(f"\n{told}", style="dim")


def _draw(results: Results, folder: Path, console: Console) -> None:
    try:
        from thalweg.report import style

        for stem, figure in suite_of(results.suite).plot(results.records).items():
            style.save(figure, folder, stem)
    except ImportError as error:
        console.print(f"not drawn: {error}", style="yellow", markup=False)


def _effort(usual: Effort, given: argparse.Namespace) -> Effort:
    asked = {name: getattr(given, name) for name in ("rounds", "seconds", "size")}
    return replace(usual, **{name: value for name, value in asked.items() if value is not None})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Our learners beside peers and limits.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="suites; all by default")
    parser.add_argument("--list", action="store_true", help="name the suites and what they ask")
    parser.add_argument("--quick", action="store_true", help="sooner, rougher figures")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"where results go (by default {OUT})")
    parser.add_argument("--plot-only", action="store_true", help="measure nothing: draw the results in DIR again")
    parser.add_argument("--with-moa", action="store_true", help="also MOA, through CapyMOA and Java")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds, instead of the suite's own number")
    parser.add_argument("--seconds", type=float, metavar="S", help="about how long a contestant takes in each")
    parser.add_argument("--size", type=int, metavar="N", help="rows of a file, or keys of a fleet, of suites with such")
    return parser
