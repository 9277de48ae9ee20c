"""Tables as strangers write them, mutated by a seeded generator, and `thalweg run` on each, in this process.

A run must end within ten seconds, with exit code 0 or 2, and must not call an error of its own internal. For many of
them: ``python -m tests.cli.mutated_tables --count 100000 --processes 2``. Where the packages of the zoo are installed
(tests/zoo), half of the tables are made of some rows and columns of real ones. A failure is made again by ``--first
SEED --count 1``, with or without these packages as before.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import functools
import gzip
import io
import json
import lzma
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import typer.main

from tests.zoo.tables import tables, why_no_zoo
from thalweg import cli

SECONDS = 10.0
#: Of a clock on the wall, for a run that hangs without work: others may be at work on the machine.
_WALL_SECONDS = 6 * SECONDS
#: Rows of a real table from which those of a base are drawn.
_REAL_ROWS = 400
#: Seeds that a process takes at a time.
_SEEDS = 1_000
_BEGIN = datetime(2024, 1, 30, 22, 15)
_WORDS = (
    "red",
    "green",
    "blue",
    "",
    "NA",
    "none",
    "é",
    "日本",
    "a,b",
    'say "x"',
    "it's",
    "two\nlines",
    " x ",
    "?",
    "%",
)

Cell = Callable[[random.Random, int], Any]
#: What a column may hold, by a generator and the number of the row.
KINDS: dict[str, Cell] = {
    "whole": lambda r, i: r.randint(-5, 5),
    "counter": lambda r, i: i,
    "number": lambda r, i: round(r.gauss(0, 3), 3),
    "huge": lambda r, i: r.choice(
        ("1e400", "-1e60", "9" * r.choice((20, 400, 5000)), "0x1F", "1_000", "∞", "inf", "nan")
    ),
    "comma": lambda r, i: f"{r.gauss(0, 3):.2f}".replace(".", ","),
    "thousands": lambda r, i: f"{r.randint(0, 10**7):,}",
    "percent": lambda r, i: f"{r.randint(0, 100)}%",
    "digits": lambda r, i: "".join(r.choices("0123456789", k=r.choice((3, 15, 60, 4000)))),
    "word": lambda r, i: r.choice(_WORDS),
    "id": lambda r, i: f"id-{r.getrandbits(40):x}",
    "wide": lambda r, i: r.choice((None, "é" * r.randint(1, 60), f"w{r.randint(0, 90)}", r.randint(0, 90))),
    "coded": lambda r, i: r.choice((-999, 1e30, r.randint(0, 40))) if i > 20 else r.randint(0, 40),
    "truth": lambda r, i: r.choice((True, False, "true", "FALSE", "yes")),
    "iso": lambda r, i: (_BEGIN + timedelta(hours=i)).isoformat(),
    "zoned": lambda r, i: f"{(_BEGIN + timedelta(hours=i)).isoformat()}{r.choice(('Z', '+02:00', '-11:30'))}",
    "european": lambda r, i: (_BEGIN + timedelta(hours=i)).strftime("%d.%m.%Y %H:%M"),
    "american": lambda r, i: (_BEGIN + timedelta(hours=r.randint(0, 500))).strftime("%m/%d/%Y"),
    "impossible": lambda r, i: r.choice(
        ("2024-02-30", "0000-00-00", "99999-01-01", "31/31/2024", "25:61", "1677-01-01")
    ),
    "clock": lambda r, i: f"{r.randint(0, 23)}:{r.randint(0, 59):02}",
    "duration": lambda r, i: r.choice((f"{i} days 02:03:04", f"PT{i}M", f"{i}:00:01", "P", "-1 days +00:00:00")),
    "json": lambda r, i: r.choice(([1, 2], {"a": 1}, [], {}, "[1]", "{}", None)),
    "empty": lambda r, i: None,
    "long": lambda r, i: r.choice(("ab 1 ", "9", "12:", ",", "jan ", "x")) * r.choice((10, 3000, 40_000)),
    "gaps": lambda r, i: None if r.random() < 0.5 else r.randint(0, 3),
    "late": lambda r, i: r.randint(0, 9) if i > 25 else None,
    "mixed": lambda r, i: r.choice((1, 2.5, "x", None, True, "2024-01-01", -0.0, 10**30)),
}
_NAMES = (
    "a",
    "b c",
    "",
    "Unnamed: 0",
    "ü",
    'q"q',
    "x,y",
    "n\nn",
    "time",
    "label",
    "--out",
    "{0}",
    "%s",
    "a" * 300,
    "@data",
)
_JUNK = (
    b'"',
    b"'",
    b"\x00",
    b"\n",
    b"\r",
    b",",
    b";",
    b"{",
    b"}",
    b"\\",
    b"\xff\xfe",
    b"\xc3",
    b"%",
    b"\x1a",
    b"@data\n",
)


def table(r: random.Random) -> tuple[list[str], list[list[Any]]]:
    """Names of columns, the last the target's, and rows of cells."""
    names = r.sample(_NAMES, r.randint(1, 6))
    kinds = [KINDS[r.choice(list(KINDS))] for _ in names]
    rows = r.choice((0, 1, 2, 7, 30, 30, 150))
    classes = r.choice((("a", "b"), (0, 1), ("1.0", "1"), ("x",), (None, "a"), tuple(range(40))))
    return [*names, "state"], [[*(kind(r, i) for kind in kinds), r.choice(classes)] for i in range(rows)]


