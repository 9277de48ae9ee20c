"""The compiled forest over the last rows, as `WindowForest`, `WindowForestRegressor` and the defaults hold it.

A forest has one or two groves, whose trees learn and forget alike: short ones, which are grown anew when the stream
changes, and lasting ones, which keep what they know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.saved_tree import SavedTree
from thalweg.learners.base.tree_text import LeafText, tree_text
from thalweg.parameters import SEED, Real, Rules, Whole

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: Rows that a forest holds, and how many numbers they may have in all.
ROWS, MOST_NUMBERS = 8192, 1 << 21


class Grove(NamedTuple):
    """Trees that learn and forget alike, as the kernels take them."""

    trees: int
    feature_share: float = 0.6
    leaf_rows: int = 32
    least_gain: float = 4.0
    bagging: float = 3.0
    fading: float = 0.95
    change_level: float = 0.001
    regrow_every: int = 200
    regrow_share: float = 0.0
    shortest: int = 256
    longest: int = 2048
    max_leaves: int = 1024
    step: float = 3.0

    @classmethod
    def of(cls, model: Any) -> Grove:
        """The trees of a learner that has parameters of these names."""
        given = {name: getattr(model, name) for name in cls._fields if hasattr(model, name)}
        return cls(**{name: type(cls._field_defaults.get(name, 0))(value) for name, value in given.items()})

    def lasting(self, trees: int, rows: int) -> Grove:
        """Trees with a long memory: of fewer features each, grown from all rows that are held."""
        return self._replace(
            trees=trees,
            feature_share=self.feature_share * 5 / 6,
            fading=1 - (1 - self.fading) / 50,
            change_level=0.0,
            regrow_share=0.1,
            shortest=rows,
            longest=rows,
        )


#: Trees over numbers, as the default has them.
NUMBER_GROVE = Grove(0, least_gain=8.0, max_leaves=2048, step=0.2)
#: What a grove says of classes.
CLASS_ANSWERS = ("votes", "refined")
#: The step of the second refinement of numbers, in terms of the first.
_SLOW = 0.2


def number_answers(step: float) -> tuple[str, ...]:
    """What a grove says of numbers.

    Examples
    --------
    >>> number_answers(0.5)
    ('means', 'step 0.5', 'step 0.1')
    """
    return "means", f"step {step:g}", f"step {_SLOW * step:g}"


def said_by_trees(trees: int, lasting_trees: int, answers: Sequence[str] = CLASS_ANSWERS) -> list[str]:
    """What each kind of tree says, by name, in the order of a forest's predictions.

    Examples
    --------
    >>> said_by_trees(10, 0)
    ['trees that follow, votes', 'trees that follow, refined']
    """
    kinds = {"follow": trees, "last": lasting_trees}
    return [f"trees that {do}, {what}" for do, count in kinds.items() if count for what in answers]


def rows_held(features: int, rows: int | None = None) -> int:
    """How many rows a forest holds: a power of two, and at most two million numbers.

    Examples
    --------
    >>> rows_held(10), rows_held(1000), rows_held(10, 3000)
    (8192, 2048, 2048)
    """
    most = min(ROWS if rows is None else rows, max(64, MOST_NUMBERS // features))
    return 1 << (most.bit_length() - 1)


def forest_core(features: int, trees: int, lasting_trees: int, *, rows: int, seed: int, grove: Grove) -> Core:
    """A forest with as many trees of each kind; votes and refinement of each are two sets of probabilities."""
    return compiled.forest(features, _groves(trees, lasting_trees, rows, grove), rows, seed)


#: As ``compiled.mixed_regression`` takes a forest: groves, rows, seed, and whether it learns what smooth members leave.
CompiledNumberForest = tuple[list[list[float]], int, int, bool]


def number_forest(
    trees: int, lasting_trees: int, *, rows: int, seed: int, grove: Grove, of_rest: bool = False
) -> CompiledNumberForest:
    """A forest whose targets are numbers; each kind of tree makes three predictions, `number_answers`."""
    return _groves(trees, lasting_trees, rows, grove), rows, seed, of_rest


def _groves(trees: int, lasting_trees: int, rows: int, grove: Grove) -> list[list[float]]:
    short = grove._replace(trees=trees, longest=min(grove.longest, rows), shortest=min(grove.shortest, rows))
    return [list(map(float, own_grove)) for own_grove in (short, grove.lasting(lasting_trees, rows)) if own_grove.trees]


TREE_RULES = {
    "trees": Whole(0, 1000),
    "lasting_trees": Whole(0, 1000),
    "rows": Whole(64, 1_000_000).or_else(None),
    "feature_share": Real(0, 1, "right"),
    "leaf_rows": Whole(8, 1024),
    "least_gain": Real(0, 1e6, "both"),
    "bagging": Real(0, 20, "both"),
    "fading": Real(0, 1, "right"),
    "change_level": Real(0, 1, "left"),
    "regrow_every": Whole(0, 10**9),
    "max_leaves": Whole(2, 65_536),
    "random_state": SEED,
}


class WithTrees:
    """What a forest's learners for classes and for numbers have in common."""

    _rules: Rules
    trees: int
    lasting_trees: int
    rows: int | None
    random_state: int

    def _forest(self, features: int) -> dict[str, Any]:
        self._rules.check(self)
        if self.trees + self.lasting_trees == 0:
            rule = "be at least 1 without lasting trees"
            raise InvalidParameter.of(type(self).__name__, "trees", rule, self.trees)
        return {
            "trees": int(self.trees),
            "lasting_trees": int(self.lasting_trees),
            "rows": rows_held(features, None if self.rows is None else int(self.rows)),
            "seed": int(self.random_state),
            "grove": Grove.of(self),
        }

    def _tree_text(
        self: Any,
        state: Any,
        forest: str,
        number: int,
        leaf: LeafText,
        feature_names: Sequence[str] | None,
        max_depth: int | None,
    ) -> str:
        """A tree as text; ``forest`` is what names in ``state`` begin with."""
        where = f"{type(self).__name__}.export_text"
        if not 0 <= number < self.trees + self.lasting_trees:
            rule = f"be from 0 to {self.trees + self.lasting_trees - 1}"
            raise InvalidParameter.of(where, "number", rule, number)
        names = feature_names if feature_names is not None else getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"feature_{j}" for j in range(self.n_features_in_)]
        if len(names) != self.n_features_in_:
            raise InvalidParameter.of(where, "feature_names", f"have {self.n_features_in_:,} names", feature_names)
        lasts = number >= self.trees
        grove = f"{forest}grove{int(lasts and self.trees > 0)}_"
        return tree_text(SavedTree.of(state, grove, number - self.trees * lasts), leaf, list(names), max_depth)
