"""Vowpal Wabbit's command line on the same rows, in its own format: it reads a file and writes its answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.contest import Contestant, Run, Unavailable
from benchmarks.operations import PREDICT_THEN_LEARN
from benchmarks.rows import Rows

#: What it needs for two classes; --quiet, so that it prints no progress.
OPTIONS = ("--loss_function", "logistic", "--binary", "--quiet")


def contestants(rows: Rows, folder: Path) -> Iterator[Contestant]:
    """The command, without the start of a process: as ``python -m vowpalwabbit`` runs it."""
    try:
        from vowpalwabbit import Workspace
    except ImportError as error:
        raise Unavailable(f"Vowpal Wabbit: {error}") from error
    lines = [
        f"{1 if label else -1} | " + " ".join(map("{}:{:.6g}".format, rows.names, row)) + "\n"
        for row, label in zip(rows.X.tolist(), rows.y.tolist(), strict=True)
    ]

    def prepare(count: int) -> Run:
        table = folder / f"rows{rows.features}.vw"
        table.write_text("".join(lines[:count]), encoding="utf-8")
        arguments = ["-d", str(table), "-p", str(folder / "answers.txt"), *OPTIONS]
        return lambda: Workspace(arg_list=arguments)

    yield Contestant(PREDICT_THEN_LEARN, "Vowpal Wabbit, from its own format", prepare, len(lines), least=len(lines))