@functools.cache
def real_rows(name: str) -> tuple[list[str], list[list[Any]]]:
    """The first rows of a table of the zoo, with its target last."""
    frame, target = tables()[name].frame().head(_REAL_ROWS), tables()[name].target
    frame = frame[[*(column for column in frame if column != target), target]]
    return list(frame), frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


def real_table(r: random.Random) -> tuple[list[str], list[list[Any]]]:
    """Some rows and columns of a table of the zoo, and perhaps an odd column among them."""
    names, rows = real_rows(r.choice(list(tables())))
    places = [*sorted(r.sample(range(len(names) - 1), r.randint(1, min(len(names) - 1, 8)))), len(names) - 1]
    count = r.randint(1, min(len(rows), 150))
    first = r.randint(0, len(rows) - count)
    names, rows = [names[place] for place in places], [[row[place] for place in places] for row in rows]
    rows = rows[first : first + count]
    if r.random() < 0.3:
        kind, at = KINDS[r.choice(list(KINDS))], r.randrange(len(names))
        names.insert(at, r.choice([name for name in _NAMES if name not in names]))
        for i, row in enumerate(rows):
            row.insert(at, kind(r, i))
    return names, rows


def renamed(names: list[str], r: random.Random) -> list[str]:
    """Columns named by numbers or years, as pandas names those of an array; mostly as they are."""
    first = r.choice((None, None, None, None, 0, 1, 1990))
    return names if first is None else [str(first + place) for place in range(len(names))]


def as_csv(names: list[str], rows: list[list[Any]], r: random.Random, *, header: bool = True) -> bytes:
    text = io.StringIO(newline="")
    quoting = r.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    end = r.choice(("\n", "\n", "\r\n", "\r"))
    writer = csv.writer(text, delimiter=r.choice(",,;\t| "), quoting=quoting, lineterminator=end)
    if header:
        writer.writerow(names)
    writer.writerows(rows)
    encoding = r.choice(("utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252"))
    return text.getvalue().encode(encoding, errors="replace")


def as_ndjson(names: list[str], rows: list[list[Any]], r: random.Random) -> bytes:
    lines = []
    for row in rows:
        pairs = {name: cell for name, cell in zip(names, row, strict=True) if cell is not None or r.random() < 0.5}
        lines.append(json.dumps(pairs, ensure_ascii=r.random() < 0.5))
    return ("\n".join(lines) + "\n").encode()


def as_json(names: list[str], rows: list[list[Any]], r: random.Random) -> bytes:
    """One array of objects."""
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    return json.dumps(objects, ensure_ascii=r.random() < 0.5, indent=r.choice((None, None, 2))).encode()


