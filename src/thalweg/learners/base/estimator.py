"""What every learner of a stream is, whatever it learns: a scikit-learn estimator over a core that holds its state.

The core is made when the first row comes, since only then the width is known. Everything a call could refuse is
checked before the core is touched, so a refused call leaves the model exactly as it was.
"""

from __future__ import annotations

from collections.abc import ItemsView
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import validate_data

from thalweg.errors import InvalidInput, InvalidParameter, NotAdditive
from thalweg.frames.frame import NamedRows
from thalweg.frames.reading import names_of_columns, with_names
from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats, Row, names_of, rows_for, width_of
from thalweg.learners.base.sample_weight import as_masses
from thalweg.learners.base.sparse_rows import is_sparse

if TYPE_CHECKING:
    from thalweg.explain.importance import Importance
    from thalweg.learners.base.catalogue_entry import CatalogueEntry
    from thalweg.merging.models import Merging

#: Rows that are kept for `importance_`; the end of a chunk is once so many rows came, a short chunk counting for some.
RECENT_ROWS, _KEEP_EVERY, _SHORT_CHUNK = 128, 512, 32
_NOT_COPIED = ("_recent", "_unkept")
#: Names of constructors' parameters: to read them off takes scikit-learn as long as predicting some hundred rows.
_PARAMETERS: dict[type, list[str]] = {}


class WithColumns(BaseEstimator):
    """An estimator that knows how many columns its rows have, and their names where the first rows had names."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    #: The parameters at the first row, and a copy that is cheap to compare with.
    _parameters_at_start: dict[str, Any]
    _watched: _Watched | None
    _to_start_anew = "call fit"

    def __init_subclass__(cls, *, abstract: bool = False, **options: Any) -> None:
        """scikit-learn reads the methods of every class when it is defined, in half a millisecond: not of bases."""
        if not abstract:
            super().__init_subclass__(**options)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        if cls not in _PARAMETERS:
            _PARAMETERS[cls] = BaseEstimator._get_param_names.__func__(cls)
        return _PARAMETERS[cls]

    def _has_use_for(self, names: list[Any]) -> bool:
        """Whether rows with these names, `NamedRows` or dicts, say more to this model than arrays."""
        begun = hasattr(self, "n_features_in_") and not hasattr(self, "feature_names_in_")
        return not begun and all(isinstance(name, str) for name in names)

    def _remember_columns(self, X: ArrayLike) -> tuple[str, ...] | None:
        """The names of X's columns, if it has any, kept as scikit-learn keeps them."""
        if type(X) is np.ndarray or isinstance(X, NamedRows):
            self.__dict__.pop("feature_names_in_", None)
            if not isinstance(X, NamedRows) or not all(isinstance(name, str) for name in X.names):
                return None  # no names; scikit-learn would look for them in many kinds of frames
            self.feature_names_in_ = np.asarray(X.names, dtype=object)
            return tuple(X.names)
        validate_data(self, X=with_names(X), reset=True, skip_check_array=True)
        return tuple(self.feature_names_in_.tolist()) if hasattr(self, "feature_names_in_") else None

    def _require_same_columns(self, X: Any) -> None:
        if isinstance(X, NamedRows):
            if self._has_use_for(X.names):
                self._require_same_names(X)
                return
            X = X.values
        has_no_names = type(X) is np.ndarray or is_sparse(X)
        if has_no_names and X.shape[1:] == (self.n_features_in_,) and not hasattr(self, "feature_names_in_"):
            return  # scikit-learn's check, which looks for names in many kinds of frames, would find nothing else
        try:
            validate_data(self, X=with_names(X), reset=False, skip_check_array=True)
        except ValueError as error:
            raise InvalidInput(self._first_other_column(X) + str(error).rstrip()) from error

    def _require_same_names(self, X: NamedRows) -> None:
        other = self._first_other_column(X)
        if other:
            raise InvalidInput(other.rstrip())

    def _first_other_column(self, X: Any) -> str:
        known, given = getattr(self, "feature_names_in_", None), names_of_columns(X)
        if known is None or given is None:
            return ""
        for place, (was, now) in enumerate(zip(known, given, strict=False)):
            if was != now:
                remedy = ": X[model.feature_names_in_] has the same order" if set(known) <= set(given) else ""
                return f"Column {place} of X must be {was!r}, as when learning began, got {now!r}{remedy}. "
        if len(known) > len(given):
            return f"Column {len(given)} of X must be {known[len(given)]!r}, as when learning began, got no column. "
        if len(known) < len(given):
            return f"Column {len(known)} of X, {given[len(known)]!r}, was not there when learning began: leave it out. "
        return ""

    def _remember_parameters(self) -> None:
        self._parameters_at_start = self._parameters_now()
        self._watched = None

    def _require_same_parameters(self) -> None:
        watched = self._watched
        if watched is not None and watched.own <= self.__dict__.items():
            for then, now in watched.inside:
                if not then <= now:
                    break
            else:
                if watched.copies == watched.lists:
                    return
        current = self._parameters_now()
        for name, value in self._parameters_at_start.items():
            if name in current and current[name] is not value and current[name] != value:
                raise InvalidParameter(
                    f"The {name!r} parameter of {type(self).__name__} must not change once learning has begun "
                    f"(it was {value!r}, now {current[name]!r}): {self._to_start_anew} to start anew."
                )
        self._watched = _watch(self)

    def _parameters_now(self) -> dict[str, Any]:
        return _described(self)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_watched" in state:
            state["_watched"] = None  # it is about this object
        return state


