"""`thalweg serve` while a model of many labels is learned again because of a revision of one of the first.

The journal is written without a service. Single rows are sent at a steady pace over one connection, quiet first and
then while the revision is learned, in each round that of another label.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.contest import Effort
from benchmarks.load.journals import write_journal
from benchmarks.load.processes import free_port, post, started
from benchmarks.load.rows import drifting_rows
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite

WORK, QUIET, REVISING = "99th percentile of a prediction's wait", "quiet", "while a revision is learned"
#: Rows of a request in the journal, and seconds between two predictions.
TOGETHER, PACE = 50, 0.005
#: Seconds that are measured at least: the percentile is that of some thousand predictions.
SECONDS = 20.0


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Write the journal, start the service, and measure in rounds."""
    labels, folder, port = bench.effort.size, bench.folder / "served", free_port()
    bench.progress(f"a journal of {labels:,} labels is written")
    write_journal(folder, labels // TOGETHER, rows=TOGETHER)
    bench.progress(f"a service learns {labels:,} labels")
    command = ["-m", "thalweg", "serve", "--data", str(folder), "--listen", f"127.0.0.1:{port}"]
    waits: dict[str, list[list[float]]] = {QUIET: [], REVISING: []}
    taken = []
    with started(command, port):
        _waits(port, 0, lambda: False)  # it listens before it has learned
        for number in range(bench.effort.rounds):
            bench.progress(f"round {number + 1} of {bench.effort.rounds}")
            until = time.perf_counter() + SECONDS
            waits[QUIET].append(_waits(port, number, lambda until=until: time.perf_counter() < until))
            revision = threading.Thread(target=_revise, args=(port, f"3-{number}"))
            began = time.perf_counter()
            revision.start()
            waits[REVISING].append(_waits(port, number, revision.is_alive))
            revision.join()
            taken.append(time.perf_counter() - began)
    yield [
        Record(
            WORK,
            model,
            {"labels": labels},
            "limit" if model == QUIET else "ours",
            tuple(_percentile(each, 0.99) for each in found),
            per="request",
            also={
                "median wait, ms": 1e3 * min(_percentile(each, 0.5) for each in found),
                "longest wait, ms": 1e3 * min(max(each) for each in found),
                "predictions of a round": float(min(map(len, found))),
            }
            | ({"seconds of a revision": min(taken)} if model == REVISING else {}),
        )
        for model, found in waits.items()
    ]


def _waits(port: int, seed: int, going: Callable[[], bool]) -> list[float]:
    """The seconds that each of many predictions took."""
    bodies = [json.dumps({"row": row}).encode() for row, _ in drifting_rows(1000, seed)]
    connection = http.client.HTTPConnection("127.0.0.1", port)
    post(connection, "/v1/predict", bodies[0])
    found: list[float] = []
    due = time.perf_counter()
    while going():
        began = time.perf_counter()
        post(connection, "/v1/predict", bodies[len(found) % len(bodies)])
        found.append(time.perf_counter() - began)
        due = max(due + PACE, time.perf_counter())
        time.sleep(max(due - time.perf_counter(), 0.0))
    connection.close()
    return found


def _revise(port: int, row: str) -> None:
    """Give one of the first rows a label that is new to it, and wait until the model has learned it."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    body = {"labels": [{"id": row, "label": "neither"}], "revise": True}
    told = json.loads(post(connection, "/v1/label", json.dumps(body).encode()))
    if told["revised"] != 1:
        raise RuntimeError(f"row {row} was not revised: {told}")


def _percentile(waits: Sequence[float], share: float) -> float:
    return sorted(waits)[int(share * len(waits))]


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """Beside what was wanted; the two of a round were measured one after the other."""
    costs = {record.model: record.costs for record in records}
    if costs:
        ratios = sorted(busy / quiet for busy, quiet in zip(costs[REVISING], costs[QUIET], strict=True))
        yield Finding(
            "99th percentile while a revision is learned, over the quiet one, median of the rounds",
            ratios[len(ratios) // 2],
            at_most=2.0,
        )


SUITE = Suite(
    name="revision",
    asks="Do predictions wait longer while a model is learned again because of an old revision?",
    measure=measure,
    plot=dots("revision", "Predictions beside a revision"),
    full=Effort(rounds=3, size=1_000_000),
    quick=Effort(rounds=1, size=100_000),
    findings=findings,
)
