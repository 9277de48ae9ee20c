"""Rows of a subject are erased: nothing of them is left in files and models, and all else goes on."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.service.in_process import state_of, with_service
from tests.service.test_retention import forget
from tests.test_store import header_and_arrays
from thalweg import cli
from thalweg.errors import JournalDamaged
from thalweg.service.commands import HttpResponse, Key
from thalweg.service.journal.compressed_rows import CompressedRows
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.records import WATCHED_COLUMNS, LabelBody, PredictBody, Predicted
from thalweg.service.journal.verification import Verified, verified
from thalweg.service.learning.rebuild import rebuild
from thalweg.service.options import Amount, ServeOptions
from thalweg.service.service import Service
from thalweg.store import dumps

RNG = np.random.default_rng(5)
#: The subject's rows have these values, and nobody else's.
SECRETS = [8.2718281828, 9.1415926535]


def found_in(folder: Path, *needles: bytes) -> list[str]:
    return [file.name for file in folder.iterdir() for needle in needles if needle in file.read_bytes()]


def needles() -> list[bytes]:
    return [struct.pack("<d", secret) for secret in SECRETS] + [b"reply-of-the-subject"]


def check(folder: Path) -> Verified:
    journal = open_journal(folder, None, read_only=True)
    try:
        return verified(journal)
    finally:
        journal.close()


def snapshots_in(folder: Path) -> list[int]:
    journal = open_journal(folder, None, read_only=True)
    try:
        return journal.snapshots("default")
    finally:
        journal.close()


def key(name: str, body: bytes) -> Key:
    return Key(name, b"request", lambda done: HttpResponse(200, "text/plain", body))


async def filled(service: Service, name: str = "subject") -> dict[str, list[str]]:
    """A hundred labels of others, then a labelled row of the subject, one that waits, and more of others."""

    async def others(rows: int) -> None:
        xs = RNG.normal(size=rows)
        asked = await service.predict("default", [{"x": x} for x in xs.tolist()])
        await service.label("default", [(f"{asked.seq}-{i}", "b" if x > 0 else "a") for i, x in enumerate(xs)])

    await others(100)
    own = await service.predict(
        "default", [{"x": 0.1}, {"x": SECRETS[0]}, {"x": SECRETS[1]}], key(name, b"reply-of-the-subject")
    )
    ids = [f"{own.seq}-{row}" for row in range(3)]
    await service.label("default", [(ids[0], "a"), (ids[1], "b")])
    await others(30)
    return {"subject": ids[1:], "other": ids[:1]}


def test_erased_rows_are_gone_from_every_file_and_from_what_was_learned(tmp_path):
    rows: dict[str, list[str]] = {}

    async def scenario(service: Service) -> None:
        rows.update(await filled(service))
        waiting = service.models.states()[0].waiting
        assert found_in(tmp_path, *needles())
        done = await service.withdraw("default", [*rows["subject"], "99999-0", "x"], erase=True)
        assert (len(done.outcome.erased), done.outcome.unknown) == (2, ["99999-0", "x"])
        assert service.models.states()[0].waiting == waiting - 1
        assert (await service.withdraw("default", rows["subject"], erase=True)).outcome.repeated == 2
        later = await service.label("default", [(row, "a") for row in rows["subject"]], revise=True)
        assert later.outcome.expired == rows["subject"]
        assert len((await service.label("default", [(rows["other"][0], "b")], revise=True)).outcome.revised) == 1
        kept = (await service.keys.recalled(["subject"]))["subject"]
        assert (kept.status, kept.request) == (410, b"")

    with_service(tmp_path, scenario)
    assert found_in(tmp_path, *needles()) == []
    assert check(tmp_path).erased == 2
    journal = open_journal(tmp_path, None, read_only=True)
    replayed, first = (rebuild(journal, "default", from_snapshots=each).model for each in (True, False))
    assert (first.labels, first.waiting) == (131, 0)  # all but the subject's
    assert [part.body for part in first.snapshot()] == [part.body for part in replayed.snapshot()]
    journal.close()


def test_the_command_line_erases_in_free_space_too(tmp_path, capsys):
    rows: dict[str, list[str]] = {}

    async def scenario(service: Service) -> None:
        rows.update(await filled(service))

    with_service(tmp_path, scenario)
    assert len(snapshots_in(tmp_path)) == 1
    with pytest.raises(SystemExit) as ended:
        cli.main(["erase", str(tmp_path), *(part for row in rows["subject"] for part in ("--id", row))])
    assert (ended.value.code, capsys.readouterr().out) == (0, "erased 2 rows\n")
    assert found_in(tmp_path, *needles()) == []
    assert snapshots_in(tmp_path) == []  # which had learned the rows
    whole = [part.body for part in state_of(tmp_path, from_snapshots=False)]
    assert [part.body for part in state_of(tmp_path)] == whole
    with pytest.raises(SystemExit) as ended:
        cli.main(["erase", str(tmp_path), "--id", "7-70"])
    assert (ended.value.code, capsys.readouterr().err) == (2, "thalweg: 'default' has no row 7-70\n")
    journal = open_journal(tmp_path, None)
    asked = int(rows["subject"][0].split("-")[0])
    body = journal.fetch([asked])[0].body
    journal.execute("UPDATE journal SET body = ? WHERE seq = ?", [body[:-1] + b"\7", asked])
    with pytest.raises(JournalDamaged, match=f"record {asked} "):
        verified(journal)
    journal.close()


@pytest.mark.parametrize("running", [True, False])
def test_what_is_watched_begins_anew_at_an_erasure_in_a_replay_too(tmp_path, capsys, running):
    waiting: list[str] = []

    async def erased(service: Service) -> None:
        rows = await filled(service)
        service.models.threads["default"].keep()  # a snapshot from before the erasure
        service.models.drain()
        if running:
            await service.withdraw("default", rows["subject"][1:], erase=True)
            await filled(service, "later")
        waiting.append(rows["subject"][1])

    async def more(service: Service) -> None:
        await filled(service, "later")

    with_service(tmp_path, erased)
    if not running:
        with pytest.raises(SystemExit):
            cli.main(["erase", str(tmp_path), "--id", waiting[0]])
        assert capsys.readouterr().out == "erased 1 row\n"
        with_service(tmp_path, more)
    journal = open_journal(tmp_path, None, read_only=True)
    models = [rebuild(journal, "default", from_snapshots=each).model for each in (True, False)]
    journal.close()
    assert [model.publish().inputs("default").rows for model in models] == [133, 133]  # those after the erasure
    kept = [{part.name: part.body for part in model.snapshot()}[WATCHED_COLUMNS] for model in models]
    assert kept[0] == kept[1]


def test_a_row_that_was_withdrawn_first_is_gone_from_snapshots_and_counted_once(tmp_path):
    async def scenario(service: Service) -> None:
        rows = await filled(service)
        service.models.threads["default"].keep()
        service.models.drain()
        await service.withdraw("default", rows["subject"])
        await service.withdraw("default", rows["subject"], erase=True)

    with_service(tmp_path, scenario)
    assert found_in(tmp_path, *needles()) == []
    journal = open_journal(tmp_path, None, read_only=True)
    models = [rebuild(journal, "default", from_snapshots=each).model for each in (True, False)]
    assert [(model.labels, model.waiting, model.expired) for model in models] == [(131, 0, 2)] * 2
    last = journal.last()[0]
    for seq in range(2, last):  # whatever was asked is counted once, at any record
        model = rebuild(journal, "default", seq, from_snapshots=False).model
        assert model.rows - model.labels - model.expired == model.waiting >= 0
    journal.close()


@pytest.mark.parametrize("kind", ["forest", "auto"])
def test_a_forest_that_holds_rows_gives_up_those_that_are_erased(tmp_path, kind):
    """Its window has them in single precision."""
    single = [struct.pack("<f", SECRETS[0])]

    def arrays(service: Service) -> dict[str, np.ndarray]:
        model = service.models.threads["default"].model
        return header_and_arrays(dumps(model.learners["default"].model))[1]

    def holding(service: Service) -> list[str]:
        secret = SECRETS[0]
        return [name for name, values in arrays(service).items() if np.isin([secret, np.float32(secret)], values).any()]

    async def scenario(service: Service) -> None:
        rows = await filled(service)
        service.models.threads["default"].keep()
        service.models.drain()
        assert [name.rsplit("_", 3)[1:] for name in holding(service)] == [["window", "row", "values"]]
        assert found_in(tmp_path, *single)
        done = await service.withdraw("default", rows["subject"], erase=True)
        assert done.replayed == 131  # there is no snapshot from before
        assert holding(service) == []
        held = next(values for name, values in arrays(service).items() if name.endswith("window_row_values"))
        assert len(held) == 131

    with_service(tmp_path, scenario, ServeOptions(new=kind))
    assert found_in(tmp_path, *needles(), *single) == []


@pytest.mark.slow
@pytest.mark.real
def test_a_journal_in_postgresql_is_cut_and_erased(postgres, capsys):
    address = postgres.database()
    rows: list[str] = []

    async def scenario(service: Service) -> None:
        for name in ("first", "second", "third"):
            rows.extend((await filled(service, name))["subject"])
            service.models.threads["default"].keep()
            service.models.drain()
        await forget(service)
        assert service.retention.size > 0
        await service.withdraw("default", rows[:1], erase=True)

    with_service(address, scenario, ServeOptions(keep=Amount(rows=140)))
    with pytest.raises(SystemExit) as ended:
        cli.main(["erase", "--database", address, *(part for row in rows for part in ("--id", row))])
    assert (ended.value.code, capsys.readouterr().out) == (0, "erased 5 rows\n1 had been erased before\n")
    journal = open_journal(None, address)
    assert (verified(journal).erased, journal.cuts()["default"] > 1) == (6, True)
    assert rebuild(journal, "default").model.waiting == 0
    assert journal.used() > 0
    journal.close()
    postgres.stop("fast")  # with all of it in its tables
    try:
        secrets = [struct.pack("<d", secret) for secret in SECRETS]
        files = [file for file in (postgres.folder / "data" / "base").rglob("*") if file.is_file()]
        assert not [file for file in files for secret in secrets if secret in file.read_bytes()]
    finally:
        postgres.start()


@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_left_of_a_record_has_no_values(sparse):
    from scipy.sparse import csr_array

    X = np.array([[1.0, 0.0], [2.0, 3.0], [4.0, 5.0]])
    numbers = Predicted({"prediction": RNG.normal(size=3), "kept": np.ones((3, 2), np.uint8)})
    labels = Predicted(
        {"prediction": np.array([0, 1, 1], np.int16), "of_positive": np.array([0.1, 0.2, 0.3])}, ["a", "b"]
    )
    gaps = np.array([[False, True], [True, False], [False, False]])
    rows = CompressedRows.of(csr_array(X)) if sparse else X
    when = np.arange(3).astype("datetime64[us]")
    cells = {"day": (np.array([0, 1, 0]), ["mon", "secret"]), "when": when}
    more = {"baselines": {"running_mean": 0.5}, "before": 2, "cells": cells}
    body = PredictBody(rows, {"m": labels, "n": numbers}, "a", 3, gaps, **more)
    left = body.without([1]).without([2])
    assert b"secret" not in left.to_bytes()
    left = PredictBody.from_bytes(left.to_bytes())
    assert (left.cells["day"][0].tolist(), left.cells["day"][1]) == ([0, -1, -1], ["mon"])
    assert np.isnat(left.cells["when"]).tolist() == [False, True, True]
    assert left.erased == (1, 2)
    dense = left.X.matrix().toarray() if isinstance(left.X, CompressedRows) else left.X
    assert dense.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert left.predictions["m"].columns["prediction"].tolist() == [0, -1, -1]
    assert np.isnan(left.predictions["n"].columns["prediction"][1:]).all()
    assert not left.predictions["n"].columns["kept"][1:].any()
    assert left.gaps.tolist() == [[False, True], [False, False], [False, False]]
    labelled = LabelBody([(3, 0, "a"), (3, 1, "secret")], [(3, 2, "secret", 2), (3, 1, "", 0)])
    kept = labelled.without([(3, 1), (3, 2)])
    assert LabelBody.from_bytes(kept.to_bytes()) == LabelBody(
        [(3, 0, "a"), (3, 1, None)], [(3, 2, None, 2), (3, 1, "", 0)]
    )
    assert b"secret" not in kept.to_bytes()
