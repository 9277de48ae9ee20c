"""Classification: labels are text, and a prediction is right or wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.catalogue import ask_of, make_model
from thalweg.client.protocol import MOST_TEXT
from thalweg.evaluate.averages import WindowedMean
from thalweg.evaluate.drift import ChangeDetector
from thalweg.evaluate.task import LabelTask
from thalweg.fleet.keyed_classifier import KeyedClassifier
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.pipeline.over_columns import over_columns, require_keys_taken
from thalweg.service.commands import Refused
from thalweg.service.journal.compressed_rows import Features, as_learned
from thalweg.service.journal.records import NO_PREDICTION, LabelledRow, LabelValue, Predicted, PredictedLabels
from thalweg.service.learning.comparison import MistakeComparison
from thalweg.service.learning.progress import WINDOW, Progress, View, family_weights
from thalweg.service.learning.rare_progress import RareProgress
from thalweg.service.learning.task import Floats, Learner, ModelTask
from thalweg.service.responses import LabelResponse
from thalweg.tables.plan import Plan
from thalweg.tables.rows import text_of
from thalweg.tables.target import plain_label

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Mistakes:
    """Whether predictions were wrong, label by label."""

    scored: Flags
    losses: Flags
    #: Whether the last label known before was another one.
    no_change: Flags
    #: Whether each label is the positive one, whether it was predicted, and P(positive), where there is such a label.
    positive: tuple[Flags, Flags, Floats] | None

    @property
    def errors(self) -> Flags:
        return self.losses

    def __getitem__(self, rows: slice | Flags) -> Mistakes:
        positive = None
        if self.positive is not None:
            truth, said, scores = self.positive
            positive = truth[rows], said[rows], scores[rows]
        return Mistakes(self.scored[rows], self.losses[rows], self.no_change[rows], positive)


class MistakeProgress(Progress[Mistakes]):
    """The share of wrong predictions; and how the positive label is found, where there is one."""

    _RECENT = ("_recent", "rare")

    def __init__(self, rare: RareProgress | None = None) -> None:
        super().__init__()
        #: None of a model without a positive label.
        self.rare = rare
        self.mistakes = self.no_change_mistakes = 0
        self._detector = ChangeDetector()
        self._recent = WindowedMean(WINDOW, 2)

    @property
    def error(self) -> float | None:
        """The share of wrong predictions, among all that got a label."""
        return self.mistakes / self.scored if self.scored else None

    def _score(self, outcome: Mistakes, recent: Mistakes) -> list[dict[str, Any]]:
        wrong, no_change = outcome.losses, outcome.no_change
        self.mistakes += int(wrong.sum())
        self.no_change_mistakes += int(no_change.sum())
        self._recent.push(np.stack([recent.losses, recent.no_change], axis=1))
        if self.rare is not None and recent.positive is not None:
            self.rare.add(*recent.positive)
        return self._detector.add(wrong)

    def recent_predictions(self) -> None:
        return None

    def view(self, model: Any) -> View:
        error, no_change = self._recent.mean().tolist() if len(self._recent) else (None, None)
        rare = None if self.rare is None else self.rare.scores()
        return View(
            self.labels,
            self.error,
            error,
            no_change,
            self._recent_delay(),
            family_weights(model),
            rare,
            recent_labels=len(self._recent),
        )

    def state(self) -> dict[str, Any]:
        counts = [self.labels, self.scored, self.mistakes, self.no_change_mistakes]
        found = self._state(counts, self._detector.state(), self._recent.state())
        return found if self.rare is None else found | {"rare": self.rare.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> MistakeProgress:
        found = cls(RareProgress.from_state(state["rare"]) if "rare" in state else None)
        found._restore(state)
        found.mistakes, found.no_change_mistakes = state["labels"][2:]
        found._detector.restore(state["detector"])
        found._recent.restore(state["last"])
        return found


@dataclass(frozen=True)
class Classification(ModelTask, LabelTask):
    #: The label of interest, and what mistakes about it cost.
    positive: str | None = None
    costs: dict[str, float] | None = None
    #: The column of keys, and bytes of memory for them; None for one model of all rows, and for no limit.
    key: str | None = None
    key_memory: int | None = None

    has_classes = True
    comparison = MistakeComparison

    @classmethod
    def of_record(cls, body: dict[str, Any]) -> Classification:
        return cls(*(body.get(each.name) for each in fields(cls)))

    def record(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def key_column(self) -> str | None:
        return self.key

    def make(self, body: dict[str, Any]) -> Any:
        return ask_of(make_model(body["kind"], **body["parameters"]), costs=self.costs, positive=self.positive)

    def check(self, model: Any) -> None:
        if self.key is not None:
            require_keys_taken(model, self.key)
            model = KeyedClassifier(model, max_bytes=self.key_memory)
        model._make_core(2)  # where parameters are looked at

    def check_columns(self, plan: Plan, kinds: Iterable[str]) -> None:
        if self.key is None:
            super().check_columns(plan, kinds)
        for column in plan.sparse_columns if self.key is not None else ():
            raise Refused(422, f"column {column.name!r} is sparse, which a model with keys does not take: leave it out")

    def over_columns(self, model: Any, plan: Plan) -> Any:
        return over_columns(model, plan, key_bytes=self.key_memory)

    def read_label(self, value: Any, at: int) -> str:
        """A label as text, by the rules of a column of labels: 1 and 1.0 are one class.

        Examples
        --------
        >>> task = Classification()
        >>> task.read_label(" up ", 0), task.read_label(1.0, 0), task.read_label(True, 0)
        ('up', '1', 'true')
        """
        if value is None or isinstance(value, list | dict) or value != value:
            raise Refused(422, f"label {at}: it must be a text, a number, true or false")
        text = plain_label(text_of(value).strip())
        if not 0 < len(text) <= MOST_TEXT:
            raise Refused(422, f"label {at}: it must have 1 to {MOST_TEXT} letters")
        return text

    def predict(
        self, champion: str, models: Mapping[str, Any], labels: Mapping[str, list[str]], X: Features
    ) -> tuple[dict[str, Predicted], LabelResponse]:
        """What every learner predicts for the rows; of the champion, the probabilities and sets of its labels, too."""
        found: dict[str, Predicted] = {}
        unknown = PredictedLabels([], np.full(len(X), NO_PREDICTION, dtype=np.int16))
        response = LabelResponse(unknown, None, None)
        rows = as_learned(X)
        for name, model in models.items():
            known = labels[name]
            if not known:
                found[name] = unknown
                continue
            members = KeptPredictions.none(len(X))
            codes, likely = model._codes_and_proba(rows, members)
            of_positive = None
            if self.positive is not None and likely is not None:
                has_it = self.positive in known
                of_positive = likely[:, known.index(self.positive)].copy() if has_it else np.zeros(len(X))
            kept = members.values if members.values.shape[1] else None
            own = found[name] = PredictedLabels(known, codes.astype(np.int16), of_positive, kept)
            if name == champion:
                sets = model.predict_set(rows) if hasattr(model, "predict_set") else None
                response = LabelResponse(own, likely, sets)
        return found, response

    def targets(self, labels: Sequence[LabelValue]) -> NDArray[Any]:
        return np.array(labels)

    def kept(self, learner: Learner, X: Any, rows: Sequence[LabelledRow], later: NDArray[np.int64]) -> KeptPredictions:
        found, core = KeptPredictions.none(len(rows)), getattr(learner.model, "_core", None)
        known = [str(label) for label in getattr(learner.model, "classes_", ())]
        if core is None or found.of(core, known) is None:
            return found
        for at, row in enumerate(rows):
            given = learner.predicted(row)
            if isinstance(given, PredictedLabels) and given.members is not None:
                own = KeptPredictions(given.members[row.row : row.row + 1], given.labels)
                own.of(core, known)
                found.put(slice(at, at + 1), own)
        return found

    def mean_after(self, mean: float | None, labels: int, y: NDArray[Any]) -> None:
        return None

    def outcome(self, name: str, rows: Sequence[LabelledRow], y: NDArray[Any]) -> Mistakes:
        own = [row.rows.body.predictions.get(name) for row in rows]
        given = [None if each is None else each[row.row] for each, row in zip(own, rows, strict=True)]
        scored = np.array([each is not None for each in given])
        wrong = scored & np.array([each != row.label for each, row in zip(given, rows, strict=True)])
        no_change = np.array([row.rows.body.last != row.label for row in rows])
        if self.positive is None:
            return Mistakes(scored, wrong, no_change, None)
        said = np.array([each == self.positive for each in given])
        scores = np.array([_probability(each, row.row) for each, row in zip(own, rows, strict=True)])
        return Mistakes(scored, wrong, no_change, (y == self.positive, said, scores))

    def new_progress(self) -> MistakeProgress:
        return MistakeProgress(None if self.positive is None else RareProgress(self.costs))

    def progress_from(self, state: dict[str, Any]) -> MistakeProgress:
        return MistakeProgress.from_state(state)


def _probability(predicted: Predicted | None, row: int) -> float:
    """P(positive) of a row; NaN where it is not known."""
    if not isinstance(predicted, PredictedLabels) or predicted.of_positive is None:
        return float("nan")
    return float(predicted.of_positive[row])