def as_arff(names: list[str], rows: list[list[Any]], r: random.Random) -> bytes:
    kinds = ("numeric", "string", "{a, b, 'c d'}", "date", 'date "dd.MM.yyyy HH:mm"', "REAL")
    head = [f"@attribute {name!r} {r.choice(kinds)}" for name in names]
    lines = [",".join("?" if cell is None else repr(str(cell)) for cell in row) for row in rows]
    return "\n".join(["% comment", "@relation r", *head, "@data", *lines]).encode()


def as_parquet(names: list[str], rows: list[list[Any]], r: random.Random) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {}
    for name, cells in zip(names, zip(*rows, strict=True) if rows else [()] * len(names), strict=True):
        try:
            columns[name] = pa.array(cells)
        except (pa.ArrowException, OverflowError):
            columns[name] = pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    kinds = (
        pa.duration("s"),
        pa.date32(),
        pa.timestamp("ns", "UTC"),
        pa.time32("s"),
        pa.decimal128(20, 3),
        pa.binary(),
    )
    further = pa.array([None] * len(rows), r.choice((*kinds, pa.list_(pa.int8()), pa.null())))
    typed = pa.table(columns | {"further": further})
    sink = io.BytesIO()
    try:
        parquet.write_table(typed, sink)
    except pa.ArrowNotImplementedError:  # Arrow has types that Parquet has not
        with pa.ipc.new_file(sink, typed.schema) as writer:
            writer.write_table(typed)
    return sink.getvalue()


def mutated(content: bytes, r: random.Random) -> bytes:
    """Some bytes changed, cut out, doubled or put in; in half of the cases none."""
    for _ in range(r.choice((0, 0, 0, 1, 1, 3))):
        at = r.randrange(len(content) + 1)
        span = r.choice((1, 2, 20, 500))
        match r.randrange(6):
            case 0:
                content = content[:at] + r.choice(_JUNK) * r.choice((1, 1, 3)) + content[at:]
            case 1:
                content = content[:at] + content[at + span :]
            case 2:
                content = content[:at] + content[at : at + span] * 2 + content[at + span :]
            case 3:
                content = content[:at] + bytes(r.randrange(256) for _ in range(min(span, 20))) + content[at + span :]
            case 4:
                content = content[:at]
            case _:
                lines = content.split(b"\n")
                r.shuffle(lines)
                content = b"\n".join(lines)
    if r.random() < 0.1:
        content = r.choice((gzip.compress, lzma.compress, zipped))(content)[: r.choice((None, None, 30, -4))]
    return content


def zipped(content: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("table", content)
    return sink.getvalue()


def options(names: list[str], rows: list[list[Any]], r: random.Random) -> list[str]:
    quantity = any(isinstance(row[-1], float) and not row[-1].is_integer() for row in rows)
    models = ("linear", "linear", "auto") if quantity else ("oldc", "oldc", "perceptron")
    given = ["--target", names[-1], "--model", r.choice(models), "--quiet"]
    choices: list[list[str]] = [
        ["--bad-rows", "skip"],
        ["--bad-rows", "skip"],
        ["--missing", "error"],
        ["--time", r.choice(names)],
        ["--time", r.choice(names), "--sort"],
        ["--time", r.choice(names), "--label-time", r.choice(names)],
        ["--categorical", r.choice(names)],
        ["--drop", r.choice(names)],
        ["--decimal", ","],
        ["--encoding", r.choice(("latin-1", "utf-16", "nothing"))],
        ["--delimiter", r.choice((";", "tab", "|"))],
        ["--no-header"],
        ["--head", "20"],
        ["--chunk", "3"],
        ["--delay", "4"],
        ["--limit", "10"],
    ]
    for chosen in r.sample(choices, r.choice((0, 1, 1, 2, 3))):
        given += chosen
    return given


WRITERS = (as_csv, as_csv, as_csv, as_csv, as_ndjson, as_ndjson, as_json, as_arff, as_parquet)


def make(seed: int, folder: Path, *, zoo: bool = False) -> list[str]:
    """Write the table of a seed, and give the arguments of its run."""
    r = random.Random(seed)
    names, rows = real_table(r) if zoo and r.random() < 0.5 else table(r)
    names, write = renamed(names, r), r.choice(WRITERS)
    if write is as_csv and r.random() < 0.15:
        names = [str(number) for number in range(1, len(names) + 1)]  # as they are called where there is no header
        write = functools.partial(as_csv, header=False)
    content = mutated(write(names, rows, r), r)
    (folder / "table").write_bytes(content)
    return ["run", str(folder / "table"), *options(names, rows, r), "--out", str(folder / "out"), "--fresh"]


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """An `AssertionError` where it takes more processor time, or hangs."""

    def stop(number: int, frame: FrameType | None) -> None:
        what = f"{seconds:.0f} s of processor time" if number == signal.SIGPROF else f"{_WALL_SECONDS:.0f} s"
        raise AssertionError(f"it took more than {what}")

    before = [(number, signal.signal(number, stop)) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, _WALL_SECONDS))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before:
            signal.signal(number, handler)


