"""A learner behind transformers as one core: a classifier, a regressor, or a scikit-learn regressor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from thalweg.learners.base.python_core import Codes, PythonCore
from thalweg.learners.base.rows import Floats, Row
from thalweg.pipeline.chain import Chain

if TYPE_CHECKING:
    from thalweg.kernels._base import Vocabulary


class _Before:
    """Rows go through here on their way to another core, ``last``, which is asked."""

    last: Any

    @abstractmethod
    def _passed(self, X: Floats) -> Iterator[tuple[slice, Floats]]:
        """Blocks of rows as the last core is given them now. Nothing is learned."""

    @abstractmethod
    def _passed_one(self, x: Row) -> Any:
        """One row as the last core is given it now."""

    def answers(self, X: Floats, out: NDArray[Any], /) -> None:
        for rows, Z in self._passed(X):
            self.last.answers(Z, out[rows])

    def adapters(self) -> list[Any]:
        return self.last.adapters() if hasattr(self.last, "adapters") else []


class BeforeClassifier(_Before, PythonCore):
    """Before the core of a classifier; it says of itself what that one says."""

    n_members: Any = property(lambda self: int(self.last.n_members))
    rate: Any = property(lambda self: float(self.last.rate))
    confidence: Any = property(lambda self: float(self.last.confidence))
    decides: Any = property(lambda self: bool(self.last.decides))
    kept_size: Any = property(lambda self: int(getattr(self.last, "kept_size", 0)))
    kept_classes: Any = property(lambda self: np.asarray(self.last.kept_classes))

    def shares(self) -> Floats:
        return np.asarray(self.last.shares())

    def insert(self, at: int) -> None:
        self.last.announce(at)

    def learn(self, X: Floats, y: Codes) -> None:
        self.run(X, y)

    def answers_of(self, X: Floats) -> Codes:
        out = np.empty(len(X), dtype=np.int64)
        self.answers(X, out)
        return out

    def discriminants(self, X: Floats) -> Floats:
        out = np.empty((len(X), self.n_classes))
        self.scores(X, out)
        return out

    def scores(self, X: Floats, out: Floats, kept: NDArray[np.uint8] | None = None, /) -> None:
        for rows, Z in self._passed(X):
            self.last.scores(Z, out[rows], *(() if kept is None else (kept[rows],)))

    def answer_one(self, x: Row, /) -> int:
        return int(self.last.answer_one(self._passed_one(x)))

    def probabilities_one(self, x: Row, /) -> list[float]:
        given: list[float] = self.last.probabilities_one(self._passed_one(x))
        return given


class BeforeRegressor(_Before):
    """Before the core of a regressor."""

    def answer_one(self, x: Row, /) -> Floats:
        return np.asarray(self.last.answer_one(self._passed_one(x)))

    def answer_number(self, x: Row, /) -> float:
        return float(self.last.answer_number(self._passed_one(x)))

    def half_widths_of(self, X: Floats, out: Floats, coverage: int) -> None:
        for rows, Z in self._passed(X):
            self.last.half_widths_of(Z, out[rows], coverage)


class _Chained(_Before):
    """Predicts and learns each row as transformed before that row was seen; then the transformers learn it.

    ``last`` is the core of a classifier or a regressor, as wide as the chain gives out.
    """

    def __init__(self, chain: Chain, last: Any) -> None:
        self.n_features = chain.n_features
        self.chain = chain
        self.last = last

    @property
    def is_sparse(self) -> bool:
        return self.chain.is_sparse

    def _passed(self, X: Floats) -> Iterator[tuple[slice, Floats]]:
        return self.chain.known(X)

    def _passed_one(self, x: Row) -> Any:
        return self.chain.transform_one(x)

    def name_features(self, names: tuple[str, ...] | Vocabulary, /) -> None:
        self.chain.name_features(names)
        if self.is_sparse:
            self.last.name_features(names)

    @property
    def feature_names(self) -> tuple[Any, ...]:
        """The names of features that come and go, as far as they came."""
        names: tuple[Any, ...] = self.last.feature_names
        return names

    def begin(self, X: Floats, y: NDArray[Any], /, **masses: Floats) -> None:
        """Each transformer learns all rows, then the last step all rows as they are then transformed."""
        self.last.begin(self.chain.begin(X, **masses), y, **masses)

    def run(self, X: Floats, y: NDArray[Any], *wanted: Any, **named: Any) -> None:
        """Test-then-train; row by row where the last step is not ours and may raise an error."""
        row_by_row = getattr(self.last, "may_fail", False)
        for rows, Z in self.chain.causal(X, named.get("masses"), row_by_row=row_by_row):
            parts = [None if out is None else out[rows] for out in wanted]
            named_parts = {name: out[rows] if isinstance(out, np.ndarray) else out for name, out in named.items()}
            self.last.run(Z, y[rows], *parts, **named_parts)

    def _in_turn(self, X: Floats, order: Codes, masses: Floats | None = None) -> Iterator[tuple[Codes, Floats, bool]]:
        """Steps of one kind after another: rows, as they are transformed then, and whether they are predicted."""
        for part in np.split(order, np.flatnonzero(np.diff(order < 0)) + 1):
            asks = len(part) > 0 and bool(part[0] >= 0)
            rows = part if asks else ~part
            weights = None if masses is None else masses[rows]
            for block, Z in self.chain.known(X[rows]) if asks else self.chain.causal(X[rows], weights):
                yield rows[block], Z, asks

    def learn_one(self, x: Row, y: Any, /) -> Any:
        """The last step first, so that an error of its own leaves all as it was."""
        stages = self.chain.stages_of(x)
        cut = self.last.learn_one(stages[-1], y)
        self.chain.learn_stages(stages)
        return cut

    def check_one(self, x: Row, /) -> None:
        if self.is_sparse:
            self.last.check_one(self._passed_one(x))
        else:
            self.chain.check_one(x)

    def state(self) -> dict[str, NDArray[Any]]:
        """What the last step learned, by its own names, and the transformers, by number and name."""
        return {**self.chain.state(), **self.last.state()}

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        self.chain.restore(state)
        self.last.restore(state)


class ClassifierCore(_Chained, BeforeClassifier):
    """The core of a pipeline that ends in a classifier."""

    def __init__(self, chain: Chain, last: Any) -> None:
        PythonCore.__init__(self, chain.n_features)
        _Chained.__init__(self, chain, last)

    def forget(self) -> None:
        self.begin(np.empty((0, self.n_features)), np.empty(0, dtype=np.int64))

    def follow(
        self,
        X: Floats,
        y: Codes,
        order: Codes,
        answers: Codes,
        scores: Floats | None = None,
        kept: NDArray[np.uint8] | None = None,
        masses: Floats | None = None,
    ) -> None:
        """Predict and learn in any order; what is kept of predictions is the last step's."""
        if kept is None:
            super().follow(X, y, order, answers, scores)
            return
        for at, Z, asks in self._in_turn(X, order, masses):
            own, of_rows = np.arange(len(Z)), kept[at]
            given = np.full(len(Z), -1, dtype=np.int64)
            scored = None if scores is None else np.full((len(Z), self.n_classes), np.nan)
            options = {} if masses is None else {"masses": masses[at]}
            self.last.follow(Z, y[at], own if asks else ~own, given, scored, of_rows, **options)
            if asks:
                answers[at], kept[at] = given, of_rows
                if scores is not None:
                    scores[at] = scored

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        super().restore(state)
        self.n_classes = self.last.n_classes


