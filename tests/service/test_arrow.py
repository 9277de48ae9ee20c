"""Batches of Arrow: the same answers as JSON, the same rows learned, and nothing that a stranger's bytes can break."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.service.in_process import with_service
from tests.service.rows import SCHEMA, stream
from tests.service.server import ARROW
from thalweg.client.protocol import CreateRequest
from thalweg.service.commands import Refused
from thalweg.service.http.arrow import ArrowTable
from thalweg.service.service import Service


def as_stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=64)
    return sink.getvalue().to_pybytes()


def test_arrow_and_json_teach_and_answer_the_same(common):
    client = common.client()
    rows, labels = stream(200)
    table = pa.table({name: [row[name] for row in rows] for name in rows[0]})
    for name in ("rows", "table"):
        client.post("/v1/models", {"name": name, "kind": "oldc", "schema": SCHEMA})
    ids = [each["id"] for each in client.predict(rows, model="rows")]
    client.label(list(zip(ids, labels, strict=True)), model="rows")
    status, answer, headers = client.call("POST", "/v1/predict?model=table", as_stream(table), media=ARROW)
    assert (status, headers["content-type"]) == (200, ARROW)
    asked = pa.ipc.open_stream(answer).read_all()
    assert asked.column_names == ["id", "prediction", "probability"]
    assert asked["prediction"].null_count == 200  # nothing was known yet
    told = pa.table({"id": asked["id"], "label": pa.array(labels).dictionary_encode()})
    status, counts, _ = client.call("POST", "/v1/label?model=table", as_stream(told), media=ARROW)
    assert (status, counts["learned"]) == (200, 200)
    revised = pa.table({"id": asked["id"][:1], "label": ["dry"]})
    status, counts, _ = client.call("POST", "/v1/label?model=table", as_stream(revised), media=ARROW)
    assert (status, counts["conflicts"]) == (200, asked["id"][:1].to_pylist())
    expected = client.predict(rows, model="rows")
    answer = client.call("POST", "/v1/predict?model=table", as_stream(table), media=ARROW)[1]
    found = pa.ipc.open_stream(answer).read_all()
    assert found["prediction"].to_pylist() == [each["prediction"] for each in expected]
    assert found["probability"].to_pylist() == [each["probabilities"][each["prediction"]] for each in expected]
    assert int(found.schema.metadata[b"version"]) > 0


BAD = {
    "no stream": b"not arrow at all",
    "cut": as_stream(pa.table({"x": [1.0] * 500}))[:700],
    "empty": as_stream(pa.table({"x": pa.array([], pa.float64())})),
    "another column": as_stream(pa.table({"y": [1.0]})),
    "no numbers": as_stream(pa.table({"x": ["many"]})),
    "lists": as_stream(pa.table({"x": [[1.0]]})),
    "twice": as_stream(pa.table([pa.array([1.0]), pa.array([1.0])], names=["x", "x"])),
    "a name that is no text": as_stream(pa.table({"xyzzy": [1.0]})).replace(b"xyzzy", b"x\xff\xfezy"),
    "bytes": as_stream(pa.table({"x": [b"many"]})),
    "times": as_stream(pa.table({"x": pa.array([1], pa.timestamp("us"))})),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_stream_is_refused(case, common):
    client = common.client()
    client.predict([{"x": 1.0}])
    before = client.settled()
    status, answer, _ = client.call("POST", "/v1/predict", BAD[case], media=ARROW)
    assert (status, list(answer)) == (422, ["error"]), answer
    assert client.settled() == before


def test_names_are_checked_before_the_first_rows_settle_the_columns(common):
    client = common.client()
    client.post("/v1/models", {"name": "new", "kind": "oldc"})
    for case in ("twice", "a name that is no text"):
        for path in ("predict", "label"):
            status, answer, _ = client.call("POST", f"/v1/{path}?model=new", BAD[case], media=ARROW)
            assert (status, list(answer)) == (422, ["error"]), (case, path, answer)
    assert client.predict([{"x": "mon"}], model="new")


def test_broken_buffers_are_found_before_they_are_used(common):
    client = common.client()
    client.predict([{"x": 1.0}])
    whole = bytearray(as_stream(pa.table({"x": ["1.5", "2.5", "3.5"] * 30})))
    for at in range(64, len(whole), 7):
        broken = bytes(whole[:at]) + bytes([whole[at] ^ 0xFF]) + bytes(whole[at + 1 :])
        status, _, _ = client.call("POST", "/v1/predict", broken, media=ARROW)
        assert status in (200, 413, 415, 422)


@pytest.mark.parametrize("how", ["zstd", "lz4"])
def test_a_packed_stream_is_refused_before_it_is_unpacked(how, common):
    sink = pa.BufferOutputStream()
    table = pa.table({"x": [0.0] * 50_000, "day": pa.array(["mon"] * 50_000).dictionary_encode()})
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=how)) as writer:
        writer.write_table(table)
    status, answer, _ = common.client().call("POST", "/v1/predict", sink.getvalue().to_pybytes(), media=ARROW)
    assert (status, "must not be compressed" in answer["error"]) == (415, True)


def test_bad_labels_of_arrow_are_refused(common):
    client = common.client()
    for table in (
        pa.table({"id": ["1-0"]}),
        pa.table({"id": [1], "label": ["a"]}),
        pa.table({"id": [None], "label": ["a"]}).cast(pa.schema({"id": pa.string(), "label": pa.string()})),
        pa.table({"id": ["1-0"], "label": [None]}),
        pa.table({"id": ["1-0"], "label": [float("nan")]}),
        pa.table({"id": ["1-0"], "label": [[1]]}),
    ):
        assert client.call("POST", "/v1/label", as_stream(table), media=ARROW)[0] == 422
    assert (
        client.call(
            "POST", "/v1/label?revise=perhaps", as_stream(pa.table({"id": ["1-0"], "label": ["a"]})), media=ARROW
        )[0]
        == 422
    )


def test_values_at_the_ends_of_their_range_are_read_or_refused_by_row_and_column(tmp_path):
    units = ("s", "ms", "us", "ns")
    kinds = [make(unit) for make in (pa.timestamp, pa.duration) for unit in units]
    kinds += [*(pa.timestamp(unit, "Europe/Berlin") for unit in units), pa.date32(), pa.date64(), pa.time64("ns")]
    columns = {"x": "number", "when": "time", "where": "category", "notes": "text", "words": "map"}
    schema = {"columns": [{"name": name, "kind": kind} for name, kind in columns.items()]}
    refusals = set()

    async def scenario(service: Service) -> None:
        await service.decisions.create(CreateRequest(name="m", kind="auto-linear", schema=schema))
        for kind in kinds:
            whole = pa.int32() if kind == pa.date32() else pa.int64()
            for value in (0, -1, *((2**31 - 1, -(2**31)) if kind == pa.date32() else (2**62, 2**63 - 1, -(2**63)))):
                cells = pa.array([None, None, value], whole).view(kind)
                for name in columns:
                    table = pa.table({"x": [1.0] * 3} | {name: cells})
                    try:
                        await service.predict("m", table)
                    except Refused as refused:
                        refusals.add((refused.status, refused.sentence.split(":")[0]))

    with_service(tmp_path, scenario)
    assert refusals == {(422, f"row 2, column {name!r}") for name in ("x", "when", "words")}


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("s"), pa.date64()]
)
def test_times_are_no_labels(kind):
    labels = pa.array([2**63 - 1]).view(kind)
    for each in (labels, labels.dictionary_encode()):
        with pytest.raises(Refused, match="label 0: it must be a text, a number, true or false, got"):
            ArrowTable(pa.table({"id": ["1-0"], "label": each})).labels()
