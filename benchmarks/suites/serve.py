"""`thalweg serve` under load, beside a bare endpoint of Starlette that only reads and writes JSON or Arrow.

Client and servers share this machine's cores. Every request is journalled on the disk before it is answered. Requests
have idempotency keys, as those of our client have, unless one without is measured beside.
"""

from __future__ import annotations

import http.client
import io
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from subprocess import Popen

import numpy as np

from benchmarks.contest import Effort, Side
from benchmarks.load.processes import free_port, post, processor_seconds, started
from benchmarks.load.rows import FEATURES, drifting_rows
from benchmarks.load.wrk import Load, send
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite

CONNECTIONS, SECONDS = 64, 3
ARROW_CONNECTIONS, ARROW_BATCHES, ARROW_ROWS = 4, 4, 50_000
ARROW = "application/vnd.apache.arrow.stream"
OURS, BARE = "thalweg serve", "bare Starlette"
SERVER = "server's processor time, µs"
PREDICT, KEYED, LABEL, MIXED, BATCHES = (
    "a request with one row",
    "a request with one row and a key",
    "a request with one label",
    "a row and a label in turn",
    "a row in Arrow batches of 50,000",
)


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Single requests, then batches of Arrow over several connections."""
    count = bench.effort.size
    ours, bare = free_port(), free_port()
    command = ["-m", "thalweg", "serve", "--new", "oldc", "--data", str(bench.folder / "served")]
    with (
        started([*command, "--listen", f"127.0.0.1:{ours}"], ours) as service,
        started(["-m", "benchmarks.load.bare_endpoint", str(bare)], bare) as endpoint,
    ):
        _teach(ours)
        yield list(_single(bench, {OURS: (ours, service), BARE: (bare, endpoint)}, count))
        yield list(_batches(bench, ours, bare))


def _single(bench: Bench, servers: dict[str, tuple[int, Popen[bytes]]], count: int) -> Iterator[Record]:
    loads: dict[tuple[str, str], list[Load]] = {}
    busy: dict[tuple[str, str], list[float]] = {}
    ours, _ = servers[OURS]
    for number in range(bench.effort.rounds):
        bench.progress(f"single requests: round {number + 1} of {bench.effort.rounds}")
        rows = [f"/v1/predict {json.dumps({'row': row})}" for row, _ in drifting_rows(count, seed=number)]
        labels = [
            f"/v1/label {json.dumps({'labels': [label]})}" for label in _answered(ours, count + count // 2, number)
        ]
        mixed = [line for pair in zip(rows[: count // 2], labels[count:], strict=True) for line in pair]
        for work, model, lines in (
            (PREDICT, BARE, rows),
            (PREDICT, OURS, rows),
            (KEYED, BARE, rows),
            (KEYED, OURS, rows),
            (LABEL, OURS, labels[:count]),
            (MIXED, OURS, mixed),
        ):
            keyed, (port, server) = work != PREDICT, servers[model]
            before = processor_seconds(server)
            load = send(port, lines, bench.folder, connections=CONNECTIONS, seconds=SECONDS, keyed=keyed)
            if model == OURS and work != PREDICT and load.requests > len(lines):
                raise RuntimeError(f"{len(lines):,} requests were too few: {load.requests:,} were answered")
            loads.setdefault((work, model), []).append(load)
            busy.setdefault((work, model), []).append((processor_seconds(server) - before) / load.requests)
    for (work, model), found in loads.items():
        best = min(found, key=lambda load: load.seconds / load.requests)
        costs = tuple(load.seconds / load.requests for load in found)
        also = {
            "requests a second": 1 / min(costs),
            "median wait, ms": 1e3 * best.p50,
            "99th percentile, ms": 1e3 * best.p99,
            SERVER: 1e6 * min(busy[work, model]),
        } | ({"cores of the sender": best.sender} if best.sender else {})
        yield Record(work, model, {"connections": CONNECTIONS}, _side(model), costs, per="request", also=also)


def _batches(bench: Bench, ours: int, bare: int) -> Iterator[Record]:
    import pyarrow as pa

    numbers = np.random.default_rng(0).normal(size=(FEATURES, ARROW_ROWS))
    table = pa.table({f"x{i}": column for i, column in enumerate(numbers)})
    written = io.BytesIO()
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table)
    body = written.getvalue()

    def seconds(port: int) -> float:
        """Batches over several connections at a time, so that one is read while another is written to the disk."""

        def batches(_: int) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            for _ in range(ARROW_BATCHES):
                post(connection, "/v1/predict", body, ARROW)

        began = time.perf_counter()
        with ThreadPoolExecutor(ARROW_CONNECTIONS) as senders:
            list(senders.map(batches, range(ARROW_CONNECTIONS)))
        return time.perf_counter() - began

    costs: dict[str, list[float]] = {OURS: [], BARE: []}
    for number in range(2 * bench.effort.rounds):
        bench.progress(f"Arrow batches: round {number + 1} of {2 * bench.effort.rounds}")
        for model, port in ((OURS, ours), (BARE, bare)):
            costs[model].append(seconds(port) / (ARROW_CONNECTIONS * ARROW_BATCHES * ARROW_ROWS))
    for model, taken in costs.items():
        also = {"rows a second": 1 / min(taken)}
        yield Record(BATCHES, model, {"connections": ARROW_CONNECTIONS}, _side(model), tuple(taken), also=also)


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """Beside what was wanted."""
    best = {(record.work, record.model): record.best for record in records}
    if (PREDICT, OURS) in best:
        share = best[PREDICT, BARE] / best[PREDICT, OURS]
        yield Finding("predict, share of the bare endpoint's rate", share, at_least=0.5)
    if (KEYED, OURS) in best:
        share = best[PREDICT, OURS] / best[KEYED, OURS]
        yield Finding("predict with a key, share of the rate without", share, at_least=0.7)
    if (KEYED, BARE) in best:
        share = best[KEYED, BARE] / best[KEYED, OURS]
        yield Finding("predict with a key, share of the bare endpoint's rate", share, at_least=0.5)
        taken = {record.model: record.also[SERVER] for record in records if record.work == KEYED}
        yield Finding("processor time with a key, over that of the bare endpoint", taken[OURS] / taken[BARE])
    if (BATCHES, OURS) in best:
        yield Finding("rows a second by Arrow", 1 / best[BATCHES, OURS], at_least=500_000)


def _side(model: str) -> Side:
    return "ours" if model == OURS else "limit"


def _answered(port: int, count: int, seed: int) -> list[dict[str, str]]:
    """Rows that were answered before the clock starts, and the labels they will get."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    rows, labels = drifting_rows(count, seed + 1000), []
    for begin in range(0, count, 10_000):
        part = rows[begin : begin + 10_000]
        body = json.dumps({"rows": [row for row, _ in part]}).encode()
        answers = json.loads(post(connection, "/v1/predict", body))["predictions"]
        for answer, (_, label) in zip(answers, part, strict=True):
            labels.append({"id": answer["id"], "label": label})
    return labels


def _teach(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    post(connection, "/v1/label", json.dumps({"labels": _answered(port, 1000, seed=0)}).encode())


SUITE = Suite(
    name="serve",
    asks="What does a service cost that journals every row and label, beside one that only reads and writes?",
    measure=measure,
    plot=dots("serve", "Under load", panel="work"),
    full=Effort(rounds=3, size=150_000),
    quick=Effort(rounds=1, size=60_000),
    ratios={"× bare endpoint": BARE},
    findings=findings,
)
