"""The journal by itself: what reading it costs, and how damage is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.service.journals import written
from thalweg import cli
from thalweg.errors import JournalDamaged, JournalError
from thalweg.service.journal.databases import FILE, open_journal
from thalweg.service.journal.erasing import FIRST, erase_page
from thalweg.service.journal.records import Part
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.journal.verification import verified
from thalweg.service.learning.rebuild import rebuild


def steps(journal: SqlJournal) -> dict[str, int]:
    """Hundreds of instructions of SQLite's machine: to list the models, to read all records, to find some to erase."""
    found = {}
    for name, read in (
        ("models", journal.models),
        ("records", lambda: list(journal.records("default"))),
        ("page", lambda: erase_page(journal, "default", journal.last()[0], 0, FIRST, 100)),
    ):
        count = 0

        def counted() -> None:
            nonlocal count
            count += 1

        journal._connection.set_progress_handler(counted, 100)
        assert read()
        journal._connection.set_progress_handler(None, 0)
        found[name] = count
    return found


def test_replay_reads_each_record_once_and_neither_a_start_nor_a_cut_searches_all_of_them(tmp_path: Path):
    short, long = (steps(written(tmp_path / str(pairs), pairs)) for pairs in (1000, 4000))
    assert 3.5 < long["records"] / short["records"] < 4.5  # 16 where every page costs all that remains
    assert long["models"] <= short["models"] + 1
    assert long["page"] <= 1.1 * short["page"]


def replayed(folder: Path) -> list[Part]:
    """What a start makes of a journal, and whatever else is found wrong in it."""
    journal = open_journal(folder, None)
    try:
        journal.prepare()
        assert journal.models() == ["default"]
        return rebuild(journal, "default").model.snapshot()
    finally:
        journal.close()


def test_damage_is_found_before_it_is_learned(tmp_path: Path):
    """Bits are flipped and sectors zeroed: a journal is refused, by `verify` too, or it is what it was."""
    journal = written(tmp_path / "right", 40)
    right = rebuild(journal, "default").model
    journal.close()
    content = (tmp_path / "right" / FILE).read_bytes()
    rng = np.random.default_rng(7)
    found, unseen = 0, 0
    for trial in range(30):
        damaged = bytearray(content)
        at = int(rng.integers(len(damaged)))
        if trial % 3:
            damaged[at] ^= 1 << int(rng.integers(8))
        else:
            damaged[at // 512 * 512 : at // 512 * 512 + 512] = bytes(512)
        folder = tmp_path / "damaged"
        folder.mkdir(exist_ok=True)
        (folder / FILE).write_bytes(damaged)
        try:
            assert replayed(folder) == right.snapshot()
            unseen += 1
        except JournalError:
            found += 1
            with pytest.raises(JournalError):
                verified(open_journal(folder, None, read_only=True))
    assert found > unseen / 4 > 0  # much of the file is empty or an index


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            "UPDATE journal SET body = CAST(substr(body, 1, 20) || x'00' || substr(body, 22) AS BLOB) WHERE seq = 31",
            "record 31 of",
        ),
        ("UPDATE journal SET kind = 'labem' WHERE seq = 32", "gone from the journal, after record 31"),
        ("DELETE FROM journal WHERE seq = 32", "gone from the journal, after record 31"),
        ("UPDATE journal SET checksum = x'' WHERE seq = 40", "record 40 of"),
        ("UPDATE journal SET body = 7000000000000 WHERE seq = 31", "another type"),
        ("DELETE FROM journal WHERE seq > 30", "lost its end"),
        ("DELETE FROM journal", "lost its end"),
    ],
)
def test_a_record_that_is_changed_gone_or_of_another_place_is_named(damage: str, said: str, tmp_path: Path):
    journal = written(tmp_path, 60)
    journal.execute(damage)
    journal.close()
    with pytest.raises(JournalDamaged, match=said):
        replayed(tmp_path)
    with pytest.raises(JournalDamaged):
        verified(open_journal(tmp_path, None, read_only=True))


@pytest.mark.quick(1)
@pytest.mark.parametrize("left", ["empty", "gone"])
def test_a_journal_that_is_empty_or_gone_is_not_begun_anew_unless_asked(left: str, start, tmp_path: Path, capsys):
    data = tmp_path / "data"
    server = start("--new", "oldc")
    server.client().predict([{"x": 1.0}])
    server.stop()
    (data / FILE).unlink()
    if left == "empty":
        (data / FILE).touch()
    for command in (["serve", "--data", str(data), "--listen", "127.0.0.1:0"], ["verify", str(data)]):
        with pytest.raises(SystemExit) as ended:
            cli.main(command)
        said = capsys.readouterr().err
        assert (ended.value.code, said.count("\n"), str(data) in said) == (2, 1, True), said
    assert start("--new", "oldc", "--new-journal").client().get("/v1/models")["models"][0]["rows"] == 0


def test_verify_says_what_it_checked(tmp_path: Path, capsys):
    written(tmp_path, 60).close()
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", str(tmp_path)])
    said = capsys.readouterr().out
    assert (ended.value.code, said) == (0, "122 records and 0 snapshots are undamaged\n")
