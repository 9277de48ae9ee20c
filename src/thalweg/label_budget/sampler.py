"""Decides row by row, before the label is known, whether to ask for it: with a known probability, within a budget.

A row's probability of being asked is a share that every row has, plus one that falls exponentially with the share of
the last rows that are more worth asking: a moving, randomised threshold (I. Žliobaitė, A. Bifet, B. Pfahringer,
G. Holmes, "Active Learning With Drifting Streaming Data", IEEE TNNLS 2014). Ranks need no scale. Where labels show that
preferred rows are not predicted worse than others, as after a change or where nothing can be learned, all are alike.

Rows are drawn as in ordered pivotal sampling (J.-C. Deville, Y. Tillé, "Unequal Probability Sampling Without
Replacement Through a Splitting Method", Biometrika 1998; G. Chauvet, "On a Characterization of Ordered Pivotal
Sampling", Bernoulli 2012): the probabilities are laid end to end and cut into cells of length 1, and just one row of a
cell is asked. Each row keeps its probability exactly, and the number asked in any stretch differs from the sum of the
probabilities by less than 2. That sum is steered to the budget.

Cost: O(300) additions a row.
"""

from __future__ import annotations

import math
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from thalweg.parameters import OneOf, Real, Rules, Whole
from thalweg.saved import Saved

Strategy: TypeAlias = Literal["auto", "random", "uncertain", "rare", "flagged"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "random", "uncertain", "rare", "flagged")
#: Rows among which a row is ranked.
WINDOW = 300
#: Share of the budget of the first so many rows that the very first rows get: a model that knows nothing learns most.
_EARLY, _EARLY_ROWS = 0.6, 500
#: How fast the preference falls with the rank: by e at this share of the rows.
_REACH = 0.1
#: Asked rows over which it is judged whether preferred rows are the ones that are predicted wrongly.
_MEMORY = 50
#: The most labels by which the probabilities may be ahead of the budget: this times the budget, within bounds.
_AHEAD, _AHEAD_LEAST, _AHEAD_MOST = 50.0, 2.5, 6.0
_MASK = 2**64 - 1

RULES = Rules(
    budget=Real(0, 1, "right", text="be a share of the rows, above 0 and at most 1"),
    strategy=OneOf(*STRATEGIES),
    explore=Real(0, 1, "both"),
    seed=Whole(0),
)


def uniform(seed: int, number: int) -> float:
    """A number from [0, 1) that depends on a seed and on the number of the draw alone (splitmix64).

    Examples
    --------
    >>> round(uniform(0, 1), 6), uniform(0, 1) == uniform(0, 1), uniform(0, 1) == uniform(1, 1)
    (0.431528, True, False)
    """
    z = ((seed * 0x2545F4914F6CDD1D) ^ ((number + 1) * 0x9E3779B97F4A7C15)) & _MASK
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        z = ((z ^ (z >> shift)) * factor) & _MASK
    return (z >> 11) / 2**53


class Decision(NamedTuple):
    """Whether to ask for the label of a row, and how probable that was."""

    ask: bool
    probability: float


