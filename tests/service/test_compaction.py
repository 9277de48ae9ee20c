"""A journal that is cut: the models stay as they are, late labels still find their rows, and what is erased is gone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.service.in_process import erase, records_in, state_of, with_service
from tests.service.journals import written
from thalweg import cli
from thalweg.errors import InvalidParameter, JournalDamaged
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.verification import verified
from thalweg.service.learning.rebuild import rebuild
from thalweg.service.service import Service

RNG = np.random.default_rng(3)


async def ask(service: Service, rows: int) -> list[str]:
    asked = await service.predict("default", [{"x": x} for x in RNG.normal(size=rows).tolist()])
    return [f"{asked.seq}-{at}" for at in range(rows)]


async def tell(service: Service, rows: list[str], **more: Any) -> Any:
    done = await service.label("default", [(row, str(RNG.choice(["a", "b"]))) for row in rows], **more)
    return done.outcome


def test_a_compacted_journal_gives_the_same_model_and_late_labels_still_come(tmp_path):
    rows: dict[str, list[str]] = {}

    async def first(service: Service) -> None:
        rows["learned"] = await ask(service, 5)
        rows["waiting"] = await ask(service, 4)
        rows["late"] = await ask(service, 3)
        await tell(service, rows["learned"])
        await tell(service, rows["waiting"][:2])
        service.models.threads["default"].keep()
        service.models.drain()
        await tell(service, rows["late"])  # after the snapshot at which the journal will be cut
        rows["new"] = await ask(service, 30)
        await tell(service, rows["new"])
        await service.label("default", [(rows["new"][3], "c")], revise=True)

    with_service(tmp_path, first)
    before = state_of(tmp_path)
    found = erase(tmp_path, "20rows")
    assert found.records == 2  # the first rows and their labels
    assert verified(open_journal(tmp_path, None, read_only=True)).records > 8
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False) == before
    with pytest.raises(InvalidParameter, match="begins at record"):
        state_of(tmp_path, through=3)
    assert erase(tmp_path, "20rows").records == 0

    async def then(service: Service) -> None:
        outcome = await tell(service, rows["waiting"])
        assert len(outcome.learned) == 2
        assert outcome.repeated + len(outcome.conflicts) == 2  # they have their labels
        assert (await tell(service, rows["learned"])).expired == rows["learned"]
        revised = await service.label("default", [(row, "c") for row in (*rows["waiting"], *rows["late"])], revise=True)
        assert revised.outcome.expired == rows["waiting"][:2]  # learned before the cut
        assert len(revised.outcome.revised) == 5
        assert (await service.withdraw("default", rows["waiting"][:1])).outcome.expired == rows["waiting"][:1]

    with_service(tmp_path, then)
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False)
    journal = open_journal(tmp_path, None)
    verified(journal)
    journal.execute("DELETE FROM snapshots")
    with pytest.raises(JournalDamaged, match="no snapshot since record"):
        rebuild(journal, "default")
    journal.close()


def test_compact_verifies_what_it_erases_and_passes_over_a_damaged_snapshot(tmp_path, capsys):
    def said(*options: str) -> str:
        with pytest.raises(SystemExit):
            cli.main(["compact", str(tmp_path), *options])
        return "".join(capsys.readouterr())

    @contextmanager
    def damaged(seq: int) -> Iterator[None]:
        [record] = journal.fetch([seq])
        change = "UPDATE journal SET body = ? WHERE seq = ?"
        journal.execute(change, [record.body + b" ", seq])
        yield
        journal.execute(change, [record.body, seq])

    journal = written(tmp_path, 40)
    with journal.transaction():
        for seq in (22, 42):
            journal.write([], parts=rebuild(journal, "default", seq).model.snapshot())
    before = state_of(tmp_path)
    with damaged(60):
        assert "erased nothing" in said("--keep", "40rows")
        assert "record 60 of the journal is damaged" in said("--keep", "40rows", "--verify")
    with damaged(30):
        assert "record 30 of the journal is damaged" in said("--keep", "10rows")
    journal.execute("UPDATE snapshots SET body = x'7b' WHERE seq = 42 AND name = 'default'")
    journal.close()
    assert "erased 19 records" in said("--keep", "30rows")  # up to the snapshot before
    assert state_of(tmp_path) == before


@pytest.mark.parametrize("keep", ["12rows", "12s"])
def test_a_journal_without_an_early_snapshot_is_cut_at_one_made_for_it(keep, tmp_path, capsys):
    def said(keep: str) -> str:
        with pytest.raises(SystemExit):
            cli.main(["compact", str(tmp_path), "--keep", keep])
        return capsys.readouterr().out

    journal = written(tmp_path, 40, pause=1_000_000)
    with journal.transaction():
        journal.write([], parts=rebuild(journal, "default").model.snapshot())
    journal.close()
    before = state_of(tmp_path)
    assert "asks for all" in said("41rows")
    assert "erased 55 records" in said(keep)  # of the first 28 rows and labels, all but the last, at the snapshot
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False) == before
    assert records_in(tmp_path) == 27  # the first two, that of the snapshot, 12 rows and their labels


def test_a_revision_keeps_the_label_that_it_changes(tmp_path, capsys):
    async def revise(service: Service) -> None:
        rows = []
        for _ in range(20):
            rows.append(await ask(service, 1))
            await tell(service, rows[-1])
        await service.label("default", [(rows[0][0], "c")], revise=True)
        for _ in range(3):
            await tell(service, await ask(service, 1))

    with_service(tmp_path, revise)
    with pytest.raises(SystemExit):
        cli.main(["compact", str(tmp_path), "--keep", "10rows"])
    assert "erased nothing: record 43 revises labels of record 4," in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["compact", str(tmp_path), "--keep", "2rows"])
    assert "erased 4" in capsys.readouterr().out  # the revision is before what is kept


@pytest.mark.slow
def test_replies_are_forgotten_with_what_they_were_given_for(start, tmp_path, capsys):
    server = start("--new", "oldc")
    client = server.client()
    asked = client.post("/v1/predict", {"rows": [{"x": 1.0}, {"x": 2.0}]}, idempotency_key="old")
    client.label([(each["id"], "a") for each in asked["predictions"]])
    server.stop()
    server = start("--new", "oldc")
    server.client().post("/v1/predict", {"row": {"x": 1.0}}, idempotency_key="new")
    server.stop()
    with pytest.raises(SystemExit) as ended:
        cli.main(["compact", str(tmp_path / "data"), "--keep", "1rows"])
    assert (ended.value.code, capsys.readouterr().out) == (0, "erased 1 records, 0 snapshots and 1 replies\n")
    journal = open_journal(tmp_path / "data", None, read_only=True)
    assert list(journal.recall(["old", "new"])) == ["new"]
    journal.close()
    server = start("--new", "oldc", "--keep", "1rows")
    assert server.client().label([(asked["predictions"][0]["id"], "a")])["expired"] == [asked["predictions"][0]["id"]]
