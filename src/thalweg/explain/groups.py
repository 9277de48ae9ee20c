"""Which features belong together: those of one column of a table are replaced together and count as one."""

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
        into = {at: each[0] for each in sets for at in each}
        members: dict[int, list[int]] = {}
        for at in range(len(self)):
            members.setdefault(into.get(at, at), []).append(at)
        names, features, ordered = [], [], []
        for each in members.values():
            listed = [self.names[at] for at in each]
            more = len(listed) - _MOST_JOINED
            names.append(" + ".join(listed[:_MOST_JOINED]) + (f" + {more} more" if more > 0 else ""))
            alone = len(each) == 1
            features.append(self.features[each[0]] if alone else np.concatenate([self.features[at] for at in each]))
            ordered.append(self.ordered[each[0]] if alone else -1)
        joined_names = tuple([self.names[at] for at in each] for each in members.values())
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
            found = [places.get(each, each) if isinstance(each, str) else each for each in listed]
            for each in found:
                if isinstance(each, bool) or not isinstance(each, int) or not 0 <= each < width:
                    rule = f"hold names or places of the {width} features"
                    raise InvalidParameter.of("explain", "groups", rule, each)
                if taken[each]:
                    raise InvalidParameter.of("explain", "groups", "have each feature once", each)
                taken[each] = True
            features[str(group)] = np.array(found, dtype=np.int64)
        rest = np.flatnonzero(~taken)
        if len(rest):
            features[REST] = rest
        ordered = tuple(int(each[0]) if len(each) == 1 else -1 for each in features.values())
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
        name, features = next(each for each in zip(self.names, self.features, strict=True) if feature in each[1])
        if name not in self.words:
            return name
        words, place = self.words[name], feature - int(features[0])
        word = None if words is None else words.get(place)
        return f"{name}: {place if word is None else word}"

    def numbers(self) -> Places:
        """The group of each feature."""
        found = np.empty(self.width, dtype=np.int64)
        for number, features in enumerate(self.features):
            found[features if isinstance(features, np.ndarray) else slice(features.start, features.stop)] = number
        return found


def groups_for(groups: Any, model: Any, width: int) -> Groups:
    """Groups as given, or every feature by itself under its name: that of the rows that were learned, or ``x0`` on."""
    if isinstance(groups, Groups):
        return groups
    known = getattr(model, "feature_names_in_", None)
    names = [f"x{at}" for at in range(width)] if known is None else [str(name) for name in known]
    return Groups.single(names) if groups is None else Groups.given(groups, width, names)
