"""`thalweg serve` under load for minutes: rows and their labels without end, and what memory the process holds."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.contest import Effort, Unavailable
from benchmarks.load.processes import free_port, post, started
from benchmarks.load.rows import drifting_rows
from benchmarks.plots.lines import Axis, lines
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite

WORK, MODEL = "resident memory", "thalweg serve"
#: Looks at the memory; rows of a request.
LOOKS, BATCH = 10, 200


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Ask, label, and look."""
    port = free_port()
    command = ["-m", "thalweg", "serve", "--new", "oldc", "--data", str(bench.folder / "served")]
    with started([*command, "--listen", f"127.0.0.1:{port}"], port) as process:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        began, rows = time.monotonic(), 0
        for look in range(1, LOOKS + 1):
            end = began + bench.effort.size * look / LOOKS
            while time.monotonic() < end:
                batch = drifting_rows(BATCH, seed=rows)
                body = json.dumps({"rows": [row for row, _ in batch]}).encode()
                answers = json.loads(post(connection, "/v1/predict", body))["answers"]
                known = zip(answers, batch, strict=True)
                labels = [{"id": answer["id"], "label": label} for answer, (_, label) in known]
                post(connection, "/v1/label", json.dumps({"labels": labels}).encode())
                rows += BATCH
                bench.progress(f"{time.monotonic() - began:,.0f} of {bench.effort.size:,} s, {rows:,} rows")
            held = (float(_resident(process.pid)),)
            setting = {"seconds": round(time.monotonic() - began)}
            yield [Record(WORK, MODEL, setting, "ours", held, "bytes", "process", also={"rows": float(rows)})]


def _resident(process: int) -> int:
    """Bytes of memory that a process holds."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        raise Unavailable("soak: the memory of another process is read from /proc, which is not here")
    [line] = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) * 1024


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """What a row leaves behind, over the second half."""
    if len(records) == LOOKS:
        half, last = records[LOOKS // 2 - 1], records[-1]
        rows = last.also["rows"] - half.also["rows"]
        yield Finding("bytes more for each further row", (last.best - half.best) / rows, unit="bytes")
        yield Finding("memory at the end over that at half-time", last.best / half.best, at_most=1.05)


SUITE = Suite(
    name="soak",
    asks="Does the memory of `thalweg serve` stay flat?",
    measure=measure,
    plot=lines("soak", "Memory of a service under load", {WORK: Axis("seconds", logarithmic=False)}),
    full=Effort(rounds=1, size=600),
    quick=Effort(rounds=1, size=30),
    findings=findings,
)
