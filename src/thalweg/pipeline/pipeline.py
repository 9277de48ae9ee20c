"""`StreamPipeline`: the steps, their names and parameters, whatever the last of them is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.explain.groups import Groups
from thalweg.labels import Labels
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities, WithWeights
from thalweg.learners.base.estimator import StreamEstimator
from thalweg.learners.base.inner_learner import core_of
from thalweg.learners.base.intervals import WithIntervals
from thalweg.learners.base.labelled_estimator import LabelledEstimator
from thalweg.learners.base.regressor import LinearPredictions, LinearRegressor, StreamRegressor
from thalweg.learners.base.rows import Floats, Row
from thalweg.learners.base.sample_weight import require_weights_taken
from thalweg.learners.base.sparse_rows import as_matrix, is_sparse
from thalweg.learners.prediction_intervals import PredictionIntervals
from thalweg.pipeline.chain import Chain
from thalweg.pipeline.cores import ClassifierCore, ForeignRegressor, RegressorCore
from thalweg.pipeline.over_columns import learner_of
from thalweg.tables.encoder import stack_rows
from thalweg.transforms.base import StreamTransformer, WithRowWeights
from thalweg.transforms.text_hasher import TextHasher

if TYPE_CHECKING:
    from thalweg.merging.models import Merging


def named(steps: Any) -> list[tuple[str, Any]]:
    """The steps with their names, or an error that says what is wrong with them."""
    if isinstance(steps, str) or not isinstance(steps, Sequence) or len(steps) == 0:
        raise InvalidParameter.of("StreamPipeline", "steps", "be a sequence of at least one step", steps)
    pairs: list[tuple[str, Any]] = []
    taken: Counter[str] = Counter()
    for step in steps:
        if isinstance(step, list | tuple) and len(step) == 2 and isinstance(step[0], str):
            pairs.append((step[0], step[1]))
            continue
        name = type(step).__name__.lower()
        taken[name] += 1
        pairs.append((name if taken[name] == 1 else f"{name}-{taken[name]}", step))
    names = [name for name, _ in pairs]
    for name, step in pairs:
        if name == "steps" or "__" in name or names.count(name) > 1:
            rule = 'have different names, none of them "steps" or with "__" in it'
            raise InvalidParameter.of("StreamPipeline", "steps", rule, names)
        if isinstance(step, type) or not (hasattr(step, "get_params") and hasattr(step, "partial_fit")):
            raise InvalidParameter.of("StreamPipeline", "steps", "have estimators with partial_fit", step)
    return pairs


def learner_name(model: Any) -> str:
    """The class of a model as `thalweg run --model` names it: of a pipeline that of its last step.

    Of a learner behind wide categories, or inside `PredictionIntervals`, it is that of the learner.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression, Perceptron, PredictionIntervals, StandardScaler, StreamPipeline
    >>> learner_name(StreamPipeline([StandardScaler(), Perceptron()]))
    'Perceptron'
    >>> learner_name(PredictionIntervals(OnlineLinearRegression()))
    'OnlineLinearRegression'
    """
    learner = learner_of(model)
    last = named(learner.steps)[-1][1] if hasattr(learner, "steps") else learner
    return type(last.learner if isinstance(last, PredictionIntervals) else last).__name__


#: What a pipeline of any kind is called by those who write it down.
_WRITTEN = "StreamPipeline"


def _last_has(name: str) -> Any:
    return lambda pipeline: any(hasattr(step, name) for _, step in pipeline._named()[-1:])


def _all_have(name: str) -> Any:
    return lambda pipeline: all(hasattr(step, name) for _, step in pipeline._named())


class StreamPipeline(StreamEstimator):
    """Transformers, then a learner or a last transformer, learning a stream together.

    ``StreamPipeline(steps)`` is a `ClassifierPipeline`, a `RegressorPipeline` or a `TransformerPipeline`, by its last
    step, and can all that step can: `partial_fit`, `predict_then_learn`, `learn_one` and the rest.

    The rule: a row is predicted, and learned by the last step, with the transformers as they were before it; then they
    learn it. So nothing is learned by predicting, a chunk is the same as its rows one by one, and no prediction rests
    on a row that came later. `fit` is a start from a batch: each transformer learns all rows before the next step is
    begun.

    ``sample_weight`` goes to the last step, and to the transformers that take it; a last step that takes no weights
    refuses them here, too, and so does one of scikit-learn's.

    While one thread learns a chunk, another that predicts may find transformers that are up to 1,024 rows ahead of the
    learner.

    Parameters
    ----------
    steps : sequence of estimators, or of pairs of a name and an estimator
        Transformers of `thalweg.transforms`, then a classifier, regressor or transformer of thalweg, or a scikit-learn
        classifier or regressor with ``partial_fit``. They are templates: what is learned is in ``named_steps``, and
        so are the attributes of the last step other than ``rate_``, ``weights_``, ``explain`` and ``coef_``. A last
        step of scikit-learn's is asked row by row; once it has learned, the pipeline can be copied and pickled, but not
        saved to a file. A step without a name is called as its class, in lower case.

        Where all steps take sparse rows, so does the pipeline. With a `TextHasher` as the first step rows are texts,
        and the others must take sparse rows.

    Examples
    --------
    Features of very different units, for a learner that minds:

    >>> from thalweg import PassiveAggressive, StandardScaler, StreamPipeline
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(1000)
    >>> X = X * [1e6, 1e-6]
    >>> round(float((PassiveAggressive().predict_then_learn(X, y) != y).mean()), 2)
    0.34
    >>> model = StreamPipeline([("scale", StandardScaler(clip=10.0)), ("model", PassiveAggressive())])
    >>> round(float((model.predict_then_learn(X, y) != y).mean()), 2)
    0.1
    >>> model.named_steps["scale"].n_samples_seen_
    1000
    """

    _why_not_merged = "what its learner saw was made by transformers that had learned other rows"

    def __new__(cls, steps: Any = None) -> Self:
        """A pipeline of the kind of its last step."""
        pipeline: Self = super().__new__(_kind_of(named(steps)[-1][1]) if cls is StreamPipeline else cls)
        return pipeline

    def __init__(self, steps: Sequence[Any]) -> None:
        self.steps = steps

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """As it is written: by the name of the class that makes any of the three kinds."""
        return str(super().__repr__(N_CHAR_MAX)).replace(type(self).__name__, _WRITTEN, 1)

    def _html_repr(self) -> str:
        return super()._html_repr().replace(type(self).__name__, _WRITTEN)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The steps; where deep, each by its name, and their parameters as ``name__parameter``."""
        parameters: dict[str, Any] = {"steps": self.steps}
        for name, step in self._named() if deep else ():
            parameters[name] = step
            parameters |= {f"{name}__{key}": value for key, value in step.get_params().items()}
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set ``steps``, a step by its name, or a parameter of one as ``name__parameter``."""
        if "steps" in parameters:
            self.steps = parameters.pop("steps")
        replaced = {name: parameters.pop(name) for name, _ in self._named() if name in parameters}
        if replaced:
            self.steps = [(name, replaced.get(name, step)) for name, step in self._named()]
        super().set_params(**parameters)
        return self

    @property
    def named_steps(self) -> dict[str, Any]:
        """The steps by name: as learned, to read from, once a row was learned; before that as given.

        A last step of scikit-learn's is the very object that predicts. A classifier of that kind begins with the second
        class, and knows classes by number, in the order in which they were first seen.
        """
        steps = dict(named(self.steps))
        return dict(zip(steps, self._learned_steps(), strict=True)) if self.__sklearn_is_fitted__() else steps

    #: The labels, or the columns of targets, that its learner knows.
    _known: Any

    def _learned_steps(self) -> list[Any]:
        """The steps, each with its core; one that is not ours as the object that has learned."""
        return [*self._with_cores(self._given[:-1], self._core.chain.cores), self._learned_last()]

    def _learned_last(self) -> Any:
        learner = clone(self._last)
        if isinstance(learner, StreamClassifier | StreamRegressor):
            learner.n_features_in_ = self.n_features_in_
            learner._commit(self._core.last, self._known, None)
            return learner
        (adapter,) = self._core.adapters()  # the object that has learned, where there is one yet
        return learner if adapter.model is None else adapter.model

    def _of_last(self, name: str) -> Any:
        self._learned_core()
        return getattr(self._learned_last(), name)

    def _with_cores(self, steps: Sequence[Any], cores: Sequence[Any]) -> list[Any]:
        """Copies of steps, of which as many as there are cores know what the core has learned."""
        learned = [clone(step) for step in steps]
        names = tuple(self.feature_names_in_.tolist()) if hasattr(self, "feature_names_in_") else None
        for step, core in zip(learned[self._first_of_ours :], cores, strict=False):
            step.n_features_in_ = self.n_features_in_  # of sparse rows, where the core does not know it
            step._begin_with(core, names)
            names = None
        return learned

    def _merging(self) -> Merging:
        """Those of the last step, where nothing before it learns."""
        *before, last = self._given
        if any(step._learns for step in before) or not isinstance(last, LabelledEstimator | StreamRegressor):
            return super()._merging()
        return last._merging()

    def _rows_to_merge(self, rows: Floats) -> Floats:
        return self._make_chain(rows.shape[1], len(self._given) - 1).begin(rows)

    def _require_weights_taken(self) -> None:
        require_weights_taken(self._last, _WRITTEN)

    def _named(self) -> list[tuple[str, Any]]:
        """The steps with their names; none where they are not steps, which is an error only when rows come."""
        try:
            return named(self.steps)
        except InvalidParameter:
            return []

    @property
    def _hasher(self) -> TextHasher | None:
        """A first step that makes sparse rows of texts."""
        return next((step for _, step in self._named()[:1] if isinstance(step, TextHasher)), None)

    @property
    def _first_of_ours(self) -> int:
        """The first step that has a core."""
        return 0 if self._hasher is None else 1

    _takes_sparse: Any = property(
        lambda self: all(getattr(step, "_takes_sparse", False) for _, step in self._named()[self._first_of_ours :])
    )
    _takes_sparse_inside: Any = False  # its core is in Python
    _same_from_sparse: Any = False  # a scaler divides by something else

    @property
    def _why_not_sparse(self) -> str:  # type: ignore[override]
        for name, step in self._named()[self._first_of_ours :]:
            if not getattr(step, "_takes_sparse", False):
                reason = getattr(step, "_why_not_sparse", "it is no learner of thalweg's; use X.toarray()")
                return f"its step {name!r} does, since {reason}"
        return super()._why_not_sparse

    def _without_texts(self, X: Any) -> Any:
        if self._hasher is None:
            return X
        width = 1 << self._hasher.hash_bits
        if not is_sparse(X):
            return self._hasher.transform(X)
        if X.shape[-1] != width:
            wanted = f"texts, or sparse rows of {width} hashed features"
            raise InvalidInput(f"X must hold {wanted}, got {X.shape[-1]} columns")
        return X

    def _to_explain(self, X: Any, background: Any, groups: Any) -> tuple[Any, Any, Any, Any]:
        """The pipeline, and its rows with the words that they are made of where they are texts."""
        hasher = self._hasher
        if hasher is None:
            return self, X, background, groups
        if groups is not None:
            raise InvalidParameter.of("explain", "groups", "be left out for texts: their words are explained", groups)
        rows = self._without_texts(X)
        others = None if background is None else self._without_texts(background)
        words = None if is_sparse(X) else hasher.words_of(X)
        return self, rows, others, Groups.of_text(words, rows.shape[1])

    def _remember_columns(self, X: ArrayLike) -> tuple[str, ...] | None:
        return super()._remember_columns(X) if self._hasher is None else None

    def _require_same_columns(self, X: Any) -> None:
        if self._hasher is None:
            super()._require_same_columns(X)

    def _core_for_row(self, x: Row) -> Any:
        return super()._core_for_row(x) if self._hasher is None else self._make_core(0)

    def _begin_with(self, core: Any, names: tuple[str, ...] | None) -> None:
        super()._begin_with(core, names)
        if self._hasher is not None:
            self.n_features_in_ = 1 << self._hasher.hash_bits

    @property
    def _given(self) -> list[Any]:
        return [step for _, step in named(self.steps)]

    @property
    def _last(self) -> Any:
        return self._given[-1]

    def _make_chain(self, features: int, count: int) -> Chain:
        cores: list[Any] = []
        width = features
        for name, step in named(self.steps)[self._first_of_ours : count]:
            if not isinstance(step, StreamTransformer):
                rule = f"have stream transformers before the last, such as thalweg.StandardScaler; {name!r} is none"
                raise InvalidParameter.of("StreamPipeline", "steps", rule, step)
            cores.append(step._make_core(width))
            width = cores[-1].n_outputs
        return Chain(features, cores, self._hasher)


class ClassifierPipeline(StreamPipeline, WithWeights):
    """A pipeline that ends in a classifier; see `StreamPipeline`.

    Examples
    --------
    >>> from thalweg import OnlineLDC, StandardScaler
    >>> model = StreamPipeline([StandardScaler(), OnlineLDC()])
    >>> type(model).__name__, model.fit([[0.0], [9.0], [1.0]], ["low", "high", "low"]).predict([[8.0]]).tolist()
    ('ClassifierPipeline', ['high'])
    """

    _core: ClassifierCore

    def _make_core(self, features: int) -> ClassifierCore:
        chain = self._make_chain(features, len(self._given) - 1)
        return ClassifierCore(chain, core_of(self._last, chain.n_outputs, "StreamPipeline", "steps"))

    def _name_classes(self, core: ClassifierCore, known: Labels) -> None:
        if isinstance(self._last, StreamClassifier):
            self._last._name_classes(core.last, known)

    _known = property(lambda self: self._labels)

    def _class_means(self) -> Floats | None:
        before = self._given[:-1]
        last = self._learned_last() if all(hasattr(step, "inverse_transform") for step in before) else None
        means = last._class_means() if isinstance(last, StreamClassifier) else None
        if means is not None:
            for step in reversed(self._with_cores(before, self._core.chain.cores)):
                means = step.inverse_transform(means)
        return means

    def decision_function(self, X: ArrayLike) -> Floats:
        """The discriminants of the last step; what it decides by, where that need not be the likeliest class."""
        if not (self.__sklearn_is_fitted__() and self._core.decides):
            return super().decision_function(X)
        rows = self._rows_to_predict(X)
        Z = stack_rows([as_matrix(block) for _, block in self._core.chain.known(rows)])
        return np.asarray(self._learned_last().decision_function(Z))

    @property
    def rate_(self) -> float:
        """The learning rate of the last step, where it has one."""
        return float(self._of_last("rate_"))

    @property
    def weights_(self) -> Floats:
        """The shares of the last step's members in the next prediction, where it has members."""
        return np.asarray(self._of_last("weights_"))

    @available_if(_last_has("explain"))  # type: ignore[untyped-decorator]
    def explain(self) -> str:
        """What the last step says of itself."""
        return str(self._of_last("explain")())

    _has_rate: Any = property(lambda self: getattr(self._last, "_has_rate", False))
    _needs_label_names: Any = property(lambda self: getattr(self._last, "_needs_label_names", False))

    predict_proba = available_if(_last_has("predict_proba"))(WithProbabilities.predict_proba)

    _needs_labels_at_once: Any = property(lambda self: getattr(self._last, "_needs_labels_at_once", False))


