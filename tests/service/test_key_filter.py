"""Keys that the journal does not have are not looked up; those that it has always are, whoever wrote them."""

from __future__ import annotations

import asyncio
import threading

from tests.service.in_process import with_service
from thalweg.service.commands import HttpResponse, Key
from thalweg.service.idempotency import KeyFilter
from thalweg.service.service import Service


def key(name: str) -> Key:
    return Key(name, b"request", lambda done: HttpResponse(200, "text/plain", b"reply"))


def test_no_key_is_lost_when_two_threads_add(monkeypatch):
    keys = KeyFilter()
    names = [[f"{thread}-{number}" for number in range(20_000)] for thread in range(2)]
    other = threading.Thread(target=keys.complete, args=(names[0],))
    other.start()
    for name in names[1]:
        keys.add(name)
    other.join()
    assert all(keys.may_have(name) for part in names for name in part)
    assert sum(keys.may_have(f"new-{number}") for number in range(10_000)) < 100


def test_a_key_of_an_earlier_process_or_of_a_stream_is_found_and_a_new_one_is_not_looked_up(tmp_path):
    async def first(service: Service) -> None:
        await service.predict("default", [{"x": 1.0}], key("earlier"))

    async def then(service: Service) -> None:
        await asyncio.to_thread(service.keys.load, service.models.journal.another())
        await service.predict("default", [{"x": 2.0}], key("stream"))  # as a feed does
        asked: list[list[str]] = []
        recall = service.keys._recall
        service.keys._recall = lambda keys: asked.append(list(keys)) or recall(keys)  # type: ignore[method-assign]

        async def fresh() -> HttpResponse:
            return (await service.predict("default", [{"x": 3.0}], key("new"))).reply

        async def again() -> HttpResponse:
            raise AssertionError("it was done before")

        assert (await service.keys.once("new", b"request", fresh)).body == b"reply"
        assert asked == []
        for name in ("earlier", "stream", "new"):
            assert (await service.keys.once(name, b"request", again)).body == b"reply"
        assert sorted(name for part in asked for name in part) == ["earlier", "new", "stream"]

    with_service(tmp_path, first)
    with_service(tmp_path, then)
