"""Moments at which the error changed, in the order of rows: lines of the largest, and of the others to unfold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from thalweg.report.page.formats import count, listed

#: Lines that are shown without being asked for, and changes that a sentence names.
_SHOWN = 8

Change = Mapping[str, Any]


class ChangeLines(NamedTuple):
    largest: list[tuple[str, ...]]
    others: list[tuple[str, ...]]


def by_row(changes: Sequence[Change]) -> list[Change]:
    """In the order in which charts number them."""
    return sorted(changes, key=lambda change: change["row"])


def errors_of(change: Change, written: Callable[[Any], str]) -> tuple[str, ...]:
    """The error before a change, until it was seen, and after it."""
    return tuple(written(change[when]) for when in ("before", "seen", "after"))


def change_lines(changes: Sequence[Change], written: Callable[[Any], str]) -> ChangeLines:
    """Number, row, the row at which it was seen, and three errors of each change."""
    ordered = by_row(changes)
    sizes = {row: max(map(abs, extra)) for row, extra in _extra(ordered)}
    largest = set(sorted(sizes, key=lambda row: -sizes[row])[:_SHOWN])
    found = ChangeLines([], [])
    for at, change in enumerate(ordered, start=1):
        line = (str(at), count(change["row"]), count(change["found"]), *errors_of(change, written))
        (found.largest if change["row"] in largest else found.others).append(line)
    return found


def changes_sentence(changes: Sequence[Change]) -> str:
    """At which rows the error rose and fell, the first ones; empty where it did not change.

    Examples
    --------
    >>> up, down = {"before": 0.1, "seen": 0.4}, {"before": 0.4, "seen": 0.2}
    >>> changes_sentence([{"row": 1970, **up}, {"row": 2317, **up}, {"row": 3891, **down}])
    'The error rose at rows 1,970 and 2,317 and fell at row 3,891.'
    """
    if not changes:
        return ""
    ordered = by_row(changes)
    rows: dict[str, list[str]] = {}
    for change in ordered[:_SHOWN]:
        rows.setdefault("rose" if change["seen"] > change["before"] else "fell", []).append(count(change["row"]))
    told = " and ".join(f"{verb} at row{'s' if len(at) > 1 else ''} {listed(at)}" for verb, at in rows.items())
    further = len(ordered) - _SHOWN
    more = f", and changed {'once more' if further == 1 else f'{count(further)} more times'}" if further > 0 else ""
    return f"The error {told}{more}."


def extra_errors(changes: Sequence[Change]) -> dict[int, float]:
    """By the row of a change, the errors beyond those before: until it was seen, or until the next change.

    Examples
    --------
    >>> extra_errors([{"row": 1001, "found": 1100, "before": 0.1, "seen": 0.5, "after": 0.4}])
    {1001: 40.0}
    """
    return {row: max(extra) for row, extra in _extra(by_row(changes))}


def _extra(ordered: Sequence[Change]) -> Iterator[tuple[int, tuple[float, float]]]:
    """Rows, and the errors beyond those before, until each change was seen and until the next one."""
    for at, change in enumerate(ordered):
        row, before = change["row"], change["before"]
        end = ordered[at + 1]["row"] if at + 1 < len(ordered) else change["found"] + 1
        yield row, ((change["seen"] - before) * (change["found"] - row + 1), (change["after"] - before) * (end - row))
