"""`thalweg run` beside Vowpal Wabbit's command line: the same rows from a file, each in its own format.

Both start as processes of their own, answer every row before its label is learned and write all answers to a file;
ours also writes a model and a report.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.contest import Contestant, Effort, Side
from benchmarks.peers.vowpal_wabbit import OPTIONS
from benchmarks.plots.dots import dots
from benchmarks.records import Record
from benchmarks.suite import Bench, Suite

WORK = "from a file to predictions in a file, start included"


@dataclass(frozen=True)
class Command:
    """A process to be timed, and where it leaves its answers."""

    arguments: list[str]
    share_wrong: Callable[[], float]


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Whole commands on one file."""
    rows, table = bench.effort.size, bench.folder / "sea.csv"
    bench.progress(f"writing {rows:,} rows")
    _run(["-m", "thalweg", "generate", "sea", "--rows", str(rows), "-o", str(table)])
    commands = {
        "thalweg run --model oldc --rate 0.002": _ours(table, "--rate", "0.002"),
        "thalweg run --model oldc": _ours(table),
    }
    if importlib.util.find_spec("vowpalwabbit"):
        commands["Vowpal Wabbit, logistic loss"] = _theirs(_in_their_format(table))
    else:
        bench.leave_out("Vowpal Wabbit: not installed")
    contestants = [_contestant(name, command) for name, command in commands.items()]
    records = list(bench.measure(contestants, {"rows": rows, "features": 3}, per="run"))
    yield [replace(record, also={"share wrong": commands[record.model].share_wrong()}) for record in records]


def _contestant(name: str, command: Command) -> Contestant:
    side: Side = "ours" if name.startswith("thalweg") else "peer"
    return Contestant(WORK, name, lambda _: lambda: _run(command.arguments), 1, side)


def _run(arguments: list[str]) -> None:
    # As an installed program is: with its modules compiled before.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)


def _ours(table: Path, *rate: str) -> Command:
    out = table.with_name("out" + "".join(rate))
    options = ["--target", "label", "--model", "oldc", *rate, "--quiet", "--out", str(out)]

    def share_wrong() -> float:
        with (out / "predictions.csv").open() as answers:
            return _share_wrong((row["label"], row["prediction"]) for row in csv.DictReader(answers))

    return Command(["-m", "thalweg", "run", str(table), *options], share_wrong)


def _theirs(table: Path) -> Command:
    answers = table.with_name("answers.txt")

    def share_wrong() -> float:
        with table.open() as rows, answers.open() as given:
            return _share_wrong((row.split(" ", 1)[0], answer.strip()) for row, answer in zip(rows, given, strict=True))

    return Command(["-m", "vowpalwabbit", "-d", str(table), "-p", str(answers), *OPTIONS], share_wrong)


def _share_wrong(pairs: Iterable[tuple[str, str]]) -> float:
    wrong = [label != answer for label, answer in pairs]
    return sum(wrong) / len(wrong)


def _in_their_format(table: Path) -> Path:
    path = table.with_suffix(".vw")
    with table.open() as rows, path.open("w") as lines:
        reader = csv.reader(rows)
        names = next(reader)[:-1]
        for *cells, label in reader:
            features = " ".join(f"{name}:{cell}" for name, cell in zip(names, cells, strict=True))
            lines.write(f"{1 if label == '1' else -1} | {features}\n")
    return path


SUITE = Suite(
    name="command_line",
    asks="How long does `thalweg run` take on a file, beside Vowpal Wabbit's command line?",
    measure=measure,
    plot=dots("command_line", "Whole commands on a file"),
    full=Effort(rounds=5, size=1_000_000),
    quick=Effort(rounds=2, size=100_000),
    ratios={"× VW": "Vowpal Wabbit"},
)
