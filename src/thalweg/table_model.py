"""A learner behind the encoder of a table: what `thalweg run` leaves and `thalweg.load` gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.explain.groups import Groups
from thalweg.frames.arrow_frame import array_of, pyarrow_for
from thalweg.frames.frame import Floats, Frame, NamedRows
from thalweg.frames.reading import as_array, frame_of
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.intervals import Interval
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.learners.base.rows import names_of
from thalweg.tables.cells import BadCell, parsed, spelled_as
from thalweg.tables.columns.column import Column
from thalweg.tables.encoder import Encoder, stack_rows
from thalweg.tables.plan import Plan
from thalweg.tables.rows import Block, Chunk, Piece, as_text
from thalweg.tables.target import LabelType, plain_label, typed_labels

if TYPE_CHECKING:
    from thalweg.explain.importance import Importance

__all__ = ["TableClassifier", "TableModel", "TableRegressor"]

#: Rows that are encoded at a time.
_ROWS = 8192
_MOST_NAMED = 5


def _learner_has(name: str) -> Any:
    return lambda model: hasattr(model.learner, name)


class TableModel:
    """What `TableClassifier` and `TableRegressor` share: a learner of encoded rows, and the encoder of its table."""

    learner: Any

    def __init__(self, learner: Any, encoder: Encoder | None = None, *, notes: Mapping[str, Any] | None = None) -> None:
        owner = type(self).__name__
        if encoder is None:
            if not hasattr(learner, "feature_names_in_"):
                raise InvalidParameter.of(owner, "encoder", "be given: the learner knows no names", None)
            encoder = Encoder(Plan.of_numbers(learner.feature_names_in_.tolist()), missing="error")
        width = encoder.plan.width
        if getattr(learner, "n_features_in_", width) != width:
            rule = f"give the {learner.n_features_in_} features of the learner"
            raise InvalidParameter.of(owner, "encoder", rule, f"{width} features")
        self.learner = learner
        self.encoder = encoder
        self._notes = dict(notes or {})

    @property
    def notes(self) -> dict[str, Any]:
        """What the model file holds beside the learner: the encoder under ``"table"``, and what was given."""
        return {**self._notes, "table": {**self._notes.get("table", {}), **self.encoder.to_json()}}

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return [column.name for column in self.encoder.plan.columns]

    def encode(self, X: Any) -> Any:
        """The rows as the learner sees them, one column for each of ``encoder.feature_names()``. Nothing is learned.

        With sparse columns they are a `scipy.sparse.csr_array`, in which those stand behind all others.
        """
        plan, found = self.encoder.plan, list(self._encoded(X))
        if not found:
            from scipy.sparse import csr_array

            return csr_array((0, plan.width)) if plan.sparse_columns else np.empty((0, plan.width))
        return stack_rows(found)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict each row; nothing is learned."""
        found = [self.learner.predict(self._named(rows)) for rows in self._encoded(X)]
        return np.concatenate(found) if found else self._no_predictions()

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """The prediction for one row, a dict of column name to cell; None before any row was learned."""
        rows = self.encode([self._row(x)])
        sparse = not isinstance(rows, np.ndarray)
        row = dict(zip(rows.indices.tolist(), rows.data.tolist(), strict=True)) if sparse else rows[0]
        return self.learner.predict_one(row)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn these rows in order, as the run would have. A call that is refused changes nothing.

        Every row needs a label, or a number. Where the labels learned so far are text, as those of a file are, so are
        these: 1 and 1.0 are the class ``"1"``.
        """
        table = self._table(X)
        labels = self._targets(y, len(table))
        before = self.encoder.mark()
        try:
            self.learner.partial_fit(self._encoded_to_learn(table), labels)
        except Exception:
            self.encoder.undo(before)
            raise
        return self

    def learn_one(self, x: Mapping[str, Any], y: Any) -> Self:
        """Learn one row, a dict of column name to cell."""
        return self.partial_fit([self._row(x)], [y])

    @available_if(_learner_has("explain"))  # type: ignore[untyped-decorator]
    def explain(self) -> str:
        """What the learner says of itself."""
        return str(self.learner.explain())

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
        learner = self.learner
        if getattr(learner, "_recent", None) is None:
            return cast("Importance", learner.importance_)  # which says why there are none
        from thalweg.explain.importance import importance

        X, y = learner._recent
        return importance(learner, X, y, groups=Groups.of_plan(self.encoder.plan))

    def _to_explain(self, X: Any, background: Any, groups: Any) -> tuple[Any, Any, Any, Groups]:
        """The learner, encoded rows and background, and the features of each column: for `thalweg.explain`."""
        if groups is not None:
            raise InvalidParameter.of(
                "explain", "groups", "be left out for a table: its columns are the groups", groups
            )
        others = self.background if background is None else self.encode(background)
        return self.learner, self.encode(X), others, Groups.of_plan(self.encoder.plan)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.learner!r}, columns={self.columns!r})"

    def _repr_html_(self) -> str:
        """The columns that are read, and the learner as it shows itself."""
        columns = escape(", ".join(self.columns))
        return f"<p>{type(self).__name__} of the columns {columns}</p>{self.learner._html_repr()}"

    def __getattr__(self, name: str) -> Any:
        if name == "importance_" and "learner" in self.__dict__:  # its own error says why
            return self.learner.importance_
        message = f"a {type(self).__name__} has no {name!r}"
        if not name.startswith("_") and hasattr(self.__dict__.get("learner"), name):
            message += f": that of its learner is model.learner.{name}"
        raise AttributeError(message)

    # ------------------------------------------------------------------ what differs

    def _no_predictions(self) -> NDArray[Any]:
        """The predictions for no rows."""
        return np.empty(0)

    def _targets(self, y: Any, rows: int) -> Any:
        """What the learner takes for these labels or numbers."""
        return y

    # ------------------------------------------------------------------ from frames to features

    def _encoded(self, X: Any) -> Iterator[Any]:
        quick = self._quickly(X) if _are_dicts(X) else None
        if quick is not None:
            yield quick
            return
        table = self._table(X)
        for start in range(0, len(table), _ROWS):
            yield self._features(table, start, min(_ROWS, len(table) - start), learn=False)

    def _features(self, table: Any, start: int, rows: int, *, learn: bool) -> Any:
        block = Block(table, "X", 0)  # rows are counted from 0, as Python counts
        encoded = self.encoder.encode(Chunk([Piece(block, start, rows)], []), learn=learn)
        if encoded.bad:  # of an encoder that skips bad rows: each row needs a prediction
            raise InvalidInput(str(encoded.bad[0]))
        return encoded.X

    def _encoded_to_learn(self, table: Any) -> Any:
        """The features of rows that are about to be learned; the encoder remembers them."""
        return self._named(self._features(self._with_known_spelling(table), 0, len(table), learn=True))

    def _quickly(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """The features of dicts, by Arrow only for columns that need it; None where something is wrong."""
        found = []
        for column in self.encoder.plan.columns:
            values = [row.get(column.name, column.default) for row in rows]
            try:
                cells, wrong = column.parse_values(values), list[tuple[int, str]]()
            except BadCell:
                return None
            if cells is None:
                cells, wrong = parsed(column, pyarrow_for(rows).chunked_array([array_of(values)]))
            absent = not any(column.name in row for row in rows)
            whole = column.required or self.encoder.missing == "error"
            if wrong or absent or (whole and column.missing(cells).any()):
                return None
            found.append(cells)
        return self.encoder.features(found, len(rows), learn=False)

    def _named(self, rows: Any) -> Any:
        """Encoded rows with the names that the learner checks, where it knows any."""
        return NamedRows(rows, self.encoder.plan.feature_names) if hasattr(self.learner, "feature_names_in_") else rows

    def _table(self, X: Any) -> Any:
        """The columns that are read, as a table of Arrow."""
        pa = pyarrow_for(X)
        if _are_dicts(X):
            present = list(dict.fromkeys(name for row in X for name in row))
            self.encoder.require_columns(present, "the row" if len(X) == 1 else "X")
            cells = {
                column: [row.get(column.name, column.default) for row in X] for column in self.encoder.plan.columns
            }
            return pa.table({column.name: _array(column, values) for column, values in cells.items()})
        frame = frame_of(X)
        if frame is None:
            more = ", …" if len(self.columns) > _MOST_NAMED else ""
            named = ", ".join(map(repr, self.columns[:_MOST_NAMED])) + more
            raise self._refused(X, f"X must be a frame with the columns {named}, or a list of dicts")
        present = frame.names
        self.encoder.require_columns(present, "X")
        for name in self.columns:
            if present.count(name) > 1:
                raise InvalidInput(f"X must have a different name for each column, got {name!r} more than once")
        return pa.table(
            {
                column.name: _cells(column, frame) if column.name in present else column.absent(len(X))
                for column in self.encoder.plan.columns
            }
        )

    def _row(self, x: Any) -> dict[str, Any]:
        if names_of(x) is None:
            raise self._refused(x, "a row must be a dict of column name to cell")
        return dict(x)

    def _refused(self, given: object, rule: str) -> InvalidInput:
        """For those who have encoded rows, what takes them."""
        return InvalidInput(f"{rule}, got a {type(given).__name__}: model.learner takes rows that are encoded already")

    def _with_known_spelling(self, table: Any) -> Any:
        """True and false as the categories learned so far spell them; predicting sees to that by itself."""
        for place, column in enumerate(self.encoder.plan.columns):
            table = table.set_column(place, column.name, column.as_learned(table.column(place)))
        return table


class TableClassifier(TableModel):
    """A classifier for rows as they are in a table: numbers, categories, text, times and gaps in named columns.

    `thalweg.load` returns one for a model file written by `thalweg run`. Rows are a frame of pandas or polars, a table
    of pyarrow, or a list of dicts. A single row is a dict. pyarrow is needed: ``pip install 'thalweg[files]'``.

    The rules are those of `thalweg predict`, but for one: a column that is absent is an error here, where the command
    says so and takes its values as missing. Columns may be in any order, and others are ignored. A cell that does not
    fit its column raises `InvalidInput`, which names the row, counted from 0, and the column. A category that was never
    seen has no feature. Predicting changes neither the learner nor the encoder.

    Parameters
    ----------
    learner : classifier of thalweg
        What learns the encoded rows.
    encoder : Encoder, optional
        What turns columns into features. By default each feature that the learner knows by name is a column of numbers
        without gaps, as in a run on Spark.
    notes : dict, optional
        What else is kept in the model file, as JSON.

    Attributes
    ----------
    learner : classifier of thalweg
        It takes encoded rows, as `encode` gives them.
    encoder : Encoder
        ``encoder.plan`` says what each column is, ``encoder.feature_names()`` what the features are.
    columns : list of str
        The columns that are read.
    classes_ : ndarray
        The labels learned so far, sorted. Those of a file are text; those of `thalweg.evaluate.run` have the type of
        its y: whole numbers, numbers, booleans or text.

    Examples
    --------
    >>> import pandas as pd
    >>> from thalweg import OnlineLDC, TableClassifier
    >>> rows = pd.DataFrame({"level": [0.0, 1.0, 0.1, 0.9], "rain": [0.0, 2.0, 0.1, 1.8]})
    >>> learner = OnlineLDC().partial_fit(rows, ["low", "high", "low", "high"])
    >>> model = TableClassifier(learner)
    >>> model.predict(pd.DataFrame({"station": ["B"], "rain": ["1.9"], "level": [0.8]})).tolist()
    ['high']
    >>> model.predict_one({"level": 0.2, "rain": 0.0})
    'low'
    """

    learner: StreamClassifier

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels learned so far, sorted."""
        return np.sort(self._typed(self.learner.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict each row; nothing is learned."""
        return self._typed(super().predict(X))

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """The label of one row, a dict of column name to cell; None before any row was learned."""
        label = super().predict_one(x)
        return label if label is None or self.label_type is None else self._typed(np.array([label]))[0].item()

    @available_if(_learner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class of ``classes_``, row by row."""
        order = np.argsort(self._typed(self.learner.classes_))
        found = [self.learner.predict_proba(self._named(rows))[:, order] for rows in self._encoded(X)]
        return np.concatenate(found) if found else np.empty((0, len(order)))

    @property
    def label_type(self) -> LabelType | None:
        """The type of the labels before a run took them as text, which predictions have again; None for text."""
        found = self._notes.get("table", {}).get("labels")
        return found if found in get_args(LabelType) else None

    def with_label_type(self, kind: LabelType | None) -> TableClassifier:
        """The same model, with labels of this type; its learner has them as text."""
        if kind is None:
            return self
        notes = {**self._notes, "table": {**self._notes.get("table", {}), "labels": kind}}
        return TableClassifier(self.learner, self.encoder, notes=notes)

    def _typed(self, labels: NDArray[Any]) -> NDArray[Any]:
        return labels if self.label_type is None else typed_labels(labels, self.label_type)

    def _no_predictions(self) -> NDArray[Any]:
        return self.learner.classes_[:0]

    def _targets(self, y: Any, rows: int) -> Any:
        """Labels as a run takes them, where those learned so far are text."""
        known = getattr(self.learner, "classes_", np.empty(0, dtype=np.str_))
        if known.dtype.kind != "U":
            return y
        labels = np.asarray(as_array(y)).ravel().tolist()
        if len(labels) != rows:
            raise InvalidInput(f"y must have one label for each of the {rows} rows of X, got {len(labels)}")
        array = array_of(labels)
        words = as_text(array).to_pylist()
        for at, word in enumerate(words):
            if word is None or not word.strip():
                raise InvalidInput(f"y must hold a label for every row, got a missing one at row {at}")
        spelled = {word: plain_label(word.strip()) for word in set(words)}
        if pyarrow_for(y).types.is_boolean(array.type):
            spelled = {word: spelled_as(word, known.tolist()) for word in spelled}
        for word, label in spelled.items():
            try:
                self._typed(np.array([label]))
            except ValueError:
                rule = f"hold {self.label_type}s like the labels learned so far"
                raise InvalidInput(f"y must {rule}, got {word!r} at row {words.index(word)}") from None
        return np.array([spelled[word] for word in words])


class TableRegressor(TableModel):
    """A regressor for rows as they are in a table: numbers, categories, text, times and gaps in named columns.

    `thalweg.load` returns one for a model file of a run with a number as its target. Rows and rules are those of
    `TableClassifier`.

    Parameters
    ----------
    learner : regressor of thalweg
        What learns the encoded rows.
    encoder : Encoder, optional
        What turns columns into features. By default each feature that the learner knows by name is a column of numbers
        without gaps.
    notes : dict, optional
        What else is kept in the model file, as JSON.

    Attributes
    ----------
    learner : regressor of thalweg
        It takes encoded rows, as `encode` gives them.
    encoder : Encoder
        ``encoder.plan`` says what each column is, ``encoder.feature_names()`` what the features are.
    columns : list of str
        The columns that are read.

    Examples
    --------
    >>> import pandas as pd
    >>> from thalweg import OnlineLinearRegression, TableRegressor
    >>> rows = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "rooms": [1.0, 1.0, 2.0, 2.0]})
    >>> model = TableRegressor(OnlineLinearRegression(solver="rls").partial_fit(rows, [10.0, 20.0, 30.0, 40.0]))
    >>> round(model.predict_one({"rooms": 2, "size": 5}), 1)
    50.0
    """

    learner: StreamRegressor

    @available_if(_learner_has("predict_interval"))  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, coverage: float | None = None) -> Interval:
        """The lower and the upper end of the interval of each row; see the learner for the coverages it has."""
        asked = {} if coverage is None else {"coverage": coverage}
        learner: Any = self.learner
        found = [learner.predict_interval(self._named(rows), **asked) for rows in self._encoded(X)]
        return Interval(*map(np.concatenate, zip(*found, strict=True))) if found else Interval(np.empty(0), np.empty(0))


def _cells(column: Column, frame: Frame) -> Any:
    """A column of a frame as an array of Arrow; pandas has dicts, too, where a column holds maps."""
    values = frame.column(column.name)
    if not column.nested or getattr(values, "dtype", None) != np.dtype(object):
        return frame.arrow_column(column.name)
    return _array(column, [None if value is None or value != value else value for value in values])


def _array(column: Column, values: list[Any]) -> Any:
    """Cells of dicts as an array of Arrow."""
    try:
        cells = column.as_arrow(values)
    except BadCell as error:
        raise InvalidInput(f"X, row {error.at}, column {column.name!r}: {error.what}") from None
    return array_of(values) if cells is None else cells


def _are_dicts(X: Any) -> bool:
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(row, Mapping) for row in X)
