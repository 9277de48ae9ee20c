"""The run itself: rows in, predictions out before labels are learned, and nothing lost when it is killed.

The first rows settle what the columns are; then every chunk is encoded, predicted, learned, scored and written. At
times the whole state goes into a checkpoint. What is written depends on the rows and the options alone: not on the
clock, not on how the source is cut into blocks, not on interruptions.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from thalweg.catalogue import ask_of
from thalweg.container import packed, unpacked
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.evaluate.late_labels import Batch, LateLabels
from thalweg.evaluate.stream_watch import watched_names
from thalweg.files import write_atomically
from thalweg.option_names import option, remedy
from thalweg.run import options
from thalweg.run.against import Against
from thalweg.run.alert_log import AlertLog
from thalweg.run.alert_rules import AlertRule
from thalweg.run.hashing_options import parse_ngrams, unused_hashing
from thalweg.run.history import ModelHistory
from thalweg.run.importance import ImportanceSampler
from thalweg.run.input_watch import INPUTS, InputWatch
from thalweg.run.notices import Notices
from thalweg.run.options import RunOptions
from thalweg.run.predictions import PredictionsFile
from thalweg.run.progress import Progress
from thalweg.run.questions import parse_against
from thalweg.run.row_times import RowTimes
from thalweg.run.task import Scored, Task
from thalweg.run.tasks import PossibleTasks
from thalweg.stopping import Stopped, Stopping, stopping
from thalweg.store import dumps
from thalweg.table_model import TableModel
from thalweg.tables import Chunk, Encoder, Fingerprint, Plan, Source, chunks, open_source, plan_columns
from thalweg.tables.cells import parsed, trimmed
from thalweg.tables.clock import NEVER, Clock
from thalweg.tables.oddities import oddities
from thalweg.tables.rows import HEAD_ROWS, as_text
from thalweg.tables.sorting import in_time_order
from thalweg.tables.timestamps import form_of

if TYPE_CHECKING:
    from thalweg.run.memory_source import MemorySource

Item = TypeVar("Item")


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, each made by a thread of its own while the one before is in use.

    Examples
    --------
    >>> list(one_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1) as worker:
        coming = worker.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = worker.submit(next, items, None)
            yield item


def _split_columns(model: Any, plan: Plan) -> None:
    """Let the default learn numbers and categories beside text as it learns them without."""
    while hasattr(model, "learner"):
        model = model.learner
    if hasattr(model, "dense_features"):
        ask_of(model, dense_features=plan.dense_beside_sparse)


#: Seconds between checkpoints, and how many times its own cost a checkpoint waits at least.
_EVERY_SECONDS, _TIMES_ITS_COST = 5.0, 40.0


@dataclass(frozen=True)
class RunStatus:
    """How far a run is: for a live view."""

    rows: int
    task: Task
    #: Share of the source's rows that are done, where it is known.
    share: float | None


class LateQuantity(Exception):
    """Rows behind the first show that the target is a quantity: they can be read again, for regression."""


class RunEngine:
    """What a run does with its rows, wherever they come from and whatever is kept: `Run` adds a folder of files.

    A model that is given takes the place of the one that the options name.
    """

    def __init__(self, options: RunOptions, source: Source | MemorySource, model: Any = None) -> None:
        self.options = options
        self.head = options.head or HEAD_ROWS
        self.source = source
        self.notices = Notices(options, self.head)
        self.tasks = PossibleTasks(options, self.notices, model)
        #: Told what the first rows settle.
        self.say: Callable[[str], None] = lambda sentence: None
        self.progress = Progress(lambda: self.source.share, options.limit)
        #: Processor time of the model, since this process began: predicting and learning.
        self.model_seconds = 0.0
        self._before_first_row()

    def _before_first_row(self) -> None:
        options = self.options
        #: Settled by the first rows, or by a checkpoint.
        self.task = self.tasks.likely
        self.late = LateLabels(delay=options.delay, timed=options.label_time is not None)
        self.history = ModelHistory()
        self.alerts = AlertLog([AlertRule.parse(rule) for rule in options.alert])
        #: None before the columns are known.
        self.importance: ImportanceSampler | None = None
        self.watch = InputWatch(self.alerts)
        self.encoder: Encoder | None = None
        self.chunks_done = self.taken = 0
        #: Whether the names of the columns stand in the files.
        self.has_header = True
        #: Of the rows in those chunks.
        self.fingerprint = Fingerprint()
        self.clocks: dict[str, Clock] = {}
        #: None without times.
        self.row_times = None if options.time is None else RowTimes()
        self.read = self.processed = self.learned = self.unlabelled = self.skipped = self.unpredicted = 0
        self.predictions: PredictionsFile | None = None
        #: What one would run otherwise, where it is asked for.
        self.against: Against | None = None

    def start_over(self, found: LateQuantity) -> None:
        """Start over with regression, which takes nothing back: no result was given out."""
        if self.predictions is not None:
            self.predictions.close()
        say = self.alerts.say
        self.notices.begin()
        self.tasks.turn_to_numbers()
        self._before_first_row()
        self.alerts.say = say
        self.notices.odd([str(found)])

    # ------------------------------------------------------------------ the loop

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of the source; the first is the head that settles the columns."""
        limit, chunk_size = self.options.limit, self.options.chunk

        def size(done: int) -> int:
            wanted = chunk_size or _growing_chunk(done)
            return wanted if limit is None else min(wanted, limit - done)

        head = self.head if limit is None else min(self.head, limit)
        blocks = self.progress.watch(self.source.blocks())
        if self.options.sort and self.options.time is not None:
            blocks = in_time_order(blocks, self.options.time, head=head, settle=self._settle_clock)
        # A pipe is not read ahead: nobody knows when it gives more, and a run that is done must not wait for it.
        found = chunks(blocks if self.source.is_pipe else one_ahead(blocks), size, head=head)
        for at, chunk in enumerate(found if self.source.is_pipe else self._parsed_ahead(found)):
            self.has_header = chunk.has_header if at == 0 else self.has_header
            self.taken += len(chunk)
            self.notices.about_files(chunk)
            self.notices.ignored_keys(chunk, self.source.files)
            yield chunk
            if self.taken == limit:
                return

    def _parsed_ahead(self, given: Iterator[Chunk]) -> Iterator[Chunk]:
        """The chunks; those behind the first with their sparse columns parsed while the one before is learned."""
        yield from itertools.islice(given, 1)
        encoder = self.encoder
        sparse = encoder is not None and encoder.plan.sparse_columns
        yield from one_ahead(map(encoder.with_sparse_parsed, given)) if encoder is not None and sparse else given

    def take(self, chunk: Chunk) -> None:
        """Predict, learn and score the rows of the next chunk."""
        if chunk.bad and self.options.bad_rows == "error":
            raise InvalidInput(f"{chunk.bad[0]}{remedy()}")
        self.read += len(chunk) + len(chunk.bad)
        if len(chunk) == 0:
            self._complain(chunk.bad)
            return
        if self.encoder is None:
            self.encoder = self._plan(chunk)
        plan = self.encoder.plan
        now, label_time, untimed = self._times(chunk)
        found = self.task.targets(chunk)
        if (held := self.task.late_quantity(chunk, found)) is not None:
            self._reconsider(held, len(np.unique(found.values)))
        encoded = self.encoder.encode(chunk, unusable=[*untimed, *found.wrong])
        self.notices.late_sentinels(chunk, encoded)
        if plan.empty:
            self.notices.late_columns(chunk, plan.empty, self.read - len(chunk) - len(chunk.bad))
        targets, known = found.values[encoded.kept], found.known[encoded.kept]
        now = None if now is None else now[encoded.kept]
        if now is not None and label_time is not None:
            label_time = label_time[encoded.kept]
            known = known & (label_time != NEVER)
            self.notices.times_of(str(self.options.time), now)
        elif self.options.time is None:
            for name, times in encoded.times.items():
                self.notices.times_of(name, np.where(np.isnat(times), NEVER, times.astype(np.int64)))
        number = np.arange(self.processed + 1, self.processed + len(targets) + 1)
        self._complain(encoded.bad)
        if self.processed == 0:
            self.importance = ImportanceSampler.of_first_rows(plan, self.options.seed, encoded.X)
            self.history.watch.choose(plan.without_cells(encoded.X), self.task.begin(targets, known))
        self.processed += len(targets)
        self.unlabelled += int((~known).sum())
        batch = self.late.plan(encoded.X, targets, known, number, now, label_time)
        if self.row_times is not None and now is not None:
            self.row_times.add(batch, now)
        self._go_on_sampling(batch)
        before = None if self.late.waiting is None else self.late.waiting.predicted.pop(INPUTS, None)
        began = time.thread_time()
        predicted = self.task.predict(batch, self._stretches(batch), self.late.waiting, now)
        self.model_seconds += time.thread_time() - began
        if self.against is not None:
            self.against.take(batch, self.task.known_targets(batch.labels), predicted["model"])
        self._remember(batch, len(batch.learned))
        self.learned += len(batch.learned)
        rows = self.watch.add_cells(plan, encoded.cells, encoded.X, number)
        predicted[INPUTS] = rows if before is None else np.concatenate([before, rows])
        self.watch.add_outcomes("predictions", self.task.watched(predicted["model"][batch.carried :]))
        for part in _by_prediction(batch, predicted["model"]):
            scored = self.task.score(part, predicted, plan, self.alerts.metrics)
            self._watch_scored(scored, part, predicted[INPUTS])
        if self.predictions is None:
            self.predictions = self._begin()
        self.unpredicted += self.task.write(self.predictions, batch, known, predicted)
        self.late.keep(batch, predicted)

    def _reconsider(self, held: str, different: int) -> None:
        """Labels are a quantity, which the first rows did not show; these ones have so many different values."""
        if not self.tasks.are_open:
            self.tasks.warn_of_classes(held, different)
            return
        classes = f"{option('task', 'classification')} keeps its values as classes"
        if self.source.is_pipe or self.alerts.fired:
            why = "an alert fired" if self.alerts.fired else "a pipe cannot be read again"
            numbers = option("task", "regression")
            raise InvalidInput(f"{held}, which is a quantity, and {why}: start over with {numbers}; {classes}")
        raise LateQuantity(f"{held}, which is a quantity: the run starts over as regression; {classes}")

    def _watch_scored(self, scored: Scored, batch: Batch, rows: NDArray[np.float64]) -> None:
        rises = [change for change in scored.changes if change["after"] > change["before"]]
        places = batch.learned[scored.predicted]
        self.watch.add_outcomes("targets", self.task.watched(batch.labels[batch.learned]))
        self.watch.skip(int((~scored.predicted).sum()))
        self.watch.add_scored(batch.number[places], scored.errors, rows[places], rises)
        self.alerts.add_values(batch.number[places], scored.terms)

    def _stretches(self, batch: Batch) -> Iterator[NDArray[np.int64]]:
        """The steps of the order, cut where a look at the model is due; it is taken when the next part is asked."""
        predictions = np.flatnonzero(batch.order >= 0)
        done = predictions - np.arange(len(predictions))  # rows learned before each prediction
        learned = self.learned + done
        begin, snapshot = 0, self.history.next_due(self.processed - len(predictions))
        sample = self._next_sample(learned)
        while (at := min(snapshot, sample)) < len(predictions):
            yield batch.order[begin : predictions[at]]
            begin = int(predictions[at])
            if at == snapshot:
                self.history.add(self.task.model, int(learned[at]))
                snapshot += self.history.every
            if at == sample:
                self._sample(batch, int(done[at]), int(learned[at]))
                sample = self._next_sample(learned)
        yield batch.order[begin:]

    def _next_sample(self, learned: NDArray[np.int64]) -> int:
        """Before which of the coming predictions a sample is due, so many rows being learned before each."""
        return len(learned) if self.importance is None else int(np.searchsorted(learned, self.importance.due))

    def _sample(self, batch: Batch, done: int, learned: int) -> None:
        """Take a sample of the rows that are learned next, behind so many of the batch and of the run."""
        assert self.importance is not None
        began = time.thread_time()
        rows = batch.learned[done : done + self.importance.lacking]
        targets = self.task.known_targets(batch.labels[rows])
        self._remember(batch, done)
        self.importance.begin(learned, self.task.model, batch.X[rows], targets, self.task.explained_label())
        self.model_seconds -= time.thread_time() - began  # which the caller adds

    def _remember(self, batch: Batch, done: int) -> None:
        """Let the samples know the rows of the batch that are learned by now, so many."""
        if self.importance is not None and self.learned + done > self.importance.seen:
            begin = max(self.importance.seen - self.learned, 0)
            rows = batch.learned[begin:done]
            self.importance.remember(self.learned + begin, batch.X[rows], self.task.known_targets(batch.labels[rows]))

    def _go_on_sampling(self, batch: Batch) -> None:
        """Give the sample that the last chunk left unfinished its further rows."""
        if self.importance is not None and self.importance.waiting is not None and len(batch.learned):
            rows = batch.learned[: self.importance.lacking]
            self.importance.go_on(batch.X[rows], self.task.known_targets(batch.labels[rows]))

    def _begin(self) -> PredictionsFile:
        """The first rows could be learned: a place for predictions. Without a folder it is memory."""
        return self.task.predictions_file(None, 0)

    def _plan(self, head: Chunk) -> Encoder:
        reserved = [name for name in (self.options.label_time,) if name is not None]
        for name in (self.options.time, *reserved):
            if name is not None and name not in head.column_names:
                raise InvalidInput.of_column(head.pieces[0].block.file, name, head.column_names)
            if name is not None and name not in self.clocks:  # sorting has settled that of the rows already
                self._settle_clock(name, head.column(name))
        plan = self._columns(head, reserved, detect_text=True)
        self.task = self.tasks.settle(head)
        text_left_out: list[str] = []
        if plan.sparse_columns and (self.options.key is not None or not self.task.takes_sparse_rows()):
            if self.options.text:
                rule = f"be left out: {self._owner()} takes no sparse rows"
                raise InvalidParameter.of_option("text", rule, self.options.text[0])
            plan, text_left_out = self._without_text(plan, self._columns(head, reserved, detect_text=False))
        if self.tasks.found is not None:
            self.say(self.tasks.found)
        self._say_forms(head, plan)
        if len({clock.kind for clock in self.clocks.values()}) > 1:
            time, label_time = (self.clocks[str(name)].kind for name in (self.options.time, self.options.label_time))
            raise InvalidInput(
                f"columns {self.options.time!r} and {self.options.label_time!r} cannot be compared: "
                f"one holds {time}, the other {label_time}"
            )
        plan = self.task.settle(head, plan, self.clocks)
        self.alerts.settle(self.task.alert_metrics(), watched_names(plan), self.task.name)
        _split_columns(self.task.model, plan)
        self.against = self.new_against(plan)
        asked = {name: getattr(self.options, name) for name in ("ngrams", "hash_bits")}
        changed = {name: None if value == getattr(RunOptions, name) else value for name, value in asked.items()}
        self.notices.odd(unused_hashing(plan, **changed))
        self.notices.odd(f"column {name!r} is {plan.left_out[name]}" for name in text_left_out)
        given = self.options
        self.notices.odd(
            oddities(
                head,
                plan,
                self.task.codes(head),
                na=given.na,
                time=given.time,
                categorical=given.categorical,
                decimal=given.decimal,
            )
        )
        return self.new_encoder(plan)

    def _settle_clock(self, name: str, column: Any) -> Clock:
        """The clock of a column, by its first rows in the order of the file."""
        like = None if name == self.options.time else self.clocks.get(str(self.options.time))
        self.clocks[name] = Clock.settle(name, column, self.options.na, like)
        return self.clocks[name]

    def _say_forms(self, head: Chunk, plan: Plan) -> None:
        """Whether days or months come first, where the first rows had to show it."""
        times = [each for each in plan.columns if each.is_exchangeable and each.name not in self.clocks]
        found = {name: clock.found for name, clock in self.clocks.items()}
        found |= {each.name: form_of(trimmed(as_text(head.column(each.name)))) for each in times}
        for name, form in found.items():
            if form is None or form.because is None:
                continue
            sentence = f"column {name!r} is read as {form.form}: {form.because}"
            if form.likely:
                self.notices.odd([f"{sentence}; if that is wrong, write its dates as 2024-01-31"])
            elif name in self.clocks:
                self.say(sentence)

    def new_encoder(self, plan: Plan) -> Encoder:
        """An encoder that has seen no row."""
        found = Encoder(plan, bad_rows=self.options.bad_rows, missing=self.options.missing)
        more = f", {option('na')} takes a text for a missing value, {option('categorical')} a column for categories"
        found.remedy = remedy(more)
        return found

    def _owner(self) -> str:
        keys = "" if self.options.key is None else " with keys"
        return f"the model {self.options.model} of {self.task.name}{keys}"

    def _without_text(self, found: Plan, plan: Plan) -> tuple[Plan, list[str]]:
        """The plan with the reason why columns of text are left out, and the names of these columns."""
        why = f"left out: it seems to be text, whose words are sparse features, which {self._owner()} does not take"
        text = {column.name: why for column in found.columns if column.kind == "text" and column.name in plan.left_out}
        return replace(plan, left_out=plan.left_out | text), list(text)

    def new_against(self, plan: Plan) -> Against | None:
        """The references that are asked for, without a row; None for none."""
        given, task = self.options, self.task
        if given.against is None:
            return None
        return Against(parse_against(given.against), given.against_rows, task.name, task.model, plan, given.seed)

    def processor_seconds(self) -> dict[str, float]:
        """Processor time of the model and of each reference, since this process began."""
        return {"model": self.model_seconds} | ({} if self.against is None else self.against.seconds())

    def _columns(self, head: Chunk, reserved: list[str], *, detect_text: bool) -> Plan:
        return plan_columns(
            head,
            target=self.options.target,
            drop=self.options.drop,
            categorical=self.options.categorical,
            numeric=self.options.numeric,
            reserved=reserved,
            decimal=self.options.decimal,
            na=self.options.na,
            detect_sentinels=not self.options.keep_sentinels,
            text=self.options.text,
            detect_text=detect_text,
            ngrams=parse_ngrams(self.options.ngrams),
            hash_bits=self.options.hash_bits,
            key=self.options.key,
            forms={name: clock.found for name, clock in self.clocks.items() if clock.found is not None},
        )

    def _times(
        self, chunk: Chunk
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None, list[tuple[int, str, str]]]:
        """When rows and labels come, where the table says so; and the rows of which it does not."""
        time_column, label_column = self.options.time, self.options.label_time
        if time_column is None:
            return None, None, []
        now, wrong = parsed(self.clocks[time_column], chunk.column(time_column))
        if label_column is None:
            self.notices.times_of(time_column, now)
            return now, None, [(at, time_column, what) for at, what in wrong]
        seen = {at for at, _ in wrong}
        places = (int(at) for at in np.flatnonzero(now == NEVER))
        wrong += [(at, "the time of the row is missing") for at in places if at not in seen]
        label_time, wrong_labels = parsed(self.clocks[label_column], chunk.column(label_column))
        untimed = [(at, time_column, what) for at, what in wrong]
        return now, label_time, untimed + [(at, label_column, what) for at, what in wrong_labels]

    def _complain(self, bad: list[Any]) -> None:
        self.skipped += len(bad)
        self.notices.complain(bad)

    # ------------------------------------------------------------------ what is left behind

    def warnings(self) -> list[str]:
        """What the user should know of the table."""
        left_out = {} if self.encoder is None else self.encoder.plan.left_out
        return self.notices.sentences(left_out) + self.task.warnings()

    @property
    def pending(self) -> int:
        """How many rows have a label that was still to come when the source ended."""
        return len(self.pending_rows)

    @property
    def pending_rows(self) -> NDArray[np.int64]:
        """The numbers of those rows."""
        return np.empty(0, dtype=np.int64) if self.late.waiting is None else self.late.waiting.number

    def table_model(self) -> TableModel:
        """The model with its encoder, as `thalweg.load` gives it back."""
        assert self.encoder is not None
        given = self.options
        notes: dict[str, Any] = {
            "table": {"target": given.target, "delimiter": given.delimiter, "encoding": given.encoding},
            "run": {"rows": self.processed, "learned": self.learned, **self.task.summary()},
        }
        if not self.has_header:
            notes["table"]["header"] = False
        if self.importance is not None and isinstance(self.importance.reference, np.ndarray):
            notes["background"] = self.importance.reference.tolist()
        return self.task.of_table(self.encoder, notes)

    def require_rows(self) -> None:
        """Raise `InvalidInput` where the source had no row to learn from, or none with a label that was asked for."""
        if self.encoder is None:
            complaints = self.notices.complaints
            rows = f"no row that can be used: {complaints[0]}" if complaints else "a header but no rows"
            raise InvalidInput(f"{self.source.given} has {rows}")
        self.task.require_labels()


