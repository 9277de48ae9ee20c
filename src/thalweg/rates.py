"""Learning rates as values that any learner takes.

A rate is an immutable description. Its state (the row count, the recent mistakes, the current value) lives in
the learner's compiled loop, so one rate may be shared by many learners, and it is saved with the model.

======================  ============================================================  =====================
rate                    value at row t = 1, 2, …                                      source
======================  ============================================================  =====================
``Constant(value)``     value                                                         Kuncheva & Plumpton, 4
``InverseSqrt(eta0)``   eta0 / sqrt(t)                                                Wu & Snell
``ErrorDriven(start)``  start, then moved at each mistake by the change in the error  Kuncheva & Plumpton, 5
======================  ============================================================  =====================

What a rate means is the learner's to say: for `OnlineLDC`, `Perceptron` and `HiraokaLDA` larger is more
eager; for `BalancedWinnow` it is beta, and smaller is more eager.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from thalweg.errors import InvalidParameter
from thalweg.parameters import POSITIVE, Real, Whole

__all__ = ["Constant", "ErrorDriven", "InverseSqrt", "Rate", "as_rate"]

#: What the compiled loop is given: kind, starting value, window.
RateCode: TypeAlias = tuple[int, float, int]


#: The inverse of a smaller rate, times that of a small weight, would be infinite.
_LARGE_ENOUGH = Real(1e-100, text="be at least 1e-100")


@dataclass(frozen=True)
class Constant:
    """The same rate at every row.

    Examples
    --------
    >>> Constant(0.9)
    Constant(value=0.9)
    """

    value: float

    def __post_init__(self) -> None:
        for rule in (POSITIVE, _LARGE_ENOUGH):
            rule.check("Constant", "value", self.value)

    def code(self) -> RateCode:
        """The rate as the kernels take it."""
        return 0, float(self.value), 0


@dataclass(frozen=True)
class InverseSqrt:
    """eta0 / sqrt(t): the decaying step of stochastic gradient methods.

    Learners whose rate must stay below one clip it there.

    Examples
    --------
    >>> InverseSqrt(1.0).code()
    (1, 1.0, 0)
    """

    eta0: float = 1.0

    def __post_init__(self) -> None:
        for rule in (POSITIVE, _LARGE_ENOUGH):
            rule.check("InverseSqrt", "eta0", self.eta0)

    def code(self) -> RateCode:
        """The rate as the kernels take it."""
        return 1, float(self.eta0), 0


@dataclass(frozen=True)
class ErrorDriven:
    """A rate that follows the change of the learner's own error (Kuncheva & Plumpton 2008, section 5).

    With E_t the share of mistakes among the last ``window`` rows and Delta = E_{t-window} - E_t, each mistake
    moves the rate to ``rate ** (1 + Delta)`` (`BalancedWinnow`: ``rate * (1 + Delta)``), so a rising error
    makes the learner more eager. The rate stays inside [1e-6, 1 - 1e-6].

    Parameters
    ----------
    start : float in (0, 1)
        The rate before anything is known. The paper does not say; 0.5 is the neutral value.
    window : int >= 1
        Rows over which the error is counted. Larger reacts later and less to noise. The paper does not give
        its value; 10 reproduces its results.

    Examples
    --------
    >>> ErrorDriven()
    ErrorDriven(start=0.5, window=10)
    """

    start: float = 0.5
    window: int = 10

    def __post_init__(self) -> None:
        for rule in (Real(0, 1, "neither"), _LARGE_ENOUGH):
            rule.check("ErrorDriven", "start", self.start)
        Whole(1, 10**6).check("ErrorDriven", "window", self.window)

    def code(self) -> RateCode:
        """The rate as the kernels take it."""
        return 2, float(self.start), int(self.window)


Rate: TypeAlias = Constant | InverseSqrt | ErrorDriven


def as_rate(value: object, owner: str, *, below_one: bool = True, also: str = "") -> Rate:
    """A float or a rate, as a rate; anything else is an error that names its owner, and what it takes ``also``.

    Examples
    --------
    >>> as_rate(0.5, "OnlineLDC")
    Constant(value=0.5)
    >>> as_rate("fast", "OnlineLDC")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: The 'rate' parameter of OnlineLDC must be a float in (0, 1) or a rate of \
thalweg.rates, got 'fast'.
    """
    if isinstance(value, (InverseSqrt, ErrorDriven)):
        return value
    number: Any = value.value if isinstance(value, Constant) else value
    text = f"be a {'float in (0, 1)' if below_one else 'positive float'} or a rate of thalweg.rates{also}"
    if not Real(0, 1 if below_one else math.inf, "neither").allows(number):
        raise InvalidParameter.of(owner, "rate", text, value)
    _LARGE_ENOUGH.check(owner, "rate", float(number))
    return Constant(float(number))
