"""``thalweg conformance``: what other projects' own checks say of every estimator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from thalweg.conformance import Suite, Tally

EXIT_FAILED = 1


def conformance(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[ESTIMATOR]...", help="Estimators to check (default: all).")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(metavar="NAME", help="Suite of checks: scikit-learn or River (default: both).")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="File for the counts as JSON.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the counts as a Markdown page.")
    ] = None,
) -> None:
    """Run the estimator checks of scikit-learn and River, and count the results.

    The exit code is 1 if a check fails that is not on the list of exceptions. River's checks need River installed.
    """
    import os
    import sys

    if "scipy" not in sys.modules:  # which reads it when it is imported; without it scikit-learn skips a check
        os.environ.setdefault("SCIPY_ARRAY_API", "1")

    from rich.console import Console

    from thalweg.cli.terminal import progress, writable_file
    from thalweg.conformance import SUITES, as_json, as_page, estimators
    from thalweg.files import write_atomically

    known = estimators()
    for name in names or ():
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {'; '.join(known)}.", param_hint="ESTIMATOR")
    asked = [listed for listed in SUITES if suite is None or listed.name.lower() == suite.lower()]
    if not asked:
        raise typer.BadParameter(
            f"{suite!r} is not one of {', '.join(listed.name for listed in SUITES)}.", param_hint="--suite"
        )
    for path in (json, markdown):
        if path is not None:
            writable_file(path)
    chosen = {name: known[name] for name in names or known}
    present = [listed for listed in asked if not listed.absent()]
    work = [(of_suite, name) for of_suite in present for name in chosen]
    tallies: list[Tally] = []
    with progress() as report:
        for done, (asked_suite, name) in enumerate(work):
            report(done / len(work), f"{asked_suite.name}: {name}")
            tallies.append(asked_suite.check(name, chosen[name]))
        report(1.0, "done")

    console = Console(markup=False, highlight=False)
    for asked_suite in asked:
        _show(console, asked_suite, [tally for tally in tallies if tally.suite == asked_suite.name])
    if json is not None:
        write_atomically(json, as_json(tallies).encode())
    if markdown is not None:
        write_atomically(markdown, as_page(present, tallies).encode())
    if any(tally.failed for tally in tallies):
        raise typer.Exit(EXIT_FAILED)


def _show(console: Console, suite: Suite, tallies: Sequence[Tally]) -> None:
    from thalweg.conformance import grouped
    from thalweg.report import tables

    absent = suite.absent()
    console.print(f"{suite.name}\n", style="bold")
    if absent:
        console.print(f"Left out: {absent}.\n", soft_wrap=True)
        return
    cells = [
        (
            tally.estimator,
            *map(str, (tally.run, tally.passed, *map(len, (tally.failed, tally.excepted, tally.skipped)))),
        )
        for tally in tallies
    ]
    console.print(tables.lines(("", "run", "passed", "failed", "excepted", "skipped"), cells), "")
    for word in ("failed", "excepted", "skipped"):
        for (check, reason), names in grouped(tallies, word).items():
            console.print(f"{word.capitalize()}, {check}, of {', '.join(names)}: {reason}.\n")
