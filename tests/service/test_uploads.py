"""Tables that a browser sends: in pieces, run as `thalweg run` would, kept as live models, gone when discarded."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calls import run
from tests.service.server import Client, Server
from tests.waiting import wait_until
from thalweg.service.auth import SCOPES, make_token
from thalweg.service.commands import Refused
from thalweg.service.uploads.protocol import NewUpload, RunRequest, UploadedTable
from thalweg.service.uploads.runs import TableRuns
from thalweg.service.uploads.tables import UploadedTables

BYTES = "application/octet-stream"
AT_WORK = ("receiving", "reading", "waiting", "running")


def table(rows: int) -> bytes:
    """A border at y = 50 that turns round in the middle."""
    lines = ["x,y,side"]
    for row in range(rows):
        x, y = (7 * row) % 83, (11 * row) % 97
        lines.append(f"{x},{y},{'left' if (y > 50) == (row < rows // 2) else 'right'}")
    return ("\n".join(lines) + "\n").encode()


def send(client: Client, content: bytes, name: str = "sides.csv", piece: int = 1 << 20) -> dict[str, Any]:
    """A table that has come, with its columns read or not readable."""
    sent = client.post("/uploads", {"name": name, "size": len(content)})
    for offset in range(0, len(content), piece):
        path = f"/uploads/{sent['id']}/content?offset={offset}"
        status, sent, _ = client.call("PUT", path, content[offset : offset + piece], media=BYTES)
        assert status == 200, sent
    return rested(client, sent["id"])


def rested(client: Client, upload: str) -> dict[str, Any]:
    """The table once nothing is done with it any more."""

    def at_rest() -> dict[str, Any] | None:
        seen: dict[str, Any] = client.get(f"/uploads/{upload}")
        return seen if seen["state"] not in AT_WORK else None

    seen = wait_until(at_rest, pause=0.1)
    assert seen is not None
    return seen


def test_without_the_option_there_is_no_door(client: Client) -> None:
    assert client.call("GET", "/uploads")[0] == 403
    assert client.call("POST", "/uploads", {"name": "a.csv", "size": 3})[0] == 403
    assert client.call("GET", "/tables")[0] == 404
    assert b"to-tables" not in client.call("GET", "/")[1]


def test_a_table_is_run_as_on_the_command_line(
    start: Callable[..., Server], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start("--new", "oldc", "--uploads", "1MB")
    client, content = server.client(), table(3000)
    assert b'href="tables"' in client.call("GET", "/")[1]
    sent = send(client, content, piece=10_000)
    assert (sent["state"], sent["target"]) == ("ready", "side")
    assert [column["name"] for column in sent["columns"]] == ["x", "y", "side"]
    assert sent["columns"][2]["examples"] == ["right", "left"]
    path = f"/uploads/{sent['id']}/run"
    for wrong in ({"target": "nothing"}, {"target": "side", "drop": ["nothing"]}, {"target": "side", "delay": -1}):
        assert client.call("POST", path, wrong)[0] == 422
    client.post(path, {"target": "side", "delay": 5, "drop": ["x"]})
    done = rested(client, sent["id"])
    assert done["state"] == "finished", done
    assert done["progress"]["rows"] == 3000
    assert done["headline"].startswith("Better than")
    (tmp_path / "sides.csv").write_bytes(content)
    given = ("--target", "side", "--delay", "5", "--drop", "x", "--out", str(tmp_path / "out"))
    assert run(capsys, "run", str(tmp_path / "sides.csv"), *given)[0] == 0
    assert server.data is not None
    results = server.data / "uploads" / sent["id"] / "run"
    for name in ("predictions.csv", "model.thalweg"):
        assert (results / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    status, report, headers = client.call("GET", f"/uploads/{sent['id']}/report")
    assert (status, report[:15]) == (200, b"<!DOCTYPE html>")
    assert headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert client.post(f"/uploads/{sent['id']}/keep", {"name": "sides"})["name"] == "sides"
    [answer] = client.predict([{"y": 80}], model="sides")
    assert answer["prediction"] == "right"
    assert client.post(f"/uploads/{sent['id']}/discard", {})["id"] == sent["id"]
    assert client.call("GET", f"/uploads/{sent['id']}")[0] == 404
    assert client.call("GET", f"/uploads/{sent['id']}/report")[0] == 404
    assert not results.parent.exists()


def test_what_is_no_table_is_refused_in_a_sentence(start: Callable[..., Server]) -> None:
    client = start("--new", "oldc", "--uploads", "1MB").client()
    assert client.call("POST", "/uploads", {"name": "a.csv", "size": 1_000_001})[0] == 413
    for content in (b"\x89PNG\r\n\x1a\n" + bytes(5000), b"\n\n\n", b"a,b,c\n"):
        sent = send(client, content, "../odd;name.png")
        assert (sent["state"], sent["name"]) == ("failed", "odd_name.png")
        assert sent["message"]
        assert "Traceback" not in sent["message"]
        assert client.call("POST", f"/uploads/{sent['id']}/run", {"target": "a"})[0] == 409
    broken = table(2000).replace(b"\n7,11,", b"\n7,11,left,right,", 1)
    sent = send(client, broken)  # one row has too many cells
    client.post(f"/uploads/{sent['id']}/run", {"target": "side"})
    done = rested(client, sent["id"])
    assert (done["state"], done["progress"]["rows"]) == ("finished", 1999)
    client.post(f"/uploads/{sent['id']}/run", {"target": "x", "time": "side"})  # left and right are no times
    done = rested(client, sent["id"])
    assert (done["state"], done["headline"], "'side'" in done["message"]) == ("failed", None, True)


def test_rights_are_those_of_the_protocol(start: Callable[..., Server], tmp_path: Path) -> None:
    made = {scope: make_token(f"the-{scope}", scope) for scope in SCOPES}
    (tmp_path / "tokens").write_text("\n".join(line for _, line in made.values()))
    server = start("--new", "oldc", "--uploads", "1MB", "--token-file", str(tmp_path / "tokens"))
    reader, learner, admin = (server.client(authorization=f"Bearer {made[scope][0]}") for scope in SCOPES)
    assert server.client().call("GET", "/uploads")[0] == 401
    assert reader.call("GET", "/uploads")[0] == 403
    sent = send(learner, table(400))
    learner.post(f"/uploads/{sent['id']}/run", {"target": "side"})
    rested(learner, sent["id"])
    assert learner.call("POST", f"/uploads/{sent['id']}/keep", {"name": "sides"})[0] == 403
    admin.post(f"/uploads/{sent['id']}/keep", {"name": "sides"})
    assert admin.call("POST", f"/uploads/{sent['id']}/keep", {"name": "sides"})[0] == 409


def test_pieces_may_be_lost_and_sent_again(tmp_path: Path) -> None:
    folder, content = tmp_path / "uploads", table(50)

    async def sent_twice() -> None:
        tables = UploadedTables(folder, 1000)
        sent = await tables.begin(NewUpload("a.csv", len(content)))
        await tables.append(sent.id, 0, content[:100])
        assert (await tables.append(sent.id, 50, content[50:120])).received == 120
        with pytest.raises(Refused, match="120 bytes have come"):
            await tables.append(sent.id, 121, b"x")
        with pytest.raises(Refused, match="was to have"):
            await tables.append(sent.id, 120, content)
        again = UploadedTables(folder, 1000)  # after a restart
        assert again.get(sent.id).received == 120
        for _ in range(2):
            assert (await again.append(sent.id, 120, content[120:])).state == "reading"
        assert again.place(sent.id).read_bytes() == content
        with pytest.raises(Refused, match="reading"):
            again.asks(sent.id, RunRequest("side"))
        for _ in range(19):
            await again.begin(NewUpload("b.csv", 10))
        with pytest.raises(Refused, match="discard one first"):
            await again.begin(NewUpload("b.csv", 10))

    asyncio.run(sent_twice())


@pytest.mark.parametrize("error", [ValueError("a line without an end"), OSError(28, "No space left on device")])
def test_a_failure_ends_one_run_and_not_those_that_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def fails(self: TableRuns, *_: object, **__: object) -> None:
        raise error

    async def two_tables() -> list[UploadedTable]:
        tables = UploadedTables(tmp_path / "uploads", 1000)
        for _ in range(2):
            sent = await tables.begin(NewUpload("a.csv", 4))
            await tables.append(sent.id, 0, b"a,b\n")
        monkeypatch.setattr(TableRuns, "_started", fails)
        working = asyncio.create_task(TableRuns(tables).work())
        while any(table.state == "reading" for table in tables.all()):
            await asyncio.sleep(0.01)
            assert not working.done()
        working.cancel()
        return tables.all()

    for table in asyncio.run(two_tables()):
        assert table.state == "failed"
        assert table.message is not None
        assert ("disk" in table.message) == isinstance(error, OSError)


def test_tables_that_nobody_touches_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def sent() -> tuple[UploadedTables, str, str]:
        tables = UploadedTables(tmp_path / "uploads", 1000)
        whole, partial = [await tables.begin(NewUpload("a.csv", 4)) for _ in range(2)]
        await tables.append(whole.id, 0, b"a,b\n")
        return tables, whole.id, partial.id

    tables, whole, partial = asyncio.run(sent())
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 2 * 3600)
    tables.expire()
    assert [kept.id for kept in tables.all()] == [whole]
    assert not (tmp_path / "uploads" / partial).exists()
    monkeypatch.setattr("time.time", lambda: now + 8 * 86_400)
    tables.expire()
    assert not os.listdir(tmp_path / "uploads")


@pytest.mark.slow
@pytest.mark.parametrize("end", [Server.stop, Server.kill], ids=["stopped", "killed"])
def test_a_run_outlives_its_service(
    start: Callable[..., Server],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    end: Callable[[Server], None],
) -> None:
    server, content = start("--new", "oldc", "--uploads", "10MB"), table(60_000)
    client = server.client()
    sent = send(client, content)
    client.post(f"/uploads/{sent['id']}/run", {"target": "side"})
    wait_until(lambda: client.get(f"/uploads/{sent['id']}")["progress"]["rows"] > 5000)
    end(server)
    wait_until(lambda: not _at_work(sent["id"]))
    again = start("--new", "oldc", "--uploads", "10MB").client()
    assert rested(again, sent["id"])["state"] == "finished"
    (tmp_path / "sides.csv").write_bytes(content)
    assert run(capsys, "run", str(tmp_path / "sides.csv"), "--target", "side", "--out", str(tmp_path / "out"))[0] == 0
    assert server.data is not None
    results = server.data / "uploads" / sent["id"] / "run"
    for name in ("predictions.csv", "model.thalweg"):
        assert (results / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


@pytest.mark.slow
def test_a_discarded_run_is_stopped(start: Callable[..., Server]) -> None:
    client = start("--new", "oldc", "--uploads", "10MB").client()
    sent, after = send(client, table(60_000)), send(client, table(500))
    for one in (sent, after):
        client.post(f"/uploads/{one['id']}/run", {"target": "side"})
    wait_until(lambda: client.get(f"/uploads/{sent['id']}")["progress"]["rows"] > 0)
    client.post(f"/uploads/{sent['id']}/discard", {})
    assert not _at_work(sent["id"])
    assert rested(client, after["id"])["state"] == "finished"


def _at_work(upload: str) -> bool:
    """Whether a process still works in the folder of a table."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if upload in os.readlink(process / "cwd") and (process / "stat").read_text().split()[2] != "Z":
                return True
        except OSError:
            continue
    return False
