"""From cells to features, and an encoder that follows another by what the journal keeps of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.columns.encoder import Encoder
from thalweg.columns.kinds import CategoryColumn, NumberColumn
from thalweg.columns.plan import Plan
from thalweg.serve import cells

#: Rows that may wait before a follower takes them in.
_PATIENCE = 65_536


@dataclass(frozen=True)
class Encoded:
    """Rows as features, and what the encoder learned from them."""

    X: NDArray[np.float64]
    gaps: NDArray[np.bool_] | None
    categories: dict[str, list[str]]


def encode(encoder: Encoder, found: Sequence[Any], rows: int) -> Encoded:
    """The features of parsed cells; the encoder remembers them."""
    known = {column.name: len(column.categories) for column in _categorical(encoder)}
    gaps = cells.gaps_of(encoder, found)
    X = encoder.features(found, rows, learn=True)
    new = {
        column.name: list(column.categories)[known[column.name] :]
        for column in _categorical(encoder)
        if len(column.categories) > known[column.name]
    }
    return Encoded(X, gaps, new)


class Follower:
    """An encoder that is behind another one, and can be brought to where that was after any record.

    Parameters
    ----------
    encoder : Encoder
        As it was after the last record that was followed; it belongs to the follower from now on.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._rows: list[Encoded] = []
        self._waiting = 0

    def follow(self, encoded: Encoded) -> None:
        """The other encoder has learned these rows."""
        self._rows.append(encoded)
        self._waiting += len(encoded.X)
        if self._waiting > _PATIENCE:
            self._settle()

    @property
    def plan(self) -> Plan:
        """What the columns are, which does not change."""
        return self._encoder.plan

    def feature_names(self) -> tuple[str, ...]:
        """All features, with the categories that were taken in by their names."""
        return self._encoder.feature_names()

    def encoder(self) -> Encoder:
        """The encoder, with all rows that were followed; to be read only."""
        self._settle()
        return self._encoder

    def _settle(self) -> None:
        if not self._rows:
            return
        X = np.concatenate([each.X for each in self._rows])
        places = np.cumsum([0, *(len(column.features) for column in self._encoder.plan.columns)])
        columns = [column for column in self._encoder.plan.columns if isinstance(column, NumberColumn)]
        gaps = np.zeros((len(X), len(columns)), dtype=np.bool_)
        at = 0
        for each in self._rows:
            if each.gaps is not None:
                gaps[at : at + len(each.X)] = each.gaps
            at += len(each.X)
        for i, column in enumerate(columns):
            place = places[self._encoder.plan.columns.index(column)]
            values = np.where(gaps[:, i], np.nan, X[:, place])
            column.encode(values, np.empty((len(X), len(column.features))), learn=True)
        for each in self._rows:
            for named in _categorical(self._encoder):
                for category in each.categories.get(named.name, ()):
                    named.categories[category] = len(named.categories)
        self._rows, self._waiting = [], 0


def _categorical(encoder: Encoder) -> list[CategoryColumn]:
    return [column for column in encoder.plan.columns if isinstance(column, CategoryColumn)]
