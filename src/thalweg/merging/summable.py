"""How a model of one kind becomes sums of rows and is made of them again; models that only count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.merging.moments import Moments

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


class _NoColumns(Sums):
    """No column is looked at."""

    def columns(self, features: int, outputs: int) -> int:
        """None of them."""
        return 0


class CountSums(_NoColumns):
    """The sums of `MajorityClass`: rows per class."""

    def learned(self, state: State) -> Learned:
        """The counts."""
        counts = state["counts"][0]
        none = Moments.none(0, len(counts))
        return Learned(replace(none, rows=int(counts.sum()), last=int(counts.argmax()), weights=counts))

    def state(self, known: Learned, fresh: State) -> State:
        """The counts again."""
        return fresh | {"counts": known.moments.weights[np.newaxis]}


class LastSums(_NoColumns):
    """The sums of `NoChange`: which class was last."""

    ordered = True

    def why_not_begun(self) -> str | None:
        """The order of the rows is all that counts."""
        return "its answer is the label of the last row, so that their order counts"

    def learned(self, state: State) -> Learned:
        """The last class."""
        last = int(state["last_class"].item())
        none = Moments.none(0, int(state["n_classes"].item()))
        return Learned(replace(none, rows=int(last >= 0), last=last))

    def state(self, known: Learned, fresh: State) -> State:
        """The last class again."""
        return fresh | {"last_class": np.array([known.moments.last])}
