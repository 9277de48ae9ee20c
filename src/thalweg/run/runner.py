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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.class_drift import ClassChangeDetector
from thalweg.evaluate.drift import ChangeDetector
from thalweg.evaluate.late_labels import Batch, LateLabels, follow_baselines, new_baselines
from thalweg.files import write_atomically
from thalweg.pipeline.target_encoding import behind_rates
from thalweg.run import checkpoint, options
from thalweg.run.history import ModelHistory
from thalweg.run.notices import Notices
from thalweg.run.options import RunOptions
from thalweg.run.predictions import LabelNumbers, PredictionsFile, confidences, joined_labels, probabilities_of
from thalweg.run.progress import Progress
from thalweg.run.rare_scoreboard import RareScoreboard
from thalweg.run.scoreboard import Scoreboard
from thalweg.run.set_scoreboard import SetScoreboard
from thalweg.run.stopping import Stopped, Stopping
from thalweg.store import dumps
from thalweg.table_classifier import TableClassifier
from thalweg.tables import Chunk, Encoder, Fingerprint, Target, chunks, open_source, plan_columns
from thalweg.tables.cells import parsed
from thalweg.tables.clock import NEVER, Clock
from thalweg.tables.oddities import oddities
from thalweg.tables.opening import natural_order
from thalweg.tables.rows import HEAD_ROWS
from thalweg.tables.sorting import in_time_order

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


#: Seconds between checkpoints, and how many times its own cost a checkpoint waits at least.
_EVERY_SECONDS, _TIMES_ITS_COST = 5.0, 40.0


@dataclass(frozen=True)
class RunStatus:
    """How far a run is: for a live view."""

    rows: int
    board: Scoreboard
    model: Any
    #: Share of the source's rows that are done, where it can be told.
    share: float | None


class _Piece(NamedTuple):
    """What one compiled call predicted: rows, labels, probabilities, sets, and the classes the model knew after it."""

    rows: NDArray[np.int64]
    given: NDArray[Any]
    proba: NDArray[np.float64] | None
    sets: NDArray[np.bool_] | None
    classes: list[str]


