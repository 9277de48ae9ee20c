"""River's own conformance checks, run on a model of ours one by one, with none of them skipped in silence."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from thalweg.errors import Diverging
from thalweg.interop.river import to_river


class Outcome(NamedTuple):
    """What one check found.

    Attributes
    ----------
    check : str
        The name River gives it, and its number among those of that name: it runs once per data set.
    passed : bool
        Whether the model passed.
    reason : str
        What went wrong where it did not; empty else.
    """

    check: str
    passed: bool
    reason: str


def run_checks(model: Any) -> list[Outcome]:
    """Every check that `river.checks.yield_checks` has for a model, on `to_river` of one of ours.

    Each is given a clone of its own, as River gives it. A model's own list of checks to skip, which River's
    `check_estimator` honours, is not looked at.

    Parameters
    ----------
    model : classifier, regressor or transformer of thalweg, or what `to_river` made of one
        What is checked.

    Returns
    -------
    list of Outcome
        One per check and data set, in River's order.

    Examples
    --------
    >>> from thalweg import StandardScaler
    >>> from thalweg.interop.river_checks import run_checks
    >>> outcomes = run_checks(StandardScaler())
    >>> len(outcomes), [outcome for outcome in outcomes if not outcome.passed]
    (28, [])
    """
    from river import base, checks

    ours = model if isinstance(model, base.Estimator) else to_river(model)
    outcomes: list[Outcome] = []
    names: list[str] = []
    for check in checks.yield_checks(ours):
        names.append(check.__name__)
        reason = _run(check, ours.clone())
        outcomes.append(Outcome(f"{check.__name__}-{names.count(check.__name__)}", not reason, reason))
    return outcomes


def _run(check: Any, model: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Diverging)  # the checks' rows are not scaled: a date of 736,000 among them
        try:
            check(model)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return ""
