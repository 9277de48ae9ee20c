"""Revised labels: the model is learned again in the background, and nobody waits for it but who revised."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.service.in_process import teach, with_service
from tests.waiting import PATIENCE, wait_until
from thalweg.client.protocol import CreateRequest
from thalweg.service.commands import Label
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.verification import verified
from thalweg.service.learning import learner, revision
from thalweg.service.learning.rebuild import rebuild, true_snapshots
from thalweg.service.service import Service
from thalweg.store import dumps


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Models are not learned again while this lasts; the event says that one would be."""
    begun, go_on = threading.Event(), threading.Event()

    def waiting(*arguments: Any, **more: Any) -> Any:
        begun.set()
        assert go_on.wait(PATIENCE)
        return rebuild(*arguments, **more)

    monkeypatch.setattr(revision, "rebuild", waiting)
    try:
        yield begun
    finally:
        go_on.set()


async def revise(service: Service, row: str, label: str) -> asyncio.Task[Label]:
    """A revision that is committed and waits to be learned."""
    task = asyncio.create_task(service.label("default", [(row, label)], revise=True))
    await asyncio.sleep(0)
    await asyncio.to_thread(service.models.drain)
    return task


def snapshot_by(service: Service) -> Any:
    return service.models.threads["default"].model.snapshot()


def replayed(folder: Path) -> Any:
    journal = open_journal(folder, None, read_only=True)
    found = rebuild(journal, "default", from_snapshots=False).model.snapshot()
    journal.close()
    return found


def test_a_snapshot_that_is_no_longer_true_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(learner, "_EVERY_LABELS", 10)
    monkeypatch.setattr(learner, "_MOST_TIME", 1e9)

    async def scenario(service: Service) -> None:
        await teach(service, "a")
        asked = await service.predict("default", [{"x": float(i)} for i in range(12)])
        await service.label("default", [(f"{asked.seq}-{i}", "ab"[i % 2]) for i in range(12)])
        revised = await service.label("default", [(f"{asked.seq}-0", "b")], revise=True)
        await asyncio.to_thread(service.models.drain)
        journal = open_journal(tmp_path, None, read_only=True)
        assert len(journal.snapshots("default")) == 2
        assert true_snapshots(journal, "default") == [revised.seq]
        journal.close()

    with_service(tmp_path, scenario)


def test_labels_and_predictions_of_all_models_go_on_while_a_label_is_revised(tmp_path, monkeypatch):
    async def scenario(service: Service) -> None:
        asked = await service.predict("default", [{"x": float(i)} for i in range(4)])
        rows = [f"{asked.seq}-{i}" for i in range(4)]
        await service.label("default", list(zip(rows, "abab", strict=True)))
        with held(monkeypatch) as begun:
            first = await revise(service, rows[0], "b")
            assert await asyncio.to_thread(begun.wait, PATIENCE)
            second = await revise(service, rows[1], "c")
            assert await teach(service, "a", "b", "b") == 3
            await service.decisions.create(CreateRequest("other", "oldc"))
            other = await service.predict("other", [{"y": 1.0}])
            assert len((await service.label("other", [(f"{other.seq}-0", "a")])).outcome.learned) == 1
            assert not first.done()
            assert not second.done()
        receipts = await asyncio.gather(first, second)
        assert [(len(each.outcome.revised), each.replayed) for each in receipts] == [(1, 4), (1, 4)]
        assert snapshot_by(service) == replayed(tmp_path)

    with_service(tmp_path, scenario)


def test_a_stop_does_not_wait_for_a_revision_and_the_next_start_has_it(tmp_path, monkeypatch):
    tasks = []

    async def scenario(service: Service) -> None:
        asked = await service.predict("default", [{"x": 1.0}, {"x": 2.0}])
        await service.label("default", [(f"{asked.seq}-0", "a"), (f"{asked.seq}-1", "b")])
        service.models.threads["default"].keep()
        service.models.drain()
        tasks.append(await revise(service, f"{asked.seq}-0", "b"))

    holding = ExitStack()
    begun = holding.enter_context(held(monkeypatch))

    async def again(service: Service) -> None:
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        assert snapshot_by(service) != replayed(tmp_path)  # it serves before it has learned the revision
        holding.close()
        thread = service.models.threads["default"]
        await asyncio.to_thread(wait_until, lambda: thread.is_current)
        assert snapshot_by(service) == replayed(tmp_path)
        assert service.models.state("default").learners["default"].view.labels == 2

    with_service(tmp_path, scenario)
    assert tasks[0].result().replayed == 2
    with holding:
        with_service(tmp_path, again)


