"""The answers of a run, a line each, appended as they are given; a resumed run cuts off what it will write again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput

COLUMNS = ("row", "label", "answer", "probability")


class PredictionsFile:
    """``predictions.csv``: the number of the row, its label or nothing, the answer, and how probable it seemed."""

    def __init__(self, path: Path, *, length: int = 0) -> None:
        if length and path.stat().st_size < length:
            raise InvalidInput(f"{path} is shorter than the checkpoint says: start the run anew, without --resume")
        self.path = path
        self._file = path.open("r+b" if length else "wb")
        self._file.truncate(length)
        self._file.seek(length)
        if not length:
            self._file.write((",".join(COLUMNS) + "\n").encode())

    def write(
        self,
        number: NDArray[np.int64],
        label: NDArray[np.str_],
        answer: NDArray[np.str_],
        probability: NDArray[np.float64] | None,
    ) -> None:
        """Append some rows."""
        import pyarrow as pa
        from pyarrow import csv

        table = pa.table(
            {
                "row": number,
                "label": _texts(label),
                "answer": _texts(answer),
                "probability": pa.nulls(len(number))
                if probability is None
                else pa.array(np.round(probability, 6), from_pandas=True),
            }
        )
        csv.write_csv(table, self._file, csv.WriteOptions(include_header=False, quoting_style="needed"))

    def synced(self) -> int:
        """The length of the file, all of which is now on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Write out what is left."""
        if not self._file.closed:
            self.synced()
            self._file.close()


def _texts(values: NDArray[np.str_]) -> Any:
    """Few different words, so each is made only once; an empty one is nothing."""
    import pyarrow as pa

    words, places = np.unique(values, return_inverse=True)
    dictionary = pa.array([word or None for word in words.tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), dictionary).cast(pa.string())


def _numbers(values: NDArray[np.float64] | None, rows: int) -> Any:
    """Six decimals are enough; NaN, of a row answered before any label, is nothing."""
    import pyarrow as pa

    return pa.nulls(rows) if values is None else pa.array(np.round(values, 6), from_pandas=True)