class Run(RunEngine):
    """A run over files, whose results, checkpoints among them, are files in a folder."""

    source: Source

    def __init__(self, options: RunOptions) -> None:
        head = options.head or HEAD_ROWS
        source = open_source(
            options.source,
            delimiter=options.delimiter,
            encoding=options.encoding,
            head=head,
            header=options.header,
        )
        super().__init__(options, source)
        #: Spent on checkpoints so far, since this process began.
        self.checkpoint_seconds = 0.0
        self.folder = Path(options.out)

    def go(
        self,
        tell: Callable[[RunStatus], None] = lambda status: None,
        checkpoint_seconds: float | None = None,
    ) -> None:
        """Work through the source, from where the last checkpoint was; the next one comes after so many seconds.

        Asked to stop, a last checkpoint is written and `Stopped` is raised.
        """
        signals = stopping()
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            try:
                self._take_all(tell, checkpoint_seconds, signals)
            except LateQuantity as found:
                self.start_over(found)
                (self.folder / options.CHECKPOINT).unlink(missing_ok=True)
                self._take_all(tell, checkpoint_seconds, signals)
            signals.finish()
            self.watch.flush()
        except Stopped:
            signals.take_time()
            if self.predictions is not None:
                self._checkpoint()
            raise
        finally:
            if self.predictions is not None:
                self.predictions.close()
        try:
            self.require_rows()
        except InvalidParameter:  # more rows would not help, so that there is nothing to resume
            options.clear(self.folder)
            raise

    def _take_all(self, tell: Callable[[RunStatus], None], checkpoint_seconds: float | None, signals: Stopping) -> None:
        due = time.monotonic() + (_EVERY_SECONDS if checkpoint_seconds is None else checkpoint_seconds)
        for chunk in self._further_chunks():
            with signals.unbroken():
                self.take(chunk)
                self.fingerprint.take(chunk)
                self.chunks_done += 1
                tell(RunStatus(self.processed, self.task, self.progress.share(self.taken)))
                if time.monotonic() >= due and self.predictions is not None:
                    took = self._checkpoint()
                    pause = max(_EVERY_SECONDS, _TIMES_ITS_COST * took)
                    due = time.monotonic() + (pause if checkpoint_seconds is None else checkpoint_seconds)

    def _further_chunks(self) -> Iterator[Chunk]:
        """Those after the last checkpoint; the rows before it must be those that were learned."""
        given = self.chunks()
        found, rows = self.fingerprint.begin_again(), 0
        for chunk in itertools.islice(given, self.chunks_done):
            found.take(chunk)
            rows += len(chunk) + len(chunk.bad)
        if found.sums != self.fingerprint.sums:
            changed = f"its first {self.read:,} rows are others" if rows == self.read else f"it has {rows:,} rows only"
            raise InvalidInput(
                f"{self.source.given} is not the file that this run was started with: {changed}; "
                f"restore the {self.read:,} rows that were learned, or start over with --fresh"
            )
        yield from given

    def _begin(self) -> PredictionsFile:
        """The first rows could be learned: from here on the folder is this run's."""
        options.clear(self.folder)
        write_atomically(self.folder / options.OPTIONS, self.options.to_toml().encode())
        return self.predictions_file()

    def predictions_file(self, length: int = 0) -> PredictionsFile:
        return self.task.predictions_file(self.folder / options.PREDICTIONS, length)

    # ------------------------------------------------------------------ checkpoints

    def _checkpoint(self) -> float:
        """Write one; the seconds it took."""
        began = time.monotonic()
        self.write_checkpoint()
        stopping().can_resume()
        took = time.monotonic() - began
        self.checkpoint_seconds += took
        return took

    def write_checkpoint(self) -> None:
        """Replace the checkpoint; an `OSError` leaves the old one."""
        write_atomically(self.folder / options.CHECKPOINT, packed(self.state()))

    def resume(self) -> bool:
        """Go back to the last checkpoint, if there is one; a `ModelFileError` where it is damaged."""
        path = self.folder / options.CHECKPOINT
        if not path.exists():
            return False
        try:
            self.restore(unpacked(path.read_bytes()))
        except OSError as error:
            raise ModelFileError(f"{path} cannot be read: start over with --fresh") from error
        except ModelFileError as error:
            raise ModelFileError(f"{path} {error}: start over with --fresh") from error
        stopping().can_resume()
        return True

    def state(self) -> dict[str, Any]:
        """All that a run in progress must remember."""
        assert self.encoder is not None
        assert self.predictions is not None
        assert self.importance is not None
        self.watch.flush()
        return {
            "options": self.options.resolved(),
            "chunks": self.chunks_done,
            "fingerprint": self.fingerprint.sums,
            "counts": [self.read, self.processed, self.learned, self.unlabelled, self.skipped, self.unpredicted],
            "notices": self.notices.state(),
            "plan": self.encoder.plan.to_json(),
            "encoder": self.encoder.state(),
            "task": [self.task.name, self.task.state()],
            "against": None if self.against is None else self.against.state(),
            "history": self.history.state(),
            "joined": self.importance.joined,
            "importance": self.importance.state(),
            "inputs": self.watch.state(),
            "alerts": self.alerts.state(),
            "row_times": None if self.row_times is None else self.row_times.state(),
            "late": self.late.state(),
            "clocks": {name: clock.form for name, clock in self.clocks.items()},
            "predictions": self.predictions.synced(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Bring a run that has not begun to where `state` was; it must have the same options."""
        # Files may have moved since: the rows themselves are compared with those that were learned.
        if changed := self.options.first_other(state["options"], besides=("source", "model_out")):
            raise InvalidParameter(
                f"the run in {self.folder} was started with {changed}: resume it with the same options, "
                "or start over with --fresh"
            )
        self.chunks_done = state["chunks"]
        self.fingerprint = Fingerprint(state["fingerprint"])
        self.read, self.processed, self.learned, self.unlabelled, self.skipped, self.unpredicted = state["counts"]
        self.notices.restore(state["notices"])
        plan = Plan.from_json(state["plan"])
        self.encoder = self.new_encoder(plan)
        self.encoder.restore(state["encoder"])
        name, own = state["task"]
        self.task = self.tasks.named(name)
        self.task.restore(own)
        self.against = self.new_against(plan)
        if self.against is not None:
            self.against.restore(state["against"])
        self.history.restore(state["history"])
        self.importance = ImportanceSampler(plan, self.options.seed, state["joined"])
        self.importance.restore(state["importance"])
        self.watch.restore(state["inputs"])
        self.alerts.restore(state["alerts"])
        if self.row_times is not None:
            self.row_times.restore(state["row_times"])
        self.late.restore(state["late"])
        self.clocks = {name: Clock(form, self.options.na) for name, form in state["clocks"].items()}
        self.predictions = self.predictions_file(state["predictions"])

    # ------------------------------------------------------------------ what is left behind

    def save_model(self, path: Path) -> None:
        """The model with its encoder: `thalweg predict` and `thalweg.load` read a table like the one it learned."""
        write_atomically(path, dumps(self.table_model()))

    def leave_nothing_half_done(self, folder_existed: bool) -> None:
        """After an error: without a checkpoint to continue from, what was written is of no use."""
        if self.predictions is not None:
            self.predictions.close()
        if (self.folder / options.CHECKPOINT).exists():
            return
        if self.predictions is not None:
            options.clear(self.folder)
        if not folder_existed and self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def write_alerts(self) -> None:
        """The alerts that fired, where rules were given."""
        if self.alerts.rules:
            write_atomically(self.folder / options.ALERTS, self.alerts.lines())

    def write_metrics(self, metrics: dict[str, Any]) -> None:
        text = json.dumps(metrics, indent=1, allow_nan=False, ensure_ascii=False)
        write_atomically(self.folder / options.METRICS, text.encode())

    def forget_checkpoint(self) -> None:
        """The run is finished: there is nothing to continue from, and no use for files that a kill left unfinished."""
        (self.folder / options.CHECKPOINT).unlink(missing_ok=True)
        options.clear_unfinished(self.folder)


def _by_prediction(batch: Batch, given: NDArray[Any]) -> list[Batch]:
    """The batch cut so that of the rows learned in each part, those without a prediction come first."""
    values = given[batch.learned]
    has = values > 0 if values.dtype.kind == "i" else ~np.isnan(values)
    cuts = np.flatnonzero(has[:-1] & ~has[1:]) + 1
    return [replace(batch, learned=part) for part in np.split(batch.learned, cuts)] if len(cuts) else [batch]


def _growing_chunk(rows: int) -> int:
    """Small chunks while there are few rows, so that curves have points; large ones later, for speed."""
    return 1 << min(15, max(9, (rows // 32).bit_length()))