@pytest.mark.parametrize("by_a_process", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_model_is_the_one_that_was_told_right_at_first_whenever_revisions_come(by_a_process, tmp_path, monkeypatch):
    if by_a_process:
        monkeypatch.setattr(revision, "_MANY", 0)
    rng = np.random.default_rng(5)
    rounds, revisions = (2, 1) if by_a_process else (12, 3)  # a process takes a second to start

    async def scenario(service: Service) -> None:
        rows: list[str] = []
        revising: list[asyncio.Task[Label]] = []
        for _ in range(rounds):
            asked = await service.predict("default", [{"x": x} for x in rng.normal(size=8).tolist()])
            new = [f"{asked.seq}-{i}" for i in range(8)]
            revising += [
                await revise(service, str(rng.choice(rows)), str(rng.choice(list("abc")))) for _ in rows[:revisions]
            ]
            await service.label("default", [(row, str(rng.choice(list("abc")))) for row in new])
            rows += new
        await asyncio.gather(*revising)
        assert sum(len(each.result().outcome.revised) for each in revising) >= rounds // 2
        assert snapshot_by(service) == replayed(tmp_path)

    with_service(tmp_path, scenario)
    assert snapshot_parts(tmp_path) == replayed(tmp_path)


def test_a_row_that_is_withdrawn_was_never_learned(tmp_path):
    """With or without a label, before and after others: as in a service that was never told the labels."""
    xs, labels = np.random.default_rng(2).normal(size=20).tolist(), list("abcab" * 4)
    withdrawn = {1, 4, 5, 19}
    found = []

    def scenario(told: set[int]) -> Callable[[Service], Awaitable[None]]:
        async def play(service: Service) -> None:
            asked = await service.predict("default", [{"x": x} for x in xs])
            rows = [f"{asked.seq}-{at}" for at in range(20)]
            await service.label("default", [(rows[at], labels[at]) for at in range(10) if at in told])
            if 1 in told:
                done = await service.withdraw("default", [rows[1], rows[19], "nobody"])
                assert (len(done.outcome.voided), done.outcome.unknown, done.replayed) == (2, ["nobody"], 9)
                service.models.threads["default"].keep()
                service.models.drain()
            await service.label("default", [(rows[at], labels[at]) for at in range(10, 19)])
            if 1 in told:
                done = await service.withdraw("default", [rows[4], rows[5], rows[1]])
                assert (len(done.outcome.voided), done.outcome.repeated, done.replayed) == (2, 1, 16)
                late = await service.label("default", [(rows[1], "b"), (rows[19], "b"), (rows[2], "a")], revise=True)
                assert (late.outcome.expired, len(late.outcome.revised)) == ([rows[1], rows[19]], 1)
                assert service.models.state("default").waiting == 0
                assert snapshot_by(service) == replayed(tmp_path / str(1 in told))
            else:
                await service.label("default", [(rows[2], "a")], revise=True)
            live = service.models.threads["default"].model
            found.append(dumps(live.learners["default"].model))

        return play

    for told in (set(range(20)), set(range(20)) - withdrawn):
        folder = tmp_path / str(1 in told)
        with_service(folder, scenario(told))
        assert verified(open_journal(folder, None, read_only=True)).records > 4
    assert found[0] == found[1]

    async def again(service: Service) -> None:
        assert (service.models.state("default").waiting, service.models.state("default").summary("default").labels) == (
            0,
            16,
        )

    with_service(tmp_path / "True", again)


def snapshot_parts(folder: Path) -> Any:
    journal = open_journal(folder, None, read_only=True)
    found = journal.snapshot("default", journal.snapshots("default")[-1])
    journal.close()
    return found
