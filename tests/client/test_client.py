"""The client against a service that answers as told: what is sent, what is sent again, and what is understood."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

httpx = pytest.importorskip("httpx", reason="the client needs httpx")

from thalweg.client import AsyncClient, Client, Point  # noqa: E402
from thalweg.client.requests import Calls  # noqa: E402
from thalweg.errors import InvalidInput, InvalidParameter, ServiceRefused, ServiceUnreachable  # noqa: E402

ADDRESS = "http://service"
ROW = {"id": "a1", "prediction": "wet", "probabilities": {"wet": 0.75, "dry": 0.25}}
PREDICTED = {"model": "rain", "version": 3, "predictions": [ROW]}
RECEIPT = {
    "model": "rain",
    "seq": 9,
    "learned": 1,
    "revised": 0,
    "repeated": 0,
    "replayed": 0,
    "unknown": [],
    "expired": ["a9"],
    "conflicts": [],
}


class Service:
    """Hands out replies in turn, and keeps what it was asked and how long its clients waited."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        if callable(reply):
            return reply(request)
        status, body, *headers = reply if isinstance(reply, tuple) else (200, reply)
        return httpx.Response(status, json=body, headers=headers[0] if headers else None)

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]

    def keys(self) -> list[str]:
        return [request.headers["Idempotency-Key"] for request in self.requests]


Asks = Callable[..., Any]


@pytest.fixture(params=["blocking", "awaiting"])
def asking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Asks:
    """Calls a method of either client; waits are written down, not waited."""

    def asks(service: Service, method: str, *arguments: Any, options: Any = None, **keywords: Any) -> Any:
        async def later(seconds: float) -> None:
            service.waits.append(seconds)

        monkeypatch.setattr("thalweg.client.transport.time.sleep", service.waits.append)
        monkeypatch.setattr("thalweg.client.transport.asyncio.sleep", later)
        options = {"transport": httpx.MockTransport(service)} | (options or {})
        if request.param == "blocking":
            with Client(ADDRESS, **options) as client:
                return getattr(client, method)(*arguments, **keywords)

        async def awaited() -> Any:
            async with AsyncClient(ADDRESS, **options) as client:
                return await getattr(client, method)(*arguments, **keywords)

        return asyncio.run(awaited())

    return asks


def test_rows_are_answered_and_labels_are_given(asking: Asks) -> None:
    service = Service(PREDICTED)
    answers = asking(service, "predict", [{"a": 1.0}, {"a": np.float32(2.0)}], model="rain", options={"token": "t"})
    assert (answers.model, answers.version, answers.ids) == ("rain", 3, ["a1"])
    assert (answers[0].prediction, answers[0].probability, answers[-1].probabilities["dry"]) == ("wet", 0.75, 0.25)
    assert service.bodies() == [{"model": "rain", "rows": [{"a": 1.0}, {"a": 2.0}]}]
    assert service.requests[0].headers["Authorization"] == "Bearer t"

    service = Service(RECEIPT)
    receipt = asking(service, "label", {"a1": "wet", "a9": "dry"}, revise=True, options={"model": "rain"})
    assert (receipt.learned, receipt.expired, receipt.complete) == (1, ("a9",), False)
    pairs = [{"id": "a1", "label": "wet"}, {"id": "a9", "label": "dry"}]
    assert service.bodies() == [{"model": "rain", "revise": True, "labels": pairs}]


def test_a_newer_service_may_say_more_and_not_less(asking: Asks) -> None:
    more = {**PREDICTED, "predictions": [{**ROW, "margin": 0.5}], "node": "a"}
    assert asking(Service(more), "predict", {"a": 1.0})[0].prediction == "wet"
    with pytest.raises(ServiceRefused, match=r"is not from a thalweg service: .*missing required field `predictions`"):
        asking(Service({"model": "rain", "version": 3}), "predict", {"a": 1.0})


def test_one_id_and_two_lists_are_labels_too(asking: Asks) -> None:
    service = Service(RECEIPT)
    asking(service, "label", "a1", 0)
    asking(service, "label", ["a1", "a2"], [0, 1])
    first, second = service.bodies()
    assert first == {"labels": [{"id": "a1", "label": 0}]}
    assert second["labels"] == [{"id": "a1", "label": 0}, {"id": "a2", "label": 1}]
    with pytest.raises(InvalidInput, match="2 labels for 1 ids"):
        asking(service, "label", ["a1"], [0, 1])


