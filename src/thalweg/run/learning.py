"""The run itself: rows in, answers out before labels are learned, and nothing lost when it is killed.

The first rows settle what the columns are; then every chunk is encoded, answered, learned, scored and written. At times
the whole state goes into a checkpoint. What is written depends on the rows and the options alone: not on the clock, not
on how the source is cut into blocks, not on interruptions.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.columns import Encoder, Plan, Target, plan_columns
from thalweg.columns.encoder import parsed
from thalweg.columns.kinds import TimeColumn
from thalweg.columns.plan import HEAD_ROWS
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.files import write_atomically
from thalweg.learners.majority import MajorityClass
from thalweg.learners.no_change import NoChange
from thalweg.run import checkpoint
from thalweg.run.ahead import one_ahead
from thalweg.run.confidence import confidences
from thalweg.run.course import Course
from thalweg.run.drift import ChangeDetector
from thalweg.run.models import make_model
from thalweg.run.names import Names
from thalweg.run.options import RunOptions
from thalweg.run.predictions import PredictionsFile
from thalweg.run.progress import Progress
from thalweg.run.schedule import Schedule, Waiting, Work, rows_of
from thalweg.run.scoreboard import Scoreboard
from thalweg.run.stopping import Stopped, Stopping
from thalweg.sources import Chunk, chunks, open_source
from thalweg.store import dumps, loads

CHECKPOINT = "checkpoint"
#: Seconds between checkpoints, and how many times its own cost a checkpoint waits at least.
_EVERY_SECONDS, _TIMES_ITS_COST = 5.0, 40.0
#: Complaints about rows that are kept word by word.
_MOST_COMPLAINTS = 100


@dataclass(frozen=True)
class Moment:
    """How far a run is: for a live view."""

    rows: int
    board: Scoreboard
    model: Any
    #: Share of the source's rows that are done, where it can be told.
    share: float | None


class Run:
    """A run under way."""

    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self.source = open_source(options.source, delimiter=options.delimiter, encoding=options.encoding)
        self.model = make_model(options)
        if (options.delay or options.label_time) and getattr(self.model, "_needs_labels_at_once", False):
            raise InvalidParameter.of("run", "delay", "be 0 for a model with persistence", options.delay)
        self.baselines: dict[str, Any] = {"no_change": NoChange(), "majority": MajorityClass()}
        self.target = Target(options.target)
        self.names = Names()
        self.schedule = Schedule(delay=options.delay, timed=options.label_time is not None)
        self.board = Scoreboard()
        self.detector = ChangeDetector()
        self.course = Course()
        self.encoder: Encoder | None = None
        self.progress = Progress(lambda: self.source.share, options.limit)
        self.chunks_done = self.taken = 0
        self.read = self.answered = self.learned = self.unlabelled = self.skipped = 0
        self.complaints: list[str] = []
        #: Spent on checkpoints so far, since this process began.
        self.checkpoint_seconds = 0.0
        self.folder = Path(options.out)
        self.predictions: PredictionsFile | None = None

    # ------------------------------------------------------------------ the loop

    def go(
        self,
        tell: Callable[[Moment], None] = lambda moment: None,
        checkpoint_seconds: float | None = None,
        stopping: Stopping | None = None,
    ) -> None:
        """Work through the source, from where the last checkpoint was; the next one comes after so many seconds.

        Asked to stop, a last checkpoint is written and `Stopped` goes on to the caller.
        """
        stopping = stopping or Stopping()
        self.folder.mkdir(parents=True, exist_ok=True)
        due = time.monotonic() + (_EVERY_SECONDS if checkpoint_seconds is None else checkpoint_seconds)
        try:
            for chunk in itertools.islice(self._chunks(), self.chunks_done, None):
                with stopping.unbroken():
                    self._take(chunk)
                    self.chunks_done += 1
                    tell(Moment(self.answered, self.board, self.model, self.progress.share(self.taken)))
                    if time.monotonic() >= due and self.predictions is not None:
                        took = self._checkpoint()
                        pause = max(_EVERY_SECONDS, _TIMES_ITS_COST * took)
                        due = time.monotonic() + (pause if checkpoint_seconds is None else checkpoint_seconds)
            stopping.finish()
        except Stopped:
            if self.predictions is not None:
                self._checkpoint()
            raise
        finally:
            if self.predictions is not None:
                self.predictions.close()
        if self.encoder is None:
            rows = f"no row that can be used: {self.complaints[0]}" if self.complaints else "a header but no rows"
            raise InvalidInput(f"{self.source.given} has {rows}")

    def _chunks(self) -> Iterator[Chunk]:
        """Chunks of the source; the first is the head that settles the columns."""
        limit, chunk_size = self.options.limit, self.options.chunk

        def size(done: int) -> int:
            wanted = chunk_size or _growing_chunk(done)
            return wanted if limit is None else min(wanted, limit - done)

        head = HEAD_ROWS if limit is None else min(HEAD_ROWS, limit)
        blocks = self.progress.watch(self.source.blocks())
        # A pipe is not read ahead: nobody knows when it gives more, and a run that is done must not wait for it.
        for chunk in chunks(blocks if self.source.is_pipe else one_ahead(blocks), size, head=head):
            self.taken += len(chunk)
            yield chunk
            if self.taken == limit:
                return

    def _take(self, chunk: Chunk) -> None:
        if chunk.bad and self.options.bad_rows == "error":
            raise InvalidInput(str(chunk.bad[0]))
        self.read += len(chunk) + len(chunk.bad)
        if len(chunk) == 0:
            self._complain(chunk.bad)
            return
        if self.encoder is None:
            self.encoder = self._plan(chunk)
        now, label_time, untimed = self._times(chunk)
        encoded = self.encoder.encode(chunk, unusable=untimed)
        labels = self.names.numbers(*self.target.labels(chunk))[encoded.kept]
        has_label = labels > 0
        if now is not None and label_time is not None:
            now, label_time = now[encoded.kept], label_time[encoded.kept]
            has_label = has_label & (label_time != _NEVER)
        number = np.arange(self.answered + 1, self.answered + len(labels) + 1)
        self._complain(encoded.bad)
        if self.answered == 0:
            self.course.watch.choose(encoded.X, np.where(has_label, labels, ""))
        self.answered += len(labels)
        self.unlabelled += int((~has_label).sum())
        work = self.schedule.plan(encoded.X, labels, has_label, number, now, label_time)
        answered = self._answer(work)
        self._score(work, answered)
        fresh = slice(work.carried, None)
        if self.predictions is None:
            self.predictions = PredictionsFile(self.folder / "predictions.csv")
        probability = answered.get("of_answer")
        self.predictions.write(
            number,
            self.names,
            np.where(has_label, labels, 0),
            answered["model"][fresh],
            None if probability is None else probability[fresh],
        )
        self.schedule.keep(work, answered)

    def _plan(self, head: Chunk) -> Encoder:
        reserved = [name for name in (self.options.label_time,) if name]
        if self.options.time is not None and self.options.time not in head.column_names:
            raise InvalidInput(f"{head.pieces[0].block.file} has no column {self.options.time!r}")
        plan = plan_columns(
            head,
            target=self.options.target,
            drop=self.options.drop,
            categorical=self.options.categorical,
            reserved=reserved,
        )
        self.target.require_classes(head)
        return Encoder(plan, bad_rows=self.options.bad_rows, missing=self.options.missing)

    def _times(
        self, chunk: Chunk
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None, list[tuple[int, str, str]]]:
        """When rows and labels come, in microseconds, where the table tells; and the rows of which it does not."""
        if self.options.label_time is None or self.options.time is None:
            return None, None, []
        found = []
        untimed: list[tuple[int, str, str]] = []
        for name in (self.options.time, self.options.label_time):
            when, wrong = parsed(TimeColumn(name, hours=True), chunk.column(name))
            missing = np.isnat(when)
            if name == self.options.time:
                seen = {at for at, _ in wrong}
                places = (int(at) for at in np.flatnonzero(missing))
                wrong += [(at, "the time of the row is missing") for at in places if at not in seen]
            untimed += [(at, name, what) for at, what in wrong]
            found.append(np.where(missing, _NEVER, when.astype(np.int64)))
        return found[0], found[1], untimed

    def _answer(self, work: Work) -> dict[str, NDArray[Any]]:
        """What each row in hand was answered, now or before, and what scoring needs of it."""
        rows = len(work.X)
        answered: dict[str, NDArray[Any]] = {"model": np.zeros(rows, dtype=np.int64)}
        if hasattr(self.model, "predict_proba"):
            answered |= {name: np.full(rows, np.nan) for name in ("of_truth", "of_answer", "squared")}
        words = self.names.words(work.labels)
        answering = np.flatnonzero(work.order >= 0)
        before_these = self.answered - len(answering)
        begin = 0
        for at in self.course.due(before_these, len(answering)).tolist():
            self._follow(work, words, slice(begin, answering[at]), answered)
            begin = answering[at]
            self.course.look(self.model, before_these + at, self.learned + int((work.order[:begin] < 0).sum()))
        self._follow(work, words, slice(begin, None), answered)
        nothing = np.zeros((rows, 1))
        for name, baseline in self.baselines.items():
            answered[name] = baseline.follow(nothing, work.labels, work.order)[0]
        before = self.schedule.waiting
        if before is not None and len(before):
            for name, values in before.answered.items():
                answered[name] = np.concatenate([values, answered[name][work.carried :]])
        return answered

    def _follow(self, work: Work, words: NDArray[np.str_], part: slice, answered: dict[str, NDArray[Any]]) -> None:
        """Some steps of the order: what the model answers, and how sure it is."""
        steps = work.order[part]
        if len(steps) == 0:
            return
        answers = steps >= 0
        rows, places = rows_of(np.where(answers, steps, ~steps), len(work.X))
        order = np.where(answers, places, ~places)
        given, proba = self.model.follow(work.X[rows], words[rows], order, with_proba=True)
        asked, among = steps[answers], places[answers]
        answered["model"][asked] = self.names.of_answers(given[among].astype(np.str_, copy=False))
        if "of_answer" in answered:
            column = self.names.places_among([str(label) for label in getattr(self.model, "classes_", ())])
            proba = None if proba is None else proba[among]
            for name, values in confidences(proba, column, work.labels[asked], answered["model"][asked]).items():
                answered[name][asked] = values

    def _score(self, work: Work, answered: dict[str, NDArray[Any]]) -> None:
        rows = work.learned
        self.learned += len(rows)
        mistakes = self.board.add(
            work.labels[rows],
            {name: answered[name][rows] for name in ("model", "no_change", "majority")},
            *(answered[name][rows] if name in answered else None for name in ("of_truth", "of_answer", "squared")),
        )
        self.detector.add(mistakes)

    def _complain(self, bad: list[Any]) -> None:
        self.skipped += len(bad)
        room = _MOST_COMPLAINTS - len(self.complaints)
        self.complaints += [str(each) for each in bad[:room]]

    # ------------------------------------------------------------------ checkpoints

    def _checkpoint(self) -> float:
        """Write one; the seconds it took."""
        began = time.monotonic()
        assert self.encoder is not None
        assert self.predictions is not None
        arrays: dict[str, NDArray[Any]] = {}
        waiting = self.schedule.waiting
        if waiting is not None:
            arrays = {"X": waiting.X, "labels": waiting.labels, "due": waiting.due, "number": waiting.number}
            arrays |= {f"answered {name}": values for name, values in waiting.answered.items()}
        plain = {
            "options": self.options.resolved(),
            "chunks": self.chunks_done,
            "counts": [self.read, self.answered, self.learned, self.unlabelled, self.skipped],
            "complaints": self.complaints,
            "plan": self.encoder.plan.to_json(),
            "encoder": self.encoder.state(),
            "names": self.names.known,
            "board": self.board.state(),
            "detector": self.detector.state(),
            "course": self.course.state(),
            "clock": self.schedule.clock,
            "predictions": self.predictions.synced(),
        }
        models = {name: dumps(model) for name, model in {"model": self.model, **self.baselines}.items()}
        checkpoint.write(self.folder / CHECKPOINT, plain, arrays, models)
        took = time.monotonic() - began
        self.checkpoint_seconds += took
        return took

    def resume(self) -> bool:
        """Go back to the last checkpoint, if there is one."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            return False
        plain, arrays, models = checkpoint.read(path)
        changed = [name for name, value in self.options.resolved().items() if plain["options"].get(name) != value]
        if changed:
            was, now = plain["options"].get(changed[0]), self.options.resolved()[changed[0]]
            raise InvalidParameter(
                f"the run in {self.folder} was begun with {changed[0]} = {was!r} and cannot go on with {now!r}"
            )
        self.chunks_done = int(plain["chunks"])
        self.read, self.answered, self.learned, self.unlabelled, self.skipped = plain["counts"]
        self.complaints = list(plain["complaints"])
        self.encoder = Encoder(
            Plan.from_json(plain["plan"]), bad_rows=self.options.bad_rows, missing=self.options.missing
        )
        self.encoder.restore(plain["encoder"])
        self.names = Names(plain["names"])
        self.board.restore(plain["board"])
        self.detector.restore(plain["detector"])
        self.course.restore(plain["course"])
        self.schedule.clock = int(plain["clock"])
        if "X" in arrays:
            answered = {name[9:]: values for name, values in arrays.items() if name.startswith("answered ")}
            self.schedule.waiting = Waiting(arrays["X"], arrays["labels"], arrays["due"], arrays["number"], answered)
        self.model = loads(models["model"])
        self.baselines = {name: loads(models[name]) for name in self.baselines}
        self.predictions = PredictionsFile(self.folder / "predictions.csv", length=int(plain["predictions"]))
        return True

    # ------------------------------------------------------------------ what is left behind

    @property
    def pending(self) -> int:
        """Rows whose label was still to come when the source ended."""
        return 0 if self.schedule.waiting is None else len(self.schedule.waiting)

    def save_model(self, path: Path) -> None:
        """The model, with what the columns of its table are: `thalweg predict` reads a table like it."""
        assert self.encoder is not None
        notes = {
            "table": {
                "target": self.options.target,
                "plan": self.encoder.plan.to_json(),
                "encoder": self.encoder.state(),
                "missing": self.options.missing,
                "delimiter": self.options.delimiter,
                "encoding": self.options.encoding,
            },
            "run": {"rows": self.answered, "learned": self.learned, "error": self.board.score("model")["error"]},
        }
        write_atomically(path, dumps(self.model, notes=notes))

    def leave_nothing_half_done(self, folder_existed: bool) -> None:
        """After an error: without a checkpoint to go on from, what was written is of no use."""
        if self.predictions is not None:
            self.predictions.close()
        if (self.folder / CHECKPOINT).exists():
            return
        if self.predictions is not None:
            self.predictions.path.unlink(missing_ok=True)
        if not folder_existed and self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def write_metrics(self, metrics: dict[str, Any]) -> None:
        """``metrics.json`` and ``options.toml``."""
        text = json.dumps(metrics, indent=1, allow_nan=False, ensure_ascii=False)
        write_atomically(self.folder / "metrics.json", text.encode())
        write_atomically(self.folder / "options.toml", self.options.to_toml().encode())

    def forget_checkpoint(self) -> None:
        """The run is finished: there is nothing to go on from, and no use for files that a kill left unfinished."""
        (self.folder / CHECKPOINT).unlink(missing_ok=True)
        for unfinished in self.folder.glob(".*.part"):
            unfinished.unlink(missing_ok=True)


def _growing_chunk(rows: int) -> int:
    """Small chunks while there are few rows, so that curves have points; large ones later, for speed."""
    return 1 << min(15, max(9, (rows // 32).bit_length()))


#: The time of a label that never comes.
_NEVER = np.iinfo(np.int64).max
