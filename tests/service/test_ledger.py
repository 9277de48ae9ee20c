"""Rows answered now and labelled later: in bulk, out of order, twice, wrongly, never; and what is made of it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.service.rows import SCHEMA, stream
from tests.waiting import wait_until
from thalweg import cli
from thalweg.catalogue import make_model
from thalweg.service.journal.databases import open_journal
from thalweg.service.learning import schema
from thalweg.service.learning.rebuild import rebuild
from thalweg.store import dumps, load, loads
from thalweg.tables.rows import Block, Chunk, Piece


def replayed(data: Path, out: Path, *options: str) -> bytes:
    with pytest.raises(SystemExit) as ended:
        cli.main(["replay", str(data), "--out", str(out), *options])
    assert ended.value.code == 0
    return out.read_bytes()


def test_a_row_is_answered_then_learned_and_the_answer_follows(client):
    first = client.predict([{"x": 0.0}, {"x": 1.0}])
    assert [each["prediction"] for each in first] == [None, None]
    assert client.label([(first[1]["id"], "high"), (first[0]["id"], "low")])["learned"] == 2
    for _ in range(10):
        asked = client.predict([{"x": 0.1}, {"x": 0.9}])
        client.label([(asked[0]["id"], "low"), (asked[1]["id"], "high")])
    low, high = client.predict([{"x": 0.0}, {"x": 1.0}])
    assert (low["prediction"], high["prediction"]) == ("low", "high")
    assert sum(low["probabilities"].values()) == pytest.approx(1.0)
    assert low["probabilities"]["low"] > 0.9


def test_what_may_become_of_a_label(client):
    one, two, three = (each["id"] for each in client.predict([{"x": 0.0}, {"x": 1.0}, {"x": 2.0}]))
    nowhere = [f"{10**17}-0", "nonsense", "0-0", one.split("-")[0] + "-3", "-1-0", "1-0"]
    told = client.label([(three, "a"), (nowhere[0], "a"), (one, "b"), *((each, "a") for each in nowhere[1:])])
    assert (told["learned"], told["unknown"]) == (2, nowhere)
    again = client.label([(three, "a"), (one, "a"), (two, "a"), (two, "a"), (two, "b")])
    assert (again["learned"], again["repeated"], again["conflicts"]) == (1, 2, [one, two])
    revised = client.label([(one, "a"), (two, "a")], revise=True)
    assert (revised["revised"], revised["repeated"], revised["learned"]) == (1, 1, 0)
    assert revised["replayed"] > 0
    assert client.label([(one, "a")])["repeated"] == 1


def test_labels_are_text_and_whole_numbers_have_no_point(client):
    ids = [each["id"] for each in client.predict([{"x": 0.0}] * 4)]
    client.label([(ids[0], 1), (ids[1], True)])
    assert client.label([(ids[0], "1.0"), (ids[1], "true")])["repeated"] == 2
    assert client.label([(ids[0], 1.0)])["repeated"] == 1


def test_the_service_learns_what_the_library_learns(start, tmp_path):
    rows, labels = stream(300)
    server = start("--new", "oldc")
    client = server.client()
    client.post("/v1/models", {"name": "river", "kind": "oldc", "schema": SCHEMA})
    parts = np.split(np.random.default_rng(4).permutation(300), [1, 2, 50, 170])
    order = np.concatenate([np.sort(part) for part in parts])  # those of one request in the order of their rows
    ids: list[str] = []
    for begin in range(0, 300, 50):  # in uneven requests, and labels out of order
        ids += [each["id"] for each in client.predict(rows[begin : begin + 50], model="river")]
    for part in parts:
        client.label([(ids[i], labels[i]) for i in part], model="river")
    seq = client.get("/v1/models/river")["version"]
    assert server.stop() == 0

    encoder = schema.as_described(SCHEMA)
    table = pa.table({name: [row[name] for row in rows] for name in rows[0]})
    X = encoder.encode(Chunk([Piece(Block(table, "rows", 1), 0, 300)], [])).X
    model = make_model("oldc")
    model.partial_fit(X[order], np.array(labels)[order])
    replayed(tmp_path / "data", tmp_path / "model", "--model", "river", "--to", str(seq))
    served = load(tmp_path / "model").learner_
    np.testing.assert_array_equal(served.predict_proba(X), model.predict_proba(X))
    assert dumps(served) == dumps(model)


@pytest.mark.slow
def test_a_revised_model_is_the_one_that_was_told_right_at_first(start, tmp_path):
    rows, labels = stream(240)
    wrong = list(labels)
    wrong[7] = wrong[60] = wrong[61] = "high"
    found = []
    for name, given in (("right", labels), ("revised", wrong)):
        server = start("--new", "auto", data=tmp_path / name)
        client = server.client()
        client.post("/v1/models", {"name": "river", "kind": "oldc", "schema": SCHEMA})
        ids = [each["id"] for i in range(0, 240, 40) for each in client.predict(rows[i : i + 40], model="river")]
        for i in range(0, 120, 20):
            client.label(list(zip(ids[i : i + 20], given[i : i + 20], strict=True)), model="river")
        if name == "revised":
            server.stop()  # which keeps a snapshot that must not be the base of what follows
            server = start("--new", "auto", data=tmp_path / name)
            client = server.client()
            fixed = client.label([(ids[i], labels[i]) for i in (60, 7, 61)], model="river", revise=True)
            assert (fixed["revised"], fixed["replayed"]) == (sum(labels[i] != "high" for i in (7, 60, 61)), 120)
        for i in range(120, 240, 30):
            client.label(list(zip(ids[i : i + 30], labels[i : i + 30], strict=True)), model="river")
        answers = client.predict(rows[:20], model="river")
        server.stop()
        model = without_notes(replayed(tmp_path / name, tmp_path / "model", "--model", "river"))
        whole = without_notes(replayed(tmp_path / name, tmp_path / "model", "--model", "river", "--whole"))
        assert model == whole
        found.append((model, [each["probabilities"] for each in answers]))
    assert found[0] == found[1]


def without_notes(content: bytes) -> bytes:
    """The model without its notes, which count requests and mistakes."""
    return dumps(loads(content).learner_)


def test_every_snapshot_is_what_replay_gives(start, tmp_path, capsys):
    rows, labels = stream(150)
    data = tmp_path / "data"
    for round_ in range(3):
        server = start("--new", "oldc")
        client = server.client()
        part = slice(50 * round_, 50 * (round_ + 1))
        ids = [each["id"] for each in client.predict(rows[part])]
        client.label(list(zip(ids, labels[part], strict=True)))
        if round_ == 1:
            client.label([(ids[3], "flood"), (ids[4], "flood")], revise=True)
        server.stop()
    journal = open_journal(data, None, read_only=True)
    seqs = journal.snapshots("default")
    assert len(seqs) >= 3  # one at each stop, and more where a round takes long
    for seq in seqs:
        kept = journal.snapshot("default", seq)
        assert rebuild(journal, "default", seq, from_snapshots=False).model.snapshot() == kept
        files = {part.name: part.body for part in kept}
        assert replayed(data, tmp_path / "model", "--to", str(seq), "--whole") == files["default"]
        assert replayed(data, tmp_path / "model", "--to", str(seq)) == files["default"]
        assert capsys.readouterr().err == ""
    assert replayed(data, tmp_path / "model", "--to", "999999") == replayed(data, tmp_path / "model")
    assert re.fullmatch(r"the journal ends at record \d+\n", capsys.readouterr().err)
    journal.close()


def test_rows_expire_and_it_is_written_down(start, tmp_path):
    first = start("--new", "oldc", "--expire", "30d")
    old = first.client().predict([{"x": 0.0}, {"x": 1.0}])
    first.client().label([(old[0]["id"], "a")])
    first.stop()
    server = start("--new", "oldc", "--expire", "1s")  # only now: the label has come in time, however long it took
    client = server.client()
    wait_until(lambda: client.get("/v1/models/default")["waiting"] == 0)
    told = client.label([(old[1]["id"], "b"), (old[0]["id"], "a")])
    assert (told["expired"], told["repeated"], told["learned"]) == ([old[1]["id"]], 1, 0)
    assert client.label([(old[0]["id"], "b")], revise=True)["revised"] == 1  # it has a label, so it did not expire
    server.stop()
    again = start("--new", "oldc", "--expire", "30d")  # what has expired stays so, whatever the policy is by now
    assert again.client().label([(old[1]["id"], "b")])["expired"] == [old[1]["id"]]


def test_only_so_many_rows_wait(start):
    client = start("--new", "oldc", "--expire", "3rows").client()
    first = client.predict([{"x": 0.0}, {"x": 1.0}])
    client.label([(first[0]["id"], "a")])
    second = client.predict([{"x": 0.0}, {"x": 1.0}, {"x": 2.0}])
    wait_until(lambda: client.get("/v1/models/default")["waiting"] == 3)
    told = client.label([(each["id"], "b") for each in [*first, *second]])
    assert (told["expired"], told["learned"], told["conflicts"]) == ([first[1]["id"]], 3, [first[0]["id"]])
