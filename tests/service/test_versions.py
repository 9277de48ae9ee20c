"""Versions: states are named, exported and returned to; a rollback is replayed to the same bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.service.in_process import erase, state_of, with_service
from tests.service.rows import SCHEMA, stream
from thalweg.client import Client
from thalweg.errors import ServiceRefused
from thalweg.service.commands import Refused
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.verification import verified
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.service import Service
from thalweg.store import dumps, loads


def rows_of(seed: int, rows: int = 30, turn: float = 1.0) -> tuple[list[dict[str, float]], list[str]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    found = [{"x": float(x), "y": float(y)} for x, y in X.round(3)]
    return found, ["high" if turn * row["x"] > row["y"] else "low" for row in found]


async def teach(service: Service, rows: list[dict[str, float]], labels: list[str]) -> list[str]:
    asked = await service.predict("default", rows)
    ids = [f"{asked.seq}-{at}" for at in range(len(rows))]
    await service.label("default", list(zip(ids, labels, strict=True)))
    return ids


def learner(file: bytes) -> bytes:
    """A model file without what it says of the stream."""
    return dumps(loads(file).learner_)


async def refused(status: int, call: Awaitable[Any]) -> None:
    with pytest.raises(Refused) as found:
        await call
    assert found.value.status == status


def test_a_model_continues_from_the_state_that_it_returned_to(tmp_path):
    good, wrong, later = rows_of(1), rows_of(2, turn=-1.0), rows_of(3)

    async def scenario(service: Service) -> None:
        await refused(409, service.decisions.roll_back("default", None, 1))  # nothing is learned yet
        first = await teach(service, *good)
        await service.decisions.name_version("default", "good")
        then = await service.decisions.file("default")
        assert loads(then).notes["run"]["learned"] == 30
        await teach(service, *wrong)
        assert learner(await service.decisions.file("default")) != learner(then)
        assert await service.decisions.file("default", "good") == then
        done = await service.decisions.roll_back("default", "good", None)
        assert learner(await service.decisions.file("default")) == learner(then)
        assert service.models.state("default").summary("default").labels == 60  # what happened is not undone
        await teach(service, *later)
        oracle = loads(then).partial_fit(*later)
        assert learner(await service.decisions.file("default")) == dumps(oracle.learner_)
        answers = (await service.predict("default", wrong[0])).response.predictions(1)
        assert [each.prediction for each in answers] == oracle.predict(wrong[0]).tolist()
        assert learner(await service.decisions.file("default", seq=done.seq)) == learner(then)
        await refused(409, service.decisions.name_version("default", "good"))
        await refused(404, service.decisions.roll_back("default", "better", None))
        await refused(404, service.decisions.roll_back("default", None, 10_000))
        await refused(422, service.decisions.roll_back("default", "good", 3))
        await refused(409, service.decisions.roll_back("default", None, 1))  # before the columns were known
        # A correction of what the version had learned changes scores, but not the state that was returned to.
        revised = await service.label("default", [(first[0], "low" if good[1][0] == "high" else "high")], revise=True)
        assert revised.outcome.revised
        assert learner(await service.decisions.file("default")) == dumps(oracle.learner_)
        assert [each.version for each in await service.decisions.versions("default") if each.version] == ["good"]

    with_service(tmp_path, scenario)
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False)

    async def more(service: Service) -> None:
        await teach(service, *later)

    with_service(tmp_path, more)
    assert erase(tmp_path, "5rows").records > 0
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False)

    async def after_the_cut(service: Service) -> None:
        state = service.models.state("default")
        await refused(404, service.decisions.file("default", seq=state.versions["good"] + 1))
        await teach(service, *wrong)
        await service.decisions.roll_back("default", "good", None)
        assert learner(await service.decisions.file("default")) == learner(
            await service.decisions.file("default", "good")
        )

    with_service(tmp_path, after_the_cut)
    whole = state_of(tmp_path, from_snapshots=False)
    assert state_of(tmp_path) == whole
    model = LiveModel.from_snapshot(whole)
    assert dumps(model.learners["default"].model) == learner(state_file(tmp_path, model.versions["good"]))
    verified(open_journal(tmp_path, None, read_only=True))


def state_file(folder: Path, seq: int) -> bytes:
    return LiveModel.from_snapshot(state_of(folder, through=seq)).file("default")


def test_snapshots_of_versions_are_kept_while_others_are_dropped(tmp_path):
    async def scenario(service: Service) -> None:
        for at in range(40):
            await teach(service, *rows_of(at, 2))
            await service.decisions.name_version("default", f"v{at}")
        service.models.drain()
        service.models.drain()
        found = await service.decisions.versions("default")
        assert [each.version for each in found] == [f"v{at}" for at in range(40)]

    with_service(tmp_path, scenario)
    journal = open_journal(tmp_path, None, read_only=True)
    assert len(journal.snapshots("default")) >= 40
    journal.close()


def test_models_are_downloaded_and_uploaded(start: Callable[..., Any]):
    server = start("--new", "auto")
    rows, labels = stream(60)
    with Client(f"http://127.0.0.1:{server.port}") as client:
        client.create("river", "auto", schema=SCHEMA)
        client.create("rival", "logistic", challenger_of="river")
        answers = client.predict(rows[:40], model="river")
        client.label(dict(zip(answers.ids, labels[:40], strict=True)), model="river")
        file = client.download("river")
        assert client.upload("copy", file).name == "copy"
        for name in ("river", "copy"):
            answers = client.predict(rows[40:], model=name)
            client.label(dict(zip(answers.ids, labels[40:], strict=True)), model=name)
        assert learner(client.download("copy")) == learner(client.download("river")) != learner(file)
        seq = client.name_version("river", "v1").seq
        assert [each.seq for each in client.versions("river") if each.version == "v1"] == [seq]
        assert client.download("rival", version="v1") == client.download("rival", seq=seq)
        client.rollback("rival", seq=answers_seq(answers))
        assert client.compare("rival").labels == 0
        for status, call in (
            (409, lambda: client.upload("copy", file)),
            (422, lambda: client.upload("other", file[:-1])),
            (422, lambda: client.upload("other", dumps(loads(file).learner_))),
            (422, lambda: client.upload("oth er", file)),
            (404, lambda: client.download("river", version="v2")),
            (404, lambda: client.download("nobody")),
            (422, lambda: client.name_version("river", "v 1")),
            (404, lambda: client.rollback("river", "v2")),
        ):
            with pytest.raises(ServiceRefused) as refused:
                call()
            assert refused.value.status == status, refused.value
        with pytest.raises(ServiceRefused, match="at most"):
            client.upload("huge", b"0" * ((16 << 20) + 1))
        before = learner(client.download("rival"))
    server.kill()
    with Client(f"http://127.0.0.1:{start('--new', 'auto').port}") as client:
        assert learner(client.download("rival")) == before
        assert learner(client.download("copy")) == learner(client.download("river"))


def answers_seq(answers: Any) -> int:
    """The record of some predictions."""
    return int(answers.ids[0].split("-")[0])
