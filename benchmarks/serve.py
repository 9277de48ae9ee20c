"""`thalweg serve` under load, beside a bare endpoint of Starlette: every row and label is in the journal first.

Run it by ``python benchmarks/serve.py`` where the extra ``serve`` is installed. Services and the generator of load
share the machine; rounds are interleaved, and only ratios compare. ``--database postgresql://…`` measures PostgreSQL.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
from http_load import Load, Next, put_load, request
from rich.console import Console
from rich.table import Table

ARROW = "application/vnd.apache.arrow.stream"
COLUMNS = "abcdefghij"
HERE = Path(__file__).parent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Requests a second, and rows a second in batches of Arrow.")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=50_000, help="rows of Arrow in a request")
    parser.add_argument("--database")
    given = parser.parse_args()
    measured: dict[str, list[Load]] = {}
    with tempfile.TemporaryDirectory() as folder, _bare() as bare, _ours(Path(folder), given.database) as ours:
        rng = np.random.default_rng(1)
        _teach(ours, rng)
        kinds: dict[str, tuple[int, Callable[[float], Next]]] = {
            "bare endpoint": (bare, _predict(rng)),
            "predict": (ours, _predict(rng)),
            "label": (ours, _label(ours, rng, given)),
            "predict, then label": (ours, _mixed(rng)),
            f"predict {given.batch:,} rows of Arrow": (ours, _arrow(rng, given.batch)),
        }
        for _ in range(given.rounds):
            for name, (port, maker) in kinds.items():
                connections = 2 if "Arrow" in name else given.connections
                end = time.perf_counter() + given.seconds
                measured.setdefault(name, []).append(put_load(port, [maker(end) for _ in range(connections)]))
    _print(measured, given.batch)


def _print(measured: dict[str, list[Load]], batch: int) -> None:
    table = Table("", "requests/s", "of bare", "50 %, ms", "99 %, ms", "rows/s")
    for name, loads in measured.items():
        ratio = statistics.median(
            load.rate / bare.rate for load, bare in zip(loads, measured["bare endpoint"], strict=True)
        )
        rate = statistics.median(load.rate for load in loads)
        table.add_row(
            name,
            f"{rate:,.0f}",
            "" if "Arrow" in name else f"{ratio:.2f}",
            *(f"{statistics.median(load.percentile(share) for load in loads):.1f}" for share in (50, 99)),
            f"{rate * (batch if 'Arrow' in name else 1):,.0f}",
        )
    Console(highlight=False).print(table)


# ---------------------------------------------------------------------- services


@contextmanager
def _bare() -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, str(HERE / "bare_endpoint.py"), str(port)]) as process:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield port
        process.terminate()


@contextmanager
def _ours(folder: Path, database: str | None) -> Iterator[int]:
    where = ["--data", str(folder)] if database is None else ["--database", database]
    command = [sys.executable, "-m", "thalweg", "serve", "--new", "oldc", "--listen", "127.0.0.1:0", *where]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"127\.0\.0\.1:(\d+)$", line.strip()):
                yield int(found[1])
                break
        process.terminate()


# ---------------------------------------------------------------------- what is asked


def _row(rng: np.random.Generator, level: float = 0.0) -> dict[str, float]:
    return {name: round(float(rng.normal(level)), 3) for name in COLUMNS}


def _once(port: int, path: str, body: object) -> dict[str, list[dict[str, str]]]:
    """One request, and its answer."""
    answers: list[bytes] = []

    def ask(answer: bytes) -> bytes | None:
        if answer:
            answers.append(answer)
            return None
        return request(path, orjson.dumps(body))

    put_load(port, [ask])
    found: dict[str, list[dict[str, str]]] = json.loads(answers[0])
    return found


def _teach(port: int, rng: np.random.Generator) -> None:
    rows = [_row(rng, i % 2) for i in range(1000)]
    asked = _once(port, "/v1/predict", {"rows": rows})["answers"]
    labels = [{"id": each["id"], "label": ("down", "up")[i % 2]} for i, each in enumerate(asked)]
    _once(port, "/v1/label", {"labels": labels})


def _until(end: float, asked: Callable[[bytes], bytes]) -> Next:
    return lambda answer: asked(answer) if time.perf_counter() < end else None


def _predict(rng: np.random.Generator) -> Callable[[float], Next]:
    body = request("/v1/predict", orjson.dumps({"row": _row(rng)}))
    return lambda end: _until(end, lambda answer: body)


def _label(port: int, rng: np.random.Generator, given: argparse.Namespace) -> Callable[[float], Next]:
    """One label a request, of rows that were asked before."""
    stock: list[str] = []

    def make(end: float) -> Next:
        def asked(answer: bytes) -> bytes:
            if not stock:
                rows = [_row(rng) for _ in range(10_000)]
                stock.extend(each["id"] for each in _answers(port, rows))
            return _told(stock.pop())

        return _until(end, asked)

    rows = [_row(rng) for _ in range(20_000)]
    for _ in range(int(given.seconds * given.rounds * 15_000 / len(rows)) + 1):
        stock.extend(each["id"] for each in _answers(port, rows))
    return make


def _answers(port: int, rows: list[dict[str, float]]) -> list[dict[str, str]]:
    return _once(port, "/v1/predict", {"rows": rows})["answers"]


def _told(row: str) -> bytes:
    return request("/v1/label", orjson.dumps({"labels": [{"id": row, "label": "up"}]}))


def _mixed(rng: np.random.Generator) -> Callable[[float], Next]:
    question = request("/v1/predict", orjson.dumps({"row": _row(rng)}))

    def make(end: float) -> Next:
        def asked(answer: bytes) -> bytes:
            if answer.startswith(b'{"model":"default","version"'):
                return _told(orjson.loads(answer)["answers"][0]["id"])
            return question

        return _until(end, asked)

    return make


def _arrow(rng: np.random.Generator, rows: int) -> Callable[[float], Next]:
    table = pa.table({name: rng.normal(size=rows) for name in COLUMNS})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    body = request("/v1/predict", sink.getvalue().to_pybytes(), ARROW)
    return lambda end: _until(end, lambda answer: body)


if __name__ == "__main__":
    main()