class LabelSampler(Saved):
    """Decides for one row after the other.

    Parameters
    ----------
    share : float in (0, 1]
        Share of the rows to ask for.
    strategy : {"random", "uncertain", "rare", "flagged"}
        By what rows are preferred: by nothing, by how uncertain they are, by that and by P(positive) in equal parts,
        or by P(positive) alone: beside the share for exploration only the rows on top are asked.
    explore : float in [0, 1]
        Share of the budget that is spent on all rows alike.
    seed : int
        Seed for the random number generator.

    Examples
    --------
    >>> sampler = LabelSampler(0.1, "random")
    >>> sum(sampler.decide().ask for _ in range(1000))
    100
    """

    _saved: ClassVar[tuple[str, ...]] = (
        "share",
        "rows",
        "asked",
        "surplus",
        "_position",
        "_picked",
        "_recent",
        "_losses",
    )

    def __init__(self, share: float, strategy: Strategy = "uncertain", explore: float = 0.2, seed: int = 0) -> None:
        self.share = share
        self.strategy = strategy
        self.explore = explore
        self.seed = seed
        self.rows = self.asked = 0
        #: By how much the sum of the probabilities is ahead of the budget.
        self.surplus = 0.0
        #: Length of the current cell that is used up, and whether a row of it was asked.
        self._position = 0.0
        self._picked = False
        #: Of the last rows how uncertain they were, and P(positive).
        self._recent = np.zeros((2, WINDOW))
        #: Fading mean losses of asked rows that were not preferred, and of those that were.
        self._losses = np.array([0.0, 0.5])

    def decide(self, uncertainty: float = 0.0, positive: float = 0.0, share: float | None = None) -> Decision:
        """Whether to ask for the next row; ``share`` is the budget's at this row, where it changes."""
        budget = self.share if share is None else share
        probability = self._probability((uncertainty, positive), budget)
        ask = self._draw(probability, uniform(self.seed, 2 * self.rows))
        self.record(Decision(ask, probability), uncertainty, positive, share)
        return Decision(ask, probability)

    def record(
        self, decision: Decision, uncertainty: float = 0.0, positive: float = 0.0, share: float | None = None
    ) -> None:
        """Take over what was decided of the next row, elsewhere or here."""
        ask, probability = decision
        self.share = share or self.share
        self._recent[:, self.rows % WINDOW] = uncertainty, positive
        self.surplus += probability - (self.share if share is None else share)
        end = self._position + probability
        if end <= 1.0:
            self._picked = self._picked or ask
        else:
            end, self._picked = end - 1.0, self._picked and ask
        self._position = end
        self.rows += 1
        self.asked += ask

    def _probability(self, worth: tuple[float, float], budget: float) -> float:
        if self.strategy == "random" or not 0.0 < budget < 1.0:
            return max(min(budget, 1.0), 0.0)
        early = min(self.rows / _EARLY_ROWS, 1.0)
        ahead = self.surplus - _EARLY * _EARLY_ROWS * budget * (1.0 - early)
        if ahead < -1.0 and early < 1.0:
            return 1.0
        ahead /= min(max(_AHEAD * budget, _AHEAD_LEAST), _AHEAD_MOST)
        pull = math.exp(-1.25 * ahead) * max(1.0 - ahead, 0.0) if ahead > 0.0 else 1.0
        push = max(-2.0 * ahead, 0.0)
        tie = uniform(self.seed, 2 * self.rows + 1)
        if self.strategy == "flagged":
            return 1.0 if self._above(1, worth[1], tie) < budget * pull + push else self.explore * budget
        which = (0, 1) if self.strategy == "rare" else (0,)
        # Exponential in the rank, with a mean of 1 over all ranks.
        preferred = 0.0
        for at in which:
            reach = min(_REACH, budget) if at == 1 else _REACH
            density = math.exp(-self._above(at, worth[at], tie) / reach) / (reach * -math.expm1(-1.0 / reach))
            preferred += density / len(which)
        gain = self.gain
        preferred = (gain * preferred + 1.0 - gain) * pull + push
        return min(self.explore * budget + (1.0 - self.explore) * budget * preferred, 1.0)

    @property
    def gain(self) -> float:
        """From 0 to 1, by how much preferred rows are the ones that are predicted wrongly; 0 where all are alike."""
        other, preferred = self._losses.tolist()
        return max(0.0, 1.0 - other / preferred) if preferred > 0.0 else 1.0

    def judge(self, loss: float, probability: float) -> None:
        """The label of an asked row has come: what its prediction lost."""
        at = int(probability > self.share)
        self._losses[at] += (loss - self._losses[at]) / _MEMORY

    def know(self, later: LabelSampler) -> None:
        """Take over what labels say by now of the losses of preferred and other rows."""
        self._losses = later._losses.copy()

    def _above(self, kind: int, worth: float, tie: float) -> float:
        """The share of the last rows that are more worth asking; equal ones are put in a random order."""
        rows = min(self.rows, WINDOW)
        if rows == 0:
            return 0.0
        recent = self._recent[kind, :rows]
        return float(np.count_nonzero(recent > worth) + tie * np.count_nonzero(recent == worth)) / rows

    def _draw(self, probability: float, number: float) -> bool:
        """Whether it is this row's turn. A row that lies across two cells may be the one of either."""
        position, end = self._position, self._position + probability
        if end <= 1.0:
            return not self._picked and (end >= 1.0 or number * (1.0 - position) < probability)
        # The last of a cell of which none was asked is asked, and cannot be the one of the next cell, too.
        return not self._picked or number * position < end - 1.0