class StreamEstimator(WithColumns, abstract=True):
    """An estimator whose state is a core, with columns that must stay the same and parameters that must not change.

    Attributes
    ----------
    n_features_in_ : int
        The width of a row.
    feature_names_in_ : ndarray of str
        The names of the features, where the first rows had names.
    """

    _core: Any
    #: What it is to the command line and the service; None where they cannot make it.
    _catalogue: ClassVar[CatalogueEntry | None] = None
    #: The same learner under further names, with other parameters.
    _more_entries: ClassVar[tuple[CatalogueEntry, ...]] = ()
    #: Whether a model keeps at least a number of each feature; baselines keep none.
    _uses_features: ClassVar[bool] = True
    #: Why sparse rows are refused, where they are, and what to use.
    _why_not_sparse: ClassVar[str] = (
        "it works with every feature of a row; use OnlineLogistic, PassiveAggressive, Perceptron or "
        "AutoClassifier, whose cost is that of the values that are not zero, or X.toarray()"
    )
    #: Whether single rows are dicts of names that come and go, for a core of sparse rows.
    _has_open_names: bool = False
    #: Whether `fit` learns its rows one after the other, as a stream, and not as a batch.
    _fit_depends_on_order: ClassVar[bool] = False

    # Of sparse rows: each is a bool, or a property that works it out from the parameters.
    #: Whether rows may be a sparse matrix of SciPy's; `_make_core` is then asked for a core of 0 features.
    _takes_sparse: Any = False
    #: The same for a learner inside another, whose core must be compiled for it.
    _takes_sparse_inside: Any = property(lambda self: self._takes_sparse)
    #: Whether sparse rows give the model that the same rows give when they are dense.
    _same_from_sparse: Any = property(lambda self: self._takes_sparse)
    #: Whether sparse rows leave out members with curved boundaries.
    _linear_from_sparse: Any = False

    def _without_texts(self, X: Any) -> Any:
        """Rows of numbers in place of texts, where it takes texts."""
        return X

    def _make_core(self, features: int) -> Any:
        """The core for rows of this width; raises `InvalidParameter` where a parameter breaks its rule."""
        raise NotImplementedError

    def _core_for_row(self, x: Row) -> Any:
        if self._has_open_names:
            core = self._make_core(0)
            core.name_features(())
            return core
        core = self._make_core(width_of(x))
        names = names_of(x)
        if names is not None:
            core.name_features(names)
        return core

    def _rows_to_predict(self, X: ArrayLike) -> Floats:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has seen no row. "
                "Call 'fit' or 'partial_fit' first."
            )
        rows: Floats = rows_for(X, self, "X")
        self._require_same_columns(X)
        return rows

    def _masses(self, sample_weight: ArrayLike | None, rows: int, *, first: bool) -> dict[str, Floats]:
        """The weights as a core takes them, or the error of `as_masses` or of a learner inside that takes none."""
        if sample_weight is not None:
            self._require_weights_taken()
        return as_masses(sample_weight, rows, first=first)

    def _require_weights_taken(self) -> None:
        """Raise TypeError where weights would be passed on to a learner that takes none."""

    def _learned_core(self) -> Any:
        """The core, for attributes that exist once something was learned."""
        if "_core" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: "
                "learned attributes exist once the first row is learned."
            )
        return self._core

    def _features_seen(self) -> int | None:
        """Of sparse rows, how many features those had that were learned; None where rows are dense."""
        core = self._learned_core()
        if not getattr(core, "is_sparse", False):
            return None
        return next((len(ids) for name, ids in core.state().items() if name.endswith("feature_ids")), None)

    def _features_in_words(self) -> str:
        seen = self._features_seen()
        count = self.n_features_in_ if seen is None else seen
        return f"{count:,} feature{'' if count == 1 else 's'}{'' if seen is None else ' seen'}"

    def _begin_with(self, core: Any, names: tuple[str, ...] | None) -> None:
        """From here on this core is the state."""
        sparse = getattr(core, "is_sparse", False)  # whose width comes from the rows
        if names is not None and not sparse:
            core.name_features(names)
            self.feature_names_in_ = np.asarray(names, dtype=object)
        if not sparse:
            self.n_features_in_ = core.n_features
        self._core = core
        self._limit_columns()
        self._remember_parameters()

    def _limit_columns(self) -> None:
        """Let a core of sparse rows refuse columns that their width does not have."""
        if hasattr(self._core, "limit_columns") and hasattr(self, "n_features_in_"):
            self._core.limit_columns(self.n_features_in_)

    #: Rows that were learned in chunks not long ago, and their targets. Copies, pickles and files do without.
    _recent: tuple[Floats, NDArray[Any]] | None = None
    _unkept = _KEEP_EVERY

    def _keep_first(self, rows: Any, targets: NDArray[Any]) -> None:
        """Forget those of before, and remember the end of a chunk that a model was begun with."""
        self._recent, self._unkept = None, _KEEP_EVERY
        self._keep_recent(rows, targets)

    def _keep_recent(self, rows: Any, targets: NDArray[Any]) -> None:
        """Remember the end of a chunk that was learned, now and then; of sparse rows nothing is kept."""
        self._unkept += max(len(rows), _SHORT_CHUNK)
        if self._unkept < _KEEP_EVERY or type(rows) is not np.ndarray:
            return
        self._unkept = 0
        tail, own = rows[-RECENT_ROWS:].copy(), targets[-RECENT_ROWS:].copy()
        if self._recent is not None and len(tail) < RECENT_ROWS:
            tail = np.concatenate([self._recent[0], tail])[-RECENT_ROWS:]
            own = np.concatenate([self._recent[1], own])[-RECENT_ROWS:]
        self._recent = tail, own

    @property
    def importance_(self) -> Importance:
        """How much the loss on the last rows grows when a feature is replaced by other values of it.

        It is measured when asked for, on up to 128 recent rows that were learned in chunks: `learn_one` keeps none,
        sparse rows and texts are not kept, and neither do copies and files have any. Without them it is missing, an
        AttributeError. The model has learned these rows, so that one with a short memory looks better on them than it
        is; `thalweg.explain.importance` takes rows that it has not. Of several targets it is about the first.
        """
        self._learned_core()
        if self._recent is None:
            raise AttributeError(
                f"{type(self).__name__} has kept no recent rows for importance_: {self._why_no_recent()}; "
                "use thalweg.explain.importance with rows of your own"
            )
        from thalweg.explain.importance import importance

        X, y = self._recent
        return importance(self, X, y if y.ndim == 1 else y[:, 0])

    def _why_no_recent(self) -> str:
        if getattr(self._core, "is_sparse", False):
            return "its rows are sparse, as those of text are, and are not kept"
        return "it learned rows one by one, or was loaded or copied"

    def _header(self) -> dict[str, Any]:
        """What was learned beside the core and the columns, as JSON holds it: for model files."""
        return {}

    def _attributes_from(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """The attributes those entries stand for; ValueError where they and the core's arrays disagree."""
        return {}

    #: The end of a sentence: why models of this class cannot be merged, where that does not follow.
    _why_not_merged = ""

    def __add__(self, other: Any) -> Self:
        from thalweg.merging.models import merge_models

        return merge_models([self, other]) if isinstance(other, StreamEstimator) else NotImplemented

    def __radd__(self, other: Any) -> Self:
        return deepcopy(self) if is_zero(other) else NotImplemented

    def __sub__(self, other: Any) -> Self:
        from thalweg.merging.models import subtract_model

        return subtract_model(self, other) if isinstance(other, StreamEstimator) else NotImplemented

    def _merging(self) -> Merging:
        """How models with these parameters are merged; `NotAdditive` where they cannot be."""
        by_steps = "each of its steps depends on what the rows before it had made of it"
        unknown = "nothing is known of how two such models would go together"
        why = self._why_not_merged or (by_steps if self._fit_depends_on_order else unknown)
        raise NotAdditive.of(self._in_a_sentence(), why)

    def _rows_to_merge(self, rows: Floats) -> Floats:
        """Rows as moments are taken of them."""
        return rows

    def _in_a_sentence(self) -> str:
        name = type(self).__name__
        return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_core" in self.__dict__

    def _html_repr(self) -> str:
        """scikit-learn's diagram, which a notebook shows, with what was learned below it."""
        diagram = str(estimator_html_repr(self))
        if not self.__sklearn_is_fitted__():
            return diagram
        from thalweg.learners.base.state_html import state_html

        return diagram + state_html(self, self._core.state())

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        for name in _NOT_COPIED:
            state.pop(name, None)
        if "_core" in state:
            adapters = self._adapters()
            if adapters:  # members that are not ours: objects, for copies and pickles and never for files
                state["_learned_elsewhere"] = [adapter.learned() for adapter in adapters]
            if self._has_open_names:
                state["_open_names"] = state["_core"].feature_names
            state["_core"] = state["_core"].state()
            del state["_parameters_at_start"], state["_watched"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        elsewhere, open_names = state.pop("_learned_elsewhere", []), state.pop("_open_names", None)
        super().__setstate__(state)
        if "_core" in self.__dict__:
            saved: dict[str, NDArray[Any]] = state["_core"]
            sparse = any(name.endswith("feature_ids") for name in saved)
            self._core = self._make_core(0 if sparse else self.n_features_in_)
            if hasattr(self, "feature_names_in_"):
                self._core.name_features(tuple(self.feature_names_in_.tolist()))
            elif open_names is not None:
                self._core.name_features(open_names)
            self._core.restore(saved)
            self._limit_columns()
            for adapter, learned in zip(self._adapters(), elsewhere, strict=True):
                adapter.take_back(learned)
            self._remember_parameters()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        core = self.__dict__.get("_core")
        if not isinstance(core, compiled.Core):
            twin.__setstate__(deepcopy(self.__getstate__(), memo))
            return twin
        # By its state a large core would take ten times as long.
        beside = {
            name: value for name, value in self.__dict__.items() if name not in ("_core", "_watched", *_NOT_COPIED)
        }
        twin.__dict__.update(deepcopy(beside, memo), _core=core.copy(), _watched=None)
        if hasattr(twin, "feature_names_in_"):
            twin._core.name_features(tuple(twin.feature_names_in_.tolist()))
        return twin

    def _adapters(self) -> list[Any]:
        return list(self._core.adapters()) if hasattr(self._core, "adapters") else []


def is_zero(other: Any) -> bool:
    """Whether this is the 0 that Python's `sum` begins with."""
    return type(other) is int and other == 0


def _described(estimator: BaseEstimator) -> dict[str, Any]:
    """The parameters, with an estimator among them replaced by its own parameters: it can be changed in place.

    Those of nested estimators come first: they name best what has changed.
    """
    nested_first = sorted(estimator.get_params().items(), key=lambda item: "__" not in item[0])
    return {name: _plain(value) for name, value in nested_first}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseEstimator):
        return type(value).__name__, _described(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


class _Watched:
    """Parameters of an estimator as they were; nested estimators and lists, which change in place, beside them."""

    __slots__ = ("copies", "inside", "lists", "own")

    def __init__(self, own: ItemsView[str, Any]) -> None:
        self.own = own
        self.inside: list[tuple[ItemsView[str, Any], ItemsView[str, Any]]] = []
        self.copies: list[list[Any]] = []
        self.lists: list[list[Any]] = []


def _watch(estimator: BaseEstimator) -> _Watched | None:
    """The parameters, to be compared without describing them; None where an object is found that must be asked."""
    own = _parameters(estimator)
    if own is None:
        return None
    watched = _Watched(own.items())
    left = list(own.values())
    while left:
        value = left.pop()
        if isinstance(value, BaseEstimator):
            nested = _parameters(value)
            if nested is None:
                return None
            watched.inside.append((nested.items(), vars(value).items()))
            left += nested.values()
        elif isinstance(value, list | tuple):
            if isinstance(value, list):
                watched.copies.append(value.copy())
                watched.lists.append(value)
            left += value
        elif hasattr(value, "get_params") and not isinstance(value, type):
            return None
    return watched


def _parameters(estimator: BaseEstimator) -> dict[str, Any] | None:
    if not isinstance(estimator, WithColumns) and type(estimator).get_params is not BaseEstimator.get_params:
        return None
    attributes, names = vars(estimator), estimator._get_param_names()
    return {name: attributes[name] for name in names} if attributes.keys() >= set(names) else None
