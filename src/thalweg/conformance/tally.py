"""What a suite of checks found of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Finding(NamedTuple):
    """A check by name, and the reason why it was not passed."""

    check: str
    reason: str


class Tally(NamedTuple):
    """The checks of one suite on one estimator, counted.

    Attributes
    ----------
    suite, estimator : str
        Whose checks, and of what.
    passed : int
        Checks passed.
    failed : tuple of Finding
        Checks failed that should have been passed.
    excepted : tuple of Finding
        Checks that cannot be passed, with our reason.
    skipped : tuple of Finding
        Checks that the suite itself did not run, with its reason.
    """

    suite: str
    estimator: str
    passed: int
    failed: tuple[Finding, ...] = ()
    excepted: tuple[Finding, ...] = ()
    skipped: tuple[Finding, ...] = ()

    @property
    def run(self) -> int:
        """Checks run.

        Examples
        --------
        >>> Tally("River", "OnlineLDC", 51, failed=(Finding("check_doc", "no docstring"),)).run
        52
        """
        return self.passed + len(self.failed) + len(self.excepted)


class Suite(NamedTuple):
    """A conformance suite.

    Attributes
    ----------
    name, distribution : str
        How it is called, and what is installed to have it.
    absent : function
        Why it cannot run here; empty where it can.
    check : function
        What it finds of an estimator, by its name.
    """

    name: str
    distribution: str
    absent: Callable[[], str]
    check: Callable[[str, Any], Tally]


def grouped(tallies: Sequence[Tally], word: str) -> dict[Finding, list[str]]:
    """What was "failed", "excepted" or "skipped", and of which estimators.

    Examples
    --------
    >>> odd = Finding("check_doc", "no docstring")
    >>> grouped([Tally("River", "A", 1, failed=(odd,)), Tally("River", "B", 1, failed=(odd,))], "failed")
    {Finding(check='check_doc', reason='no docstring'): ['A', 'B']}
    """
    found: dict[Finding, list[str]] = {}
    for tally in tallies:
        for finding in getattr(tally, word):
            found.setdefault(finding, []).append(tally.estimator)
    return found
