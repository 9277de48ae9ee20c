"""Generated streams written to files, by name: CSV, Parquet, Arrow or NDJSON, the same bytes for the same rows."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from thalweg.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from thalweg.streams import ConceptStream
    from thalweg.streams.stream import Floats, Rows

#: Text for the numbers of a feature.
Spelling: TypeAlias = "Callable[[Floats], list[str]]"


@dataclass(frozen=True)
class Generator:
    """A stream by name: its class in `thalweg.streams`, what it is, and the arguments that make it this one."""

    kind: str
    about: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    #: Features that a file holds as text.
    spelled: Mapping[str, Spelling] = field(default_factory=dict)


def _as_times(minutes: Floats) -> list[str]:
    import numpy as np

    return list(map(str, np.datetime64("2024-01-01T00:00") + minutes.astype("timedelta64[m]")))


def _as_texts(values: Any) -> list[str]:
    return list(values)


def _as_merchants(numbers: Floats) -> list[str]:
    return [f"m{number:03.0f}" for number in numbers.tolist()]


GENERATORS: Mapping[str, Generator] = {
    "stagger": Generator("Stagger", "nine binary features; three rules that replace one another"),
    "moving-plane": Generator("MovingPlane", "two features; a line that turns with every row"),
    "circular": Generator(
        "DriftingGaussians", "two Gaussian classes that circle round each other", {"scenario": "circular"}
    ),
    "crossing": Generator("DriftingGaussians", "two Gaussian classes whose paths cross", {"scenario": "crossing"}),
    "passing": Generator("DriftingGaussians", "two Gaussian classes that pass each other", {"scenario": "passing"}),
    "sudden": Generator("DriftingGaussians", "two Gaussian classes that jump three times", {"scenario": "sudden"}),
    "checkerboard": Generator("RotatingCheckerboard", "two features; four squares that turn"),
    "wandering-disc": Generator("WanderingDisc", "five features; a disc whose centre circles"),
    "turning-xor": Generator("TurningXOR", "five features; four quadrants that turn, noisy labels"),
    "random-rbf-drift": Generator("RandomRBFDrift", "ten features; four classes of moving clouds"),
    "sea": Generator("SEA", "three features; a threshold that jumps, under noisy labels"),
    "fraud": Generator(
        "Fraud",
        "six numbers, a clock, a shop; 1 % fraud, which changes",
        spelled={"time": _as_times, "merchant": _as_merchants, "known_at": _as_times},
    ),
    "topics": Generator(
        "DriftingTopics", "texts; topics that change gradually and at once", spelled={"text": _as_texts}
    ),
    "two-norm": Generator("TwoNorm", "20 features; two Gaussian classes, parted by a plane"),
    "ring-norm": Generator("RingNorm", "20 features; two Gaussian classes, parted by a sphere"),
    "waveform": Generator("Waveform", "21 features; three classes of mixed waves"),
    "disc-and-bow": Generator("DiscAndBow", "two features; a disc and a bow on its edge"),
    "linear-response": Generator("LinearResponse", "five features; the label is their weighted sum"),
    **{
        f"friedman-{drift}": Generator("FriedmanDrift", about, {"drift": drift, "changes": None})
        for drift, about in (
            ("local", "ten features; a curved response that changes in places"),
            ("recurring", "ten features; a curved response that changes and back"),
            ("gradual", "ten features; a curved response that changes gradually"),
        )
    },
}


def make_stream(name: str, seed: int, settings: Mapping[str, float] | None = None) -> ConceptStream:
    """The stream of that name."""
    if name not in GENERATORS:
        raise InvalidParameter(f"STREAM must be one of {', '.join(GENERATORS)}, got {name!r}")
    from thalweg import streams

    chosen = GENERATORS[name]
    kind = getattr(streams, chosen.kind)
    free = [field.name for field in dataclasses.fields(kind) if field.name != "seed" and field.name not in chosen.fixed]
    for parameter in settings or {}:
        if parameter not in free:
            raise InvalidParameter.of_option("set", f"name a parameter of {name}: {', '.join(free)}", parameter)
    stream: ConceptStream = kind(seed=seed, **chosen.fixed, **(settings or {}))
    return stream


LABEL = "label"
#: Rows in memory at a time; also the rows of a Parquet row group and of an Arrow batch.
BLOCK_ROWS = 1 << 16

_ENDINGS: Mapping[str, str] = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}

_PACKINGS: Mapping[str, str] = {".gz": "gzip", ".zst": "zstd"}

#: Takes some rows.
Write: TypeAlias = "Callable[[Rows], None]"


def format_for(path: Path, given: str | None = None) -> str:
    """The format asked for, or the one that the file's name ends with.

    Examples
    --------
    >>> format_for(Path("plane.parquet")), format_for(Path("plane.txt"), "csv")
    ('parquet', 'csv')
    """
    if given is not None and given not in WRITERS:
        raise InvalidParameter.of_option("format", f"be one of {', '.join(WRITERS)}", given)
    unpacked = path.with_suffix("") if packing_for(path) else path
    chosen = given or _ENDINGS.get(unpacked.suffix.lower())
    if chosen is None:
        rule = f"end with {', '.join(_ENDINGS)}, packed or not (.gz, .zst), or --format be given"
        raise InvalidParameter.of_option("out", rule, str(path))
    return chosen


def packing_for(path: Path) -> str | None:
    """How the bytes are compressed, by the file's name.

    Examples
    --------
    >>> packing_for(Path("plane.csv.gz")), packing_for(Path("plane.csv"))
    ('gzip', None)
    """
    return _PACKINGS.get(path.suffix.lower())


@contextmanager
def packed(file: IO[bytes], packing: str | None) -> Iterator[IO[bytes]]:
    """A file to write to whose bytes reach the other compressed."""
    if packing is None:
        yield file
        return
    pa = MissingExtra.import_module("pyarrow", "files", "writing such a file")
    with pa.CompressedOutputStream(pa.PythonFile(_LeftOpen(file), mode="w"), packing) as stream:
        yield stream


class _LeftOpen(io.RawIOBase):
    """Hands bytes on to a file, which it does not close."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        return self._file.write(content)


