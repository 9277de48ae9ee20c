"""A run over files, whose results are files in a folder, and which nothing is lost of when it is killed.

At times its whole state goes into a checkpoint. What is written does not depend on the clock, nor on interruptions.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.container import packed, unpacked
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.files import write_atomically
from thalweg.run import options
from thalweg.run.engine import LateQuantity, RunEngine
from thalweg.run.options import RunOptions
from thalweg.run.predictions import PredictionsFile
from thalweg.run.task import RunTask
from thalweg.stopping import Stopped, Stopping, stopping
from thalweg.store import dumps
from thalweg.tables import Chunk, Fingerprint, Source, open_source
from thalweg.tables.rows import HEAD_ROWS

#: Seconds between checkpoints, and how many times its own cost a checkpoint waits at least.
_EVERY_SECONDS, _TIMES_ITS_COST = 5.0, 40.0


@dataclass(frozen=True)
class RunStatus:
    """How far a run is: for a live view."""

    rows: int
    task: RunTask
    #: Share of the source's rows that are done, where it is known.
    share: float | None


def source_of(options: RunOptions) -> Source:
    """The source of a run, which begins with its first row."""
    head = options.head or HEAD_ROWS
    return open_source(
        options.source, delimiter=options.delimiter, encoding=options.encoding, head=head, header=options.header
    )


class Run(RunEngine):
    """A run over files, whose results, checkpoints among them, are files in a folder."""

    source: Source

    def __init__(
        self,
        options: RunOptions,
        *,
        say: Callable[[str], None] = lambda sentence: None,
        say_alert: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        super().__init__(options, source_of(options), say=say, say_alert=say_alert)
        #: Chunks that were taken whole, and their rows.
        self.chunks_done, self.fingerprint = 0, Fingerprint()
        #: Spent on checkpoints so far, since this process began.
        self.checkpoint_seconds = 0.0
        self.folder = Path(options.out)

    def go(
        self, show: Callable[[RunStatus], None] = lambda status: None, checkpoint_seconds: float | None = None
    ) -> None:
        """Work through the source, from where the last checkpoint was; the next one comes after so many seconds.

        Asked to stop, a last checkpoint is written and `Stopped` is raised.
        """
        signals = stopping()
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            try:
                self._take_all(show, checkpoint_seconds, signals)
            except LateQuantity as quantity:
                self.start_over(quantity)
                self.chunks_done, self.fingerprint = 0, Fingerprint()
                (self.folder / options.CHECKPOINT).unlink(missing_ok=True)
                self._take_all(show, checkpoint_seconds, signals)
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

    def _take_all(self, show: Callable[[RunStatus], None], checkpoint_seconds: float | None, signals: Stopping) -> None:
        due = time.monotonic() + (_EVERY_SECONDS if checkpoint_seconds is None else checkpoint_seconds)
        for chunk in self._further_chunks():
            with signals.unbroken():
                self.take(chunk)
                self.fingerprint.take(chunk)
                self.chunks_done += 1
                show(RunStatus(self.counts.processed, self.task, self.progress.share(self.taken)))
                if time.monotonic() >= due and self.predictions is not None:
                    took = self._checkpoint()
                    pause = max(_EVERY_SECONDS, _TIMES_ITS_COST * took)
                    due = time.monotonic() + (pause if checkpoint_seconds is None else checkpoint_seconds)

    def _further_chunks(self) -> Iterator[Chunk]:
        """Those after the last checkpoint; the rows before it must be those that were learned."""
        given = self.chunks()
        blocks, rows = self.fingerprint.begin_again(), 0
        for chunk in itertools.islice(given, self.chunks_done):
            blocks.take(chunk)
            rows += len(chunk) + len(chunk.bad)
        if blocks.sums != self.fingerprint.sums:
            changed = (
                f"its first {self.counts.read:,} rows are others"
                if rows == self.counts.read
                else f"it has {rows:,} rows only"
            )
            raise InvalidInput(
                f"{self.source.given} is not the file that this run was started with: {changed}; "
                f"restore the {self.counts.read:,} rows that were learned, or start over with --fresh"
            )
        yield from given

    def _begin(self) -> PredictionsFile:
        """The first rows could be learned: from here on the folder is this run's."""
        options.clear(self.folder)
        write_atomically(self.folder / options.OPTIONS, self.options.to_toml().encode())
        return self.predictions_file()

    def predictions_file(self, length: int = 0) -> PredictionsFile:
        return self.task.predictions_file(self.folder / options.PREDICTIONS, length)

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
        assert self.predictions is not None
        sums, written = self.fingerprint.sums, self.predictions.synced()
        return super().state() | {"chunks": self.chunks_done, "fingerprint": sums, "predictions": written}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Bring a run that has not begun to where `state` was; it must have the same options."""
        # Files may have moved since: the rows themselves are compared with those that were learned.
        if changed := self.options.first_other(state["options"], besides=("source", "model_out")):
            raise InvalidParameter(
                f"the run in {self.folder} was started with {changed}: resume it with the same options, "
                "or start over with --fresh"
            )
        super().restore(state)
        self.chunks_done, self.fingerprint = state["chunks"], Fingerprint(state["fingerprint"])
        self.predictions = self.predictions_file(state["predictions"])

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
