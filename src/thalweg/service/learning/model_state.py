"""What the outside sees of a model: copies and numbers that never change, replaced as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from msgspec.structs import asdict

from thalweg.client import column_responses, model_responses
from thalweg.client.history_responses import Change, Course, LivePoint, Point, Points
from thalweg.client.model_responses import KeyDetails, LabelBudget, Model, ModelDetails, RowsToLabel, RowToLabel
from thalweg.evaluate.anytime_comparison import LEVEL, Comparison
from thalweg.evaluate.model_history import MeanWatch, columns_by_label
from thalweg.explain.importance_sampler import loss_name
from thalweg.fleet.keyed_classifier import KeyedClassifier
from thalweg.service.commands import Refused
from thalweg.service.journal.compressed_rows import Features
from thalweg.service.journal.records import LabelValue, Predicted
from thalweg.service.learning.column_watch import WatchView
from thalweg.service.learning.encoding import KnownLabels
from thalweg.service.learning.label_budget import LiveBudget
from thalweg.service.learning.progress import View, family_weights, point_of
from thalweg.service.learning.task import ModelTask
from thalweg.service.responses import Response
from thalweg.tables.cells import brief
from thalweg.tables.columns.key import key_number
from thalweg.tables.plan import Plan


@dataclass(frozen=True)
class LearnerState:
    """One of the learners: the champion, or a challenger."""

    kind: str
    parameters: dict[str, Any]
    created: int
    archived: bool
    view: View
    #: Of the history, each as JSON.
    points: list[str]
    changes: list[dict[str, Any]]
    promotions: list[dict[str, Any]]
    #: Of the `MeanWatch`, as its state.
    watch: dict[str, Any]
    comparison: Comparison | None


@dataclass(frozen=True)
class ModelState:
    """A model under the name that clients ask, with its challengers."""

    name: str
    #: By name, copies that nobody learns; an archived one is left out.
    models: dict[str, Any]
    labels: dict[str, list[str]]
    task: ModelTask
    last: LabelValue | None
    #: What baselines predict now, where labels are numbers.
    baselines: dict[str, float]
    version: int
    time: int
    rows: int
    waiting: int
    features: list[str]
    columns: Plan | None
    allowed: list[str] | None
    #: Whether rows may still say what the columns are.
    columns_open: bool
    #: By name, the record of each named version.
    versions: dict[str, int]
    #: What is watched of the columns, once these are known.
    watch: WatchView | None
    learners: dict[str, LearnerState]
    #: Labels that features from earlier rows may not know yet; it grows.
    known_labels: list[KnownLabels]
    #: Which rows are asked for, where labels are limited.
    budget: LiveBudget | None = None

    def predict(self, X: Features) -> tuple[dict[str, Predicted], Response]:
        """What every learner predicts for the rows, by its name, and what is sent back."""
        return self.task.predict(self.name, self.models, self.labels, X)

    def details(self, name: str) -> ModelDetails:
        schema = None
        if self.columns is not None:
            described = self.columns.describe()
            columns = [{"name": column, "kind": kind, "treatment": done} for column, kind, done in described]
            schema = {"columns": columns, "labels": self.allowed}
        more = {
            "parameters": self.learners[name].parameters,
            "version": self.version,
            "labels_seen": tuple(self.labels.get(name, ())),
            "family_weights": family_weights(self.models.get(name)),
            "scores": self.learners[name].view.scores,
            "schema": schema,
            "label_budget": self._label_budget(),
        }
        return ModelDetails(**asdict(self.summary(name)) | self.task.described() | more)

    def summary(self, name: str) -> Model:
        learner = self.learners[name]
        return Model(
            name=name,
            kind=learner.kind,
            task=self.task.name,
            rows=self.rows,
            labels=learner.view.labels,
            waiting=self.waiting,
            error=learner.view.error,
            created=learner.created / 1e6,
            archived=learner.archived,
            champion=name == self.name,
            challenger_of=None if name == self.name else self.name,
        )

    def counters(self, snapshot_age: float | None) -> dict[str, Any]:
        """By the names of metrics."""
        return {
            "model_rows_total": self.rows,
            "model_waiting_rows": self.waiting,
            "model_snapshot_age_seconds": snapshot_age,
            **({} if self.budget is None else self.budget.counters()),
            "importance": {} if self.watch is None else self.watch.ranking,
            "input_changes_total": None if self.watch is None else self.watch.changes,
            "learners": {
                name: {
                    "model_labels_total": seen.view.labels,
                    "model_label_delay_seconds": seen.view.delay,
                    "scores": seen.view.scores,
                    "model_family_weight_ratio": family_weights(self.models.get(name)),
                    "model_error_change_time_seconds": seen.changes[-1]["time"] if seen.changes else None,
                }
                | self._keys(name)
                for name, seen in self.learners.items()
            },
        }

    def _keys(self, name: str) -> dict[str, Any]:
        """Of a learner with keys, how many they are and where."""
        model = self.models.get(name)
        if not isinstance(model, KeyedClassifier) or not model.__sklearn_is_fitted__():
            return {}
        keys, in_memory, taken = model.n_keys_, model.n_keys_in_memory_, model.n_key_bytes_
        return {"model_keys": {"memory": in_memory, "disk": keys - in_memory}, "model_key_memory_bytes": taken}

    def key(self, name: str, key: str) -> KeyDetails:
        """How a key of a learner does; `Refused` where there is no such key."""
        if self.task.key_column is None:
            raise Refused(409, f"the model {name!r} has no keys: one has where it is made with a key")
        model = self.models.get(name)
        summary = model.summary(key_number(key)) if isinstance(model, KeyedClassifier) else None
        if summary is None:
            raise Refused(404, f"the model {name!r} has learned no row of the key {brief(key)!r}")
        return KeyDetails(name, key, *summary)

    def _label_budget(self) -> LabelBudget | None:
        return None if self.budget is None else LabelBudget(**self.budget.described())

    def to_label(self, name: str, limit: int) -> RowsToLabel:
        """The asked rows that wait for their label; `Refused` where all labels are taken as they come."""
        if self.budget is None:
            raise Refused(409, f"the model {name!r} has no label budget: one has where it is made with label_budget")
        best = sorted(self.budget.waiting.items(), key=lambda item: (-item[1][0], -item[1][1]))[:limit]
        rows = [RowToLabel(row, probability, came) for row, (probability, came) in best]
        return RowsToLabel(name, len(self.budget.waiting), rows)

    def point(self, name: str, throughput: float) -> LivePoint:
        point = self._point(name)
        chart = self.learners[name].view.predictions()
        means = {"means": self._named(point["means"])}
        return LivePoint(
            **point | means, rows=self.rows, throughput=throughput, predictions=chart, label_budget=self._label_budget()
        )

    def _point(self, name: str) -> dict[str, Any]:
        """The same with the means of features by their places; a look that leaves no trace."""
        learner, watch = self.learners[name], MeanWatch()
        watch.restore(learner.watch)
        return point_of(learner.view, self.models.get(name), self.time, self.waiting, watch)

    def missed(self, name: str, labels: int) -> list[Point]:
        """The points that were kept after so many labels."""

        def from_the_last() -> Iterator[Point]:
            for packed in reversed(self.learners[name].points):
                point = orjson.loads(packed)
                if point["labels"] <= labels:
                    return
                yield Point(**point | {"means": self._named(point["means"])})

        return [*from_the_last()][::-1]

    def course(self, name: str, throughput: float) -> Course:
        learner = self.learners[name]
        points = [orjson.loads(point) for point in learner.points]
        kept = points[-1] if points else {"labels": 0, "time": 0.0}
        is_new = kept["labels"] < learner.view.labels or (
            learner.promotions and kept["time"] < learner.promotions[-1]["time"]
        )
        if name in self.models and learner.view.labels and is_new:
            points.append(self._point(name))
        rates = [point["rate"] for point in points]
        columns = Points(
            **{what: [point[what] for point in points] for what in ("time", "labels", "waiting", "delay")},
            rate=rates if any(rate is not None for rate in rates) else None,
            memory=columns_by_label(points, "memory"),
            half_life=columns_by_label(points, "half_life"),
            family_weights=columns_by_label(points, "family_weights") or None,
            scores={
                predictor: columns_by_label([point["scores"] for point in points], predictor)
                for predictor in self.task.scoring.predictors
            },
            means=self._mean_courses(points),
        )
        changes = tuple(Change(**change) for change in learner.changes)
        return Course(
            name,
            self.rows,
            learner.view.labels,
            self.waiting,
            self.version,
            throughput,
            columns,
            changes,
            self.task.name,
            learner.view.predictions(),
            self.task.described()["coverage"],
            tuple(Change(**promotion) for promotion in learner.promotions),
            self._label_budget(),
        )

    def importance(self, name: str) -> column_responses.ImportanceOverTime:
        """Of the champion; `Refused` of a challenger."""
        if name != self.name:
            raise Refused(409, f"{name!r} is a challenger, whose columns are not sampled: ask for {self.name!r}")
        model = self.models.get(name)
        loss = loss_name(model) if model is not None else ""
        if self.watch is None:
            return column_responses.ImportanceOverTime(name, loss, None, 0, [], [], 0, [])
        return self.watch.importance(name, loss, self.learners[name].changes)

    def inputs(self, name: str) -> column_responses.Inputs:
        """Of the rows that came, which are those of challengers, too; rises of their errors are not examined."""
        if self.watch is None:
            return column_responses.Inputs(name, 0, [], [], 0, [])
        return self.watch.inputs(name, is_champion=name == self.name)

    def comparison(self, name: str) -> model_responses.Comparison:
        compared = self.learners[name].comparison
        assert compared is not None
        won = {"champion": self.name, "challenger": name, None: None}[compared.winner()]
        return model_responses.Comparison(
            self.name, name, compared.labels, compared.difference, compared.interval(), LEVEL, won
        )

    def _named(self, means: dict[str, list[float | None]] | None) -> dict[str, dict[str, float | None]] | None:
        if not means:
            return None
        names = self._watched()
        return {label: dict(zip(names, values, strict=True)) for label, values in means.items()}

    def _mean_courses(self, points: list[dict[str, Any]]) -> dict[str, dict[str, list[float | None]]] | None:
        names = self._watched()
        labels = dict.fromkeys(label for point in points for label in point["means"] or ())
        courses = {
            label: {
                column: [((point["means"] or {}).get(label) or [None] * len(names))[at] for point in points]
                for at, column in enumerate(names)
            }
            for label in labels
        }
        return courses or None

    def _watched(self) -> list[str]:
        """The features whose class means are shown: the same of all learners."""
        return [self.features[at] for at in self.learners[self.name].watch["features"]]