def write_rows(
    file: IO[bytes],
    kind: str,
    names: Iterable[str],
    blocks: Iterator[Rows],
    spelled: Mapping[str, Spelling] | None = None,
) -> None:
    """Write blocks of rows, at least one, the features under their names and the labels under `LABEL`."""
    first = next(blocks)
    columns = _Columns([*names, LABEL], spelled or {})
    with WRITERS[kind](file, columns, first) as write:
        for rows in chain([first], blocks):
            write(rows)


@dataclass(frozen=True)
class _Columns:
    """The columns of a file: those of X, then the labels."""

    names: list[str]
    spelled: Mapping[str, Spelling]

    def of(self, rows: Rows) -> list[Any]:
        columns = dict(zip(self.names, (*rows[0].T.copy(), rows[1]), strict=True))
        return [self.spelled[name](values) if name in self.spelled else values for name, values in columns.items()]

    def table(self, rows: Rows) -> Any:
        pa = MissingExtra.import_module("pyarrow", "files", "writing such a file")
        return pa.table(list(map(pa.array, self.of(rows))), names=self.names)


@contextmanager
def _csv(file: IO[bytes], columns: _Columns, first: Rows) -> Iterator[Write]:
    columns.table(first)  # a missing extra is named before anything is written
    from pyarrow import csv as arrow_csv

    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(columns.names)
    file.write(header.getvalue().encode())
    options = arrow_csv.WriteOptions(include_header=False)
    yield lambda rows: arrow_csv.write_csv(columns.table(rows), file, options)


@contextmanager
def _parquet(file: IO[bytes], columns: _Columns, first: Rows) -> Iterator[Write]:
    schema = columns.table(first).schema
    from pyarrow import parquet

    with parquet.ParquetWriter(file, schema) as writer:
        yield lambda rows: writer.write_table(columns.table(rows))


@contextmanager
def _arrow(file: IO[bytes], columns: _Columns, first: Rows) -> Iterator[Write]:
    schema = columns.table(first).schema
    from pyarrow import ipc

    with ipc.new_file(file, schema) as writer:
        yield lambda rows: writer.write_table(columns.table(rows))


@contextmanager
def _ndjson(file: IO[bytes], columns: _Columns, first: Rows) -> Iterator[Write]:
    def write(rows: Rows) -> None:
        values = [list(column) if isinstance(column, list) else column.tolist() for column in columns.of(rows)]
        lines = (json.dumps(dict(zip(columns.names, row, strict=True))) for row in zip(*values, strict=True))
        file.write("".join(f"{line}\n" for line in lines).encode())

    yield write


WRITERS = {"csv": _csv, "parquet": _parquet, "arrow": _arrow, "ndjson": _ndjson}