class RegressorPipeline(StreamPipeline, LinearRegressor):
    """A pipeline that ends in a regressor; see `StreamPipeline`. ``coef_`` weighs what the transformers give out.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression, StandardScaler
    >>> model = StreamPipeline([StandardScaler(), OnlineLinearRegression(solver="rls")])
    >>> type(model).__name__, model.fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]).predict([[3.0]]).round(3).tolist()
    ('RegressorPipeline', [7.0])
    """

    _core: RegressorCore  # type: ignore[assignment]

    def _make_core(self, features: int) -> RegressorCore:  # type: ignore[override]
        chain = self._make_chain(features, len(self._given) - 1)
        if isinstance(self._last, StreamRegressor):
            return RegressorCore(chain, self._last._make_core(chain.n_outputs))
        return RegressorCore(chain, ForeignRegressor(chain.n_outputs, self._last))

    _known = property(lambda self: self._columns)

    def predict_then_learn(
        self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None, with_coef: bool = False
    ) -> Floats | LinearPredictions:
        """As the last step does; the linear model on the way can be had of thalweg's regressors alone."""
        if with_coef and not self._has_coefficients:
            rule = f"be False behind {type(self._last).__name__}, which does not show its weights row by row"
            raise InvalidParameter.of("StreamPipeline", "with_coef", rule, with_coef)
        return super().predict_then_learn(X, y, sample_weight=sample_weight, with_coef=with_coef)

    @property
    def coef_(self) -> Floats:
        """The weights of what the transformers give out."""
        return super().coef_ if self._has_coefficients else np.asarray(self._of_last("coef_"))

    @property
    def intercept_(self) -> float | Floats:
        """The constant term of the prediction."""
        intercept: float | Floats = super().intercept_ if self._has_coefficients else self._of_last("intercept_")
        return intercept

    @property
    def rate_(self) -> float:
        """The step of the last step, where it has one."""
        return float(self._of_last("rate_"))

    @property
    def _has_coefficients(self) -> bool:  # type: ignore[override]
        return bool(getattr(self._last, "_has_coefficients", False))

    def _follow(self, *args: Any) -> None:
        (WithIntervals if hasattr(self._last, "predict_interval") else StreamRegressor)._follow(self, *args)

    predict_interval = available_if(_last_has("predict_interval"))(WithIntervals.predict_interval)
    predict_interval_then_learn = available_if(_last_has("predict_interval"))(WithIntervals.predict_interval_then_learn)

    @property
    def _usual_coverage(self) -> float:
        coverage: float = self._last._usual_coverage
        return coverage

    def _require_tracked(self, coverage: float | None) -> None:
        if isinstance(self._last, StreamRegressor):
            self._last._require_tracked(coverage)
        else:
            super()._require_tracked(coverage)

    def _place_of(self, core: RegressorCore, coverage: float | None) -> int:
        place: int = self._last._place_of(core, coverage)
        return place


