"""Memory of `thalweg run` over the length of the stream.

The peak grows until chunks have their full size, over some hundred thousand rows, and no further.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks import peak_memory
from benchmarks.contest import Effort
from benchmarks.plots.lines import Axis, lines
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite

#: Lengths, as shares of the size.
SHARES = (0.1, 1 / 3, 2 / 3, 1.0)
WORK = "peak of resident memory"
MODEL = "thalweg run"


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Each length in processes of its own."""
    for share in SHARES:
        rows = round(share * bench.effort.size)
        found = []
        for number in range(bench.effort.rounds):
            bench.progress(f"{rows:,} rows: round {number + 1} of {bench.effort.rounds}")
            command = [sys.executable, str(Path(peak_memory.__file__)), "--rows", str(rows)]
            found.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        also = {
            "rows a second": rows / min(each["seconds"] for each in found),
            "checkpoints' share of time": min(each["checkpoint_share"] for each in found),
        }
        peaks = tuple(1e6 * each["peak_mb"] for each in found)
        yield [Record(WORK, MODEL, {"rows": rows}, "ours", peaks, "bytes", "run", also=also)]


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """What a row leaves behind, between the two longest streams."""
    if len(records) == len(SHARES):
        shorter, longest = records[-2], records[-1]
        rows = longest.setting["rows"] - shorter.setting["rows"]
        yield Finding("bytes more for each further row", (longest.best - shorter.best) / rows, unit="bytes")


SUITE = Suite(
    name="memory",
    asks="Does the memory of `thalweg run` grow with the stream?",
    measure=measure,
    plot=lines("memory", "Memory over the length of the stream", {WORK: Axis("rows", logarithmic=False)}),
    full=Effort(rounds=2, size=3_000_000),
    quick=Effort(rounds=1, size=1_000_000),
    findings=findings,
)
