"""A service cuts its journal while it runs: by time, rows or size, a page at a time, and nobody notices."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing

import pytest

from tests.service.in_process import erase, records_in, state_of, with_service
from tests.service.test_compaction import ask, tell
from tests.waiting import wait_until
from thalweg.errors import InvalidParameter
from thalweg.service import retention, writer
from thalweg.service.commands import HttpResponse, Key
from thalweg.service.journal.databases import open_journal
from thalweg.service.options import Amount, ServeOptions
from thalweg.service.service import Service


@pytest.fixture(autouse=True)
def by_hand(monkeypatch):
    """The service looks once, at its start; then tests say when."""
    monkeypatch.setattr(retention, "_LEAST_SECONDS", 3600.0)


async def forget(service: Service) -> None:
    """Look for what is not to be kept, and wait until it is erased."""
    service.models.writer.put(await asyncio.to_thread(service.retention.due))
    for _ in range(200):  # each page puts the next one behind what waits
        if not await written(service):
            return
    raise AssertionError("the journal is cut without an end")


async def written(service: Service) -> int:
    """Once all that waits now is written, how much waits then."""
    loop = asyncio.get_running_loop()
    left: asyncio.Future[int] = loop.create_future()
    service.models.writer.after(lambda: loop.call_soon_threadsafe(left.set_result, len(service.models.writer)))
    return await left


def test_a_running_service_cuts_its_journal_and_learns_on(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "_PAGE", 2)
    before_and_after = []

    async def scenario(service: Service) -> None:
        waiting = await ask(service, 4)
        for _ in range(6):
            await tell(service, await ask(service, 5))
        await tell(service, waiting[:1])
        await service.decisions.name_version("default", "early")
        late = await ask(service, 3)
        service.models.threads["default"].keep()
        service.models.drain()
        for _ in range(6):
            await tell(service, await ask(service, 5))
        revised = await ask(service, 2)
        await tell(service, revised)
        before_and_after.append(records_in(tmp_path))
        await forget(service)
        before_and_after.append(records_in(tmp_path))
        await service.label("default", [(revised[0], "c")], revise=True)
        assert len((await tell(service, [*waiting[1:], *late])).learned) == 6
        assert (await tell(service, waiting[:1], revise=True)).learned == []
        assert len(await service.decisions.file("default", version="early")) > 0
        await forget(service)  # what waited has its labels by now: the next cut erases it

    with_service(tmp_path, scenario, ServeOptions(keep=Amount(rows=20)))
    assert before_and_after[0] - before_and_after[1] >= 12  # the rows and labels before the snapshot
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False)


def test_the_journal_is_cut_again_when_it_has_grown_by_a_tenth(tmp_path, monkeypatch):
    monkeypatch.setattr(retention, "_EVERY_SECONDS", 3600.0)
    monkeypatch.setattr(retention, "_LEAST_SECONDS", 0.01)
    monkeypatch.setattr(retention, "_SPARING_GROWN", 0.0)

    async def scenario(service: Service) -> None:
        for cut in (0, 20, 40):
            for _ in range(10):
                await tell(service, await ask(service, 5))
                service.models.threads["default"].keep()
                service.models.drain()
            await asyncio.to_thread(wait_until, lambda cut=cut: service.models.writer._cuts.get("default", 0) > cut)

    with_service(tmp_path, scenario, ServeOptions(keep=Amount(rows=20)))


def test_a_cut_that_was_interrupted_is_resumed(tmp_path, monkeypatch):
    async def first(service: Service) -> None:
        for _ in range(6):
            await tell(service, await ask(service, 5))
        service.models.threads["default"].keep()
        service.models.drain()
        await asyncio.to_thread(service.models.drain)  # until the snapshot is written
        await tell(service, await ask(service, 5))
        monkeypatch.setattr(writer, "_PAGE", 1)
        monkeypatch.setattr(service.models.writer, "put", lambda commands: None)  # the process ends after a page
        service.models.writer._queue.put(await asyncio.to_thread(service.retention.due))
        await written(service)
        monkeypatch.undo()

    async def then(service: Service) -> None:  # it is resumed at the start, without being asked to
        def is_cut() -> bool:
            with closing(service.models.journal.another()) as journal:
                return journal.rows("SELECT count(*) FROM journal")[0][0] <= interrupted - 10

        await asyncio.to_thread(wait_until, is_cut)

    options = ServeOptions(keep=Amount(rows=3))
    with_service(tmp_path, first, options)
    interrupted, state = records_in(tmp_path), state_of(tmp_path)
    assert state == state_of(tmp_path, from_snapshots=False)
    with_service(tmp_path, then, options)
    assert state_of(tmp_path)[0].body == state_of(tmp_path, from_snapshots=False)[0].body


def test_a_journal_is_kept_within_a_size(tmp_path):
    sizes = []

    async def fill(service: Service) -> None:
        for _ in range(8):
            await tell(service, await ask(service, 400))
            service.models.threads["default"].keep()
            service.models.drain()
        await asyncio.to_thread(service.models.drain)
        sizes.append(service.models.journal.used())
        await forget(service)
        sizes.append(service.models.journal.used())

    with_service(tmp_path, fill, ServeOptions(keep=Amount(bytes=600_000)))
    assert sizes[0] > 1_000_000
    assert 200_000 < sizes[1] <= 600_000
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False)
    assert erase(tmp_path, "1kB").records > 0  # as little as a snapshot allows
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False)


def test_replies_are_forgotten_after_their_time(tmp_path):
    async def scenario(service: Service) -> None:
        def key(name: str) -> Key:
            return Key(name, b"request", lambda done: HttpResponse(200, "text/plain", b"reply"))

        await service.predict("default", [{"x": 1.0}], key("old"))
        kept = await asyncio.to_thread(service.retention.due)
        service.retention._keep_replies = -1  # a second from now
        dropped = await asyncio.to_thread(service.retention.due)
        assert (len(kept), len(dropped)) == (0, 1)
        await forget(service)
        assert await service.keys.recalled(["old"]) == {}

    with_service(tmp_path, scenario)


def test_the_last_record_before_a_time_is_found_beside_gaps(tmp_path):
    async def scenario(service: Service) -> None:
        for _ in range(5):
            await ask(service, 1)

    with_service(tmp_path, scenario)
    journal = open_journal(tmp_path, None)
    times = {record.seq: record.time for record in journal.in_order()}
    journal.execute("DELETE FROM journal WHERE seq IN (3, 4)")
    left = {seq: at for seq, at in times.items() if seq not in (3, 4)}
    for at in (0, *times.values(), time.time_ns()):
        assert journal.last_before(at) == max((seq for seq in left if left[seq] <= at), default=0)
    journal.close()


@pytest.mark.parametrize(("text", "size"), [("20GB", 20 * 10**9), ("512 MiB", 512 << 20), ("3kb", 3000)])
def test_sizes_are_read(text, size):
    assert Amount.of(text, "keep", "seconds", "rows", "bytes") == Amount(bytes=size)


@pytest.mark.parametrize("text", ["20", "GB", "-1GB", "0GB", "1.5GB", "20 parsecs"])
def test_other_amounts_are_refused(text):
    with pytest.raises(InvalidParameter, match="keep must"):
        Amount.of(text, "keep", "seconds", "rows", "bytes")
    with pytest.raises(InvalidParameter, match=r"keep.replies must"):
        Amount.of(text, "keep_replies", "seconds")
