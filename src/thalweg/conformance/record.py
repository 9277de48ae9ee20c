"""The counts for other programs, and as a page of the documentation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from thalweg.conformance.tally import Suite, Tally, grouped

_HEAD = """\
# Conformance

What other projects' own checks say of our estimators, written by `thalweg conformance --markdown docs/conformance.md`.
"Run" does not count the checks that a suite itself skips; "excepted" are those that cannot be passed, with the reason.
"""


def as_json(tallies: Sequence[Tally]) -> str:
    """The counts, one object each.

    Examples
    --------
    >>> print(as_json([Tally("River", "OnlineLDC", 53)]))
    [{"suite": "River", "estimator": "OnlineLDC", "run": 53, "passed": 53, "failed": [], "excepted": [], "skipped": []}]
    """
    objects = []
    for tally in tallies:
        counts = {"suite": tally.suite, "estimator": tally.estimator, "run": tally.run, "passed": tally.passed}
        kinds = ("failed", "excepted", "skipped")
        objects.append(counts | {kind: [finding._asdict() for finding in getattr(tally, kind)] for kind in kinds})
    return json.dumps(objects)


def as_page(suites: Sequence[Suite], tallies: Sequence[Tally]) -> str:
    """A section for each suite: what was not passed and why, then the table."""
    return "\n".join([_HEAD, *(line for suite in suites for line in _section(suite, tallies))])


def _section(suite: Suite, tallies: Sequence[Tally]) -> Iterator[str]:
    own = [tally for tally in tallies if tally.suite == suite.name]
    yield f"## {suite.name} {version(suite.distribution)}\n"
    yield f"{sum(tally.passed for tally in own):,} of {sum(tally.run for tally in own):,} checks passed.\n"
    for word in ("failed", "excepted", "skipped"):
        for (check, reason), names in grouped(own, word).items():
            yield f"{word.capitalize()}, `{check}`, of {', '.join(names)}: {reason}.\n"
    yield "| estimator | run | passed | failed | excepted | skipped |"
    yield "|---|--:|--:|--:|--:|--:|"
    for tally in own:
        kinds = (tally.failed, tally.excepted, tally.skipped)
        yield f"| {tally.estimator} | {tally.run} | {tally.passed} | {' | '.join(str(len(kind)) for kind in kinds)} |"
    yield ""