class TransformerPipeline(StreamPipeline, WithRowWeights):
    """A pipeline of transformers; see `StreamPipeline`.

    Examples
    --------
    >>> from thalweg import CCIPCA, StandardScaler
    >>> model = StreamPipeline([StandardScaler(), CCIPCA(1)])
    >>> type(model).__name__, model.fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]).transform([[1.0, 1.0]]).shape
    ('TransformerPipeline', (1, 1))
    """

    _takes_sparse: Any = False

    @property
    def _why_not_sparse(self) -> str:  # type: ignore[override]
        return "a pipeline takes sparse rows where it ends in a learner"

    def _make_core(self, features: int) -> Chain:
        return self._make_chain(features, len(self._given))

    def _learned_steps(self) -> list[Any]:
        return self._with_cores(self._given, self._core.cores)

    def _require_weights_taken(self) -> None:
        if not any(has_fit_parameter(step, "sample_weight") for step in self._given):
            super()._require_weights_taken()

    @available_if(_all_have("inverse_transform"))  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Rows that `transform` turns into these, as far as the steps allow."""
        for step in reversed(self._learned_steps()):
            X = step.inverse_transform(X)
        return np.asarray(X)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """The names of the features given out, as the steps make them, one from another."""
        self._learned_core()
        for step in self._learned_steps():
            input_features = step.get_feature_names_out(input_features)
        return np.asarray(input_features)


def _kind_of(last: Any) -> type[StreamPipeline]:
    if isinstance(last, StreamTransformer):
        return TransformerPipeline
    numeric = hasattr(last, "__sklearn_tags__") and is_regressor(last)
    return RegressorPipeline if numeric else ClassifierPipeline
