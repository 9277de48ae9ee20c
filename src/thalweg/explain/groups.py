"""Which features belong together: those of one column, and columns that stand for each other.

Features of one column of a table are replaced together and count as one. Columns stand for each other where what one
says, another says as well, or two others say together. A model may use either, or the difference between them. To
replace one of them alone makes rows that cannot be, such as an hour that contradicts the time of departure, and its
predictions there say nothing about any column. So they are replaced together, and have one importance.

Two columns stand for each other if either explains 80 % of the other's variance, by a linear regression between their
features. Three do if two of them explain 90 % of the third, and neither does alone: hour, minute and the time of day.

Cost of looking for them: O(n p^2 + g^3) for n rows of p features in g columns, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidParameter

if TYPE_CHECKING:
    from thalweg.tables.plan import Plan
    from thalweg.text import FeatureNames

Places = NDArray[np.int64]
#: The group of the features that were left out of all others, and that of rows that are texts.
REST, TEXT = "other features", "text"
#: Columns that the name of joined ones lists.
_MOST_JOINED = 4


@dataclass(frozen=True)
class Groups:
    """Features by group, in the order of the names.

    Attributes
    ----------
    names : tuple of str
        One for each group.
    features : tuple of range or array of int
        The features of each group.
    ordered : tuple of int
        The feature of each group whose size has a meaning; -1 for groups such as categories, which have none.
    width : int
        The number of features of a row.
    words : dict
        The sparse groups, each of whose features has a name of its own: their words by place in the group, or None
        where no words are known.
    joined_names : tuple of list of str
        Of `joined` groups, the names of those that each is made of.
    """

    names: tuple[str, ...]
    features: tuple[range | Places, ...]
    ordered: tuple[int, ...]
    width: int
    words: Mapping[str, FeatureNames | None] = field(default_factory=dict)
    joined_names: tuple[list[str], ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def single(cls, names: Sequence[str]) -> Self:
        """Every feature by itself.

        Examples
        --------
        >>> Groups.single(["rain", "level"]).features
        (range(0, 1), range(1, 2))
        """
        count = len(names)
        return cls(tuple(names), tuple(range(at, at + 1) for at in range(count)), tuple(range(count)), count)

    @classmethod
    def of_plan(cls, plan: Plan) -> Self:
        """The columns of a table; the feature that marks gaps of several columns is a group of its own."""
        words: dict[str, FeatureNames | None] = {}
        names: list[str] = []
        features: list[range | Places] = []
        ordered: list[int] = []
        start, behind = 0, len(plan.feature_names)
        for column in plan.columns:
            begin = behind if column.sparse else start
            names.append(column.name)
            features.append(range(begin, begin + column.width))
            ordered.append(begin if column.is_number else -1)
            if column.sparse:
                words[column.name] = column.words
                behind += column.width
            else:
                start += column.width
        for mark in plan.marks:
            names.append(mark)
            features.append(range(start, start + 1))
            ordered.append(-1)
        return cls(tuple(names), tuple(features), tuple(ordered), plan.width, words)

    def joined(self, sets: Sequence[Sequence[int]]) -> Groups:
        """Some groups as one, each set in the place of its first: columns that stand for each other.

        Examples
        --------
        >>> Groups.single(["time", "delay", "hour"]).joined([[0, 2]]).names
        ('time + hour', 'delay')
        """
        into = {at: places[0] for places in sets for at in places}
        members: dict[int, list[int]] = {}
        for at in range(len(self)):
            members.setdefault(into.get(at, at), []).append(at)
        names, features, ordered = [], [], []
        for own in members.values():
            listed = [self.names[at] for at in own]
            more = len(listed) - _MOST_JOINED
            names.append(" + ".join(listed[:_MOST_JOINED]) + (f" + {more} more" if more > 0 else ""))
            alone = len(own) == 1
            features.append(self.features[own[0]] if alone else np.concatenate([self.features[at] for at in own]))
            ordered.append(self.ordered[own[0]] if alone else -1)
        joined_names = tuple([self.names[at] for at in places] for places in members.values())
        return Groups(tuple(names), tuple(features), tuple(ordered), self.width, self.words, joined_names)

    @classmethod
    def of_text(cls, words: FeatureNames | None, width: int) -> Self:
        """Rows that are texts: one group of hashed words."""
        return cls((TEXT,), (range(width),), (-1,), width, {TEXT: words})

    @classmethod
    def given(cls, groups: Mapping[str, ArrayLike], width: int, feature_names: Sequence[str]) -> Self:
        """Groups as a caller names them, by places or names of features; those in no group are one of their own."""
        places = {name: at for at, name in enumerate(feature_names)}
        taken = np.zeros(width, dtype=np.bool_)
        features: dict[str, range | Places] = {}
        for group, members in groups.items():
            listed = np.atleast_1d(np.asarray(members)).tolist()
            indices = [places.get(item, item) if isinstance(item, str) else item for item in listed]
            for item in indices:
                if isinstance(item, bool) or not isinstance(item, int) or not 0 <= item < width:
                    rule = f"hold names or places of the {width} features"
                    raise InvalidParameter.of("explain", "groups", rule, item)
                if taken[item]:
                    raise InvalidParameter.of("explain", "groups", "have each feature once", item)
                taken[item] = True
            features[str(group)] = np.array(indices, dtype=np.int64)
        rest = np.flatnonzero(~taken)
        if len(rest):
            features[REST] = rest
        ordered = tuple(int(places[0]) if len(places) == 1 else -1 for places in features.values())
        return cls(tuple(features), tuple(features.values()), ordered, width)

    def name_of(self, feature: int) -> str:
        """The group of a feature; of a sparse one with the word that the feature stands for, or its place.

        Examples
        --------
        >>> from thalweg.text import FeatureNames, NGrams
        >>> words = FeatureNames(8).add_texts(["late again"], NGrams(hash_bits=8))
        >>> sorted(map(Groups.of_text(words, 256).name_of, [*words, 7]))
        ['text: 7', 'text: again', 'text: late']
        """
        name, features = next(group for group in zip(self.names, self.features, strict=True) if feature in group[1])
        if name not in self.words:
            return name
        words, place = self.words[name], feature - int(features[0])
        word = None if words is None else words.get(place)
        return f"{name}: {place if word is None else word}"

    def numbers(self) -> Places:
        """The group of each feature."""
        numbers = np.empty(self.width, dtype=np.int64)
        for number, features in enumerate(self.features):
            numbers[features if isinstance(features, np.ndarray) else slice(features.start, features.stop)] = number
        return numbers


def groups_for(groups: Any, model: Any, width: int) -> Groups:
    """Groups as given, or every feature by itself under its name: that of the rows that were learned, or ``x0`` on."""
    if isinstance(groups, Groups):
        return groups
    known = getattr(model, "feature_names_in_", None)
    names = [f"x{at}" for at in range(width)] if known is None else [str(name) for name in known]
    return Groups.single(names) if groups is None else Groups.given(groups, width, names)


Floats = NDArray[np.float64]

#: Shares of the variance that one column, or two, must explain.
_BY_ONE, _BY_TWO = 0.8, 0.9
#: Rows that are needed, and columns and features of a column beyond which nothing is looked for.
_LEAST_ROWS, _MOST_COLUMNS, _MOST_FEATURES = 100, 60, 8
#: Of each feature the values beyond these quantiles count as those at them: single ones would make up a correlation.
_TAILS = (0.01, 0.99)


def stand_ins(X: Floats, groups: Groups) -> list[list[int]]:
    """Groups of features that stand for each other in these rows, by their numbers; those that do not are left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hour, minute, delay = rng.integers(5, 23, 500), rng.integers(0, 60, 500), rng.normal(size=500)
    >>> X = np.column_stack([100.0 * hour + minute, delay, hour, minute])
    >>> stand_ins(X, Groups.single(["time", "delay", "hour", "minute"]))
    [[0, 2, 3]]
    """
    if len(X) < _LEAST_ROWS or not 1 < len(groups) <= _MOST_COLUMNS:
        return []
    Z = np.clip(X, *np.quantile(X, _TAILS, axis=0))
    Z = Z - Z.mean(axis=0)
    scale = Z.std(axis=0)
    varies = scale > 1e-9 * np.maximum(np.abs(X).max(axis=0), 1e-300)
    Z = np.where(varies, Z / np.where(varies, scale, 1.0), 0.0)
    features = [[at for at in own if varies[at]] for own in groups.features]
    columns = [at for at, own in enumerate(features) if 0 < len(own) <= _MOST_FEATURES]
    r = Z.T @ Z / len(Z)
    links = [
        (at, by)
        for at, column in enumerate(columns)
        for by, other in enumerate(columns)
        if at != by and _explained(r, features[column], features[other]) >= _BY_ONE
    ]
    single = [at for at, column in enumerate(columns) if len(features[column]) == 1]
    if len(single) > 2:
        places = [features[columns[at]][0] for at in single]
        links += _by_two(r[np.ix_(places, places)], single)
    return _connected(links, columns)


def _explained(r: Floats, of: list[int], by: list[int]) -> float:
    """The mean share of the variance of features that others explain, from the correlations of all."""
    if len(of) == len(by) == 1:
        return float(r[of[0], by[0]] ** 2)
    shared = r[np.ix_(by, of)]
    return float((shared * np.linalg.solve(r[np.ix_(by, by)] + 1e-9 * np.eye(len(by)), shared)).sum() / len(of))


def _by_two(r: Floats, names: list[int]) -> list[tuple[int, int]]:
    """Links of features to two others that explain them, where one does not; ``r`` are their correlations."""
    links = []
    for at in range(len(names)):
        own = r[at]
        with np.errstate(divide="ignore", invalid="ignore"):
            both = (own[:, None] ** 2 + own**2 - 2.0 * own[:, None] * own * r) / (1.0 - r**2)
        both[(r**2 > 1.0 - 1e-9) | ~np.isfinite(both)] = 0.0
        both[at], both[:, at] = 0.0, 0.0
        first, second = np.unravel_index(np.argmax(both), both.shape)
        if both[first, second] >= _BY_TWO and max(own[first] ** 2, own[second] ** 2) < _BY_ONE:
            links += [(names[at], names[int(first)]), (names[at], names[int(second)])]
    return links


def _connected(links: list[tuple[int, int]], columns: list[int]) -> list[list[int]]:
    """Sets of columns that links join, in the order of the columns."""
    root = list(range(len(columns)))
    for one, other in links:
        joined, into = root[one], root[other]
        root = [into if number == joined else number for number in root]
    joined_columns: dict[int, list[int]] = {}
    for at, column in enumerate(columns):
        joined_columns.setdefault(root[at], []).append(column)
    return [members for members in joined_columns.values() if len(members) > 1]
