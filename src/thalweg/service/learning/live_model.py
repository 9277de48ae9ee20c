"""A model as it is after a record of the journal: what it learned, what its columns are, how it goes.

It is a function of the records and of nothing else. Labels may be learned one by one or many at once, as they happen
to come together; the bytes are the same.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import clone

from thalweg.container import packed, unpacked
from thalweg.errors import ModelFileError
from thalweg.history.history import History
from thalweg.history.planning import encoder_from
from thalweg.pipeline.over_columns import learner_of
from thalweg.saved import Saved
from thalweg.service.journal.compressed_rows import Features, as_learned, stacked
from thalweg.service.journal.records import (
    EARLIER_ROWS,
    WATCHED_COLUMNS,
    Decision,
    Event,
    LabelledRow,
    LabelsArrived,
    LabelValue,
    Part,
    PredictedRows,
)
from thalweg.service.learning.column_watch import ColumnWatch
from thalweg.service.learning.creation import task_kind
from thalweg.service.learning.encoding import Encoded, Follower, copied
from thalweg.service.learning.label_budget import LiveBudget
from thalweg.service.learning.model_state import LearnerState, ModelState
from thalweg.service.learning.progress import Progress, View
from thalweg.service.learning.row_numbers import UNKNOWN
from thalweg.service.learning.task import Learner, ModelTask
from thalweg.store import dumps, loads
from thalweg.tables.column_changes import ColumnChange, Widening, changed, widening
from thalweg.tables.encoder import Encoder

_NO_COPIES: tuple[dict[str, Any], dict[str, list[str]], dict[str, LearnerState]] = ({}, {}, {})
#: Before and after every record.
_ALWAYS, _NEVER = -1, 2**62
#: Bytes of a file that are one value in a database: SQLite takes up to a billion, and keeps a copy of the last value.
_MOST_BYTES = 1 << 25
#: Labels after which the features whose class means are shown are chosen.
_HEAD = 64


class _Arrived(NamedTuple):
    """A label, and what was known when it came."""

    row: LabelledRow
    time: int
    #: Rows that had come and had not expired.
    open_rows: int
    #: Of the row, among those whose columns are watched.
    number: int
    #: Rows that had been predicted.
    newest: int


class LiveModel(Saved):
    """Under the name that clients ask, with its challengers."""

    _saved = (
        "created",
        "time",
        "archived",
        "rows",
        "labels",
        "expired",
        "expired_through",
        "version",
        "last",
        "allowed",
        "baselines",
        "columns_open",
        "versions",
        "_head",
        "_widenings",
        "learners",
        "budget",
    )

    def _begin(self, name: str, seq: int, task: ModelTask) -> None:
        """As before the first record."""
        self.name = name
        self.seq = self._changed_at = seq
        self._copied_at, self._copies = -1, _NO_COPIES
        self.created = self.time = 0
        self.archived: dict[str, bool] = {}
        self.rows = self.labels = self.expired = 0
        #: Rows of predict records up to this one have expired, if they got no label before.
        self.expired_through = 0
        #: The last label record that was learned, and its last label.
        self.version = 0
        self.last: LabelValue | None = None
        self.follower: Follower | None = None
        #: What is watched of the columns, once these are known.
        self.watch: ColumnWatch | None = None
        #: Features that were added, which rows from before lack.
        self._widenings: list[Widening] = []
        self._head: list[tuple[list[float], str]] = []
        #: Names of states of all learners, each by its record.
        self.versions: dict[str, int] = {}
        self.allowed: list[str] | None = None
        self.task = task
        #: Where labels are numbers.
        self.baselines = task.new_baselines()
        #: Whether the first rows say what the columns are, and no label has come yet.
        self.columns_open = False
        self.learners: dict[str, Learner] = {}
        #: Which rows it asks the labels of, where these are limited.
        self.budget: LiveBudget | None = None

    def __init__(self, name: str, created: Decision) -> None:
        body = created.body
        self._begin(name, created.seq, task_kind(body).of_record(body))
        self.created = self.time = created.time
        self.archived[name] = False
        self.allowed = body.get("labels")
        self.columns_open = "schema" not in body
        self._limit_labels(body)
        if "schema" in body:
            self._set_columns(encoder_from(body["schema"]))
        if "file" in body:
            loaded = loads(base64.b64decode(body["file"]))
            model = _learner_of(loaded)
            if "history" in body["schema"]:
                loaded.encoder_.history.come_by_themselves()
                self._set_columns(loaded.encoder_)
            first = Learner(name, body["kind"], {}, model, Progress(self.task.scoring), created.time, _ALWAYS)
        else:
            first = self._new_learner(name, created)
        self.learners[name] = first

    def _limit_labels(self, body: dict[str, Any]) -> None:
        if "label_budget" in body:
            self.budget = LiveBudget(body["label_budget"], self.task.positive, numeric=not self.task.has_classes)

    def _set_columns(self, encoder: Encoder) -> None:
        self.follower = Follower(encoder)
        self.watch = ColumnWatch(self.follower.encoder())

    def _new_learner(self, name: str, decision: Decision) -> Learner:
        """One that has learned nothing, by the record that made it."""
        body = decision.body
        model = self.task.make(body)
        if self.follower is not None:
            model = self.task.over_columns(model, self.follower.plan)
        progress = Progress(self.task.scoring)
        return Learner(name, body["kind"], body["parameters"], model, progress, decision.time, _ALWAYS)

    @property
    def waiting(self) -> int:
        """Rows whose label may still come."""
        return self.rows - self.labels - self.expired

    def take(self, events: Iterable[Event]) -> None:
        """Records of this model, in order."""
        labelled: list[_Arrived] = []
        for event in events:
            if isinstance(event, LabelsArrived):
                for row in event.labelled:
                    number = UNKNOWN if self.watch is None else self.watch.number_of(row)
                    labelled.append(_Arrived(row, event.time, self.rows - self.expired, number, self.rows))
                if self.follower is not None and event.labelled:
                    self.follower.label(event.seq, event.labelled)
                self.expired += event.voided
                if self.budget is not None:
                    self.budget.withdraw(event.withdrawn)
                if event.erases and self.follower is not None:
                    self._learn(labelled)
                    labelled = []
                    self.watch = ColumnWatch(self.follower.encoder())
                if event.labelled or event.revises:
                    self.version = event.seq
            elif isinstance(event, PredictedRows):
                self.rows += len(event)
                assert self.follower is not None
                assert self.watch is not None
                encoded = Encoded.of_body(event.body)
                self.follower.follow(encoded)
                if self.budget is not None:
                    self.budget.follow(event, event.body.predictions.get(self.name))
                self.watch.predicted(event.seq, event.body.predictions.get(self.name), event.body, encoded)
            else:
                self._learn(labelled)
                labelled = []
                self._decide(event)
            if not isinstance(event, PredictedRows):
                self._changed_at = event.seq
            self.seq, self.time = event.seq, event.time
        self._learn(labelled)
        if self.watch is not None:
            self.watch.test_blocks()

    def _decide(self, decision: Decision) -> None:
        body = decision.body
        self._copied_at, self._copies = -1, _NO_COPIES  # it may concern archived learners, too
        if decision.kind == "schema":
            if self.follower is not None:  # rows with other columns were more: those before can no longer be learned
                self.expired, self.expired_through = self.rows, decision.seq
            self._set_columns(encoder_from(body))
            assert self.follower is not None
            for learner in self.learners.values():  # none has learned a row yet
                learner.model = self.task.over_columns(learner_of(learner.model), self.follower.plan)
        elif decision.kind == "columns":
            self.change_columns(ColumnChange.from_json(body), decision.seq)
            for name, file in body["learners"].items():
                learner = self.learners[name]
                learner.model, learner.since = _learner_in(base64.b64decode(file)), decision.seq
        elif decision.kind == "expire":
            self.expired += body["rows"]
            self.expired_through = body["through"]
            if self.budget is not None:
                self.budget.drop(self.expired_through)
        elif decision.kind == "challenge":
            learner = self._new_learner(body["name"], decision)
            learner.progress.watch.features = list(self.learners[self.name].progress.watch.features)
            learner.comparison = self.task.comparison(decision.seq)
            self.learners[body["name"]] = learner
            self.archived[body["name"]] = False
        elif decision.kind == "promote":
            self._promote(body["name"], decision)
        elif decision.kind == "version":
            self.versions[body["version"]] = decision.seq
        elif decision.kind == "rollback":
            self._roll_back(body, decision)
        elif decision.kind in ("archive", "restore"):
            self.archived[body["name"]] = decision.kind == "archive"

    def change_columns(self, change: ColumnChange, seq: int) -> None:
        """Rows are asked with other columns from a record on; learners of a wider row are the caller's."""
        assert self.follower is not None
        before = self.follower.encoder()
        self.follower = Follower(changed(before, change), self.follower.labels)
        self.watch = ColumnWatch(self.follower.encoder())
        self.columns_open = False
        added = widening(before, change, seq)
        if added is None:
            return
        self._widenings.append(added)
        self._head = [(added.widened(np.array([row]))[0].tolist(), label) for row, label in self._head]
        for learner in self.learners.values():
            watch, wider = learner.progress.watch, len(added.values)
            watch.features = [at + wider if at >= added.place else at for at in watch.features]

    def learn_wider(self, batches: Iterable[Sequence[LabelledRow]]) -> dict[str, bytes]:
        """Learn all learners anew from rows with their labels; their files."""
        assert self.follower is not None
        for learner in self.learners.values():
            learner.model = self.task.over_columns(clone(learner_of(learner.model)), self.follower.plan)
            learner.since = _NEVER
        for rows in batches:
            X = as_learned(stacked([self._as_now(row) for row in rows]))
            y = self.task.targets([row.label for row in rows])
            for learner in self.learners.values():
                self.task.learn(learner, X, y, rows, np.zeros(len(rows), dtype=np.int64))
        return {name: self.file(name, whole=False) for name in self.learners}

    def _as_now(self, row: LabelledRow) -> Features:
        """The features of a row, with those that were added after it."""
        X = row.rows.body.X[row.row : row.row + 1]
        for added in self._widenings:
            if row.rows.seq < added.seq and isinstance(X, np.ndarray):
                X = added.widened(X)
        return X

    def _promote(self, challenger: str, decision: Decision) -> None:
        """The two change places: the names stay with what is asked of them, and so does the record of their errors."""
        seq = decision.seq
        up, down = self.learners[challenger], self.learners[self.name]
        up.kind, down.kind = down.kind, up.kind
        up.parameters, down.parameters = down.parameters, up.parameters
        up.model, down.model = down.model, up.model
        up.since = down.since = seq
        up.progress.change_places(down.progress, decision.time)
        for learner in self.learners.values():
            if learner.comparison is not None:
                learner.comparison = self.task.comparison(seq)

    def rollback_to_this(self, name: str) -> dict[str, Any]:
        """The body of a record by which a learner returns to what it is here; `KeyError` where there is none.

        It holds the learner itself, so that the record can be replayed whatever becomes of those before it.
        """
        learner = self.learners[name]
        file = base64.b64encode(self.file(name, whole=False)).decode()
        return {"name": name, "to": self.seq, "kind": learner.kind, "parameters": learner.parameters, "file": file}

    def _roll_back(self, body: dict[str, Any], decision: Decision) -> None:
        """A learner is what it was; the history stays with the name, and comparisons with it begin anew."""
        learner = self.learners[body["name"]]
        learner.model = _learner_in(base64.b64decode(body["file"]))
        learner.kind, learner.parameters, learner.since = body["kind"], body["parameters"], decision.seq
        learner.progress.change_places(Progress(self.task.scoring), decision.time)
        for other in self.learners.values():
            if other.comparison is not None and self.learners[body["name"]] in (other, self.learners[self.name]):
                other.comparison = self.task.comparison(decision.seq)

    def _learn(self, labelled: Sequence[_Arrived]) -> None:
        if not labelled:
            return
        if self.labels < _HEAD < self.labels + len(labelled):
            first = _HEAD - self.labels
            self._learn(labelled[:first])
            self._learn(labelled[first:])
            return
        rows = [arrived.row for arrived in labelled]
        X = as_learned(stacked([self._as_now(row) for row in rows]))
        y = self.task.targets([row.label for row in rows])
        times = np.array([arrived.time for arrived in labelled], dtype=np.int64)
        asked = np.array([row.rows.time for row in rows], dtype=np.int64)
        waiting = np.array([arrived.open_rows for arrived in labelled]) - np.arange(1, len(labelled) + 1) - self.labels
        scoring, champions = self.task.scoring, self.task.lines(self.name, rows)
        newest = np.array([arrived.newest for arrived in labelled], dtype=np.int64)
        delays = (times - asked) / 1e6
        for name, learner in self.learners.items():
            if self.archived[name]:
                continue
            own = champions if name == self.name else self.task.lines(name, rows)
            watch = self.watch if name == self.name else None
            if watch is not None:
                watch.learns(X, y)
            begin, before = 0, learner.progress.scored
            rises: list[dict[str, Any]] = []
            while begin < len(y):
                part = slice(begin, min(begin + learner.progress.until_point(), len(y)))
                if watch is not None:
                    part = self._until_sample(watch, learner.model, X, y, part)
                self.task.learn(learner, X[part], y[part], rows[part], newest[part])
                rises += learner.progress.add(own[part], delays[part], times[part])
                last = part.stop - 1
                learner.progress.add_point(learner.model, int(times[last]), int(waiting[last]))
                begin = part.stop
            if watch is not None:
                at = np.flatnonzero(scoring.scored(own))
                numbers = np.array([arrived.number for arrived in labelled])[at]
                watch.scored(before, [rows[i] for i in at], numbers, scoring.errors(own[at]), rises)
            if name == self.name and self.budget is not None:
                losses = np.full(len(rows), np.nan)
                losses[scoring.scored(own)] = np.abs(scoring.errors(own[scoring.scored(own)]))
                self.budget.came(rows, name, losses, self.task.positive)
            if learner.comparison is not None:
                since = np.array([row.rows.seq > learner.comparison.since for row in rows])
                both = since & scoring.scored(own) & scoring.scored(champions)
                learner.comparison.add(scoring.losses(champions[both]), scoring.losses(own[both]))
        if self.labels < _HEAD and self.task.has_classes:
            self._choose_watched(X, y)
        if self.baselines is not None:
            self.baselines.learn(y)
        self.labels += len(labelled)
        self.last = rows[-1].label
        self.columns_open = False

    def _until_sample(self, watch: ColumnWatch, model: Any, X: Any, y: Any, part: slice) -> slice:
        """The rows of this part that are learned before the next sample; the one that is due is taken."""
        is_fitted = model.__sklearn_is_fitted__()
        label = self.task.explained_label(model) if is_fitted else None
        rows = watch.until_sample(self.labels + part.start, model, X[part.start :], y[part.start :], label)
        return slice(part.start, min(part.stop, part.start + rows))

    def _choose_watched(self, X: Any, y: Any) -> None:
        """Which features' class means are shown: by the first labels, and then kept."""
        assert self.follower is not None
        self._head += list(zip(self.follower.plan.without_cells(X).tolist(), y.tolist(), strict=True))
        if len(self._head) == _HEAD:
            first = self.learners[self.name].progress.watch
            first.choose(np.array([row for row, _ in self._head]), np.array([label for _, label in self._head]))
            for learner in self.learners.values():
                learner.progress.watch.features = list(first.features)
            self._head = []

    def publish(self) -> ModelState:
        """How it is, for others to read while it learns; copies are made only of what has changed."""
        if self._copied_at != self._changed_at:
            models = {n: copy.deepcopy(learner.model) for n, learner in self.learners.items() if not self.archived[n]}
            labels = {n: [str(label) for label in getattr(model, "classes_", ())] for n, model in models.items()}
            learners = {name: self._published(learner) for name, learner in self.learners.items()}
            self._copies, self._copied_at = (models, labels, learners), self._changed_at
        models, labels, learners = self._copies
        return ModelState(
            self.name,
            models,
            labels,
            task=self.task,
            last=self.last,
            baselines={} if self.baselines is None else self.baselines.now(),
            version=self.version,
            time=self.time,
            rows=self.rows,
            waiting=self.waiting,
            features=[] if self.follower is None else list(self.follower.feature_names()),
            columns=None if self.follower is None else self.follower.plan,
            allowed=self.allowed,
            columns_open=self.columns_open,
            versions=dict(self.versions),
            watch=None if self.watch is None else self.watch.view(),
            learners=learners,
            known_labels=[] if self.follower is None else self.follower.labels,
            budget=copy.deepcopy(self.budget),
        )

    def _published(self, learner: Learner) -> LearnerState:
        archived, before = self.archived[learner.name], self._copies[-1].get(learner.name)
        if archived and before is not None and before.archived:
            return before
        progress = learner.progress
        return LearnerState(
            learner.kind,
            learner.parameters,
            learner.created,
            archived,
            progress.view(),
            list(progress.history.points),
            list(progress.changes),
            progress.promotions,
            progress.watch.state(),
            copy.copy(learner.comparison),
        )

    def file(self, name: str, *, whole: bool = True) -> bytes:
        """A model as `thalweg run` writes one: `thalweg predict` and `thalweg serve` read it.

        What features from earlier rows remember is large: without ``whole`` it is left out, with all columns.
        """
        learner, encoder = self.learners[name], None if self.follower is None else self.follower.encoder()
        if encoder is not None and self.follower is not None and encoder.history is not None:
            encoder = copied(encoder, self.follower.labels) if whole else None
        return model_file(learner.model, self.rows, learner.progress.view(), encoder)

    def snapshot(self) -> list[Part]:
        schema = None if self.follower is None else self.follower.encoder().to_json()
        past = None if self.follower is None else self.follower.past()
        if schema is not None and past is not None:
            schema["history"] = History.described(schema["history"])
        plain = {**self.state(), **self.task.record(), "schema": schema}
        if self.budget is not None:
            plain["label_budget"] = self.budget.settings
        files = [
            ("", zlib.compress(packed(plain), 1)),  # it has the histories of all learners
            *([] if self.watch is None else [(WATCHED_COLUMNS, self.watch.to_bytes())]),
            *([] if past is None else _pieces(EARLIER_ROWS, packed(past))),
            *(piece for name in self.learners for piece in _pieces(name, self.file(name, whole=False))),
        ]
        return [Part(self.name, self.seq, name, hashlib.sha256(content).digest(), content) for name, content in files]

    @classmethod
    def from_snapshot(cls, parts: Sequence[Part]) -> LiveModel:
        """Back from `snapshot`; a `ModelFileError` where one of the files is damaged or gone."""
        files, plain = _files_in(parts)
        model = cls.__new__(cls)
        task = task_kind(plain).of_record(plain)
        model._begin(parts[0].model, parts[0].seq, task)
        model.learners = {
            name: Learner(name, "", {}, _learner_in(files[name]), Progress(task.scoring), 0, 0, task.comparison())
            for name in plain["learners"]
        }
        model._limit_labels(plain)
        model.restore({"budget": None} | plain)
        model._widenings = [Widening(*fields) for fields in plain["_widenings"]]
        if plain["schema"] is not None:
            model.follower = Follower(encoder_from(plain["schema"]))
            if EARLIER_ROWS in files:  # dropped by an erasure, too
                model.follower.remember(unpacked(files[EARLIER_ROWS]))
            encoder, watched = model.follower.encoder(), files.get(WATCHED_COLUMNS)
            # An erasure drops what was watched, so that columns are watched from here on.
            model.watch = ColumnWatch(encoder) if watched is None else ColumnWatch.from_bytes(watched, encoder)
        return model