class Run:
    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self.head = options.head or HEAD_ROWS
        self.source = open_source(
            options.source, delimiter=options.delimiter, encoding=options.encoding, head=self.head
        )
        self.model = options.make_model()
        if (options.delay or options.label_time) and getattr(self.model, "_needs_labels_at_once", False):
            raise InvalidParameter.of_option("delay", "be 0 for a model with persistence", options.delay)
        self.baselines = new_baselines()
        #: Baselines used to learn the numbers of labels, so that a tie went to the label met first and not to the
        #: lowest one. A run that was begun so ends so.
        self.baselines_by_number = False
        self.target = Target(options.target, declared=options.target in options.categorical)
        self.names = LabelNumbers()
        self.late = LateLabels(delay=options.delay, timed=options.label_time is not None)
        self.board = Scoreboard()
        #: None in a run that was begun by an earlier version.
        self.rare: RareScoreboard | None = RareScoreboard(options)
        #: Of a model of prediction sets; None in a run of one that was begun by an earlier version.
        self.sets = SetScoreboard(self.model.coverage) if hasattr(self.model, "follow_sets") else None
        #: Labels whose probabilities have a column of their own among the predictions.
        self.probability_labels: list[str] = []
        self.detector = ChangeDetector()
        self.class_detector = ClassChangeDetector()
        self.history = ModelHistory()
        self.encoder: Encoder | None = None
        self.progress = Progress(lambda: self.source.share, options.limit)
        self.chunks_done = self.taken = 0
        #: Of the rows in those chunks.
        self.fingerprint = Fingerprint()
        self.clocks: dict[str, Clock] = {}
        self.notices = Notices(options, self.head)
        self.read = self.answered = self.learned = self.unlabelled = self.skipped = self.unpredicted = 0
        #: Spent on checkpoints so far, since this process began.
        self.checkpoint_seconds = 0.0
        self.folder = Path(options.out)
        self.predictions: PredictionsFile | None = None
        #: Earlier versions read part-10 before part-2. A run that was begun so ends so.
        self.natural_order = True

    # ------------------------------------------------------------------ the loop

    def go(
        self,
        tell: Callable[[RunStatus], None] = lambda status: None,
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
            for chunk in self._further_chunks():
                with stopping.unbroken():
                    self._take(chunk)
                    self.fingerprint.take(chunk)
                    self.chunks_done += 1
                    tell(RunStatus(self.answered, self.board, self.model, self.progress.share(self.taken)))
                    if time.monotonic() >= due and self.predictions is not None:
                        took = self._checkpoint()
                        pause = max(_EVERY_SECONDS, _TIMES_ITS_COST * took)
                        due = time.monotonic() + (pause if checkpoint_seconds is None else checkpoint_seconds)
            stopping.finish()
        except Stopped:
            stopping.take_time()
            if self.predictions is not None:
                self._checkpoint()
            raise
        finally:
            if self.predictions is not None:
                self.predictions.close()
        if self.encoder is None:
            complaints = self.notices.complaints
            rows = f"no row that can be used: {complaints[0]}" if complaints else "a header but no rows"
            raise InvalidInput(f"{self.source.given} has {rows}")

    def _chunks(self) -> Iterator[Chunk]:
        """Chunks of the source; the first is the head that settles the columns."""
        limit, chunk_size = self.options.limit, self.options.chunk

        def size(done: int) -> int:
            wanted = chunk_size or _growing_chunk(done)
            return wanted if limit is None else min(wanted, limit - done)

        head = self.head if limit is None else min(self.head, limit)
        blocks = self.progress.watch(self.source.blocks())
        if self.options.sort and self.options.time is not None:
            blocks = in_time_order(blocks, self.options.time)
        # A pipe is not read ahead: nobody knows when it gives more, and a run that is done must not wait for it.
        for chunk in chunks(blocks if self.source.is_pipe else one_ahead(blocks), size, head=head):
            self.taken += len(chunk)
            self.notices.ignored_keys(chunk, self.source.files)
            yield chunk
            if self.taken == limit:
                return

    def _further_chunks(self) -> Iterator[Chunk]:
        """Those after the last checkpoint; the rows before it must be those that were learned."""
        given = self._chunks()
        found, rows = Fingerprint(), 0
        for chunk in itertools.islice(given, self.chunks_done):
            found.take(chunk)
            rows += len(chunk) + len(chunk.bad)
        if found.sums != self.fingerprint.sums:
            changed = f"its first {self.read:,} rows are others" if rows == self.read else f"it has {rows:,} rows only"
            raise InvalidInput(
                f"{self.source.given} is not what this run was begun with: {changed}; "
                f"bring back the {self.read:,} rows that were learned, or begin anew with --fresh"
            )
        yield from given

    def _take(self, chunk: Chunk) -> None:
        if chunk.bad and self.options.bad_rows == "error":
            raise InvalidInput(str(chunk.bad[0]))
        self.read += len(chunk) + len(chunk.bad)
        if len(chunk) == 0:
            self._complain(chunk.bad)
            return
        if self.encoder is None:
            self.encoder = self._plan(chunk)
            self.model = behind_rates(self.model, self.encoder.plan.wide_categories)
        now, label_time, untimed = self._times(chunk)
        encoded = self.encoder.encode(chunk, unusable=untimed)
        self.notices.late_sentinels(chunk, encoded)
        labels = self.names.numbers(*self.target.labels(chunk))[encoded.kept]
        has_label = labels > 0
        now = None if now is None else now[encoded.kept]
        if now is not None and label_time is not None:
            label_time = label_time[encoded.kept]
            has_label = has_label & (label_time != NEVER)
            self.notices.times_of(str(self.options.time), now)
        elif self.options.time is None:
            for name, times in encoded.times.items():
                self.notices.times_of(name, np.where(np.isnat(times), NEVER, times.astype(np.int64)))
        number = np.arange(self.answered + 1, self.answered + len(labels) + 1)
        self._complain(encoded.bad)
        if self.answered == 0:
            self.history.watch.choose(self.encoder.plan.without_cells(encoded.X), np.where(has_label, labels, ""))
            self._settle_labels(labels)
        if self.options.probabilities == "all":
            self.notices.late_labels(self.names.known, self.probability_labels, labels, self.answered)
        self.answered += len(labels)
        self.unlabelled += int((~has_label).sum())
        batch = self.late.plan(encoded.X, labels, has_label, number, now, label_time)
        predicted = self._predict(batch)
        if self.rare is not None and (period := self.rare.period(number, now)) is not None:
            predicted["period"][batch.carried :] = period
        self._score(batch, predicted)
        fresh = slice(batch.carried, None)
        by_label, held_labels = predicted.pop("by_label", None), predicted.pop("held_labels", None)
        self.unpredicted += int((predicted["model"][fresh] == 0).sum())
        if self.predictions is None:
            self.predictions = self._begin()
        probability = predicted.get("of_answer")
        self.predictions.write(
            number,
            self.names,
            np.where(has_label, labels, 0),
            predicted["model"][fresh],
            None if probability is None else probability[fresh],
            None if by_label is None else by_label[fresh],
            None if held_labels is None else held_labels[fresh],
        )
        self.late.keep(batch, predicted)

    def _settle_labels(self, labels: NDArray[np.int64]) -> None:
        """The label of interest, and those that have a column among the predictions, by the first rows."""
        if self.options.probabilities == "all":
            self.probability_labels = sorted(self.names.known, key=natural_order)
        if self.rare is None:
            return
        self.rare.settle(labels, self.names.known)
        if self.rare.positive is not None and self.rare.positive not in self.names.known:
            self.notices.positive_is_missing(self.rare.positive, len(labels), self.names.known)

    def _begin(self) -> PredictionsFile:
        """The first rows could be learned: from here on the folder is this run's."""
        options.clear(self.folder)
        write_atomically(self.folder / options.OPTIONS, self.options.to_toml().encode())
        return self.predictions_file()

    def predictions_file(self, length: int = 0) -> PredictionsFile:
        path, with_top = self.folder / options.PREDICTIONS, self.options.probabilities != "none"
        return PredictionsFile(
            path, with_top=with_top, labels=self.probability_labels, with_sets=self.sets is not None, length=length
        )

    def _plan(self, head: Chunk) -> Encoder:
        reserved = [name for name in (self.options.label_time,) if name is not None]
        if self.options.time is not None and self.options.time not in head.column_names:
            raise InvalidInput(f"{head.pieces[0].block.file} has no column {self.options.time!r}")
        plan = plan_columns(
            head,
            target=self.options.target,
            drop=self.options.drop,
            categorical=self.options.categorical,
            reserved=reserved,
            decimal=self.options.decimal,
            na=self.options.na,
            detect_sentinels=not self.options.keep_sentinels,
        )
        self.target.require_classes(head)
        self.clocks = {
            name: Clock.settle(name, head.column(name)) for name in (self.options.time, *reserved) if name is not None
        }
        if len({clock.counts for clock in self.clocks.values()}) > 1:
            raise InvalidInput(
                f"columns {self.options.time!r} and {self.options.label_time!r} cannot be compared: "
                "one holds whole numbers, the other times"
            )
        if self.rare is not None and self.rare.alerts_asked is not None and self.rare.alerts_asked.unit:
            name = str(self.options.time)
            if self.clocks[name].counts:
                raise InvalidInput(
                    f"column {name!r} holds whole numbers, not times, so that --alerts {self.options.alerts} means "
                    "nothing: count rows, as in 100/10000rows"
                )
        self.notices.odd(oddities(head, plan, self.target, na=self.options.na, time=self.options.time))
        return Encoder(plan, bad_rows=self.options.bad_rows, missing=self.options.missing)

    def _times(
        self, chunk: Chunk
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None, list[tuple[int, str, str]]]:
        """When rows and labels come, where the table tells; and the rows of which it does not."""
        time_column, label_column = self.options.time, self.options.label_time
        if time_column is None:
            return None, None, []
        now, wrong = parsed(self.clocks[time_column], chunk.column(time_column))
        if label_column is None:
            self.notices.times_of(time_column, now)
            return now, None, []
        seen = {at for at, _ in wrong}
        places = (int(at) for at in np.flatnonzero(now == NEVER))
        wrong += [(at, "the time of the row is missing") for at in places if at not in seen]
        label_time, wrong_labels = parsed(self.clocks[label_column], chunk.column(label_column))
        untimed = [(at, time_column, what) for at, what in wrong]
        return now, label_time, untimed + [(at, label_column, what) for at, what in wrong_labels]

    def _predict(self, batch: Batch) -> dict[str, NDArray[Any]]:
        """What was predicted for each row in hand, now or before, and what scoring needs of it."""
        rows = len(batch.X)
        predicted: dict[str, NDArray[Any]] = {"model": np.zeros(rows, dtype=np.int64)}
        if hasattr(self.model, "predict_proba"):
            names = ("of_truth", "of_answer", "squared", *(("of_positive",) if self.rare is not None else ()))
            predicted |= {name: np.full(rows, np.nan) for name in names}
            if self.probability_labels:
                predicted["by_label"] = np.full((rows, len(self.probability_labels)), np.nan)
        if self.sets is not None:
            predicted |= {name: np.full(rows, np.nan) for name in ("held", "set_size")}
            predicted["held_labels"] = np.full(rows, None, dtype=object)
        if self.rare is not None and self.rare.alerts_asked is not None:
            predicted["period"] = np.full(rows, NEVER)
        words = self.names.words(batch.labels)
        predictions = np.flatnonzero(batch.order >= 0)
        before_these = self.answered - len(predictions)
        pieces = []
        begin, at = 0, self.history.next_due(before_these)
        while at < len(predictions):
            pieces.append(self._follow(batch, words, batch.order[begin : predictions[at]]))
            begin = int(predictions[at])
            self.history.add(self.model, self.learned + begin - at)
            at += self.history.every
        pieces.append(self._follow(batch, words, batch.order[begin:]))
        for _, alike in itertools.groupby(filter(None, pieces), key=lambda piece: piece.classes):
            self._note(batch, list(alike), predicted)
        order = None if batch.at_once else batch.order
        if self.baselines_by_number:
            predicted |= follow_baselines(self.baselines, batch.labels, order)
        else:
            given = follow_baselines(self.baselines, words, order)
            predicted |= {name: self.names.of_answers(labels) for name, labels in given.items()}
        before = self.late.waiting
        if before is not None and len(before):
            for name, values in before.predicted.items():
                predicted[name] = np.concatenate([values, predicted[name][batch.carried :]])
        return predicted

    def _follow(self, batch: Batch, words: NDArray[np.str_], steps: NDArray[np.int64]) -> _Piece | None:
        """Some steps of the order, in one compiled call."""
        if len(steps) == 0:
            return None
        asked, sets = steps[steps >= 0], None
        if batch.at_once and self.sets is None:
            rows = slice(int(asked[0]), int(asked[-1]) + 1)
            given, proba, *_ = self.model.predict_then_learn(batch.X[rows], words[rows], with_proba=True)
        else:
            in_hand, places = _rows_of(np.where(steps < 0, ~steps, steps), len(batch.X))
            order, among = np.where(steps < 0, ~places, places), places[steps >= 0]
            if self.sets is None:
                given, proba = self.model.follow(batch.X[in_hand], words[in_hand], order, with_proba=True)
            else:
                given, proba, sets = self.model.follow_sets(batch.X[in_hand], words[in_hand], order)
                sets = sets[among]
            given, proba = given[among], None if proba is None else proba[among]
        return _Piece(asked, given, proba, sets, [str(label) for label in getattr(self.model, "classes_", ())])

    def _note(self, batch: Batch, pieces: list[_Piece], predicted: dict[str, NDArray[Any]]) -> None:
        """What was predicted, and how sure the model was, of pieces during which it knew the same classes."""
        rows = np.concatenate([piece.rows for piece in pieces])
        given = np.concatenate([piece.given for piece in pieces])
        predicted["model"][rows] = self.names.of_answers(given.astype(np.str_, copy=False))
        if "of_answer" in predicted:
            known = [piece.proba for piece in pieces if piece.proba is not None]
            proba = np.concatenate(known) if known else None
            column = self.names.places_among(pieces[0].classes)
            answers = predicted["model"][rows]
            for name, values in confidences(proba, column, batch.labels[rows], answers).items():
                predicted[name][rows] = values
            if self.rare is not None:
                number = np.array([self.rare.number(self.names.known)])
                predicted["of_positive"][rows] = probabilities_of(proba, column[number], answers)[:, 0]
            if self.probability_labels:
                numbers = self.names.of_answers(np.array(self.probability_labels))
                predicted["by_label"][rows] = probabilities_of(proba, column[numbers], answers)
        sets = [piece.sets for piece in pieces if piece.sets is not None]
        if self.sets is not None and sets:
            held = np.concatenate(sets)
            answered = predicted["model"][rows] > 0
            with_others = np.concatenate([held, np.zeros((len(held), 1), dtype=np.bool_)], axis=1)
            column = self.names.places_among(pieces[0].classes)
            predicted["held"][rows] = with_others[np.arange(len(rows)), column[batch.labels[rows]]]
            predicted["set_size"][rows] = np.where(answered, held.sum(axis=1), np.nan)
            predicted["held_labels"][rows[answered]] = joined_labels(pieces[0].classes, held[answered])

    def _score(self, batch: Batch, predicted: dict[str, NDArray[Any]]) -> None:
        rows = batch.learned
        self.learned += len(rows)
        before = self.board.unpredicted
        mistakes = self.board.add(
            batch.labels[rows],
            {name: predicted[name][rows] for name in ("model", "no_change", "majority")},
            *(predicted[name][rows] if name in predicted else None for name in ("of_truth", "of_answer", "squared")),
        )
        self.detector.skip(self.board.unpredicted - before)
        self.detector.add(mistakes)
        if self.rare is not None:
            scored = rows[predicted["model"][rows] > 0]
            of_positive, period = (
                predicted[name][scored] if name in predicted else None for name in ("of_positive", "period")
            )
            self.rare.add(
                batch.labels[scored],
                {name: predicted[name][scored] for name in ("model", "no_change", "majority")},
                of_positive,
                period,
                batch.number[scored],
                positive=self.rare.number(self.names.known),
                unpredicted=self.board.unpredicted,
            )
        if self.sets is not None:
            self.sets.add(predicted["held"][rows], predicted["set_size"][rows])
        assert self.encoder is not None
        self.class_detector.add(self.encoder.plan.without_cells(batch.X[rows]), batch.labels[rows])

    def _complain(self, bad: list[Any]) -> None:
        self.skipped += len(bad)
        self.notices.complain(bad)

    # ------------------------------------------------------------------ checkpoints

    def _checkpoint(self) -> float:
        """Write one; the seconds it took."""
        began = time.monotonic()
        checkpoint.write(self.folder / options.CHECKPOINT, *checkpoint.state_of(self))
        took = time.monotonic() - began
        self.checkpoint_seconds += took
        return took

    def resume(self) -> bool:
        """Go back to the last checkpoint, if there is one."""
        path = self.folder / options.CHECKPOINT
        if not path.exists():
            return False
        checkpoint.restore(self, *checkpoint.read(path))
        return True

    # ------------------------------------------------------------------ what is left behind

    def warnings(self) -> list[str]:
        """What the user should know of the table."""
        return self.notices.sentences({} if self.encoder is None else self.encoder.plan.left_out)

    @property
    def pending(self) -> int:
        """Rows whose label was still to come when the source ended."""
        return 0 if self.late.waiting is None else len(self.late.waiting)

    def save_model(self, path: Path) -> None:
        """The model with its encoder: `thalweg predict` and `thalweg.load` read a table like the one it learned."""
        assert self.encoder is not None
        given = self.options
        notes = {
            "table": {"target": given.target, "delimiter": given.delimiter, "encoding": given.encoding},
            "run": {"rows": self.answered, "learned": self.learned, "error": self.board.score("model")["error"]},
        }
        write_atomically(path, dumps(TableClassifier(self.model, self.encoder, notes=notes)))

    def leave_nothing_half_done(self, folder_existed: bool) -> None:
        """After an error: without a checkpoint to go on from, what was written is of no use."""
        if self.predictions is not None:
            self.predictions.close()
        if (self.folder / options.CHECKPOINT).exists():
            return
        if self.predictions is not None:
            options.clear(self.folder)
        if not folder_existed and self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def write_metrics(self, metrics: dict[str, Any]) -> None:
        text = json.dumps(metrics, indent=1, allow_nan=False, ensure_ascii=False)
        write_atomically(self.folder / options.METRICS, text.encode())

    def forget_checkpoint(self) -> None:
        """The run is finished: there is nothing to go on from, and no use for files that a kill left unfinished."""
        (self.folder / options.CHECKPOINT).unlink(missing_ok=True)
        options.clear_unfinished(self.folder)


def _growing_chunk(rows: int) -> int:
    """Small chunks while there are few rows, so that curves have points; large ones later, for speed."""
    return 1 << min(15, max(9, (rows // 32).bit_length()))


def _rows_of(places: NDArray[np.int64], rows: int) -> tuple[slice | NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows among these places, rising, and where in them each place is.

    Examples
    --------
    >>> _rows_of(np.array([2, 2, 3]), 5)
    (slice(2, 4, None), array([0, 0, 1]))
    >>> _rows_of(np.array([3, 0, 3]), 5)
    (array([0, 3]), array([1, 0, 1]))
    """
    first, last = int(places.min()), int(places.max())
    used = np.zeros(rows, dtype=np.bool_)
    used[places] = True
    if used[first : last + 1].all():
        return slice(first, last + 1), places - first
    return np.flatnonzero(used), np.cumsum(used)[places] - 1
