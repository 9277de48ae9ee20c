"""A learner behind the encoder of a table: rows as people have them in, predictions out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.metaestimators import available_if

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.explain.groups import Groups
from thalweg.frames.arrow_columns import are_dicts
from thalweg.frames.arrow_frame import array_of
from thalweg.frames.frame import Floats, NamedRows
from thalweg.frames.reading import names_of_columns
from thalweg.history.automatic import AUTO
from thalweg.learners.base.rows import names_of
from thalweg.parameters import OneOf, Rule, Rules, Whole
from thalweg.pipeline.over_columns import learner_of, over_columns, split_columns
from thalweg.table_model.columns import Columns
from thalweg.table_model.first_rows import Call, HeldRows, head_of
from thalweg.table_model.planning import plan_for
from thalweg.table_model.rows import quick_cells, refused, require_width, table_of
from thalweg.tables.columns.head import HASH_BITS
from thalweg.tables.encoder import Encoder, stack_rows
from thalweg.tables.plan import Plan
from thalweg.tables.rows import HEAD_ROWS, Block, Chunk, Piece

if TYPE_CHECKING:
    from thalweg.explain.importance import Importance
    from thalweg.tables.number_forms import Decimal

#: Rows that are encoded at a time.
_ROWS = 8192
_NOTHING = object()
#: What learning sets.
_LEARNED = ("learner_", "encoder_", "n_features_in_", "feature_names_in_", "_names", "_notes", "_held", "_words")
_NAMES = Rule(
    "be a sequence of names of columns",
    lambda given: not isinstance(given, str) and all(isinstance(name, str) for name in given),
)


def _learner_has(name: str) -> Any:
    return lambda model: hasattr(model._learner_now, name)


class TableModel(BaseEstimator):
    """What `TableClassifier` and `TableRegressor` share: a learner of encoded rows, and the encoder of its table."""

    learner_: Any
    encoder_: Encoder
    n_features_in_: int
    #: What learns unless something else is given.
    _usual_learner: ClassVar[type]
    _kind_of_learner: ClassVar[type]
    #: As that of learners: `fit` learns its rows one after the other.
    _fit_depends_on_order: ClassVar[bool] = True
    _notes: Mapping[str, Any] = {}
    #: The rows so far; None once the columns are settled.
    _held: HeldRows | None = None
    _rules: ClassVar[Rules] = Rules(
        head=Whole(1),
        categorical=_NAMES,
        numeric=_NAMES,
        text=_NAMES,
        drop=_NAMES,
        na=Rule("be a sequence of words", lambda given: not isinstance(given, str)),
        missing=OneOf("mean", "error"),
        misfits=OneOf("error", "missing"),
        features=Rule(
            "be a sequence of features, such as 'recent = mean(amount) by card', or 'auto'",
            lambda given: given == AUTO if isinstance(given, str) else all(isinstance(line, str) for line in given),
        ),
    )

    def __init__(
        self,
        learner: Any = None,
        *,
        head: int = HEAD_ROWS,
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        text: Sequence[str] = (),
        drop: Sequence[str] = (),
        time: str | None = None,
        key: str | None = None,
        na: Sequence[str] = (),
        decimal: Decimal | None = None,
        keep_sentinels: bool = False,
        missing: Literal["mean", "error"] = "mean",
        misfits: Literal["error", "missing"] = "error",
        ngrams: tuple[int, int] = (1, 1),
        hash_bits: int = HASH_BITS,
        features: Sequence[str] | Literal["auto"] = (),
    ) -> None:
        self.learner = learner
        self.head = head
        self.categorical = categorical
        self.numeric = numeric
        self.text = text
        self.drop = drop
        self.time = time
        self.key = key
        self.na = na
        self.decimal = decimal
        self.keep_sentinels = keep_sentinels
        self.missing = missing
        self.misfits = misfits
        self.ngrams = ngrams
        self.hash_bits = hash_bits
        self.features = features

    @classmethod
    def of_learned(
        cls, learner: Any, encoder: Encoder | None = None, *, notes: Mapping[str, Any] | None = None
    ) -> Self:
        """A model around a learner that has learned already; nothing is copied.

        By default each feature that the learner knows by name is a column of numbers without gaps, as in a run on
        Spark. ``notes`` are what else is kept in the model file, as JSON.
        """
        if encoder is None:
            if not hasattr(learner, "feature_names_in_"):
                raise InvalidParameter.of(cls.__name__, "encoder", "be given: the learner knows no names", None)
            encoder = Encoder(Plan.of_numbers(learner.feature_names_in_.tolist()), missing="error")
        width = encoder.plan.width
        if getattr(learner, "n_features_in_", width) != width:
            rule = f"give the {learner.n_features_in_} features of the learner"
            raise InvalidParameter.of(cls.__name__, "encoder", rule, f"{width} features")
        notes = dict(notes or {})
        table = notes.get("table", {})
        model = cls(clone(learner_of(learner)), **table.get("parameters", {"missing": encoder.missing}))
        model.learner_, model.encoder_, model._notes = learner, encoder, notes
        model._remember_names(model._names_of(encoder.plan))
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and start from these rows, the first ``head`` of which settle the columns."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._learn("fit", X, y, sample_weight=sample_weight)
        fresh._held = None
        for name in _LEARNED:
            self.__dict__.pop(name, None)
            if name in vars(fresh):
                setattr(self, name, vars(fresh)[name])
        return self

    def learn_one(self, x: Mapping[str, Any], y: Any) -> Self:
        """Learn one row, a dict of column name to cell."""
        row = x if type(x) is dict else self._row(x)
        held = self._held
        if self.__sklearn_is_fitted__() and not (held is not None and held.is_due(1, self.head)):
            target = self._target(y)
            before = self.encoder_.mark()
            features = self.encoder_.row(row, learn=True)
            if features is not None:
                try:
                    self.learner_.learn_one(features, target)
                except Exception:
                    self.encoder_.undo(before)
                    raise
                if held is not None:
                    held.add_one(row, target)
                return self
        self._learn("partial_fit", [row], [y])
        return self

    def _learn(self, method: str, X: Any, y: Any, order: Any = None, **options: Any) -> Any:
        """Let the learner take these rows by one of its methods; what it gives back. A refused call changes nothing."""
        options = {name: value for name, value in options.items() if value is not None}
        notes = self._notes
        try:
            if not self.__sklearn_is_fitted__() or not self.learner_.__sklearn_is_fitted__():
                self._rules.check(self)
                self._notes = self._with_first_targets(y, order)
            if "classes" in options:
                options["classes"] = self._targets(options["classes"], len(options["classes"]))
            if not self.__sklearn_is_fitted__() or self._held is not None:
                return self._learn_first(method, X, y, order, options)
            table = self._table(X)
            targets = self._targets(y, len(table), order)
            return self._step(self.encoder_, self.learner_, Call(table, targets, order, options=options), method)
        except Exception:
            self._notes = notes
            raise

    def _learn_first(self, method: str, X: Any, y: Any, order: Any, options: dict[str, Any]) -> Any:
        """The same of a model whose columns are not settled."""
        held = self._held or HeldRows()
        weights = {name: value for name, value in options.items() if name in ("sample_weight", "classes")}
        call = Call.of(X, y, order, weights)
        rows = len(call.rows)
        if rows == 0:
            raise InvalidInput(
                f"Found array with 0 sample(s) while a minimum of 1 is required by {type(self).__name__}"
            )
        if not call.names:
            raise InvalidInput("X must have at least one column, got none")
        call.targets = self._targets(y, rows, order)
        if held.planned and not are_dicts(X) and names_of_columns(X) is None:
            require_width(len(call.names), len(self._names), type(self).__name__)
        if held.planned and self.misfits == "error":
            self.encoder_.require_columns(call.names, "the row" if rows == 1 else "X")
        asked = replace(call, options=options)
        results = _NOTHING
        if held.planned and not held.is_due(rows, self.head):
            with suppress(InvalidInput):  # cells that are not what the columns seemed to be
                results = self._step(self.encoder_, self.learner_, asked, method)
        if results is _NOTHING:
            encoder, learner = self._planned([*held.calls, call])
            for before in held.calls:
                self._step(encoder, learner, before, "partial_fit" if before.order is None else "follow")
            results = self._step(encoder, learner, asked, method)
            words = hasattr(self, "feature_names_in_") if held.planned else _has_words(X)
            self._remember_names(self._names_of(encoder.plan), words)
            self.encoder_, self.learner_, held.planned = encoder, learner, held.rows + rows
        self._held = None if held.rows + rows >= self.head else held
        if self._held is not None:
            held.add(call)
        return results

    def _settle(self, X: Any, y: Any) -> None:
        """Settle the columns by the first of these rows, of which nothing is learned yet."""
        self._rules.check(self)
        self._notes = self._with_first_targets(y)
        call = Call.of(X, y, None, {})
        call.targets = self._targets(y, len(call.rows))
        self.encoder_, self.learner_ = self._planned([call])
        self._remember_names(call.names, _has_words(X))

    def _encoded_to_learn(self, X: Any, y: Any) -> Any:
        """The features of rows whose targets come later; the encoder remembers them."""
        table = self._as_learned(self.encoder_, self._table(X), y)
        return self._named(self._features(self.encoder_, table, 0, len(table), learn=True))

    def _step(self, encoder: Encoder, learner: Any, call: Call, method: str) -> Any:
        """Encode rows and let the learner take them; the encoder remembers them unless they are refused."""
        table = table_of(call.table(), encoder, call.names, lenient=True)
        before = encoder.mark()
        try:
            rows = self._named(self._features_to_learn(encoder, table, call.targets, call.order), learner)
            steps = () if call.order is None else (call.order,)
            return getattr(learner, method)(rows, call.targets, *steps, **call.options)
        except Exception:
            encoder.undo(before)
            raise

    def _planned(self, calls: Sequence[Call]) -> tuple[Encoder, Any]:
        """An encoder and a learner for the columns that these rows have, which have learned nothing."""
        head, target = head_of(calls, self.head)
        learner = self._new_learner()
        plan, history = plan_for(self, head, target, learner)
        plan = self._of_task(plan, target)
        made = over_columns(learner, plan)
        split_columns(made, plan)
        self._notes = {**self._notes, "table": {**self._notes.get("table", {}), "target": target}}
        encoder = Encoder(plan, missing=self.missing)
        encoder.history = history
        return encoder, made

    def set_params(self, **params: Any) -> Any:
        """Those of the learner begin with ``learner__``, also those of the usual one where none was given."""
        if (
            self.learner is None
            and params.get("learner") is None
            and any(name.startswith("learner__") for name in params)
        ):
            params["learner"] = self._usual_learner()
        return super().set_params(**params)

    def _new_learner(self) -> Any:
        if self.learner is None:
            return self._usual_learner()
        if not isinstance(self.learner, self._kind_of_learner):
            what = "classifier" if self._usual_learner.__name__.endswith("Classifier") else "regressor"
            rule = f"be a {what} of thalweg, such as {self._usual_learner.__name__}()"
            raise InvalidParameter.of(type(self).__name__, "learner", rule, self.learner)
        return clone(self.learner)

    def _of_task(self, plan: Plan, target: str) -> Plan:
        """The plan with what the task makes of it."""
        return plan

    def _with_first_targets(self, y: Any, order: Any = None) -> Mapping[str, Any]:
        """The notes with what the first targets are."""
        return self._notes

    @property
    def _target_name(self) -> str | None:
        """How the column of targets is called in the plan."""
        return cast("str | None", self._notes.get("table", {}).get("target"))

    def _names_of(self, plan: Plan) -> list[str]:
        """The columns of a row: those of the plan, but for the target and what is made of earlier rows."""
        return [name for name in plan.names if name != self._target_name and name not in plan.made]

    def _remember_names(self, names: Sequence[str], have_words: bool = True) -> None:
        self._names = list(names)
        self.n_features_in_ = len(names)
        if have_words:
            self.feature_names_in_ = np.array(names, dtype=object)

    def encode(self, X: Any) -> Any:
        """The rows as the learner sees them, one column for each of ``encoder_.feature_names()``. Nothing is learned.

        With sparse columns they are a `scipy.sparse.csr_array`, in which those stand behind all others.
        """
        plan, blocks = self._encoder_now().plan, list(self._encoded(X))
        if not blocks:
            from scipy.sparse import csr_array

            return csr_array((0, plan.width)) if plan.sparse_columns else np.empty((0, plan.width))
        return stack_rows(blocks)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict each row; nothing is learned."""
        predictions = [self.learner_.predict(self._named(rows)) for rows in self._encoded(X)]
        return np.concatenate(predictions) if predictions else self._no_predictions()

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """The prediction for one row, a dict of column name to cell; None before any row was learned."""
        row = x if type(x) is dict else self._row(x)
        if not self.__sklearn_is_fitted__():
            return None
        features: Any = self.encoder_.row(row, learn=False)
        if features is None:
            rows = self.encode([row])
            sparse = not isinstance(rows, np.ndarray)
            features = dict(zip(rows.indices.tolist(), rows.data.tolist(), strict=True)) if sparse else rows[0]
        return self.learner_.predict_one(features)

    def _encoded_one(self, x: Any) -> Any:
        """One row, a dict, as rows of which it is the only one."""
        row = self._row(x)
        features = self.encoder_.row(row, learn=False)
        if features is None:
            return self._named(self.encode([row]))
        if isinstance(features, np.ndarray):
            return self._named(features[None])
        from scipy.sparse import csr_array

        entries = np.array(list(features.values())), np.array(list(features), dtype=np.int64), [0, len(features)]
        return self._named(csr_array(entries, shape=(1, self.encoder_.plan.width)))

    @property
    def _takes_sparse(self) -> bool:
        return bool(getattr(self._learner_now, "_takes_sparse", False))

    @property
    def columns_(self) -> Columns:
        """What each column is and what is done to it, as a run prints it."""
        return Columns(self._encoder_now().plan.describe())

    @property
    def notes(self) -> dict[str, Any]:
        """What the model file holds beside the learner: the encoder under ``"table"``, and what was given."""
        parameters = self.get_params(deep=False)
        usual = type(self)().get_params(deep=False)
        changed = {name: value for name, value in parameters.items() if name != "learner" and value != usual[name]}
        table = {**self._notes.get("table", {}), **self._encoder_now().to_json()}
        if "parameters" in table or any(name != "missing" for name in changed):
            table["parameters"] = {name: list(v) if isinstance(v, tuple) else v for name, v in changed.items()}
        return {**self._notes, "table": table}

    @available_if(_learner_has("explain"))  # type: ignore[untyped-decorator]
    def explain(self) -> str:
        """What the learner says of itself."""
        return str(self.learner_.explain())

    @available_if(lambda model: hasattr(learner_of(model._learner_now), "export_text"))  # type: ignore[untyped-decorator]
    def export_text(self, number: int = 0, *, max_depth: int | None = None) -> str:
        """A tree as text, with the names of columns and categories; see the learner for the parameters."""
        names = self._encoder_now().feature_names()
        return str(learner_of(self.learner_).export_text(number, feature_names=names, max_depth=max_depth))

    @property
    def background(self) -> Floats | None:
        """Recent rows of the run, encoded: what contributions to a prediction are relative to; None of other models."""
        rows = self._notes.get("background")
        return None if not rows else np.array(rows, dtype=np.float64)

    @property
    def importance_(self) -> Importance:
        """Importance of the columns of the table, on up to 128 recent rows that this object learned by `partial_fit`.

        It is missing, an AttributeError, where there are none: right after `thalweg.load`, in a copy, and in models of
        text and other sparse columns, which keep no rows. `thalweg.explain.importance` takes rows of your own there.
        """
        learner = self.learner_
        if getattr(learner, "_recent", None) is None:
            return cast("Importance", learner.importance_)  # which says why there are none
        from thalweg.explain.importance import importance

        X, y = learner._recent
        return importance(learner, X, y, groups=Groups.of_plan(self.encoder_.plan))

    def _to_explain(self, X: Any, background: Any, groups: Any) -> tuple[Any, Any, Any, Groups]:
        """The learner, encoded rows and background, and the features of each column: for `thalweg.explain`."""
        if groups is not None:
            raise InvalidParameter.of(
                "explain", "groups", "be left out for a table: its columns are the groups", groups
            )
        others = self.background if background is None else self.encode(background)
        return self.learner_, self.encode(X), others, Groups.of_plan(self.encoder_.plan)

    def __sklearn_is_fitted__(self) -> bool:
        return "learner_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = self._takes_sparse
        return tags

    def _repr_html_(self) -> str:
        """scikit-learn's diagram; below it the columns that are read, and the learner as it shows itself."""
        diagram = str(estimator_html_repr(self))
        if not self.__sklearn_is_fitted__():
            return diagram
        columns = escape(", ".join(column.name for column in self.encoder_.plan.columns))
        return f"{diagram}<p>{type(self).__name__} of the columns {columns}</p>{self.learner_._html_repr()}"

    def __getattr__(self, name: str) -> Any:
        if name == "importance_" and "learner_" in self.__dict__:  # its own error says why
            return self.learner_.importance_
        if not self.__sklearn_is_fitted__() and isinstance(getattr(type(self), name, None), property):
            raise self._not_fitted()
        message = f"a {type(self).__name__} has no {name!r}"
        if not name.startswith("_") and hasattr(self.__dict__.get("learner_"), name):
            message += f": that of its learner is model.learner_.{name}"
        raise AttributeError(message)

    def _no_predictions(self) -> NDArray[Any]:
        """The predictions for no rows."""
        return np.empty(0)

    def _targets(self, y: Any, rows: int, order: Any = None) -> Any:
        """What the learner takes for these labels or numbers, of which only those of rows that are learned count."""
        raise NotImplementedError

    def _target(self, y: Any) -> Any:
        """The same for one row."""
        return y

    @property
    def _learner_now(self) -> Any:
        """The learner that has learned, else the one that will."""
        given = vars(self).get("learner_", vars(self).get("learner"))
        return self._usual_learner() if given is None else given

    def _encoder_now(self) -> Encoder:
        if not self.__sklearn_is_fitted__():
            raise self._not_fitted()
        return self.encoder_

    def _not_fitted(self) -> NotFittedError:
        return NotFittedError(
            f"This {type(self).__name__} instance is not fitted yet: it has seen no row. "
            "Call 'fit' or 'partial_fit' first."
        )

    def _encoded(self, X: Any) -> Iterator[Any]:
        encoder = self._encoder_now()
        cells = quick_cells(X, encoder) if are_dicts(X) and encoder.history is None else None
        if cells is not None:
            yield encoder.features(cells, len(X), learn=False)
            return
        table = self._table(X)
        with encoder.passing():
            for start in range(0, len(table), _ROWS):
                yield self._features(encoder, table, start, min(_ROWS, len(table) - start), learn=False)

    def _table(self, X: Any) -> Any:
        """The columns that are read."""
        lenient, owner = self.misfits == "missing", type(self).__name__
        return table_of(X, self.encoder_, self._names, lenient=lenient, owner=owner)

    def _features(self, encoder: Encoder, table: Any, start: int, rows: int, *, learn: bool, order: Any = None) -> Any:
        chunk = Chunk([Piece(Block(table, "X", 0), start, rows)], [])  # rows are counted from 0, as Python counts
        # While the first rows settle the columns, a later one may show that they are others.
        lenient = self.misfits == "missing" or (self._held is not None and not learn)
        encoded = encoder.encode(chunk, learn=learn, misfits_are_missing=lenient, order=order)
        if encoded.bad:  # of an encoder that skips bad rows: each row needs a prediction
            raise InvalidInput(str(encoded.bad[0]))
        return encoded.X

    def _features_to_learn(self, encoder: Encoder, table: Any, targets: Any, order: Any) -> Any:
        """The same of rows that are learned in this order, each after the one before where it is None."""
        rows = np.arange(len(table))
        steps = np.stack([rows, ~rows], axis=1).ravel() if order is None else np.asarray(order, dtype=np.int64)
        return self._features(
            encoder, self._as_learned(encoder, table, targets), 0, len(table), learn=True, order=steps
        )

    def _as_learned(self, encoder: Encoder, table: Any, targets: Any) -> Any:
        """The cells as those that were learned before are written; with the targets, where later rows read them."""
        places = {name: place for place, name in enumerate(table.column_names)}
        for column in encoder.plan.columns:  # predicting sees to their spelling by itself
            if (place := places.get(column.name)) is not None:
                table = table.set_column(place, column.name, column.as_learned(table.column(place)))
        if encoder.history is None:
            return table
        return table.append_column(str(self._target_name), [array_of(np.asarray(targets).tolist())])

    def _named(self, rows: Any, learner: Any = None) -> Any:
        """Encoded rows with the names that the learner checks, where it knows any."""
        known = hasattr(self.learner_ if learner is None else learner, "feature_names_in_")
        return NamedRows(rows, self.encoder_.plan.feature_names) if known else rows

    def _has_use_for(self, names: list[Any]) -> bool:
        """Whether the names of rows say something to it: for walks over streams."""
        return True

    def _row(self, x: Any) -> dict[str, Any]:
        if names_of(x) is None:
            raise refused(x, "a row must be a dict of column name to cell")
        return dict(x)


def _has_words(X: Any) -> bool:
    """Whether these rows name their columns, as frames and dicts do."""
    names = list(X[0]) if are_dicts(X) else names_of_columns(X)
    return names is not None and all(isinstance(name, str) for name in names)
