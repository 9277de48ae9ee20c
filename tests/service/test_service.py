"""The service without its protocol: what it counts, and what becomes of it when something in it fails."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from thalweg.client.protocol import CreateRequest
from thalweg.errors import JournalError
from thalweg.service.commands import Expire, Refused
from thalweg.service.journal.databases import open_journal
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.options import ServeOptions
from thalweg.service.server import make_first
from thalweg.service.service import Service
from thalweg.service.writer import Writer


def with_service(folder: Path, scenario: Callable[[Service], Awaitable[None]]) -> None:
    """Play a scenario on a service that is started and stopped."""
    journal = open_journal(folder, None)
    journal.claim()
    journal.prepare()
    make_first(journal, ServeOptions(new="oldc"))

    async def play() -> None:
        service = Service(journal, ServeOptions())
        await service.start()
        await scenario(service)
        await service.stop()

    asyncio.run(play())


async def teach(service: Service, *labels: str) -> int:
    asked = await service.predict("default", [{"x": float(i)} for i in range(len(labels))])
    done = await service.label("default", [(f"{asked.seq}-{i}", label) for i, label in enumerate(labels)])
    assert done.outcome is not None
    return len(done.outcome.learned)


def test_what_is_counted(tmp_path):
    async def scenario(service: Service) -> None:
        assert await teach(service, "a", "b", "a") == 3
        asked = await service.predict("default", [{"x": 1.0}])
        await service.label("default", [("1-0", "a")])
        await service.create(CreateRequest("rival", "majority", challenger_of="default"))
        found = service.counters()
        assert (found["rows"], found["labels"], found["revisions"], found["ready"]) == (4, 3, 0, True)
        assert found["commits"] >= 4
        model = found["models"]["default"]
        learners = model.pop("learners")
        assert model == {"rows": 4, "waiting": 1, "version": asked.seq - 1, "snapshot_age": None}
        told = {name: (each["labels"], each["error"], each["recent"]) for name, each in learners.items()}
        assert told == {"default": (3, None, None), "rival": (0, None, None)}  # all came before the first label
        await service.label("default", [(f"{asked.seq - 2}-0", "b")], revise=True)
        assert service.counters()["revisions"] == 1

    with_service(tmp_path, scenario)


def test_of_promotions_at_the_same_time_one_is_done(tmp_path):
    async def scenario(service: Service) -> None:
        await service.create(CreateRequest("rival", "majority", challenger_of="default"))
        await teach(service, "a", "b", "a")
        ways = (False, False, True)
        done = await asyncio.gather(*(service.promote("rival", force=each) for each in ways), return_exceptions=True)
        refused = [each for each in done if isinstance(each, Refused)]
        assert [each.status for each in refused] == [409, 409], done
        assert {name: each.kind for name, each in service.state("rival").learners.items()} == {
            "default": "majority",
            "rival": "oldc",
        }

    with_service(tmp_path, scenario)


def test_rows_that_may_wait_are_the_last_ones_with_those_asked_together(tmp_path):
    async def scenario(service: Service) -> None:
        async def expire(most: int) -> int:
            service._writer.put([Expire("default", None, None, most)])
            await service.label("default", [("nobody", "a")])  # waits for what came before
            return service.state("default").waiting

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
        assert service.counters()["models"]["default"]["learners"]["default"]["labels"] == 2

    with_service(tmp_path, again)


def test_a_failure_of_the_journal_is_logged_once_and_so_is_its_end(tmp_path, monkeypatch, caplog):
    def full(*_: object) -> None:
        raise JournalError("the journal cannot be used: the disk is full")

    async def scenario(service: Service) -> None:
        await teach(service, "a")
        with monkeypatch.context() as broken:
            broken.setattr(Writer, "_flush", full)
            for tried in (0.0, math.inf, 0.0):  # at once, too soon after a failure, and anew
                service._writer._tried = tried
                with pytest.raises(Refused, match="the journal "):
                    await service.predict("default", [{"x": 1.0}])
                await asyncio.to_thread(service._drain)
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
