"""Transformers one behind the other, as one core: each is given, and learns, what the one before it gives out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats, Row
from thalweg.transforms.base import through
from thalweg.transforms.text_hasher import TextHasher

if TYPE_CHECKING:
    from thalweg.kernels._base import Vocabulary

#: Rows on their way at one time: what lies between two steps stays in the cache, and small, however long a chunk is.
BLOCK = 1024


class Chain:
    """The cores of transformers in a row; none of them, and rows pass unchanged.

    One for 0 features takes sparse rows: `SparseRows`, and a dict, or a text behind a hasher, as a single row.
    """

    def __init__(self, features: int, cores: Sequence[Any], hasher: TextHasher | None = None) -> None:
        self.n_features = features
        self.hasher = hasher
        self.cores = list(cores)
        self.n_outputs: int = self.cores[-1].n_outputs if self.cores else features
        self._reader = compiled.RowReader(features)

    @property
    def is_sparse(self) -> bool:
        return self.n_features == 0

    def name_features(self, names: tuple[str, ...] | Vocabulary, /) -> None:
        if not self.is_sparse:
            self._reader.name(names)
            return
        for core in self.cores:
            core.name_features(names)

    def stages_of(self, x: Row) -> list[Any]:
        """One row as each transformer is given it, and as the last one gives it out. Nothing is learned."""
        stages = [self._sparse_row(x) if self.is_sparse else self._reader.read(x)]
        for core in self.cores:
            stages.append(core.transform_one(stages[-1]))
        return stages

    def _sparse_row(self, x: Any) -> Any:
        if self.hasher is None:
            return x
        row = self.hasher.transform([x])
        return dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))

    def learn_stages(self, stages: list[Any]) -> None:
        """Learn the row of which these are the stages."""
        for core, row in zip(self.cores, stages, strict=False):
            core.learn_one(row)

    def known(self, X: Floats) -> Iterator[tuple[slice, Floats]]:
        """Blocks of rows transformed by what is known now. Nothing is learned."""
        for rows in _blocks(len(X)):
            Z = X[rows]
            for core in self.cores:
                Z = through(core.transform, Z, core.n_outputs)
            yield rows, Z

    def causal(
        self, X: Floats, masses: Floats | None = None, *, row_by_row: bool = False
    ) -> Iterator[tuple[slice, Floats]]:
        """Blocks of rows, each transformed by what was known before it, and then learned, by its weight if it has one.

        Row by row, each is learned only when the next is asked for. Whoever raises an error at a row then leaves
        the transformers as they were before it.
        """
        if row_by_row:
            for i in range(len(X)):
                row = slice(i, i + 1)
                ((_, Z),) = self.known(X[row])
                yield row, Z
                self.learn(X[row], _part(masses, row))
            return
        for rows in _blocks(len(X)):
            Z = X[rows]
            for core in self.cores:
                Z = through(core.run, Z, core.n_outputs, masses=_part(masses, rows))
            yield rows, Z

    def begin(self, X: Floats, /, masses: Floats | None = None) -> Floats:
        """Forget everything; each transformer learns all rows before the next one is begun. The rows transformed."""
        for core in self.cores:
            core.begin(X, masses)
            X = through(core.transform, X, core.n_outputs)
        return X

    def learn(self, X: Floats, /, masses: Floats | None = None) -> None:
        for _ in self.causal(X, masses):
            pass

    def run(self, X: Floats, out: Floats, /, masses: Floats | None = None) -> None:
        """Transform each row by what was known before it, then learn it."""
        for rows, Z in self.causal(X, masses):
            out[rows] = Z

    def transform(self, X: Floats, out: Floats, /) -> None:
        """Transform by what is known now."""
        for rows, Z in self.known(X):
            out[rows] = Z

    def transform_one(self, x: Row, /) -> Floats:
        last: Floats = self.stages_of(x)[-1]
        return last

    def transform_named(self, x: Row, names: tuple[Hashable, ...], /) -> dict[Any, float]:
        return dict(zip(names, self.transform_one(x).tolist(), strict=True))

    def learn_one(self, x: Row, /) -> None:
        self.learn_stages(self.stages_of(x))

    def check_one(self, x: Row, /) -> None:
        self._reader.read(x)

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays by the number of the step and the name they have there."""
        return {f"{i}.{name}": array for i, core in enumerate(self.cores) for name, array in core.state().items()}

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        """Take back what `state` gave, or raise ValueError; names without a number are not looked at."""
        for i, core in enumerate(self.cores):
            prefix = f"{i}."
            core.restore({name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)})


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(at, at + BLOCK) for at in range(0, rows, BLOCK))


def _part(masses: Floats | None, rows: slice) -> Floats | None:
    return None if masses is None else masses[rows]
