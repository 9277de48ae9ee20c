"""A model of all keys, and for each key a small one of how that key differs from all.

A logistic regression for each key has the log-probabilities of the model of all keys as its offset and weights that
begin at zero: a new key predicts what all keys have learned, and departs from it as its own rows come. Weights have a
Gaussian prior around zero, a diagonal variance each, and follow the key's rows by an extended Kalman filter whose
variances return slowly to the prior, so that a key that drifts is followed. The two predictions are mixed by their
recent log-loss on the rows of the key.

X. Zhang et al., "GLMix: Generalized Linear Mixed Models For Large-Scale Response Prediction", KDD 2016: a global model
with coefficients for each member, in batches.

| in `kernels/keyed/keyed.hpp` | here | shape |
|---|---|---|
| p | the prediction of ``learner`` | (classes,) |
| q | the own prediction of a key | (classes,) |
| m, V | weights of a key and their variances | (classes, features) each, of 4-byte floats |
| a | `KeySummary.weight` | |

Copies share the keys that neither has changed since, so that a copy costs one pointer whatever the number of keys.

Cost: that of the learner, plus O(classes x features) a row, and 56 + 8 x classes x features bytes a key, to which the
tree that finds it adds about 40.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.fleet.keys import with_spill_file
from thalweg.frames.reading import frame_of, is_in_memory, names_of_columns
from thalweg.kernels import compiled
from thalweg.learners.base.inner_learner import Wrapper
from thalweg.learners.base.rows import Floats, Row, names_of
from thalweg.parameters import Real, Rule, Rules, Whole

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

_PLACE = Whole(0, 2**31 - 1)
_MAKES_NUMBERS = "thalweg.tables.columns.key.key_number makes a number of a key that is text"


class KeySummary(NamedTuple):
    """Scores of the model of a key; each row counts with its prediction from just before its label was learned.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.fleet import KeyedClassifier
    >>> KeyedClassifier(OnlineLDC()).partial_fit([[7, 0.5], [8, 1.5], [7, 2.5]], [0, 1, 0]).summary(8)
    KeySummary(rows=1, rows_since=1, error=1.0, recent_error=1.0, weight=0.5)
    """

    #: Rows learned, and rows of all keys since the last of them.
    rows: int
    rows_since: int
    #: Share of wrong predictions over all rows, and over about the last 50.
    error: float
    recent_error: float
    #: Weight of the key's own part in its next prediction; the model of all keys has the rest.
    weight: float


class KeyedClassifier(Wrapper):
    """A classifier whose rows belong to keys, such as customers or machines, that are related but not alike.

    Parameters
    ----------
    learner : classifier
        The model of all keys, a template that is never learned itself. It sees the rows without their key.
    key : int or str, default 0
        The feature that holds the key, by its place or its name. A name needs rows with names: frames or dicts, given
        to the KeyedClassifier itself and not to another model around it. A key is any number, with whatever meaning.
        `thalweg.tables.columns.key.key_number` makes one of a text.
    spread : float > 0, default 1
        Standard deviation that is expected of the difference between a key's log-odds and those of all keys. Raising it
        lets new keys depart faster.
    drift : float from 0 to 1, default 0.002
        Share by which the variances of a key's weights return to their start with each of its rows. Raising it follows
        changes of a key faster and costs accuracy where there are none.
    max_bytes : int, optional
        Memory for the keys, at least 65,536. Beyond it, those learned longest ago go to a temporary file and come back
        when they are learned again; about 64 bytes a key remain. By default all stay. Predictions do not depend on it.
    folder : str, optional
        Where that temporary file lies; by default where the system keeps such files. It has no name there and is gone
        when the model is: `thalweg.save` writes all keys, wherever they are.

    Attributes
    ----------
    n_keys_, n_keys_in_memory_, n_key_bytes_ : int
        The keys learned so far, those in memory, and the memory they take.

    Examples
    --------
    Two keys with opposite labels, which one model for both cannot distinguish:

    >>> import numpy as np
    >>> from thalweg import OnlineLDC
    >>> from thalweg.fleet import KeyedClassifier
    >>> rng = np.random.default_rng(0)
    >>> key, x = rng.integers(0, 2, 2000), rng.normal(size=2000)
    >>> y = np.where(key == 0, x > 0, x < 0)
    >>> model = KeyedClassifier(OnlineLDC())
    >>> right = model.predict_then_learn(np.column_stack([key, x]), y) == y
    >>> round(float(right[1000:].mean()), 2), model.n_keys_
    (0.99, 2)

    The key by its name, and the number of a key that is text:

    >>> from thalweg.tables.columns.key import key_number
    >>> named = KeyedClassifier(OnlineLDC(), key="user")
    >>> for user, x, label in [("ann", 0.5, "no"), ("bob", 1.5, "yes"), ("ann", 2.5, "no")]:
    ...     _ = named.learn_one({"x": x, "user": key_number(user)}, label)
    >>> named.n_keys_, named.summary(key_number("ann")).rows
    (2, 2)
    """

    _rules = Rules(
        key=Rule("be the place or the name of a feature", lambda key: isinstance(key, str) or _PLACE.allows(key)),
        spread=Real(1e-6, 1e6, "both", text="be a number from 1e-6 to 1e6"),
        drift=Real(0, 1, "both", text="be a number from 0 to 1"),
        max_bytes=Whole(1 << 16, 2**62, text="be at least 65536,").or_else(None),
    )
    _parameters_not_saved = frozenset({"folder"})
    #: Where the key is among the features, once rows with names have said so.
    _named_place: int | None = None

    def __init__(
        self,
        learner: Any,
        key: int | str = 0,
        *,
        spread: float = 1.0,
        drift: float = 0.002,
        max_bytes: int | None = None,
        folder: str | None = None,
    ) -> None:
        self.learner = learner
        self.key = key
        self.spread = spread
        self.drift = drift
        self.max_bytes = max_bytes
        self.folder = folder

    _takes_sparse: Any = False

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        place = self._named_place if isinstance(self.key, str) else int(self.key)
        if place is None:
            rule = "be the place of a feature where names are not known, as in arrays and inside another model"
            raise InvalidParameter.of("KeyedClassifier", "key", rule, self.key)
        if place >= features:
            raise InvalidParameter.of("KeyedClassifier", "key", f"be one of the {features} features", self.key)
        if features < 2:
            raise InvalidInput("X must have a feature beside the key")
        inner = self._inner_core(features - 1)
        if inner.decides or hasattr(self.learner, "predict_set"):
            rule = (
                "not decide by costs, thresholds or sets: put the KeyedClassifier into it, and not the other way round"
            )
            raise InvalidParameter.of("KeyedClassifier", "learner", rule, self.learner)
        options = place, float(self.spread), float(self.drift)
        if self.max_bytes is None:
            return compiled.keyed(inner, *options)
        make = partial(compiled.keyed, inner, *options, int(self.max_bytes))
        return with_spill_file("KeyedClassifier", self.folder, make)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        before = self._named_place
        try:
            return super()._fit(X, y, sample_weight)
        except Exception:
            self._named_place = before
            raise

    def _take(self, X: ArrayLike, y: ArrayLike, name: str = "X", *, anew: bool = False) -> tuple[Floats, NDArray[Any]]:
        try:
            taken = super()._take(X, y, name, anew=anew)
        except InvalidInput as error:
            raise self._about_key(error, X) from None
        if name == "X" and (anew or not self.__sklearn_is_fitted__()):
            self._find_key(names_of_columns(X))
        return taken

    def _core_for_row(self, x: Row) -> Core:
        self._find_key(names_of(x))
        core: Core = super()._core_for_row(x)
        return core

    def _find_key(self, names: Sequence[Any] | None) -> None:
        """The place of a key that has a name, among the names of the columns; nothing is known where there are none."""
        if not isinstance(self.key, str):
            return
        self._require_key(names)
        self._named_place = None if names is None else list(names).index(self.key)

    def _require_key(self, names: Collection[Any] | None) -> None:
        if names is not None and self.key not in names:
            raise InvalidInput(f"rows must have the feature {self.key!r}, the key of this KeyedClassifier")

    def _header(self) -> dict[str, Any]:
        place = {"key_place": self._named_place} if isinstance(self.key, str) else {}
        return super()._header() | place

    def _attributes_from(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        attributes = super()._attributes_from(header, arrays)
        if isinstance(self.key, str):
            _PLACE.check("KeyedClassifier", "key_place", header["key_place"])
            attributes["_named_place"] = header["key_place"]
        return attributes

    def _rows_to_predict(self, X: ArrayLike) -> Floats:
        try:
            return super()._rows_to_predict(X)
        except InvalidInput as error:
            raise self._about_key(error, X) from None

    def learn_one(self, x: Row, y: Any) -> Self:
        """Learn one row: an array, a sequence of numbers, or a dict of feature name to number."""
        self._require_key_in(x)  # in River's rows a feature that is absent would be 0
        try:
            return super().learn_one(x, y)
        except InvalidInput as error:
            raise self._about_key(error, x) from None

    def predict_one(self, x: Row) -> Any:
        """Predict one row; None from a model that has seen no label yet."""
        self._require_key_in(x)
        try:
            return super().predict_one(x)
        except InvalidInput as error:
            raise self._about_key(error, x) from None

    def _probabilities_one(self, x: Row) -> list[float]:
        self._require_key_in(x)
        return super()._probabilities_one(x)

    def _require_key_in(self, x: Row) -> None:
        if not isinstance(x, Mapping):
            return
        if isinstance(self.key, str):
            self._require_key(x)
        elif not hasattr(self, "feature_names_in_"):
            raise InvalidInput("dicts need the name of the key, as in KeyedClassifier(learner, key='user')")

    def _about_key(self, error: InvalidInput, X: Any) -> InvalidInput:
        """The refusal of a row or of a frame, with what to do where the key is a text."""
        frame = frame_of(X) if is_in_memory(X) else None
        named = X if frame is None else frame.names
        names = list(getattr(self, "feature_names_in_", named)) if frame is not None or isinstance(X, Mapping) else None
        try:
            place = self.key if names is None or isinstance(self.key, str) else names[self.key]
            if frame is not None and place not in frame.names:
                return error
            key = X[place] if frame is None else np.asarray(frame.column(place)).tolist()[0]
        except (TypeError, LookupError):
            return error
        if not isinstance(key, str):
            return error
        what = str(error) if frame is None else f"X must hold numbers, column {place!r} has the key {key!r}"
        return InvalidInput(f"{what}: {_MAKES_NUMBERS}")

    @property
    def n_keys_(self) -> int:
        """Keys with a row."""
        return compiled.key_counts(self._learned_core())[0]

    @property
    def n_keys_in_memory_(self) -> int:
        """Keys that are not in the temporary file."""
        return compiled.key_counts(self._learned_core())[1]

    @property
    def n_key_bytes_(self) -> int:
        """Memory that the keys take, in bytes."""
        return compiled.key_counts(self._learned_core())[2]

    def summary(self, key: float) -> KeySummary | None:
        """How a key does; None for a key without a row."""
        description = compiled.describe_key(self._core, float(key)) if self.__sklearn_is_fitted__() else None
        if description is None:
            return None
        rows, since, mistakes, recent, weight = description
        return KeySummary(rows, since, mistakes / rows, recent, weight)