class RegressorCore(_Chained, BeforeRegressor):
    """The core of a pipeline that ends in a regressor."""

    #: What the regressor's core says of itself; coefficients are those of the features that the transformers give out.
    _of_last = frozenset({"n_outputs", "n_members", "n_opinions", "cuts", "coefficients", "coverages", "widen"})

    def __getattr__(self, name: str) -> Any:
        if name not in self._of_last:
            raise AttributeError(f"the core of a pipeline has no {name!r}")
        return getattr(self.last, name)

    def follow(
        self,
        X: Floats,
        Y: Floats,
        order: Codes,
        number: Codes,
        newest: int,
        answers: Floats,
        lower: Floats,
        upper: Floats,
        opinions: NDArray[np.float32],
        coverage: int,
    ) -> int:
        """Predict and learn in any order; what was predicted is judged by the last step."""
        given: tuple[NDArray[Any], ...] = (answers, lower, upper, opinions)
        for at, Z, asks in self._in_turn(X, order):
            own, parts = np.arange(len(Z)), [values[at] for values in given]
            newest = self.last.follow(Z, Y[at], own if asks else ~own, number[at], newest, *parts, coverage)
            for whole, values in zip(given, parts, strict=True):
                whole[at] = values
        return newest


class ForeignRegressor:
    """A regressor with ``partial_fit`` that is not ours; it predicts 0 before its first row."""

    may_fail = True
    cuts = (0, 0, 0.0)

    def __init__(self, features: int, template: Any) -> None:
        self.n_features = features
        self.n_outputs = 1
        self.template = template
        self.model: Any = None

    def widen(self, outputs: int, /) -> None:
        self.n_outputs = outputs

    def begin(self, X: Floats, Y: Floats, /) -> None:
        """Forget everything and begin from these rows, one by one."""
        self.model = None
        self.run(X, Y)

    def run(
        self, X: Floats, Y: Floats, answers: Floats | None = None, weights: object = None, intercepts: object = None
    ) -> None:
        """Test-then-train. Weights on the stages cannot be had of it."""
        if weights is not None or intercepts is not None:
            raise TypeError(f"{type(self.template).__name__} does not show its weights row by row")
        for i in range(len(X)):
            if answers is not None:
                self.answers(X[i : i + 1], answers[i : i + 1])
            model = clone(self.template) if self.model is None else self.model
            model.partial_fit(X[i : i + 1], Y[i : i + 1, 0] if self.n_outputs == 1 else Y[i : i + 1])
            self.model = model

    def answers(self, X: Floats, out: Floats, /) -> None:
        out[:] = 0.0 if self.model is None else np.reshape(self.model.predict(X), out.shape)

    def answer_one(self, x: Floats, /) -> Floats:
        out = np.empty((1, self.n_outputs))
        self.answers(x[None], out)
        return np.asarray(out[0])

    def answer_number(self, x: Floats, /) -> float:
        return float(self.answer_one(x)[0])

    def learn_one(self, x: Floats, y: float | Floats, /) -> bool:
        """Learn one row; no step of it is ever cut."""
        self.run(x[None], np.reshape(np.asarray(y, dtype=np.float64), (1, self.n_outputs)))
        return False

    def adapters(self) -> list[Any]:
        """Itself: what it learned is an object."""
        return [self]

    def learned(self) -> tuple[int, Any]:
        """What it learned, for copies and pickles."""
        return self.n_outputs, self.model

    def take_back(self, what: tuple[int, Any]) -> None:
        """Continue from what `learned` gave."""
        self.n_outputs, self.model = what

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing that could be held in arrays."""
        return {}

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        """Nothing to take back."""
