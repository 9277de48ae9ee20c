"""`thalweg run` beside Vowpal Wabbit's command line: the same rows from a file, each in its own format.

Run it by ``python benchmarks/command_line.py`` where the extra ``bench`` is installed. Both start as processes of their
own, answer every row before its label is learned and write all answers to a file; ours also writes a model and a
report. Rounds are interleaved; only ratios compare.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from contest import Timing
from rich.console import Console
from tables import command_lines


@dataclass(frozen=True)
class Command:
    """A process to be timed, and where it leaves its answers."""

    arguments: list[str]
    share_wrong: Callable[[], float]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Rows per second of whole runs, from a file to a report.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "sea.csv"
        _run(["-m", "thalweg", "generate", "sea", "--rows", str(given.rows), "-o", str(table)])
        commands = {
            "thalweg run --model oldc --rate 0.002": _ours(table, "--rate", "0.002"),
            "thalweg run --model oldc": _ours(table),
        }
        if importlib.util.find_spec("vowpalwabbit"):
            commands["Vowpal Wabbit, logistic loss"] = _theirs(_in_their_format(table))
        else:
            console.print("Vowpal Wabbit is not installed: pip install vowpalwabbit")
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(given.rounds):
            for name, command in commands.items():
                began = time.perf_counter()
                _run(command.arguments)
                seconds[name].append(time.perf_counter() - began)
        errors = {name: command.share_wrong() for name, command in commands.items()}
    timings = {name: Timing(given.rows, tuple(taken)) for name, taken in seconds.items()}
    console.print(command_lines(timings, errors))
    console.print(f"\nBest of {given.rounds} interleaved rounds, {given.rows:,} rows of 3 features, start included.")


def _run(arguments: list[str]) -> None:
    # As an installed program is: with its modules compiled before.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)


def _ours(table: Path, *rate: str) -> Command:
    out = table.with_name("out" + "".join(rate))
    options = ["--target", "label", "--model", "oldc", *rate, "--quiet", "--out", str(out)]

    def share_wrong() -> float:
        with (out / "predictions.csv").open() as answers:
            return _share_wrong((row["label"], row["answer"]) for row in csv.DictReader(answers))

    return Command(["-m", "thalweg", "run", str(table), *options], share_wrong)


def _theirs(table: Path) -> Command:
    answers = table.with_name("answers.txt")
    options = ["--loss_function", "logistic", "--binary", "-p", str(answers), "--quiet"]

    def share_wrong() -> float:
        with table.open() as rows, answers.open() as given:
            return _share_wrong((row.split(" ", 1)[0], answer.strip()) for row, answer in zip(rows, given, strict=True))

    return Command(["-m", "vowpalwabbit", "-d", str(table), *options], share_wrong)


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


if __name__ == "__main__":
    main()
