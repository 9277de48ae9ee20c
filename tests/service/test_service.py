"""The service without its protocol: what it counts, and what becomes of it when something in it fails."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from tests.service.in_process import teach, with_service
from thalweg.client.protocol import CreateRequest
from thalweg.errors import JournalError
from thalweg.service import record_clock
from thalweg.service.commands import Expire, HttpResponse, Key, Predict, Refused
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.records import StoredResponse
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.rebuild import rebuild
from thalweg.service.service import Service
from thalweg.service.writer import Writer


def test_what_is_counted(tmp_path):
    async def scenario(service: Service) -> None:
        assert await teach(service, "a", "b", "a") == 3
        asked = await service.predict("default", [{"x": 1.0}])
        await service.label("default", [("1-0", "a")])
        await service.decisions.create(CreateRequest("rival", "majority", challenger_of="default"))
        found = service.counters()
        assert (found["rows_total"], found["labels_total"], found["revisions_total"], found["ready"]) == (4, 3, 0, True)
        assert found["commits_total"] >= 4
        model = found["models"]["default"]
        learners = model.pop("learners")
        watched = {"importance": {}, "input_changes_total": 0, "model_snapshot_age_seconds": None}
        assert model == {"model_rows_total": 4, "model_waiting_rows": 1} | watched
        told = {
            name: (
                each["model_labels_total"],
                each["scores"]["model"]["error"],
                each["scores"]["model"]["recent_error"],
            )
            for name, each in learners.items()
        }
        assert told == {"default": (3, None, None), "rival": (0, None, None)}  # all came before the first label
        await service.label("default", [(f"{asked.seq - 2}-0", "b")], revise=True)
        assert service.counters()["revisions_total"] == 1

    with_service(tmp_path, scenario)


def test_of_promotions_at_the_same_time_one_is_done(tmp_path):
    async def scenario(service: Service) -> None:
        await service.decisions.create(CreateRequest("rival", "majority", challenger_of="default"))
        await teach(service, "a", "b", "a")
        ways = (False, False, True)
        done = await asyncio.gather(
            *(service.decisions.promote("rival", force=each) for each in ways), return_exceptions=True
        )
        refused = [each for each in done if isinstance(each, Refused)]
        assert [each.status for each in refused] == [409, 409], done
        assert {name: each.kind for name, each in service.models.state("rival").learners.items()} == {
            "default": "majority",
            "rival": "oldc",
        }

    with_service(tmp_path, scenario)


def test_rows_that_may_wait_are_the_last_ones_with_those_asked_together(tmp_path):
    async def scenario(service: Service) -> None:
        async def expire(most: int) -> int:
            service.models.writer.put([Expire("default", None, None, most)])
            await service.label("default", [("nobody", "a")])  # waits for what came before
            return service.models.state("default").waiting

        waiting = []
        for rows in (100, 4, 5, 2):
            await service.predict("default", [{"x": 1.0}] * rows)
            waiting.append(await expire(10))
        assert waiting == [100, 104, 109, 11]  # the first hundred are given up once ten others have come
        assert await expire(7) == 7

    with_service(tmp_path, scenario)


def test_only_labels_that_are_learned_count_towards_the_most(tmp_path, monkeypatch):
    monkeypatch.setattr("thalweg.service.writer.MOST_LABELS", 3)

    async def scenario(service: Service) -> None:
        await teach(service, "a", "b")
        await service.label("default", [("nobody", each) for each in "uvwxyz"])
        asked = await service.predict("default", [{"x": 1.0}, {"x": 2.0}])
        first, second = f"{asked.seq}-0", f"{asked.seq}-1"
        with pytest.raises(Refused, match="at most 3 different labels"):
            await service.label("default", [(first, "c"), (second, "d")])
        done = await service.label("default", [(first, "c"), (second, "a")])  # what was refused left nothing behind
        assert done.outcome is not None
        assert (len(done.outcome.learned), done.outcome.conflicts) == (2, [])
        with pytest.raises(Refused, match="at most 3 different labels"):
            await service.label("default", [(second, "e")], revise=True)

    with_service(tmp_path, scenario)


def test_decisions_that_come_together_are_taken_in_their_order(tmp_path):
    """Each is asked for before the one before it is published."""

    async def together(*calls: Awaitable[Any]) -> list[bool]:
        """By call, whether it is refused; any other failure is raised."""
        found = await asyncio.gather(*calls, return_exceptions=True)
        for each in found:
            if isinstance(each, BaseException) and not isinstance(each, Refused):
                raise each
        return [isinstance(each, Refused) for each in found]

    async def scenario(service: Service) -> None:
        await teach(service, "a", "b")
        await service.decisions.create(CreateRequest("rival", "majority", challenger_of="default"))
        promoted_late = service.decisions.set_archived("rival", True), service.decisions.promote("rival", force=True)
        assert await together(*promoted_late) == [False, True]
        restored_twice = service.decisions.set_archived("rival", False), service.decisions.set_archived("rival", False)
        assert await together(*restored_twice) == [False, True]
        for _ in range(30):
            asked = [service.predict("default", [{"x": 1.0}]) for _ in range(3)]
            await together(asked[0], service.decisions.set_archived("default", True), *asked[1:])
            await service.decisions.set_archived("default", False)

    with_service(tmp_path, scenario)


def test_rows_do_not_expire_when_the_clock_jumps(tmp_path, monkeypatch):
    """A start with the clock 40 days ahead, one with the right one, and 31 days of waiting."""
    day = 86_400
    ahead, seen = 0, 0
    clock = SimpleNamespace(
        time_ns=lambda: time.time_ns() + (ahead + seen) * day * 10**9,
        monotonic_ns=lambda: time.monotonic_ns() + seen * day * 10**9,
    )
    monkeypatch.setattr(record_clock, "time", clock)
    rows: list[str] = []

    async def waiting(service: Service) -> int:
        service.models.writer.put([Expire("default", None, 30 * day, None)])
        await asyncio.to_thread(service.models.drain)
        return service.models.state("default").waiting

    async def ask(service: Service) -> None:
        rows.append(f"{(await service.predict('default', [{'x': 1.0}])).seq}-0")

    async def first(service: Service) -> None:
        await ask(service)

    async def by_a_wrong_clock(service: Service) -> None:
        nonlocal ahead
        ahead = 40
        assert await waiting(service) == 1
        await ask(service)
        assert await waiting(service) == 2

    async def by_the_right_clock(service: Service) -> None:
        nonlocal ahead, seen
        assert await waiting(service) == 2
        ahead = 0
        assert await waiting(service) == 2
        done = await service.label("default", [(rows[0], "a")])
        assert len(done.outcome.learned) == 1
        seen, ahead = 31, 40
        assert await waiting(service) == 0

    for scenario in (first, by_a_wrong_clock, by_the_right_clock):
        with_service(tmp_path, scenario)


def test_a_stray_first_row_does_not_fix_the_columns(tmp_path):
    """Until a label has come the columns are those that most rows have, whatever came first."""

    async def scenario(service: Service) -> None:
        strays = [await service.predict("default", [{"zzz": 1}]) for _ in range(2)]
        good = [
            [{"x": float(i), "name": f"n{i % 70}"} for i in range(210)]
        ] * 2  # a category for which learners are wrapped
        for rows in good[0][:2]:
            with pytest.raises(Refused, match="no such column"):
                await service.predict("default", [rows])
        for rows in good:
            await service.predict("default", rows)
        assert [column.name for column in service.models.state("default").columns.columns] == ["x", "name"]
        with pytest.raises(Refused, match="no such column"):
            await service.predict("default", [{"zzz": 1}])
        others = [{"x": 1.0, "y": float(i), "name": f"n{i % 70}"} for i in range(210)]
        found = await asyncio.gather(*(service.predict("default", others) for _ in range(4)), return_exceptions=True)
        assert all(isinstance(each, Predict | Refused) for each in found)
        asked = await service.predict("default", others)
        done = await service.label("default", [(f"{strays[0].seq}-0", "a"), (f"{asked.seq}-0", "b")])
        assert (len(done.outcome.learned), len(done.outcome.expired)) == (1, 1)
        for _ in range(30):
            with pytest.raises(Refused, match="no such column"):
                await service.predict("default", [{"zzz": 1}] * 100)
        await service.predict("default", others[:1])

    with_service(tmp_path, scenario)
    journal = open_journal(tmp_path, None, read_only=True)
    whole = rebuild(journal, "default", from_snapshots=False).model
    assert whole.snapshot() == rebuild(journal, "default").model.snapshot()
    assert (whole.labels, whole.expired, whole.waiting) == (1, 422, whole.rows - 423)
    journal.close()


def test_keys_that_come_together_are_looked_up_together(tmp_path, monkeypatch):
    looked_up: list[int] = []
    recall = SqlJournal.recall

    def counted(journal: SqlJournal, keys: Sequence[str]) -> dict[str, StoredResponse]:
        looked_up.append(len(keys))
        return recall(journal, keys)

    async def ask(service: Service, key: str) -> HttpResponse:
        async def act() -> HttpResponse:
            given = Key(key, b"asked", lambda command: HttpResponse(200, "text", f"{command.seq}".encode()))
            done = (await service.predict("default", [{"x": 1.0}], given)).reply
            assert done is not None
            return done

        return await service.keys.once(key, b"asked", act)

    async def scenario(service: Service) -> None:
        monkeypatch.setattr(SqlJournal, "recall", counted)
        first = await asyncio.gather(*(ask(service, f"key {at % 100}") for at in range(150)))
        assert len({each.body for each in first}) == 100
        assert len(looked_up) <= 5
        assert await asyncio.gather(*(ask(service, f"key {at % 100}") for at in range(150))) == first
        assert (await service.predict("default", [{"x": 1.0}])).seq == max(int(each.body) for each in first) + 1

    with_service(tmp_path, scenario)


def test_a_model_that_cannot_learn_is_told_and_the_journal_keeps_the_labels(tmp_path, monkeypatch, caplog):
    async def scenario(service: Service) -> None:
        await teach(service, "a")
        with monkeypatch.context() as broken:
            broken.setattr(LiveModel, "_learn", lambda *_: 1 / 0)
            with pytest.raises(Refused, match="in the journal, but a model could not learn it") as refused:
                await teach(service, "b")
        assert (refused.value.status, service.ready) == (503, False)
        assert await service.predict("default", [{"x": 1.0}])  # by what was published before

    with_service(tmp_path, scenario)
    assert "could not learn" in caplog.text

    async def again(service: Service) -> None:
        assert service.counters()["models"]["default"]["learners"]["default"]["model_labels_total"] == 2

    with_service(tmp_path, again)


def test_a_failure_of_the_journal_is_logged_once_and_so_is_its_end(tmp_path, monkeypatch, caplog):
    def full(*_: object) -> None:
        raise JournalError("the journal cannot be used: the disk is full")

    async def scenario(service: Service) -> None:
        await teach(service, "a")
        with monkeypatch.context() as broken:
            broken.setattr(Writer, "_flush", full)
            for tried in (0.0, math.inf, 0.0):  # at once, too soon after a failure, and anew
                service.models.writer._tried = tried
                with pytest.raises(Refused, match="the journal "):
                    await service.predict("default", [{"x": 1.0}])
                await asyncio.to_thread(service.models.drain)
        while not service.ready:
            with suppress(Refused):
                await teach(service, "b")

    with_service(tmp_path, scenario)
    told = [record.getMessage() for record in caplog.records]
    assert [each.split(";")[0] for each in told] == [
        "the journal cannot be used: the disk is full",
        "the journal is written again",
    ]


def test_a_failure_of_the_writer_is_told_and_all_begins_anew(tmp_path, monkeypatch, caplog):
    async def scenario(service: Service) -> None:
        await teach(service, "a")
        with monkeypatch.context() as broken:
            broken.setattr(Writer, "_append", lambda *_: 1 / 0)
            with pytest.raises(Refused) as refused:
                await service.predict("default", [{"x": None}])
        assert (refused.value.status, service.ready) == (500, False)
        while not service.ready:
            with suppress(Refused):
                await teach(service, "b")
        assert await teach(service, "c") == 1

    with_service(tmp_path, scenario)
    assert "could not be written" in caplog.text


def test_labels_that_a_model_did_not_know_are_named(tmp_path):
    async def scenario(service: Service) -> None:
        await teach(service, "a", "b")
        for expected in (["A"], []):
            asked = await service.predict("default", [{"x": 1.0}, {"x": 2.0}])
            done = await service.label("default", [(f"{asked.seq}-0", "a"), (f"{asked.seq}-1", "A")])
            assert done.outcome is not None
            assert done.outcome.new_labels == expected

    with_service(tmp_path, scenario)
