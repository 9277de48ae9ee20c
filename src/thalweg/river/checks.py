"""River's own conformance checks for a model of ours, one by one, none of them skipped in silence."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from thalweg.errors import Diverging, MissingExtra
from thalweg.river.to_river import to_river


class Outcome(NamedTuple):
    """What a check has found.

    Attributes
    ----------
    check : str
        Its name.
    passed : bool
        Whether the model passed.
    reason : str
        What went wrong where it did not; empty else.
    """

    check: str
    passed: bool
    reason: str


@dataclass(frozen=True)
class Check:
    """One of River's checks, with the model it is for.

    Attributes
    ----------
    name : str
        The name River gives it, and a number: most checks run once per data set.
    """

    name: str
    _check: Callable[[Any], None]
    _model: Any

    def run(self) -> Outcome:
        """Put a clone of the model to the check, as River does."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Diverging)  # River's rows are not scaled: a date of 736,000 among them
            try:
                self._check(self._model.clone())
            except Exception as error:  # whatever it is, the model has failed
                return Outcome(self.name, False, f"{type(error).__name__}: {error}")
        return Outcome(self.name, True, "")


def checks_of(model: Any) -> Iterator[Check]:
    """Every check that `river.checks.yield_checks` has for a model, in River's order; each can be run once.

    Parameters
    ----------
    model : classifier, regressor or transformer of thalweg, or what `to_river` made of one
        What is checked.

    Examples
    --------
    >>> from thalweg import StandardScaler
    >>> from thalweg.river.checks import checks_of
    >>> check = next(checks_of(StandardScaler()))
    >>> check.name, check.run().passed
    ('check_repr-1', True)
    """
    try:
        from river import base, checks
    except ModuleNotFoundError as error:
        raise MissingExtra.of("River", "river", "running River's checks") from error
    ours = model if isinstance(model, base.Estimator) else to_river(model)
    met: Counter[str] = Counter()
    for check in checks.yield_checks(ours):
        met[check.__name__] += 1
        yield Check(f"{check.__name__}-{met[check.__name__]}", check, ours)


def run_checks(model: Any) -> list[Outcome]:
    """What all of River's checks find for a model; a model's own list of checks to skip is not looked at.

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
    >>> from thalweg.river.checks import run_checks
    >>> outcomes = run_checks(StandardScaler())
    >>> len(outcomes), [outcome for outcome in outcomes if not outcome.passed]
    (28, [])
    """
    return [check.run() for check in checks_of(model)]