def model_file(model: Any, rows: int, seen: View, encoder: Encoder | None) -> bytes:
    """A model as a file, with how it went and what its columns are."""
    notes: dict[str, Any] = {"run": {"rows": rows, "learned": seen.labels, "error": seen.error}}
    if encoder is None:
        return dumps(model, notes=notes)
    notes["table"] = {"target": "label", "delimiter": None, "encoding": "utf-8"} | encoder.to_json()
    return dumps(model, notes=notes, history=encoder.history)


def number_in(parts: Sequence[Part], what: Literal["rows", "labels"]) -> int:
    """How many rows the model of a snapshot had predicted, or labels it had learned; errors as of `from_snapshot`."""
    _, plain = _files_in(parts)
    return int(plain[what])


def _pieces(name: str, file: bytes) -> Iterator[tuple[str, bytes]]:
    """A file as a database takes it: the first piece under its name, further ones under the name and a number."""
    yield name, file[:_MOST_BYTES]
    for number, begin in enumerate(range(_MOST_BYTES, len(file), _MOST_BYTES), start=1):
        yield f"{name}/{number}", file[begin : begin + _MOST_BYTES]


def _files_in(parts: Sequence[Part]) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of a snapshot by name, and what is kept beside the models; all of it is checked."""
    for part in parts:
        if hashlib.sha256(part.body).digest() != part.sha256:
            raise ModelFileError(f"the snapshot of {part.model} at {part.seq} is damaged")
    files = {part.name: part.body for part in parts if "/" not in part.name}
    further: dict[str, dict[int, bytes]] = {}
    for part in parts:
        name, slash, number = part.name.partition("/")
        if slash:
            further.setdefault(name, {})[int(number)] = part.body
    for name, pieces in further.items():
        files[name] = b"".join([files[name], *(pieces[number] for number in sorted(pieces))])
    plain = unpacked(zlib.decompress(files[""])) if "" in files else None
    if plain is None or not plain["learners"].keys() <= files.keys():
        raise ModelFileError("a part of the snapshot is gone")
    return files, plain


def _learner_in(file: bytes) -> Any:
    return _learner_of(loads(file))


def _learner_of(model: Any) -> Any:
    """The learner of a model of a table; what its columns are is kept beside it, for all learners of a model."""
    return model.learner_ if hasattr(model, "encoder_") else model
