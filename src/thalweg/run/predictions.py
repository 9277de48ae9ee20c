"""The answers of a run, a line each, appended as they are given; a resumed run cuts off what it will write again."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.run.names import Codes, Names

COLUMNS = ("row", "label", "answer", "probability")


class PredictionsFile:
    """``predictions.csv``: the number of the row, its label or nothing, the answer, and how probable it seemed."""

    def __init__(self, path: Path, *, length: int = 0) -> None:
        if length and (not path.exists() or path.stat().st_size < length):
            raise InvalidInput(f"{path} has lost answers that the checkpoint counts on: begin anew with --fresh")
        self.path = path
        self._file = path.open("r+b" if length else "wb")
        self._file.truncate(length)
        self._file.seek(length)
        if not length:
            self._file.write((",".join(COLUMNS) + "\n").encode())
        self._writer = ThreadPoolExecutor(1)
        self._under_way: Future[None] | None = None

    def write(
        self,
        number: NDArray[np.int64],
        names: Names,
        label: Codes,
        answer: Codes,
        probability: NDArray[np.float64] | None,
    ) -> None:
        """Append some rows, while the caller goes on; what went wrong is raised by the next call."""
        import pyarrow as pa

        table = pa.table(
            {
                "row": number,
                "label": _texts(names, label),
                "answer": _texts(names, answer),
                "probability": as_decimals(probability, len(number)),
            }
        )
        self._finish()
        self._under_way = self._writer.submit(self._append, table)

    def _append(self, table: Any) -> None:
        append_rows(table, self._file)
        self._file.flush()

    def _finish(self) -> None:
        """Wait until all that was handed over is written."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def synced(self) -> int:
        """The length of the file, all of which is now on the disk."""
        self._finish()
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Write out what is left."""
        if not self._file.closed:
            try:
                self.synced()
            finally:
                self._writer.shutdown()
                self._file.close()


def _texts(names: Names, numbers: Codes) -> Any:
    """The words with these numbers, nothing for 0."""
    import pyarrow as pa

    words = pa.array([None, *names.known], pa.string())
    return words.take(pa.array(numbers))


def append_rows(table: Any, file: IO[bytes]) -> None:
    """Lines of CSV: words in quotes, numbers without, nothing where there is no answer."""
    from pyarrow import csv

    csv.write_csv(table, file, csv.WriteOptions(include_header=False, quoting_style="needed"))


def as_decimals(values: NDArray[np.float64] | None, rows: int) -> Any:
    """Six decimals are enough; NaN, of a row answered before any label, is nothing."""
    import pyarrow as pa

    return pa.nulls(rows) if values is None else pa.array(np.round(values, 6), mask=np.isnan(values))
