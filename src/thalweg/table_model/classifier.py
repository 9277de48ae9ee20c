"""`TableClassifier`: labels for rows as they are in a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from thalweg.errors import InvalidInput
from thalweg.frames.arrow_frame import array_of, pyarrow_for
from thalweg.frames.frame import LABELLED_ONLY, Floats
from thalweg.frames.reading import as_array
from thalweg.labels import as_labels
from thalweg.learners.auto import AutoClassifier
from thalweg.learners.base.classifier import Predictions, StreamClassifier
from thalweg.learners.base.kept_predictions import steps_of
from thalweg.table_model.model import TableModel, _learner_has
from thalweg.tables.cells import spelled_as
from thalweg.tables.rows import as_text
from thalweg.tables.target import LabelType, plain_label, typed_labels

#: Labels that are not text, as arrays hold them.
_LABEL_TYPES: dict[str, LabelType] = {"i": "integer", "b": "boolean", "f": "number"}
_ZEROS = {"integer": "0", "boolean": "false", "number": "0"}


class TableClassifier(ClassifierMixin, TableModel):
    """A classifier for rows as they are in a table: numbers, categories, text, times and gaps in named columns.

    Rows are a frame of pandas or polars, a table of pyarrow, a list of dicts, or an array; a single row is a dict. The
    first rows settle what each column is, by its type or by what its cells hold, and a row is encoded by what the rows
    before it held. It is the model that `thalweg run` leaves and `thalweg.load` returns, and it predicts what a run
    over the same rows predicts. pyarrow is needed: ``pip install 'thalweg[files]'``.

    Columns may be in any order, and others are ignored. Predicting changes nothing.

    Parameters
    ----------
    learner : classifier of thalweg, optional
        What learns the encoded rows; by default `AutoClassifier()`. Its parameters are ``learner__rate`` and so on.
        One that does not scale by itself needs a step before it:
        ``StreamPipeline([StandardScaler(clip=10.0, robust=True), OnlineLogistic()])``, as in `thalweg run`.
    head : int >= 1, default 1000
        How many rows settle the columns. Until so many came the columns are planned anew each time the rows have
        doubled, and the rows learned again; `fit` settles the columns by the rows that it is given. The model does not
        depend on how many rows came at a time, and their predictions do, since rows that come together settle the
        columns together: the first of them alone would not show that a column is text.
    categorical, numeric, text, drop : sequence of str
        Columns that are categories, numbers or text, whatever they look like, and those that are not read.
    time : str, optional
        The column that says when a row came, in the form in which a run would read it.
    key : str, optional
        The column of keys, such as customers, each of which gets a model of its own beside that of all.
    na : sequence of str
        Further words or numbers that stand for a missing value.
    decimal : {".", ","}, optional
        What stands before the decimals of numbers in text; by default it is detected.
    keep_sentinels : bool, default False
        Whether to take numbers such as -999 as they are where they seem to stand for a missing value.
    missing : {"mean", "error"}, default "mean"
        What to do with a number that is missing: the mean of those before it, or refuse its row.
    misfits : {"error", "missing"}, default "error"
        What to do, once the columns are settled, with a column that is absent and a cell that is not what its column
        is: refuse the rows, or count it as missing.
    ngrams : pair of int, default (1, 1)
        Shortest and longest run of words that is a feature of a column of text.
    hash_bits : int, default 20
        Binary logarithm of the number of features of each column of text.
    features : sequence of str, or "auto"
        Columns made of earlier rows, such as ``"recent = count() by card over 1h"``;
        the guide to features has the language. They see rows that were learned before, and rows before theirs in the
        same call. "auto" chooses a few by the first rows.

    Attributes
    ----------
    learner_ : classifier of thalweg
        What has learned; it takes encoded rows, as `encode` gives them.
    encoder_ : Encoder
        ``encoder_.plan`` says what each column is, ``encoder_.feature_names()`` what the features are.
    columns_ : list of (name, kind, treatment)
        What was decided of each column; printed as a table.
    classes_ : ndarray
        The labels learned so far, sorted. Labels are whole numbers, numbers, booleans or text. Text is taken without
        blanks around, and whole numbers in it without a point, as in a file.
    n_features_in_ : int
        The number of columns of the first rows.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import pandas as pd
    >>> from thalweg import TableClassifier
    >>> rows = pd.DataFrame({"level": [0.0, 9.0, None, 8.0] * 50, "wind": ["north", "south", "north", "calm"] * 50})
    >>> model = TableClassifier().partial_fit(rows, ["low", "high", "low", "high"] * 50)
    >>> model.columns_
    column  kind      what is done
    level   number    as it is; a missing value becomes the mean so far, marked by a feature of its own
    wind    category  one feature for each of its 3 categories, 4 for further ones that may come, one for all others
    y       –         the label
    >>> model.predict(pd.DataFrame({"wind": ["south", "north"], "level": ["8.5", None]})).tolist()
    ['high', 'low']
    >>> model.predict_one({"level": 7.5, "wind": "west"})
    'high'
    """

    learner_: StreamClassifier
    _usual_learner = AutoClassifier
    _kind_of_learner = StreamClassifier

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows in order, as the run would have. A call that is refused changes nothing.

        Every row needs a label. Where the labels learned so far are text, as those of a file are, so are these: 1 and
        1.0 are the class ``"1"``. ``classes`` may announce labels to come; it is never needed.
        """
        self._learn("partial_fit", X, y, classes=classes, sample_weight=sample_weight)
        return self

    def predict_then_learn(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        with_proba: bool = False,
        with_rate: bool = False,
        with_weights: bool = False,
    ) -> NDArray[Any] | Predictions:
        """Predict each row before its label is seen, then learn it: the whole table in one call.

        The parameters and the result are those of `StreamClassifier.predict_then_learn`.
        """
        asked = {"with_proba": with_proba, "with_rate": with_rate, "with_weights": with_weights}
        given = {name: True for name, wanted in asked.items() if wanted}
        results = self._learn("predict_then_learn", X, y, sample_weight=sample_weight, **given)
        if not isinstance(results, Predictions):
            return self._typed(results)
        proba = None if results.proba is None else results.proba[:, self._order]
        return results._replace(labels=self._typed(results.labels), proba=proba)

    def follow(
        self, X: Any, y: ArrayLike, order: ArrayLike, *, with_proba: bool = False
    ) -> tuple[NDArray[Any], Floats | None]:
        """Predict and learn rows in any order, in one call: ``i`` predicts row i, ``~i`` learns it.

        The encoder remembers all rows as they stand. The label of a row that is not learned is not looked at.
        """
        labels, proba = self._learn("follow", X, y, order, **({"with_proba": True} if with_proba else {}))
        return self._typed(labels), None if proba is None else proba[:, self._order]

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels learned so far, sorted."""
        return np.sort(self._typed(self.learner_.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict each row; nothing is learned."""
        return self._typed(super().predict(X))

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """The label of one row, a dict of column name to cell; None before any row was learned."""
        label = super().predict_one(x)
        if label is None or self.label_type is None:
            return label
        words = self.__dict__.setdefault("_words", {})
        if label not in words:
            words[label] = self._typed(np.array([label]))[0].item()
        return words[label]

    @available_if(_learner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class of ``classes_``, row by row."""
        encoded = self._encoded(X)
        shares = [self.learner_.predict_proba(self._named(rows))[:, self._order] for rows in encoded]
        return np.concatenate(shares) if shares else np.empty((0, len(self.classes_)))

    @available_if(_learner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The learner's score of each class of ``classes_``; for two classes the second's minus the first's."""
        scores = np.concatenate([self.learner_.decision_function(self._named(rows)) for rows in self._encoded(X)])
        return scores[:, self._order] if scores.ndim > 1 else scores * np.sign(self._order[1] - self._order[0])

    @available_if(_learner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """The probability of each label for one row; empty before any row was learned."""
        if not self.__sklearn_is_fitted__():
            return {}
        labels = self._typed(self.learner_.classes_)
        order = np.argsort(labels)
        proba = self.learner_.predict_proba(self._encoded_one(x))[0]
        return dict(zip(labels[order].tolist(), proba[order].tolist(), strict=True))

    @property
    def label_type(self) -> LabelType | None:
        """The type of the labels before they were taken as text, which predictions have again; None for text."""
        kind = self._notes.get("table", {}).get("labels")
        return kind if kind in get_args(LabelType) else None

    def with_label_type(self, kind: LabelType | None) -> TableClassifier:
        """The same model, with labels of this type; its learner has them as text."""
        if kind is None:
            return self
        notes = {**self._notes, "table": {**self._notes.get("table", {}), "labels": kind}}
        return TableClassifier.of_learned(self.learner_, self.encoder_, notes=notes)

    @property
    def _order(self) -> NDArray[np.int64]:
        """The places of the sorted labels among those of the learner."""
        return np.argsort(self._typed(self.learner_.classes_))

    def _typed(self, labels: NDArray[Any]) -> NDArray[Any]:
        kind = self.label_type
        if kind is None or labels.dtype.kind != "U":
            return labels
        none = labels == ""  # before any label was learned
        return typed_labels(np.where(none, _ZEROS[kind], labels) if none.any() else labels, kind)

    def _no_predictions(self) -> NDArray[Any]:
        return self.learner_.classes_[:0]

    def _with_first_targets(self, y: Any, order: Any = None) -> Mapping[str, Any]:
        given: Any = as_array(y)
        given = given if isinstance(given, list | tuple) or given is None else np.asarray(given)
        if order is not None:
            given = np.array(given, dtype=object)[steps_of(order, len(given))[1]].tolist()
        if given is None:
            raise InvalidInput(f"{type(self).__name__} requires y to be passed, but the target y is None")
        kind = _LABEL_TYPES.get(as_labels(given, np.size(given), type(self).__name__).dtype.kind)
        table = {name: value for name, value in self._notes.get("table", {}).items() if name != "labels"}
        return {**self._notes, "table": table if kind is None else {**table, "labels": kind}}

    def _targets(self, y: Any, rows: int, order: Any = None) -> Any:
        """Labels as a run takes them, where those learned so far are text."""
        known = getattr(vars(self).get("learner_"), "classes_", np.empty(0, dtype=np.str_))
        if known.dtype.kind != "U":
            return y
        given = np.asarray(as_array(y)).ravel()
        if len(given) != rows:
            raise InvalidInput(f"y must have one label for each of the {rows} rows of X, got {len(given)}")
        if order is not None:  # the labels of others may be anything
            _, taught = steps_of(order, rows)
            padded = np.zeros(rows, dtype=f"U{max(1, known.itemsize // 4)}")
            learned = self._targets(given[taught], int(taught.sum()))
            padded = padded.astype(np.result_type(padded, learned))
            padded[taught] = learned
            return padded
        labels: Any = given.tolist() if given.dtype.kind == "O" else given
        coded = array_of(labels).dictionary_encode()
        words = as_text(coded.dictionary).to_pylist()
        places = coded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
        bad = [at for at, word in enumerate(words) if word is None or not word.strip()]
        missing = np.isin(places, [*bad, len(words)])
        if missing.any():
            at = int(missing.argmax())
            raise InvalidInput(f"y must hold a label for every row, got a missing one at row {at}{LABELLED_ONLY}")
        named = [plain_label(word.strip()) for word in words]
        if pyarrow_for(y).types.is_boolean(coded.dictionary.type):
            named = [spelled_as(word, known.tolist()) for word in named]
        for at, label in enumerate(named):
            try:
                self._typed(np.array([label]))
            except ValueError:
                rule = f"hold {self.label_type}s like the labels learned so far"
                row = int((places == at).argmax())
                raise InvalidInput(f"y must {rule}, got {words[at]!r} at row {row}") from None
        return np.array(named, dtype=np.str_)[places] if named else np.empty(0, dtype=np.str_)

    def _labels_as_learned(self, y: Any) -> Any:
        """Labels as the learner has them: for `thalweg.explain`."""
        return self._targets(y, len(y))

    def _target(self, y: Any) -> Any:
        words, key = self.__dict__.setdefault("_words", {}), (type(y), y)
        if key not in words:
            words[key] = self._targets([y], 1)[0].item()
        return words[key]
