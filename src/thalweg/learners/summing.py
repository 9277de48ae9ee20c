"""How models of one kind become sums of rows, and are made of them again: what `learners/adding.py` goes by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.sums.moments import Moments

State = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Learned:
    """What a model knows, as sums; learners add what else they need to go on."""

    moments: Moments

    def in_groups(self, places: NDArray[np.int64], groups: int) -> Self:
        """The same with each group of rows at its place among so many."""
        return replace(self, moments=self.moments.in_groups(places, groups))

    def of_groups(self, kept: NDArray[np.int64]) -> Self:
        """The same without the groups that are not named."""
        return replace(self, moments=self.moments.of_groups(kept))


class Sums:
    """The sums of one kind of models. Each ``why_not`` is the end of a sentence, None where there is no reason."""

    #: The share of what is known that a later row makes forget.
    forgetting: float = 0.0
    #: Whether the scatter is about the means, and whether no more than its diagonal is needed.
    centred, diagonal = True, False

    @property
    def ordered(self) -> bool:
        """Whether later rows must come after earlier ones."""
        return self.forgetting > 0

    def why_not_begun(self) -> str | None:
        """Why sums of rows, in whatever order, are no start for such a model."""
        return "it forgets row by row, so that their order counts" if self.forgetting > 0 else None

    def why_not_followed(self) -> str | None:
        """Why sums of later rows do not follow what such a model knows."""
        return None

    def why_not_models(self) -> str | None:
        """Why two such models, each of which began by itself, do not add up."""
        return self.why_not_followed()

    def why_not_taken_out(self) -> str | None:
        """Why rows cannot be taken out of such a model again."""
        return "what it has forgotten cannot be told from what it never knew" if self.ordered else None

    def rows_first(self, state: State | None) -> int:
        """How many more rows a model must learn by itself before sums can follow it; None: it has learned nothing."""
        return 0

    def columns(self, features: int, outputs: int) -> int:
        """How many numbers of a row are summed."""
        return features

    def learned(self, state: State) -> Learned:
        """What a core knows."""
        raise NotImplementedError

    def as_part(self, known: Any) -> Moments:
        """The rows of a model that are to be taken out of another."""
        moments: Moments = known.moments
        return moments

    def begun(self, moments: Moments) -> Learned:
        """What a core knows that began with these rows."""
        return Learned(moments)

    def then(self, known: Any, later: Any) -> Learned:
        """What a core knows that learned both; ``later`` may be no more than rows."""
        return Learned(known.moments.then(later.moments))

    def without(self, known: Any, part: Moments, owner: str) -> Learned:
        """What a core knows that never learned these rows of its own."""
        return Learned(known.moments.without(part, owner))

    def state(self, known: Any, fresh: State) -> State:
        """The state of a core that knows this; ``fresh`` is that of one that knows nothing."""
        raise NotImplementedError
