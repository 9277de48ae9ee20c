"""Bodies of JSON and Arrow, mutated by a seeded generator, and sent to a running service.

No answer may be a 500, none may take ten seconds of the processor, the service must live on, and its memory must stay
below 512 MB: ``python -m tests.service.mutated_bodies --count 5000``. A failure names its seed, and is made again by
``--first SEED --count 1``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.service.server import ARROW, JSON, Client, Server

SECONDS, MEGABYTES = 10.0, 512
ROW = {"x": 1.5, "day": "mon", "when": "2024-01-01T12:00:00"}
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**63,
    10**400,
    1e308,
    -0.0,
    "",
    "\ud800",
    "\0",
    "é" * 1001,
    "1e999",
    "NaN",
    [],
    {},
    [[]],
    {"x": {"x": {}}},
    {"": None},
)
#: Bytes that parsers stumble over.
PIECES = (
    b"\xff",
    b"\xed\xa0\x80",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\u",
    b"e",
    b"-",
    b"\0",
    b"NaN",
    b"1e999",
)


def _json_bodies() -> list[tuple[str, Any]]:
    maps = {"words": {"free": 2, "money": 1.5}, "x": 1}
    return [
        ("/v1/predict", {"rows": [ROW, ROW | {"day": "tue"}]}),
        ("/v1/predict", {"model": "price", "row": {"x": 1.5}}),
        ("/v1/predict", {"model": "words", "rows": [maps, maps]}),
        ("/v1/label", {"labels": [{"id": "2-0", "label": "up"}, {"id": "9-1", "label": "down"}], "revise": True}),
        ("/v1/label", {"model": "price", "labels": [{"id": "3-0", "label": 2.5}]}),
        ("/v1/models", {"name": "m", "kind": "oldc", "parameters": {"rate": 0.1}, "challenger_of": "default"}),
        ("/v1/models", {"name": "n", "schema": {"columns": [{"name": "x", "kind": "number"}], "labels": ["a", "b"]}}),
        ("/v1/models/m/promote", {"expected": "oldc", "force": True}),
        ("/v1/models/default/void", {"ids": ["2-0", "9-1"]}),
        ("/v1/models/default/erase", {"ids": ["2-0", "9-1"]}),
        ("/v1/models/default/columns", {"add": {"y": 0.5}, "retire": ["x"], "rename": {"day": "d"}}),
        ("/v1/models/default/versions", {"version": "v1"}),
        ("/v1/models/default/rollback", {"version": "v1", "seq": 3}),
        ("/v2/models/price/infer", {"inputs": [{"name": "x", "shape": [2], "datatype": "FP64", "data": [1.5, 2]}]}),
        ("/invocations?model=price", {"dataframe_split": {"columns": ["x"], "data": [[1.5], [None]]}}),
    ]


@cache
def _arrow_bodies() -> list[tuple[str, bytes]]:
    words = pa.array([[("free", 2.0)], [("money", 1.0)]], pa.map_(pa.string(), pa.float64()))
    tables = [
        ("/v1/predict", pa.table({"x": [1.5, 2.5], "day": ["mon", "tue"], "when": [ROW["when"]] * 2})),
        ("/v1/predict", pa.table({"x": [1.5], "day": pa.array(["mon"]).dictionary_encode()})),
        ("/v1/predict?model=price", pa.table({"x": pa.array([1, 2, None], pa.int32())})),
        ("/v1/predict?model=words", pa.table({"words": words, "x": [1.0, 2.0]})),
        ("/v1/label", pa.table({"id": ["2-0", "2-1"], "label": ["up", "down"]})),
        ("/v1/label?model=price", pa.table({"id": ["3-0"], "label": [1.5]})),
    ]
    return [(path, _stream(table)) for path, table in tables]


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


def _changed_value(random_: random.Random, value: Any) -> Any:
    """A value of JSON with one of its parts replaced, left out, doubled or renamed."""
    if not isinstance(value, dict | list) or not value or random_.random() < 0.2:
        return random_.choice(ODD)
    if isinstance(value, list):
        at = random_.randrange(len(value))
        if random_.random() < 0.2:
            return value * random_.choice([0, 2, 50])
        return [*value[:at], _changed_value(random_, value[at]), *value[at + 1 :]]
    key = random_.choice(list(value))
    if random_.random() < 0.2:
        others = {name: each for name, each in value.items() if name != key}
        return others if random_.random() < 0.5 else others | {random_.choice(["é", "", "x" * 2000, "__"]): value[key]}
    return value | {key: _changed_value(random_, value[key])}


def _changed_bytes(random_: random.Random, body: bytes) -> bytes:
    """Bytes that are flipped, cut, doubled, moved or replaced by a piece, a few times."""
    for _ in range(random_.choice([1, 1, 2, 5])):
        at = random_.randrange(len(body) + 1)
        end = min(len(body), at + random_.choice([1, 1, 4, 8, 64]))
        how = random_.randrange(6)
        if how == 0 and at < len(body):
            body = body[:at] + bytes([body[at] ^ 1 << random_.randrange(8)]) + body[at + 1 :]
        elif how == 1:
            body = body[:at] + body[end:]
        elif how == 2:
            body = body[:end] + body[at:]
        elif how == 3:
            body = body[:at] + random_.choice(PIECES) + body[at:]
        elif how == 4:
            body = body[:at] + random_.randbytes(end - at) + body[end:]
        else:
            body = body[:at]
    return body


def mutated(seed: int) -> tuple[str, bytes, str]:
    """A path, a body and its kind."""
    random_ = random.Random(seed)
    if random_.random() < 0.5:
        path, body = random_.choice(_arrow_bodies())
        return path, _changed_bytes(random_, body), ARROW
    path, value = random_.choice(_json_bodies())
    for _ in range(random_.choice([0, 1, 2])):
        value = _changed_value(random_, value)
    content = json.dumps(value).encode()
    return path, _changed_bytes(random_, content) if random_.random() < 0.5 else content, JSON


def peak_megabytes(server: Server) -> int:
    """The most memory that the service has had."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) // 1024


