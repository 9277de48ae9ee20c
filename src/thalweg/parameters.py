"""Rules for parameters, as data, and the one check that applies them.

A class lists what its parameters must be, ``_rules = Rules(...)``, and checks them when they are first used:
``self._rules.check(self)``. A rule's text completes the sentence "The 'rate' parameter of OnlineLDC must …".
What relates two parameters is checked by the class itself.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable
from numbers import Integral
from numbers import Real as RealNumber
from typing import Any, Literal, SupportsIndex, cast

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidParameter


class Rule:
    """A test of a value, and the words for it: what the value must do or be, such as "lie in (0, 1)"."""

    def __init__(self, text: str, test: Callable[[Any], bool]) -> None:
        self.text = text
        self.allows = test

    def check(self, owner: str, name: str, value: object) -> None:
        if not self.allows(value):
            raise InvalidParameter.of(owner, name, self.text, value)

    def or_else(self, value: str | None) -> Rule:
        """The same rule, which one more value satisfies.

        Examples
        --------
        >>> Whole(2).or_else("auto").text
        'be an integer >= 2 or "auto"'
        """
        return Rule(f"{self.text} or {_quoted(value)}", lambda given: _is_same(given, value) or self.allows(given))


class Rules(dict[str, Rule]):
    """The rule of each parameter of a class, by name.

    Examples
    --------
    >>> from thalweg import Perceptron
    >>> Rules(margin=NOT_NEGATIVE, averaged=FLAG).check(Perceptron(margin=-1.0))
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: The 'margin' parameter of Perceptron must be a finite number >= 0, got -1.0.
    """

    def check(self, owner: object) -> None:
        """Raise `InvalidParameter` for the first parameter of this object that breaks its rule."""
        for name, rule in self.items():
            rule.check(type(owner).__name__, name, getattr(owner, name))


class Real(Rule):
    """A finite number, between two bounds where there are any.

    ``closed`` names the bounds that belong to the interval, as in scikit-learn.

    Examples
    --------
    >>> Real(0, 1, "left").text, Real(0).text, Real(0, closed="neither").text
    ('lie in [0, 1)', 'be a finite number >= 0', 'be a positive finite number')
    """

    def __init__(
        self,
        low: float = -math.inf,
        high: float = math.inf,
        closed: Literal["left", "right", "both", "neither"] = "left",
        text: str | None = None,
    ) -> None:
        from_low, to_high = closed in ("left", "both"), closed in ("right", "both")
        if high < math.inf:
            words = f"lie in {'[' if from_low else '('}{low}, {high}{']' if to_high else ')'}"
        elif low == -math.inf:
            words = "be a finite number"
        elif from_low or low != 0:
            words = f"be a finite number {'>=' if from_low else '>'} {low}"
        else:
            words = "be a positive finite number"

        def allows(value: Any) -> bool:
            try:
                number = float(value) if is_real(value) else math.nan
            except OverflowError:  # an integer of hundreds of digits
                return False
            inside = low < number < high or (from_low and number == low) or (to_high and number == high)
            return inside and math.isfinite(number)

        super().__init__(text or words, allows)


class Whole(Rule):
    """An integer, between two bounds that belong to the interval.

    Examples
    --------
    >>> Whole(1).text, Whole(0, 10**6).text
    ('be an integer >= 1', 'be an integer from 0 to 1,000,000')
    """

    def __init__(self, low: int, high: int | None = None, text: str | None = None) -> None:
        words = f"be an integer >= {low}" if high is None else f"be an integer from {low} to {high:,}"
        super().__init__(
            text or words, lambda value: is_whole(value) and value >= low and (high is None or value <= high)
        )


class OneOf(Rule):
    """One of a few words, or None where that is among them.

    Examples
    --------
    >>> OneOf("age", "error", None).text
    'be "age", "error" or None'
    """

    def __init__(self, *values: str | None, text: str | None = None) -> None:
        *others, last = map(_quoted, values)
        super().__init__(
            text or f"be {', '.join(others)} or {last}", lambda given: any(_is_same(given, value) for value in values)
        )


FLAG = Rule("be True or False", lambda value: isinstance(value, bool | np.bool_))
POSITIVE = Real(0, closed="neither")
#: How many of the first columns of sparse rows are dense.
DENSE_FEATURES = Whole(0, 10**6, text="be an integer from 0 to 1,000,000")
SEED = Whole(0, 2**63 - 1, text="be an integer from 0 to 2**63 - 1")
#: The kernels take no larger number.
NOT_NEGATIVE = Real(0, 1e50, text="be a finite number >= 0")
FORGETTING = Real(0, 1, "left")


def is_real(value: object) -> bool:
    """Whether this is a real number; a bool is none."""
    return isinstance(value, RealNumber) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether this is an integer; a bool is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def real_number(owner: str, name: str, value: object, *, positive: bool = False) -> float:
    """The value as a float, or an error that names its owner.

    Examples
    --------
    >>> real_number("MovingPlane", "degrees_per_row", -1, positive=True)
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: The 'degrees_per_row' parameter of MovingPlane must be a positive finite number, \
got -1.
    """
    (POSITIVE if positive else Real()).check(owner, name, value)
    return float(cast(float, value))


def real_matrix(owner: str, name: str, value: object) -> NDArray[np.float64]:
    """The value as a matrix of finite numbers with at least one row and column, or an error."""
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise InvalidParameter.of(owner, name, "be a matrix of finite numbers", value)
    return matrix


def whole_number(owner: str, name: str, value: object, least: int = 0) -> int:
    """The value as an int, or an error that names its owner.

    Examples
    --------
    >>> whole_number("Table", "n", 1.5)
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: The 'n' parameter of Table must be a whole number of at least 0, got 1.5.
    """
    at_least(least).check(owner, name, value)
    return operator.index(cast(SupportsIndex, value))


def at_least(least: int) -> Rule:
    """A count: whatever Python takes for an index, from ``least`` on."""
    return Rule(f"be a whole number of at least {least}", lambda value: _counts_from(least, value))


def _counts_from(least: int, value: Any) -> bool:
    try:
        return not isinstance(value, bool | np.bool_) and operator.index(value) >= least
    except TypeError:
        return False


def _quoted(value: str | None) -> str:
    return "None" if value is None else f'"{value}"'


def _is_same(given: object, value: str | None) -> bool:
    return given is None if value is None else isinstance(given, str) and given == value


def processors() -> int:
    """Processors that this process may use: the default number of threads and workers."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
