"""Moments at which the error changed, in the order of rows: lines of the largest, and of the others to unfold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from thalweg.report.page.formats import count
from thalweg.report.page.row_axis import RowAxis

#: Lines that are shown without being asked for and marked in charts, and changes that a sentence names.
_SHOWN = 8

Change = Mapping[str, Any]


class ChangeLines(NamedTuple):
    headers: tuple[str, ...]
    largest: list[tuple[str, ...]]
    others: list[tuple[str, ...]]
    #: Of the largest, the row and what a chart says of it.
    marks: list[dict[str, Any]]


def change_lines(changes: Sequence[Change], written: Callable[[Any], str], axis: RowAxis) -> ChangeLines:
    """Number, row, the row at which it was seen, and three errors of each change; before the row its time."""
    where = (axis.name, "row", "found at") if axis else ("row", "found at row")
    ordered, largest = _by_row(changes), {change["row"] for change in largest_changes(changes)}
    lines = ChangeLines(("", *where, "error before", "error until found", "error after"), [], [], [])
    for at, change in enumerate(ordered, start=1):
        row, errors = change["row"], [written(change[when]) for when in ("before", "seen", "after")]
        times = (axis.when(row),) if axis else ()
        line = (str(at), *times, count(row), axis.when(change["found"]), *errors)
        (lines.largest if row in largest else lines.others).append(line)
        if row in largest:
            lines.marks.append({"row": row, "name": str(at), "text": f"error {' → '.join(errors)}"})
    return lines


def largest_changes(changes: Sequence[Change]) -> list[Change]:
    """Those with the most errors more or less than before, in the order of rows."""
    ordered = _by_row(changes)
    sizes = {row: max(map(abs, extra)) for row, extra in _extra(ordered)}
    largest = set(sorted(sizes, key=lambda row: -sizes[row])[:_SHOWN])
    return [change for change in ordered if change["row"] in largest]


def changes_sentence(changes: Sequence[Change], axis: RowAxis) -> str:
    """Where the error rose and fell, the first times; empty where it did not change.

    Examples
    --------
    >>> up, down = {"before": 0.1, "seen": 0.4}, {"before": 0.4, "seen": 0.2}
    >>> changes_sentence([{"row": 1970, **up}, {"row": 2317, **up}, {"row": 3891, **down}], RowAxis({}))
    'The error rose at rows 1,970 and 2,317 and fell at row 3,891.'
    """
    if not changes:
        return ""
    ordered = _by_row(changes)
    rows: dict[str, list[int]] = {}
    for change in ordered[:_SHOWN]:
        rows.setdefault("rose" if change["seen"] > change["before"] else "fell", []).append(change["row"])
    moments = " and ".join(f"{verb} {axis.at(at)}" for verb, at in rows.items())
    further = len(ordered) - _SHOWN
    more = f", and changed {'once more' if further == 1 else f'{count(further)} more times'}" if further > 0 else ""
    return f"The error {moments}{more}."


def extra_errors(changes: Sequence[Change]) -> dict[int, float]:
    """By the row of a change, the errors beyond those before: until it was seen, or until the next change.

    Examples
    --------
    >>> extra_errors([{"row": 1001, "found": 1100, "before": 0.1, "seen": 0.5, "after": 0.4}])
    {1001: 40.0}
    """
    return {row: max(extra) for row, extra in _extra(_by_row(changes))}


def _by_row(changes: Sequence[Change]) -> list[Change]:
    """In the order in which charts number them."""
    return sorted(changes, key=lambda change: change["row"])


def _extra(ordered: Sequence[Change]) -> Iterator[tuple[int, tuple[float, float]]]:
    """Rows, and the errors beyond those before, until each change was seen and until the next one."""
    for at, change in enumerate(ordered):
        row, before = change["row"], change["before"]
        end = ordered[at + 1]["row"] if at + 1 < len(ordered) else change["found"] + 1
        yield row, ((change["seen"] - before) * (change["found"] - row + 1), (change["after"] - before) * (end - row))
