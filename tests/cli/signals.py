"""SIGINT and SIGTERM at random moments, while commands work through large and hostile files.

A command must end within two seconds, whatever it is doing, and by the code of the signal.
``python -m tests.cli.signals --count 200`` prints what took longest.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

SECONDS = 2.0
#: A command is left alone for at most this long before it is sent a signal.
_LONGEST = 15.0


def numbers(rows: int, columns: int, r: np.random.Generator, delimiter: str = ",") -> str:
    """A table whose header is numbers, the last column of which is the target."""
    text = io.StringIO()
    text.write(delimiter.join(map(str, range(columns))) + "\n")
    values = r.normal(size=(rows, columns))
    values[:, -1] = values[:, 0] > 0
    np.savetxt(text, values, "%.4g", delimiter)
    return text.getvalue()


def ndjson(rows: int, r: np.random.Generator) -> str:
    words = [f"word{i}" for i in range(500)]
    rows_of_words = (r.choice(words, 30).tolist() for _ in range(rows))
    lines = (
        {"text": " ".join(some), "bag": dict.fromkeys(some, 1), "y": at % 2} for at, some in enumerate(rows_of_words)
    )
    return "".join(f"{json.dumps(line)}\n" for line in lines)


FILES: dict[str, Callable[[np.random.Generator], str]] = {
    "wide.csv": lambda r: numbers(3_000, 1_000, r),
    "long.csv": lambda r: numbers(300_000, 12, r),
    "bars.csv": lambda r: numbers(20_000, 60, r, "|"),
    "one_line.csv": lambda r: "0123456789," * 6_000_000,
    "open_quote.csv": lambda r: 'a,b,y\n"' + "1,2,0\n" * 4_000_000,
    "digits.csv": lambda r: "a,b,y\n" + f"{'9' * 40_000},{'1,' * 20_000}0\n" * 300,
    "sparse.svm": lambda r: "".join(
        f"{i % 2} {' '.join(f'{j}:1' for j in np.unique(r.integers(0, 50_000, 40)))}\n" for i in range(20_000)
    ),
    "words.ndjson": lambda r: ndjson(20_000, r),
    "classes.csv": lambda r: "a,b,y\n" + "".join(f"{i % 7},{i % 11},c{i % 40}\n" for i in range(100_000)),
}
COMMANDS = (
    "run wide.csv --target 999 --out out --fresh --quiet",
    "run wide.csv --target 999 --out out --fresh --quiet --against retrained",
    "run long.csv --target 11 --time 0 --sort --out out --fresh --quiet",
    "run long.csv --target 11 --out out --fresh --checkpoint-seconds 0.2",
    "run long.csv --target 1 --task regression --out out --fresh --quiet",
    "run bars.csv --target 59 --out out --fresh --quiet --figures",
    "run one_line.csv --target y --out out --fresh --quiet",
    "run open_quote.csv --target y --out out --fresh --quiet --bad-rows skip",
    "run digits.csv --target y --out out --fresh --quiet --bad-rows skip",
    "run classes.csv --target y --out out --fresh --quiet --delay 500",
    "run sparse.svm --out out --fresh --quiet",
    "run words.ndjson --target y --out out --fresh --quiet",
    "generate sea -o made.csv --rows 3000000",
    "demo --out demo",
    "reproduce kuncheva2008 table1 --runs 5",
    "conformance OnlineLDC",
)


def write_files(folder: Path) -> None:
    for name, made in FILES.items():
        (folder / name).write_text(made(np.random.default_rng(0)), encoding="utf-8")


def endings(folder: Path, count: int, seed: int) -> Iterator[tuple[float, bool, str]]:
    """For each signal how long the command took to end, whether by that signal without a traceback, and what it did."""
    r = random.Random(seed)
    taken = dict.fromkeys(COMMANDS, _LONGEST)
    while count:
        command = r.choice(COMMANDS)
        number = r.choice((signal.SIGINT, signal.SIGTERM))
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "thalweg", *command.split()],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        wait = r.uniform(0.0, taken[command])
        try:
            process.communicate(timeout=wait)
            taken[command] = min(taken[command], time.monotonic() - began)
            continue  # it was done before
        except subprocess.TimeoutExpired:
            pass
        sent = time.monotonic()
        process.send_signal(number)
        _, said = process.communicate()
        count -= 1
        took = time.monotonic() - sent
        ended = process.returncode in (0, -number, 128 + number) and "Traceback" not in said
        last = said.strip().splitlines()[-1:] or [""]
        yield took, ended, f"{process.returncode}, {number.name} after {wait:.2f} s of {command}: {last[0]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        found = sorted(endings(Path(folder), given.count, given.seed), reverse=True)
    failed = [(seconds, what) for seconds, ended, what in found if seconds > SECONDS or not ended]
    for seconds, what in (*((seconds, what) for seconds, _, what in found[:10]), *failed):
        print(f"{seconds:.2f} s, {what}")
    print(f"{len(found) - len(failed)} passed, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
