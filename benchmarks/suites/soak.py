"""`thalweg serve` for many minutes: rows, late and revised labels, promotions, expiry and cuts of the journal.

One row in ten gets no label and expires. A label in every hundredth request is revised. A challenger comes, is promoted
and goes every few minutes. The journal keeps 50,000 rows. The rate varies: in the first half of the time pauses make it
half or a quarter of the highest, which comes in turn with them in the second half. Memory and disk should stay flat.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.contest import Effort, Unavailable
from benchmarks.load.processes import free_port, started
from benchmarks.load.rows import drifting_rows
from benchmarks.plots.lines import Axis, lines
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite
from thalweg.client import Client

WORK, MODEL = "resident memory", "thalweg serve"
#: Rows of a request; requests that a label may be late when it is revised.
BATCH, REVISED = 200, 20
#: Requests between two revisions, and between two promotions.
REVISION, PROMOTION = 100, 500
#: Rows without a label stay until they expire: the last 5,000 of them reach as far back as the rows that are kept.
KEEP, EXPIRE = "50000rows", "5000rows"
#: By look, how many times longer than a request the pause after it is.
PAUSES = (3, 1, 3, 1, 1, 0, 3, 0, 1, 0)
#: Looks at memory and disk.
LOOKS = len(PAUSES)


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Send rows and labels, and look at memory and disk."""
    port, folder = free_port(), bench.folder / "served"
    command = ["-m", "thalweg", "serve", "--new", "oldc", "--data", str(folder), "--keep", KEEP, "--expire", EXPIRE]
    with (
        started([*command, "--listen", f"127.0.0.1:{port}"], port) as process,
        Client(f"http://127.0.0.1:{port}") as client,
    ):
        began, requests = time.monotonic(), 0
        last: deque[tuple[str, str]] = deque(maxlen=REVISED)
        for look, pause in enumerate(PAUSES, start=1):
            end = began + bench.effort.size * look / LOOKS
            while (now := time.monotonic()) < end:
                last.append(_send(client, requests))
                time.sleep(pause * (time.monotonic() - now))
                _decide(client, requests, last)
                requests += 1
                rows = requests * BATCH
                bench.progress(f"{time.monotonic() - began:,.0f} of {bench.effort.size:,} s, {rows:,} rows")
            held = (float(_resident(process.pid)),)
            disk = float(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()))
            setting = {"seconds": round(time.monotonic() - began)}
            log = float(sum(file.stat().st_size for file in folder.glob("*-wal")))
            also = {"rows": float(rows), "disk": disk, "of it, log": log}
            yield [Record(WORK, MODEL, setting, "ours", held, "bytes", "process", also=also)]


def _send(client: Client, request: int) -> tuple[str, str]:
    """One request of rows and one of their labels; a row with its label."""
    batch = drifting_rows(BATCH, seed=request * BATCH)
    answers = client.predict([row for row, _ in batch])
    labels = [(answer.id, label) for answer, (_, label) in zip(answers, batch, strict=True)]
    client.label(dict(pair for place, pair in enumerate(labels) if place % 10))  # the others expire
    return labels[1]


def _decide(client: Client, request: int, last: deque[tuple[str, str]]) -> None:
    """The revision, challenger, promotion or archiving that is due after a request."""
    if request % REVISION == REVISION - 1:
        row, label = last[0]
        client.label({row: "down" if label == "up" else "up"}, revise=True)
    rival = f"rival-{request // PROMOTION}"
    if request % PROMOTION == PROMOTION // 4:
        client.create(rival, "perceptron", challenger_of="default")
    elif request % PROMOTION == PROMOTION // 2:
        client.promote(rival, force=True)
    elif request % PROMOTION == 3 * PROMOTION // 4:
        client.archive(rival)


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
        yield Finding("disk at the end over that at half-time", last.also["disk"] / half.also["disk"], at_most=1.1)


SUITE = Suite(
    name="soak",
    asks="Do the memory and the disk of `thalweg serve` stay flat?",
    measure=measure,
    plot=lines("soak", "Memory of a service under load", {WORK: Axis("seconds", logarithmic=False)}),
    full=Effort(rounds=1, size=1200),
    quick=Effort(rounds=1, size=30),
    findings=findings,
)