def test_a_request_is_repeated_with_its_own_key_until_it_is_answered(asking: Asks) -> None:
    lost = httpx.ReadTimeout("too slow")
    busy = (429, {"error": "the queue is full"}, {"Retry-After": "2"})
    service = Service(lost, busy, (503, {}), RECEIPT)
    assert asking(service, "label", "a1", "wet").learned == 1
    assert len(service.keys()) == 4
    assert len(set(service.keys())) == 1
    short, asked, longer = service.waits
    assert 0.05 <= short <= 0.1
    assert asked == 2.0
    assert 0.2 <= longer <= 0.4

    asking(service, "label", "a1", "wet")
    assert len(set(service.keys())) == 2  # another call, another key
    assert service.keys() == sorted(service.keys())


def test_patience_ends_and_the_last_word_is_told(asking: Asks) -> None:
    busy = Service((429, {"error": "the queue is full"}, {"Retry-After": "7"}))
    with pytest.raises(ServiceRefused, match="the queue is full") as refused:
        asking(busy, "label", "a1", "wet", options={"patience": 20.0})
    assert (refused.value.status, busy.waits) == (429, [7.0, 7.0])
    away = Service(httpx.ConnectError("refused"))
    with pytest.raises(ServiceUnreachable, match="refused"):
        asking(away, "models", options={"patience": 0.0})
    assert len(away.requests) == 1


def test_a_refusal_is_not_repeated(asking: Asks) -> None:
    service = Service((422, {"error": "column 'a' must hold numbers"}))
    with pytest.raises(ServiceRefused, match="column 'a' must hold numbers"):
        asking(service, "predict", {"a": "x"})
    assert len(service.requests) == 1
    with pytest.raises(ServiceRefused, match="is not from a thalweg service"):
        asking(Service(lambda _: httpx.Response(200, text="<html>")), "models")


def arrow_service(request: httpx.Request) -> httpx.Response:
    """Answers each row of an Arrow stream with its own number."""
    pa = pytest.importorskip("pyarrow")
    table = pa.ipc.open_stream(request.content).read_all()
    if request.url.path == "/v1/label":
        return httpx.Response(200, json={**RECEIPT, "learned": len(table)})
    columns = {"id": [f"a{value}" for value in table["a"].to_pylist()], "prediction": ["wet"] * len(table)}
    answers = pa.table({**columns, "probability": table["b"]}).replace_schema_metadata(
        {"model": "rain", "version": "8"}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, answers.schema) as writer:
        writer.write_table(answers)
    return httpx.Response(200, content=sink.getvalue().to_pybytes())


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "arrow"])
def test_tables_and_arrays_go_as_arrow_in_batches(asking: Asks, kind: str) -> None:
    columns = {"a": [0, 1, 2, 3, 4], "b": [0.5, 0.25, 0.125, 0.75, 1.0]}
    keywords: dict[str, Any] = {}
    if kind == "array":
        rows: Any = np.column_stack(list(columns.values()))
        keywords["columns"] = ["a", "b"]
    elif kind == "arrow":
        rows = pytest.importorskip("pyarrow").table(columns)
    else:
        rows = pytest.importorskip(kind).DataFrame(columns)
    pytest.importorskip("pyarrow", reason="tables go as Arrow")
    service = Service(arrow_service)
    answers = asking(service, "predict", rows, model="rain", key="mine", options={"batch_rows": 2}, **keywords)
    assert [row.removesuffix(".0") for row in answers.ids] == ["a0", "a1", "a2", "a3", "a4"]
    assert (answers.probability, answers.version) == (columns["b"], 8)
    assert service.keys() == ["mine", "mine-1", "mine-2"]
    assert {str(request.url) for request in service.requests} == {f"{ADDRESS}/v1/predict?model=rain"}

    receipt = asking(service, "label", np.array(answers.ids), np.array([0, 1, 0, 1, 0]), revise=True)
    assert receipt.learned == 5
    assert str(service.requests[-1].url) == f"{ADDRESS}/v1/label?revise=true"
    table = pytest.importorskip("pyarrow").table({"label": ["x"] * 5, "id": answers.ids, "more": answers.ids})
    assert asking(service, "label", table).learned == 5