def check(seed: int, folder: Path, *, zoo: bool = False) -> int:
    """Run the table of a seed; the exit code, or an `AssertionError` that says what is wrong."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    arguments = make(seed, folder, zoo=zoo)
    code = _called(arguments, seed)
    if code == 0 and seed % 2:  # and its model, on the same table or on a stranger's
        if seed % 3:
            make(seed + 1, folder, zoo=zoo)
        model = str(folder / "out" / "model.thalweg")
        how = ["--bad-rows", "skip"] if seed % 5 else []
        _called(["predict", model, str(folder / "table"), *how, "--out", str(folder / "predicted.csv")], seed)
    return code


def _called(arguments: list[str], seed: int) -> int:
    complaint = io.StringIO()
    code: Any = None
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(complaint), within(SECONDS):
        try:
            cli.main(arguments)
        except SystemExit as end:
            code = end.code or 0
    told = complaint.getvalue()
    assert code in (0, 2), f"seed {seed}, {arguments[0]}: exit code {code}: {told}"
    assert "internal error" not in told, f"seed {seed}, {arguments[0]}: {told}"
    assert code == 0 or told, f"seed {seed}, {arguments[0]}: exit code 2 without a word"
    return int(code)


class Tally(NamedTuple):
    """What became of some tables."""

    learned: int
    refused: int
    failures: list[str]
    #: Seconds and seed.
    slowest: tuple[float, int]


def checked(seeds: range, *, zoo: bool = False) -> Tally:
    """Run the tables of these seeds."""
    # the commands are the same for every table, and to build them takes longer than most runs
    typer.main.get_command = functools.cache(typer.main.get_command)
    codes = {0: 0, 2: 0}
    failures: list[str] = []
    slowest = 0.0, 0
    # in memory where there is such a folder: most of the time would go into waiting for the disk
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for seed in seeds:
            began = time.monotonic()
            try:
                codes[check(seed, Path(folder), zoo=zoo)] += 1
            except Exception as error:
                failures.append(f"seed {seed}: {error!r}")
            slowest = max(slowest, (time.monotonic() - began, seed))
    return Tally(codes[0], codes[2], failures, slowest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    zoo = why_no_zoo() is None
    if zoo and given.count > _SEEDS:
        for name in tables():
            real_rows(name)  # once for all processes
    end = given.first + given.count
    parts = [range(first, min(first + _SEEDS, end)) for first in range(given.first, end, _SEEDS)]
    whole = Tally(0, 0, [], (0.0, 0))
    # fork: what is imported once serves all parts; a fresh process for each part lets no state pile up
    with multiprocessing.get_context("fork").Pool(given.processes, maxtasksperchild=1) as pool:
        for part in pool.imap_unordered(functools.partial(checked, zoo=zoo), parts):
            for failure in part.failures:
                print(failure, flush=True)
            whole = Tally(
                whole.learned + part.learned,
                whole.refused + part.refused,
                whole.failures + part.failures,
                max(whole.slowest, part.slowest),
            )
    took, seed = whole.slowest
    real = ", half of them real" if zoo else ""
    print(f"{given.count:,} tables{real}: {whole.learned:,} learned, {whole.refused:,} refused, ", end="")
    print(f"{len(whole.failures):,} failures; the slowest, seed {seed}, took {took:.1f} s")
    raise SystemExit(len(whole.failures) > 0)


if __name__ == "__main__":
    main()