def processor_seconds(server: Server) -> float:
    """What the service has taken of the processor, which does not depend on what else the machine does."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def prepare(client: Client) -> None:
    """Three models: of classes, of numbers and of sparse rows, each with rows that wait for labels."""
    client.post("/v1/models", {"name": "price", "kind": "auto", "task": "regression"})
    client.post("/v1/models", {"name": "words", "kind": "auto"})
    client.predict([ROW, ROW | {"day": "tue"}])
    client.predict([{"x": 1.0}], model="price")
    client.predict([{"words": {"free": 1.0}, "x": 1.0}], model="words")


def trial(server: Server, first: int, count: int) -> Counter[int]:
    """How often each status was the answer; an `AssertionError` names the seed that broke a rule."""
    client, statuses, before = server.client(), Counter[int](), processor_seconds(server)
    for seed in range(first, first + count):
        path, body, media = mutated(seed)
        status, found, _ = client.call("POST", path, body, media=media)
        assert status < 500, f"seed {seed}: {status} {found}\n{server.log.read_text()[-2000:]}"
        now = processor_seconds(server)
        assert now - before < SECONDS, f"seed {seed}: it took {now - before:.1f} s"
        before = now
        statuses[status] += 1
    assert client.get("/readyz") == {"status": "ready"}
    assert peak_megabytes(server) < MEGABYTES, f"the service took {peak_megabytes(server)} MB"
    return statuses


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=5000)
    arguments.add_argument("--first", type=int, default=0)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server("--new", "oldc", data=Path(folder) / "data")
        try:
            prepare(server.client())
            began = time.monotonic()
            statuses = trial(server, given.first, given.count)
            took, most = time.monotonic() - began, peak_megabytes(server)
            print(f"{given.count} bodies in {took:.0f} s, at most {most} MB; answers {dict(sorted(statuses.items()))}")
        finally:
            if server.running:
                server.stop()


if __name__ == "__main__":
    main()