@pytest.mark.parametrize(
    ("method", "arguments", "complaint"),
    [
        ("predict", ([1, 2],), "dictionaries by column"),
        ("predict", ([],), "at least one"),
        ("predict", ({"a": float("nan")},), "finite"),
        ("predict", ({"a": object()},), "must hold numbers"),
        ("predict", (np.zeros((2, 3)),), "name each column"),
        ("predict_one", ([{"a": 1}],), "a row must be a dictionary"),
        ("label", (["a1"],), "labels by id"),
    ],
    ids=["numbers", "nothing", "nan", "object", "unnamed", "rows for one", "no label"],
)
def test_what_cannot_be_sent_is_refused_before_anything_is(asking: Asks, method: str, arguments: Any, complaint: str):
    service = Service(PREDICTED)
    with pytest.raises((InvalidInput, InvalidParameter), match=complaint):
        asking(service, method, *arguments)
    assert not service.requests


def events_of(*blocks: str) -> Callable[[httpx.Request], httpx.Response]:
    return lambda _: httpx.Response(200, text="".join(f"{block}\n\n" for block in blocks))


POINT = '{"time": 1.0, "labels": %d, "scores": {"model": {"error": 0.5}}}'


@pytest.mark.parametrize("kind", ["blocking", "awaiting"])
def test_events_go_on_where_the_connection_broke(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(
        events_of(": here", f"id: 1\nevent: point\ndata: {POINT % 1}", f"event: other\ndata: {POINT % 7}"),
        httpx.ConnectError("gone"),
        (503, {}),
        events_of(f"id: 2\nevent: point\ndata: {POINT % 2}"),
        (404, {"error": "there is no model 'rain'"}),
    )

    async def later(seconds: float) -> None:
        pass

    monkeypatch.setattr("thalweg.client.transport.time.sleep", lambda seconds: None)
    monkeypatch.setattr("thalweg.client.transport.asyncio.sleep", later)
    seen: list[Point] = []
    transport = httpx.MockTransport(service)

    async def awaited() -> None:
        async with AsyncClient(ADDRESS, transport=transport) as client:
            async for point in client.events("rain"):
                seen.append(point)  # noqa: PERF401 - it ends with an error

    def blocked() -> None:
        with Client(ADDRESS, transport=transport) as client:
            seen.extend(client.events("rain"))

    with pytest.raises(ServiceRefused, match="no model"):
        asyncio.run(awaited()) if kind == "awaiting" else blocked()
    assert [point.labels for point in seen] == [1, 2]
    asked = [request.headers.get("Last-Event-ID") for request in service.requests]
    assert asked == [None, "1", "1", "1", "2"]


def test_leaving_the_events_early_is_quiet() -> None:
    service = Service(events_of(*(f"id: {at}\nevent: point\ndata: {POINT % at}" for at in range(1, 9))))
    with Client(ADDRESS, transport=httpx.MockTransport(service)) as client:
        for point in client.events("rain"):
            if point.labels == 3:
                break
    assert len(service.requests) == 1


def test_both_clients_have_the_same_methods_and_explain_them() -> None:
    for name, member in vars(Calls).items():
        if not name.startswith("_"):
            assert inspect.getdoc(getattr(Client, name)), name
            assert getattr(Client, name) is getattr(AsyncClient, name) is member
    with Client(ADDRESS) as client:
        assert list(inspect.signature(client.predict).parameters) == ["rows", "columns", "model", "key", "explain"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [({"patience": -1.0}, "patience"), ({"timeout": 0.0}, "timeout"), ({"batch_rows": 0}, "batch_rows")],
    ids=["patience", "timeout", "batch_rows"],
)
def test_parameters_are_checked(options: Any, complaint: str) -> None:
    with pytest.raises(InvalidParameter, match=complaint):
        Client(ADDRESS, **options)
    with pytest.raises(InvalidParameter, match="begin with http"):
        AsyncClient("127.0.0.1:8080")
