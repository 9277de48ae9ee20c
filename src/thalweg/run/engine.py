"""What a run does with rows: predictions out before labels are learned, scores, and all that it must remember.

The first rows settle what the columns are; then every chunk is encoded, predicted, learned, scored and written. What is
written depends on the rows and the options alone: not on the
clock, not on how the source is cut into blocks, not on interruptions.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.evaluate.alert_rules import AlertRule
from thalweg.evaluate.stream_watch import watched_names
from thalweg.history.history import History
from thalweg.option_names import option, remedy
from thalweg.run.against import Against
from thalweg.run.alert_log import AlertLog
from thalweg.run.first_rows import FirstRows
from thalweg.run.input_watch import INPUTS, InputWatch
from thalweg.run.label_findings import RowTimes
from thalweg.run.model_observer import ModelObserver, RowCounts
from thalweg.run.notices import Notices
from thalweg.run.options import RunOptions
from thalweg.run.predictions import PredictionsFile
from thalweg.run.questions import parse_against
from thalweg.run.task import Scored
from thalweg.run.tasks import PossibleTasks
from thalweg.saved import Saved
from thalweg.table_model import TableModel
from thalweg.tables import Block, Chunk, Encoder, Plan, Source, chunks
from thalweg.tables.clock import NEVER, Clock
from thalweg.tables.late_labels import Batch, LateLabels
from thalweg.tables.rows import HEAD_ROWS
from thalweg.tables.sorting import in_time_order

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


def _say_nothing(sentence: str) -> None:
    """What a run says that nobody listens to."""


class LateQuantity(Exception):
    """Rows behind the first show that the target is a quantity: they can be read again, for regression."""


class RunEngine(Saved):
    """What a run does with its rows, wherever they come from and whatever is kept: `Run` adds a folder of files.

    A model that is given takes the place of the one that the options name.
    """

    _saved = ("counts", "notices", "encoder", "earlier_rows", "against", "watch", "alerts", "row_times", "late")
    _made = (("earlier_rows", lambda: History.__new__(History)),)

    def __init__(
        self,
        options: RunOptions,
        source: Source | MemorySource,
        model: Any = None,
        *,
        say: Callable[[str], None] = _say_nothing,
        say_alert: Callable[[str], None] = _say_nothing,
        said: set[str] | None = None,
    ) -> None:
        self.options = options
        self.source = source
        self.notices = Notices(options, options.head or HEAD_ROWS, said)
        self.tasks = PossibleTasks(options, self.notices, model)
        self._say, self._say_alert = say, say_alert
        self.progress = Progress(lambda: self.source.share, options.limit)
        #: Processor time of the model, since this process began: predicting and learning.
        self.model_seconds = 0.0
        self._before_first_row()

    def _before_first_row(self) -> None:
        options = self.options
        #: Settled by the first rows, or by a checkpoint.
        self.task = self.tasks.likely
        self.first_rows = FirstRows(options, self.notices, self._say)
        self.counts = RowCounts()
        self.late = LateLabels(delay=options.delay, timed=options.label_time is not None)
        self.observer = ModelObserver(options.seed)
        self.alerts = AlertLog([AlertRule.parse(rule) for rule in options.alert], self._say_alert)
        self.watch = InputWatch(self.alerts)
        self.encoder: Encoder | None = None
        #: The features from earlier rows, where any are asked for.
        self.earlier_rows: History | None = None
        #: Rows that were taken from the source.
        self.taken = 0
        #: Whether the names of the columns stand in the files.
        self.has_header = True
        #: None without times.
        self.row_times = None if options.time is None else RowTimes()
        self.predictions: PredictionsFile | None = None
        #: What one would run otherwise, where it is asked for.
        self.against: Against | None = None

    def start_over(self, quantity: LateQuantity) -> None:
        """Start over with regression, which takes nothing back: no result was given out."""
        if self.predictions is not None:
            self.predictions.close()
        self.notices.begin()
        self.tasks.turn_to_numbers()
        self._before_first_row()
        self.notices.odd([str(quantity)])

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of the source; the first is the head that settles the columns."""
        limit, chunk_size = self.options.limit, self.options.chunk

        def size(done: int) -> int:
            wanted = chunk_size or _growing_chunk(done, self.source.is_pipe)
            return wanted if limit is None else min(wanted, limit - done)

        head = self.options.head or HEAD_ROWS
        head = head if limit is None else min(head, limit)
        blocks = self.progress.watch(self.source.blocks())
        if self.options.sort and self.options.time is not None:
            blocks = in_time_order(blocks, self.options.time, head=head, settle=self.first_rows.settle_clock)
        # A pipe is not read ahead: nobody knows when it gives more, and a run that is done must not wait for it.
        chunked = chunks(blocks if self.source.is_pipe else one_ahead(blocks), size, head=head)
        for at, chunk in enumerate(chunked if self.source.is_pipe else self._parsed_ahead(chunked)):
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
        self.counts.read += len(chunk) + len(chunk.bad)
        if len(chunk) == 0:
            self._complain(chunk.bad)
            return
        is_first = self.encoder is None
        if is_first:
            self._settle(chunk)
        assert self.encoder is not None
        plan = self.encoder.plan
        now, label_time, untimed = self.first_rows.times(chunk)
        all_targets = self.task.targets(chunk)
        if (held := self.task.late_quantity(chunk, all_targets)) is not None:
            self._reconsider(held, len(np.unique(all_targets.values)))
        encoded = self.encoder.encode(chunk, unusable=[*untimed, *all_targets.wrong])
        self.notices.late_sentinels(chunk, encoded)
        if plan.empty and not is_first:
            self.notices.late_columns(chunk, plan.empty, self.counts.read - len(chunk) - len(chunk.bad))
        targets, known = all_targets.values[encoded.kept], all_targets.known[encoded.kept]
        now = None if now is None else now[encoded.kept]
        if now is not None and label_time is not None:
            label_time = label_time[encoded.kept]
            known = known & (label_time != NEVER)
            self.notices.times_of(str(self.options.time), now)
        elif self.options.time is None:
            for name, times in encoded.times.items():
                self.notices.times_of(name, np.where(np.isnat(times), NEVER, times.astype(np.int64)))
        number = np.arange(self.counts.processed + 1, self.counts.processed + len(targets) + 1)
        self._complain(encoded.bad)
        if self.counts.processed == 0:
            self.observer.begin(plan, encoded.X, self.task.begin(targets, known))
        self.counts.processed += len(targets)
        self.counts.unlabelled += int((~known).sum())
        batch = self.late.plan(encoded.X, targets, known, number, now, label_time)
        if self.row_times is not None and now is not None:
            self.row_times.add(batch, now)
        self.observer.go_on(batch, self.task)
        before = None if self.late.waiting is None else self.late.waiting.predicted.pop(INPUTS, None)
        budget = self.task.budget
        if budget is not None:
            budget.at(now)
        began, apart = time.thread_time(), self.observer.seconds
        stretches = self.observer.stretches(batch, self.task, self.counts)
        predicted = self.task.predict(batch, stretches, self.late.waiting, now)
        self.model_seconds += time.thread_time() - began - (self.observer.seconds - apart)
        if budget is not None:
            budget.never_labelled(batch)
        if self.against is not None:
            self.against.take(batch, self.task.known_targets(batch.labels), predicted["model"])
        self.observer.remember(batch, self.task, self.counts.learned, len(batch.learned))
        self.counts.learned += len(batch.learned)
        rows = self.watch.add_cells(plan, encoded.cells, encoded.X, number)
        predicted[INPUTS] = rows if before is None else np.concatenate([before, rows])
        self.watch.add_outcomes("predictions", self.task.watched(predicted["model"][batch.carried :]))
        for part in self._by_prediction(batch, predicted["model"]):
            scored = self.task.score(part, predicted, plan)
            self._watch_scored(scored, part, predicted[INPUTS])
        if self.predictions is None:
            self.predictions = self._begin()
        self.counts.unpredicted += self.task.write(self.predictions, batch, known, predicted)
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
        self.alerts.add_rows(batch.number[places], scored.rows)

    def _by_prediction(self, batch: Batch, given: NDArray[Any]) -> list[Batch]:
        """The batch cut so that of the rows learned in each part, those without a prediction come first."""
        has = self.task.has_prediction(given[batch.learned])
        cuts = np.flatnonzero(has[:-1] & ~has[1:]) + 1
        return [replace(batch, learned=part) for part in np.split(batch.learned, cuts)] if len(cuts) else [batch]

    def _begin(self) -> PredictionsFile:
        """The first rows could be learned: a place for predictions. Without a folder it is memory."""
        return self.task.predictions_file(None, 0)

    def _settle(self, head: Chunk) -> None:
        self.task, plan = self.first_rows.settle(head, self.tasks)
        self.alerts.settle(self.task.alert_metrics(), watched_names(plan), self.task.name)
        self._begin_with(plan)

    def _begin_with(self, plan: Plan) -> None:
        """What rows of these columns need, and has seen none."""
        self.encoder, self.against = self._new_encoder(plan), self._new_against(plan)
        self.encoder.history = self.earlier_rows = self.first_rows.history

    def _new_encoder(self, plan: Plan) -> Encoder:
        """An encoder that has seen no row."""
        encoder = Encoder(plan, bad_rows=self.options.bad_rows, missing=self.options.missing)
        more = f", {option('na')} takes a text for a missing value, {option('categorical')} a column for categories"
        encoder.remedy = remedy(more)
        return encoder

    def _new_against(self, plan: Plan) -> Against | None:
        """The references that are asked for, without a row; None for none."""
        given, task = self.options, self.task
        if given.against is None:
            return None
        return Against(parse_against(given.against), given.against_rows, task, task.model, plan, given.seed)

    def processor_seconds(self) -> dict[str, float]:
        """Processor time of the model and of each reference, since this process began."""
        return {"model": self.model_seconds} | ({} if self.against is None else self.against.seconds())

    def _complain(self, bad: list[Any]) -> None:
        self.counts.skipped += len(bad)
        self.notices.complain(bad)

    def state(self) -> dict[str, Any]:
        """All that a run in progress must remember."""
        assert self.encoder is not None
        self.watch.flush()
        return {
            **super().state(),
            **self.observer.state(),
            "options": self.options.resolved(),
            "plan": self.encoder.plan.to_json(),
            "task": [self.task.name, self.task.state()],
            "clocks": {name: clock.form for name, clock in self.first_rows.clocks.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Bring a run that has not begun to where `state` was."""
        plan = Plan.from_json(state["plan"])
        name, own = state["task"]
        self.task = self.tasks.named(name)
        self.task.restore(own)
        self._begin_with(plan)
        super().restore(state)
        assert self.encoder is not None
        self.encoder.history = self.first_rows.history = self.earlier_rows
        self.observer.restore(state, plan)
        self.first_rows.clocks |= {name: Clock(form, self.options.na) for name, form in state["clocks"].items()}

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
            "run": {"rows": self.counts.processed, "learned": self.counts.learned, **self.task.summary()},
        }
        if parameters := self.first_rows.parameters(getattr(self.source, "besides", ())):
            notes["table"]["parameters"] = parameters
        if not self.has_header:
            notes["table"]["header"] = False
        if self.observer.importance is not None and isinstance(self.observer.importance.reference, np.ndarray):
            notes["background"] = self.observer.importance.reference.tolist()
        return self.task.of_table(self.encoder, notes)

    def require_rows(self) -> None:
        """Raise `InvalidInput` where the source had no row to learn from, or none with a label that was asked for."""
        if self.encoder is None:
            complaints = self.notices.complaints
            rows = f"no row that can be used: {complaints[0]}" if complaints else "a header but no rows"
            raise InvalidInput(f"{self.source.given} has {rows}")
        self.task.require_labels()


def _growing_chunk(rows: int, is_pipe: bool) -> int:
    """Small chunks while there are few rows, for the live view and for rows that come slowly; large ones later."""
    least, share = (9, 8) if is_pipe else (11, 2)
    return 1 << min(14, max(least, (rows // share).bit_length()))


class Progress:
    """Watches blocks as they are read, which may be ahead of what is taken.

    Examples
    --------
    >>> progress = Progress(lambda: None)
    >>> progress.share(taken=100) is None  # nothing is known of a pipe until its end
    True
    >>> list(progress.watch(iter([])))
    []
    """

    def __init__(self, share_read: Callable[[], float | None], most: int | None = None) -> None:
        self._share_read = share_read
        self._most = most
        self._rows = 0
        self._share: float | None = None  # of the bytes, after the last block
        self._total: float | None = None  # rows, as far as it is known
        self._largest = 0.0

    def watch(self, blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            self._rows += len(block.table)
            before, self._share = self._share, self._share_read()
            if self._share is None or self._share == before:  # others read the file: its bytes say nothing
                self._total = None
            elif 0.0 < self._share < 1.0:  # packed bytes may all be read long before their rows
                self._total = self._rows / self._share
            yield block
        self._total = self._rows

    def share(self, taken: int) -> float | None:
        """How much is done when so many rows are taken; None where it is not known. It does not go back."""
        total = self._total
        if self._most is not None and (self._rows >= self._most or (total is not None and total > self._most)):
            total = self._most
        if not total:
            return None
        self._largest = max(self._largest, min(taken / total, 1.0))
        return self._largest
