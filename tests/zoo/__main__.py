"""Run the zoo by hand: ``python -m tests.zoo [--list] [NAME | NAME:FORM ...]``."""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor

from tests.zoo.checks import Outcome, outcomes
from tests.zoo.forms import FORMS, PLAIN, RAW
from tests.zoo.tables import tables, why_no_zoo


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="table, or table:form (default: all)")
    parser.add_argument("--list", action="store_true", help="the tables with their forms, and all forms")
    parser.add_argument("--processes", type=int, default=1, help="tables at a time (default: 1)")
    given = parser.parse_args()
    if given.list:
        for table in tables().values():
            print(f"{table.name:20} {table.target:24} {' '.join((PLAIN.name, *table.forms))}")
        print(f"{len(tables())} tables, {sum(1 + len(table.forms) for table in tables().values())} runs")
        print(f"Forms: {' '.join((*FORMS, RAW))}")
        return
    if reason := why_no_zoo():
        parser.error(reason)
    jobs = [name.partition(":")[::2] for name in given.names] or [(name, "") for name in tables()]
    for name, form in jobs:
        if name not in tables() or form not in ("", RAW, *FORMS):
            parser.error(f"there is no {name}:{form}" if form else f"there is no table {name!r}")
    found: list[Outcome] = []
    with ThreadPoolExecutor(given.processes) as pool:
        for some in pool.map(lambda job: outcomes(job[0], forms=(job[1],) if job[1] else None), jobs):
            for each in some:
                _show(each, whole=bool(given.names))
            found += some
    raise SystemExit(_summarise(found))


def _show(outcome: Outcome, *, whole: bool) -> None:
    state = "FAILED" if outcome.failures else "ok"
    print(
        f"{outcome.name:36} {state:6} {outcome.seconds:6.2f} s {outcome.microseconds_per_cell:8.1f} µs a cell",
        flush=True,
    )
    if whole:
        print(f"    {outcome.headline}")
    for failure in outcome.failures:
        print(f"    {failure}", flush=True)


def _summarise(found: list[Outcome]) -> bool:
    failed = [each for each in found if each.failures]
    wrong = sum(len(each.wrong_kinds) for each in found)
    refused = [each for each in found if each.refused]
    forms = {each.form for each in found}
    print()
    print(
        f"{len({each.table for each in found})} tables in {len(forms)} forms, {len(found)} runs, {len(failed)} failed"
    )
    print(f"{sum(each.columns for each in found):,} columns: {wrong} of another kind than a person says, and ", end="")
    print(f"{sum(each.columns for each in refused)} in {len(refused)} runs that were refused")
    large = [each for each in found if each.cells >= 10_000] or found
    slowest = max(large, key=lambda each: each.microseconds_per_cell)
    print(f"slowest of at least 10,000 cells: {slowest.name}, {slowest.microseconds_per_cell:.0f} µs a cell")
    return bool(failed)


if __name__ == "__main__":
    main()
