"""A disk that is full or cannot be written, and a database that goes away: clear errors, then everything goes on."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.postgres import Postgres
from tests.service.rows import stream
from tests.service.server import Client, Server
from tests.waiting import PATIENCE, wait_until
from thalweg import cli
from thalweg.service.journal.databases import open_journal
from thalweg.service.learning.rebuild import rebuild

ROWS, LABELS = stream(300)


def teach(client: Client, begin: int, rows: int = 20) -> int:
    """How many labels were acknowledged; a refusal must be a clear one."""
    status, answer, headers = client.call("POST", "/v1/predict", {"rows": ROWS[begin : begin + rows]})
    if status == 200:
        labels = [
            {"id": each["id"], "label": label}
            for each, label in zip(answer["predictions"], LABELS[begin : begin + rows], strict=True)
        ]
        status, answer, headers = client.call("POST", "/v1/label", {"labels": labels})
    if status == 200:
        assert answer["learned"] == rows
        return rows
    assert (status, list(answer), headers["retry-after"]) == (503, ["error"], "1"), answer
    assert answer["error"].startswith("the journal ")
    return 0


def until(done: bool, client: Client, begin: int) -> int:
    """Teach until it fails, or until it works again; the labels that were acknowledged."""
    learned = 0

    def tried() -> bool:
        nonlocal learned
        told = teach(client, begin)
        learned += told
        return bool(told) == done

    wait_until(tried, pause=0.01 if done else 0.0)
    return learned


def check_against(server: Server, learned: int, database: str | None = None) -> None:
    """All that was acknowledged is learned, nothing else is, and the journal agrees."""
    live = server.client().settled("/v1/models/default")
    assert server.stop() == 0
    assert live["labels"] == learned
    journal = open_journal(server.data, database, read_only=True)
    found = rebuild(journal, "default", from_snapshots=False).model
    assert found.snapshot() == journal.snapshot("default", journal.snapshots("default")[-1])
    assert found.labels == learned
    journal.close()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a megabyte and a half."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("these tests need the right to mount a file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_after_a_stop_the_one_file_is_the_whole_journal(start, tmp_path):
    server = start("--new", "oldc")
    client = server.client()
    client.post("/v1/predict", {"rows": ROWS[:20]}, idempotency_key="a reader that was used")
    asked = client.predict(ROWS[20:40])
    client.label([(each["id"], label) for each, label in zip(asked, LABELS[20:40], strict=True)])
    client.label([(asked[0]["id"], "dry")], revise=True)  # read by the learner
    looking_on = open_journal(tmp_path / "data", None, read_only=True)  # as `thalweg replay` might be
    assert looking_on.last()[0] > 0
    assert server.stop() == 0
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "data" / "journal.sqlite3", tmp_path / "copy")
    looking_on.close()
    found = []
    for folder in ("data", "copy"):
        journal = open_journal(tmp_path / folder, None)
        found.append(rebuild(journal, "default", from_snapshots=False).model)
        journal.close()
    assert found[0].labels == 20
    assert found[0].snapshot() == found[1].snapshot()


def test_a_full_disk(start, small_disk):
    server = start("--new", "oldc", data=small_disk / "data")
    client = server.client()
    learned = teach(client, 0)
    weight = small_disk / "weight"
    with pytest.raises(OSError, match="No space left"):
        weight.write_bytes(bytes(2 << 20))
    learned += until(False, client, 20)
    assert client.call("GET", "/readyz")[0] == 503
    assert client.get("/healthz")
    assert client.get("/v1/models/default")["labels"] == learned  # what is known can still be read
    weight.unlink()
    learned += until(True, client, 40)
    assert client.get("/readyz")
    check_against(server, learned)


def test_a_disk_that_takes_no_more(start):
    server = start("--new", "oldc")
    client = server.client()
    learned = teach(client, 0)
    # A limit of nothing for the size of files: a disk cannot be made read-only while files are open for writing.
    limit(server, 0)
    learned += until(False, client, 20)
    limit(server, resource.RLIM_INFINITY)
    learned += until(True, client, 40)
    check_against(server, learned)


def limit(server: Server, size: int) -> None:
    assert server.process.pid is not None
    _, most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, most))


def test_a_folder_that_cannot_be_written_is_told_at_the_start(small_disk, capsys):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(SystemExit) as ended:
        cli.main(["serve", "--data", str(small_disk / "data"), "--listen", "127.0.0.1:0"])
    told = capsys.readouterr().err
    assert (ended.value.code, told.count("\n"), "Read-only file system" in told) == (2, 1, True), told


def readiness(client: Client) -> int:
    return client.call("GET", "/readyz")[0]


@pytest.mark.slow
def test_readiness_follows_the_disk_without_any_requests(start, small_disk):
    client = start("--new", "oldc", data=small_disk / "data").client()
    assert readiness(client) == 200
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "weight").write_bytes(bytes(2 << 20))
    wait_until(lambda: readiness(client) == 503)
    (small_disk / "weight").unlink()
    wait_until(lambda: readiness(client) == 200)
    assert teach(client, 0)
    assert not (small_disk / "data" / "probe").exists()


@pytest.mark.slow
def test_a_commit_that_hangs_is_not_ready_and_nothing_of_it_is_lost(start):
    server = start("--new", "oldc")
    client, waiting = server.client(), server.client()
    with closing(sqlite3.connect(server.data / "journal.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor() as threads:
            asked = threads.submit(waiting.predict, ROWS[:5])
            wait_until(lambda: readiness(client) == 503)
            status, answer, headers = client.call("POST", "/v1/predict", {"row": ROWS[0]})  # not kept waiting
            assert (status, headers["retry-after"]) == (503, "1"), answer
            other.execute("ROLLBACK")
            assert len(asked.result(PATIENCE)) == 5
    wait_until(lambda: readiness(client) == 200)


@pytest.mark.slow
def test_readiness_follows_the_database_without_any_requests(start, postgres):
    server = start("--new", "oldc", "--database", postgres.database(), "--database-timeout", "2")
    client = server.client()
    learned = teach(client, 0)
    postgres.stop()
    wait_until(lambda: readiness(client) == 503)
    postgres.start()
    wait_until(lambda: readiness(client) == 200)
    # Processes that are stopped take what is sent and never answer.
    frozen = [int(line) for line in _backends(postgres)]
    for process in frozen:
        os.kill(process, signal.SIGSTOP)
    try:
        wait_until(lambda: readiness(client) == 503)
        assert teach(client, 20) == 0
    finally:
        for process in frozen:
            os.kill(process, signal.SIGCONT)
    wait_until(lambda: readiness(client) == 200)
    learned += until(True, client, 40)
    assert client.settled("/v1/models/default")["labels"] == learned


def _backends(postgres: Postgres) -> list[str]:
    """The processes that serve connections of the service, and the one that accepts them."""
    main = (postgres.folder / "data" / "postmaster.pid").read_text().split()[0]
    told = subprocess.run(["pgrep", "-P", main, "-f", "127.0.0.1"], capture_output=True, text=True)
    return [*told.stdout.split(), main]


@pytest.mark.real
@pytest.mark.slow
def test_a_database_that_goes_away_and_comes_back(start, postgres):
    database = postgres.database()
    server = start("--new", "oldc", "--database", database)
    client = server.client()
    learned = teach(client, 0)
    asked = client.predict(ROWS[200:230])
    for how in ("fast", "immediate"):
        postgres.stop(how)
        try:
            assert teach(client, 20) == 0
            assert client.call("GET", "/readyz")[0] == 503
        finally:
            postgres.start()
        learned += until(True, client, 40)
    labels = [(each["id"], label) for each, label in zip(asked, LABELS[200:230], strict=True)]
    learned += client.label(labels)["learned"]  # of rows from before the failure
    assert client.label(labels, revise=True)["repeated"] == 30
    check_against(server, learned, database)


@pytest.mark.slow
def test_a_connection_that_is_lost_while_a_revision_is_learned_again(start, postgres):
    database = postgres.database()
    server = start("--new", "oldc", "--database", database)
    client = server.client()
    asked = client.predict(ROWS[:50])
    client.label([(each["id"], "low") for each in asked])
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(database, autocommit=True) as other:
        # The learner reads by a connection of its own, which is cut here and must be opened again.
        other.execute(
            "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity WHERE application_name = 'thalweg' "
            "AND pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')",
            [int(1000 * PATIENCE)],
        )
    assert client.label([(asked[0]["id"], "high")], revise=True)["revised"] == 1
    assert client.post("/v1/predict", {"row": ROWS[0]}, idempotency_key="after")
    check_against(server, 50, database)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE snapshots SET body = substr(body, 1, 100)",
        "DELETE FROM snapshots WHERE name = ''",
        "DELETE FROM snapshots WHERE name = 'default'",
    ],
    ids=["cut", "without its head", "without its model"],
)
def test_a_damaged_snapshot_is_passed_over(damage, start):
    server = start("--new", "oldc")
    teach(server.client(), 0)
    before = server.client().predict(ROWS[1:6])
    server.stop()
    assert isinstance(server.data, Path)
    with sqlite3.connect(server.data / "journal.sqlite3") as database:
        database.execute(damage)
    database.close()
    again = start("--new", "oldc").client().predict(ROWS[1:6])
    assert [each["probabilities"] for each in again] == [each["probabilities"] for each in before]


@pytest.mark.parametrize(
    "wrong", [["--new", "oracle"], ["--schema", "none.json"], ["--model", "none.thalweg"]], ids=" ".join
)
def test_a_start_that_is_refused_leaves_nothing_behind(wrong, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        cli.main(["serve", "--data", "data", "--listen", "127.0.0.1:0", *wrong])
    assert left.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not list(tmp_path.iterdir())
