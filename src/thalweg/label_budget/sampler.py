"""Decides row by row, before the label is known, whether to ask for it: with a known probability, within a budget.

A share of the budget is for all rows alike. The rest goes to the rows that are the most worth asking among the last
ones: a threshold that moves, as in I. Žliobaitė, A. Bifet, B. Pfahringer, G. Holmes, "Active Learning With Drifting
Streaming Data", IEEE TNNLS 2014. Ranks need no scale. Where we depart: the threshold itself is not randomised. With a
probability that falls with the rank, exponentially or from 1.5 to 0.5 of the threshold, the default made more errors.

Rows are drawn as in ordered pivotal sampling (J.-C. Deville, Y. Tillé, "Unequal Probability Sampling Without
Replacement Through a Splitting Method", Biometrika 1998; G. Chauvet, "On a Characterization of Ordered Pivotal
Sampling", Bernoulli 2012): the probabilities are laid end to end and cut into cells of length 1, and just one row of a
cell is asked. Each row keeps its probability exactly, and the number asked in any stretch differs from the sum of the
probabilities by less than 2. That sum is steered to the budget.

Cost: a thousand comparisons a row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from thalweg.parameters import OneOf, Real, Rules, Whole
from thalweg.saved import Saved

Strategy: TypeAlias = Literal["auto", "random", "uncertain", "rare", "flagged"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "random", "uncertain", "rare", "flagged")
#: What a row may be preferred by.
UNCERTAIN, POSITIVE, UNUSUAL = range(3)
#: By strategy the parts of the budget that go to each preference.
_PARTS: Mapping[str, tuple[tuple[int, float], ...]] = {
    "uncertain": ((UNCERTAIN, 1.0),),
    "rare": ((POSITIVE, 0.8), (UNUSUAL, 0.2)),
    "flagged": ((POSITIVE, 1.0),),
}
#: The last rows among which a row is ranked by each. Uncertainty falls as a model learns.
_WINDOWS = (300, 1000, 1000)
#: Share of the budget of the first so many rows that the very first rows get: a model that knows nothing learns most.
_EARLY, _EARLY_ROWS = 0.6, 500
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


class RowWorth(NamedTuple):
    """How uncertain the prediction of a row is, the probability of the label of interest, how unusual the row is."""

    uncertainty: float
    positive: float
    unusual: float


UNKNOWN = RowWorth(0.0, 0.0, 0.0)


class LabelSampler(Saved):
    """Decides for one row after the other.

    Parameters
    ----------
    share : float in (0, 1]
        Share of the rows to ask for.
    strategy : {"random", "uncertain", "rare", "flagged"}
        By what rows are preferred: by nothing, by how uncertain they are, by P(positive) and by how unusual they are,
        or by P(positive) alone.
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

    _saved: ClassVar[tuple[str, ...]] = ("share", "rows", "asked", "surplus", "_position", "_picked", "_recent")

    def __init__(self, share: float, strategy: Strategy = "uncertain", explore: float = 0.1, seed: int = 0) -> None:
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
        #: Of the last rows by what they are preferred.
        self._recent = np.zeros((len(_WINDOWS), max(_WINDOWS)))

    def decide(self, worth: RowWorth = UNKNOWN, share: float | None = None) -> Decision:
        """Whether to ask for the next row; ``share`` is the budget's at this row, where it changes."""
        probability = self._probability(worth, self.share if share is None else share)
        decision = Decision(self._draw(probability, uniform(self.seed, 2 * self.rows)), probability)
        self.record(decision, worth, share)
        return decision

    def record(self, decision: Decision, worth: RowWorth = UNKNOWN, share: float | None = None) -> None:
        """Take over what was decided of the next row, elsewhere or here."""
        ask, probability = decision
        self.share = share or self.share
        for at, window in enumerate(_WINDOWS):
            self._recent[at, self.rows % window] = worth[at]
        self.surplus += probability - (self.share if share is None else share)
        end = self._position + probability
        if end <= 1.0:
            self._picked = self._picked or ask
        else:
            end, self._picked = end - 1.0, self._picked and ask
        self._position = end
        self.rows += 1
        self.asked += ask

    def _probability(self, worth: RowWorth, budget: float) -> float:
        if self.strategy == "random" or not 0.0 < budget < 1.0:
            return max(min(budget, 1.0), 0.0)
        early = min(self.rows / _EARLY_ROWS, 1.0)
        ahead = self.surplus - (1.0 - self.explore) * _EARLY * _EARLY_ROWS * budget * (1.0 - early)
        if ahead < -1.0 and early < 1.0:
            return 1.0
        ahead /= min(max(_AHEAD * budget, _AHEAD_LEAST), _AHEAD_MOST)
        pull = math.exp(-1.25 * ahead) * max(1.0 - ahead, 0.0) if ahead > 0.0 else 1.0
        push = max(-2.0 * ahead, 0.0)
        tie = uniform(self.seed, 2 * self.rows + 1)
        for at, part in _PARTS[self.strategy]:
            reach = (1.0 - self.explore) * part * budget
            if self._above(at, worth[at], tie) < reach * pull + part * push:
                return 1.0
        return self.explore * budget

    def _above(self, kind: int, worth: float, tie: float) -> float:
        """The share of the last rows that are more worth asking; equal ones are put in a random order."""
        rows = min(self.rows, _WINDOWS[kind])
        recent = self._recent[kind, :rows]
        # The row is one of them, so that the first of few is not surely among the highest.
        return float(np.count_nonzero(recent > worth) + tie * (np.count_nonzero(recent == worth) + 1)) / (rows + 1)

    def _draw(self, probability: float, number: float) -> bool:
        """Whether it is this row's turn. A row that lies across two cells may be the one of either."""
        position, end = self._position, self._position + probability
        if end <= 1.0:
            return not self._picked and (end >= 1.0 or number * (1.0 - position) < probability)
        # The last of a cell of which none was asked is asked, and cannot be the one of the next cell, too.
        return not self._picked or number * position < end - 1.0
