"""A replica predicts as the service that it follows, whatever happens there, and changes nothing."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest

from tests.service.rows import SCHEMA, stream
from tests.waiting import wait_until
from thalweg.errors import InvalidParameter
from thalweg.service.options import ServeOptions
from thalweg.service.server import serve

ROWS, LABELS = stream(80)
WHOLE = [row for row in ROWS if None not in row.values()]


def caught_up(primary, replica, name="river", ship=lambda: None):
    """Once the replica has read and learned as much as there is, where need be after it was shipped."""
    primary.label([("nobody", "nothing")], model=name)
    ship()
    wanted = described(primary, name)
    wait_until(lambda: described(replica, name) == wanted)


def described(client, name):
    """All but the description of the columns, which may be of a moment before."""
    return {key: value for key, value in client.get(f"/v1/models/{name}").items() if key != "schema"}


def agree(primary, replica, name="river", ship=lambda: None):
    caught_up(primary, replica, name, ship)
    waiting = described(replica, name)["waiting"]
    own = replica.post("/v1/predict", {"rows": WHOLE[:20], "model": name})
    assert own["recorded"] is False
    told = primary.predict(WHOLE[:20], model=name)
    for mine, its in zip(own["predictions"], told, strict=True):
        assert (mine["prediction"], mine["probabilities"]) == (its["prediction"], its["probabilities"])
    caught_up(primary, replica, name, ship)
    assert described(replica, name)["waiting"] == waiting + 20  # the rows of the service, and none of its own


def teach(client, rows, labels, **more):
    ids = [each["id"] for each in client.predict(rows, model="river")]
    client.label(list(zip(ids, labels, strict=True)), model="river", **more)
    return ids


def test_a_replica_follows_a_service(start, tmp_path):
    primary = start("--new", "oldc").client()
    replica = start("--follow", str(tmp_path / "data")).client()
    primary.post("/v1/models", {"name": "river", "kind": "auto", "schema": SCHEMA})
    wait_until(lambda: replica.call("GET", "/v1/models/river")[0] == 200)
    ids = teach(primary, WHOLE[:20], LABELS[:20])
    agree(primary, replica)
    primary.post("/v1/models/river/versions", {"version": "v1"})
    teach(primary, WHOLE[20:40], LABELS[20:40])
    agree(primary, replica)
    primary.label([(ids[0], "flood" if LABELS[0] != "flood" else "low")], model="river", revise=True)
    agree(primary, replica)
    primary.post("/v1/models/river/rollback", {"version": "v1"})
    agree(primary, replica)
    caught_up(primary, replica)
    assert replica.call("GET", "/v1/models/river/file")[1] == primary.call("GET", "/v1/models/river/file")[1]
    # What would change something is refused in one sentence.
    for path in ("/v1/label", "/v1/models", "/v1/models/river/archive", "/v1/models/river/rollback"):
        status, answer, _ = replica.call("POST", path, {}, idempotency_key="once")
        assert (status, "is a replica and changes nothing" in answer["error"]) == (403, True)
    assert replica.call("POST", "/v1/predict", {"row": {"x": 1.0}})[0] == 409  # `default` has no columns yet
    assert replica.call("POST", "/v1/predict", {"rows": WHOLE[:1], "model": "river"}, idempotency_key="k")[0] == 200
    assert replica.post("/invocations?model=river", {"instances": WHOLE[:2]})["predictions"]
    ready = replica.get("/readyz")
    assert ready["seq"] > 1
    assert ready["seconds_behind"] < 5
    assert b"thalweg_replica_read_age_seconds" in replica.call("GET", "/metrics")[1]


def test_a_replica_follows_a_file_that_is_shipped(start, tmp_path):
    server = start("--new", "oldc")
    primary = server.client()
    primary.post("/v1/models", {"name": "river", "kind": "oldc", "schema": SCHEMA})
    shipped = tmp_path / "shipped"
    shipped.mkdir()

    def ship():
        copy = tmp_path / "copy.sqlite3"
        with (
            closing(sqlite3.connect(tmp_path / "data" / "journal.sqlite3")) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        os.replace(copy, shipped / "journal.sqlite3")

    ship()
    tokens = tmp_path / "tokens"
    following = start("--follow", str(shipped), "--token-file", str(tokens_in(tokens)))
    reader = following.client(Authorization="Bearer reading")
    assert following.client().call("POST", "/v1/predict", {"rows": WHOLE[:1], "model": "river"})[0] == 401
    for begin in (0, 20):
        teach(primary, WHOLE[begin : begin + 20], LABELS[begin : begin + 20])
        agree(primary, reader, ship=ship)
    earlier = (shipped / "journal.sqlite3").read_bytes()
    teach(primary, WHOLE[40:60], LABELS[40:60])
    agree(primary, reader, ship=ship)
    before = reader.get("/readyz")["seq"]
    (tmp_path / "copy.sqlite3").write_bytes(earlier)
    os.replace(tmp_path / "copy.sqlite3", shipped / "journal.sqlite3")  # an older one than before
    wait_until(lambda: reader.get("/readyz")["seq"] < before)
    assert reader.get("/v1/models/river")["labels"] == 40


def tokens_in(file):
    from thalweg.service.auth import hashed

    file.write_text(f"reader read {hashed('reading').hex()}\n")
    return file


@pytest.mark.parametrize("more", [{"new": "oldc"}, {"promote": True}, {"sources": ("redis://x/y",)}])
def test_a_replica_takes_no_options_of_learning(tmp_path, more):
    with pytest.raises(InvalidParameter, match="learns nothing: leave out --"):
        serve(ServeOptions(follow=str(tmp_path), listen="127.0.0.1:0", **more), print)


@pytest.mark.slow
def test_a_journal_in_postgres_is_followed(start, postgres):
    address = postgres.database()
    primary = start("--new", "oldc", "--database", address).client()
    replica = start("--follow", address).client()
    primary.post("/v1/models", {"name": "river", "kind": "oldc", "schema": SCHEMA})
    teach(primary, WHOLE[:20], LABELS[:20])
    wait_until(lambda: replica.call("GET", "/v1/models/river")[0] == 200)
    agree(primary, replica)
