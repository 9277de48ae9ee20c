"""Random tilings as their learners share them: `TilingClassifier` and `AutoClassifier`, and the same for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from thalweg.kernels import compiled
from thalweg.learners.base.mixture import Member

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: A step size, and the rows over which a cell remembers its squared gradients; None for the same step in every cell.
StepRule = tuple[float, int | None]
#: The rules of ``step="auto"``.
STEP_RULES: tuple[StepRule, ...] = ((0.005, None), (0.03, 1000), (0.03, 100), (0.05, None))
#: The prior weight of tilings in a mixture is that of a linear member with this rate.
CURVED_RATE = 0.03
#: Of numbers: the shares of a row's residual that learning it removes.
NUMBER_STEPS = (0.1, 0.25, 0.5, 0.8)


def tilings_core(
    features: int,
    tilings: int,
    depth: int,
    rules: Sequence[StepRule],
    *,
    every: int = 100,
    young: int = 500,
    share: float = 0.05,
    seed: int,
) -> Core:
    """Tilings without the scaling before them, with one or four step rules side by side."""
    steps = [step for step, _ in rules]
    decays = [0.0 if memory is None else 1 - 1 / memory for _, memory in rules]
    return compiled.tilings(features, tilings, depth, steps, decays, every, young, share, seed)


def slow_tilings(
    tilings: int, depth: int, *, seed: int, every: int = 100, young: int = 500, share: float = 0.05
) -> Member:
    """Tilings with a step small enough for labels that are mostly noise."""
    core = partial(tilings_core, tilings=tilings, depth=depth, rules=((0.002, None),), seed=seed)
    return Member(partial(core, every=every, young=young, share=share), 0.003)


def number_tilings(
    tilings: int = 256,
    depth: int = 3,
    steps: Sequence[float] = NUMBER_STEPS,
    *,
    every: int = 100,
    young: int = 500,
    share: float = 0.05,
    seed: int,
) -> tuple[int, int, list[float], int, int, float, int]:
    """Tilings for numbers as ``compiled.mixed_regression`` takes them."""
    return tilings, depth, list(steps), every, young, share, seed
