"""A model for each key: the journal replays to the same bytes, wherever keys are, and nothing without a key gets in."""

from __future__ import annotations

import urllib.request

import numpy as np
import pytest

from tests.service.in_process import state_of, with_service
from thalweg.client import Client
from thalweg.client.protocol import CreateRequest
from thalweg.errors import ServiceRefused
from thalweg.fleet import KeyedClassifier
from thalweg.service.commands import Refused
from thalweg.service.learning import live_model
from thalweg.service.options import ServeOptions
from thalweg.service.service import Service
from thalweg.store import dumps, loads
from thalweg.tables.columns.key import key_number

LEAST = 1 << 16


def options(**more):
    return ServeOptions(new="oldc", **{"key": "customer", **more})


def rows_of(seed, count, keys):
    """Rows of customers with opposite labels: those with an even number call positive what others call negative."""
    rng = np.random.default_rng(seed)
    customers, x = rng.integers(0, keys, count), rng.normal(size=(count, 2))
    rows = [{"customer": int(c), "x": a, "y": b} for c, (a, b) in zip(customers, x.tolist(), strict=True)]
    return rows, np.where((x[:, 0] > 0) ^ (customers % 2 == 0), "yes", "no").tolist()


async def ask(service, rows):
    asked = await service.predict("default", rows)
    return asked, [f"{asked.seq}-{i}" for i in range(len(rows))]


def model_of(service) -> KeyedClassifier:
    return service.models.state("default").models["default"]


def snapshot_by(service: Service):
    return service.models.threads["default"].model.snapshot()


@pytest.mark.quick(1)
@pytest.mark.parametrize("memory", [LEAST, None])
def test_late_labels_and_revisions_replay_to_the_same_bytes(tmp_path, memory, monkeypatch):
    monkeypatch.setattr(live_model, "_MOST_BYTES", 1 << 16)  # files of snapshots are cut into pieces
    keys = 40 if memory is None else 1500

    async def scenario(service: Service) -> None:
        waiting = []
        for seed in range(3):
            rows, labels = rows_of(seed, 40 if memory is None else 900, keys)
            asked, ids = await ask(service, rows)
            assert (len(asked.response.predictions(asked.seq)), seed or asked.body.version) == (len(rows), seed)
            waiting = list(zip(ids, labels, strict=True))
            await service.label("default", waiting[::2])
            late = waiting[1::2]
            await service.label("default", late[::-1])
        await service.label("default", [(waiting[0][0], "maybe"), (waiting[3][0], "yes")], revise=True)
        assert snapshot_by(service) == state_of(tmp_path, from_snapshots=False)
        model = model_of(service)
        assert (model.n_keys_in_memory_ < model.n_keys_) == (memory is not None)

    with_service(tmp_path, scenario, options(key_memory=memory))
    # After a start, from a snapshot, the same again.
    replayed = state_of(tmp_path, from_snapshots=False)

    async def again(service: Service) -> None:
        assert snapshot_by(service) == replayed
        _, ids = await ask(service, rows_of(9, 10, keys)[0])
        await service.label("default", [(ids[0], "yes")])
        assert snapshot_by(service) == state_of(tmp_path, from_snapshots=False)

    with_service(tmp_path, again)


def test_a_key_learns_what_is_its_own_and_a_new_one_has_what_all_know(tmp_path):
    async def scenario(service: Service) -> None:
        rows, labels = rows_of(0, 800, 4)
        asked, ids = await ask(service, rows)
        assert asked.response.predictions(asked.seq)[0].prediction is None  # before any label
        await service.label("default", list(zip(ids, labels, strict=True)))
        rows, labels = rows_of(1, 200, 4)
        asked, _ = await ask(service, rows)
        right = [
            each.prediction == label for each, label in zip(asked.response.predictions(asked.seq), labels, strict=True)
        ]
        assert np.mean(right) > 0.8  # one model of all customers is right half of the time
        # Text and number are one key; a new key of any spelling is answered.
        told = [{"customer": key, "x": 2.0, "y": 0.0} for key in (0, "0", 0.0, " 0", "new", 10**15, "ключ")]
        answers, _ = await ask(service, told)
        given = [each.probabilities for each in answers.response.predictions(answers.seq)]
        assert given[0] == given[1] == given[2] == given[3] != given[4] == given[5] == given[6]
        found = service.models.state("default").key("default", "0")
        assert (found.rows, found.error) == model_of(service).summary(key_number(0))[:3:2]
        assert found.weight > 0.5
        with pytest.raises(Refused, match="no row of the key 'new'") as refused:
            service.models.state("default").key("default", "new")
        assert refused.value.status == 404
        counted = service.counters()["models"]["default"]["learners"]["default"]
        assert counted["model_keys"] == {"memory": 4, "disk": 0}

    with_service(tmp_path, scenario, options())


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"x": 1.0}, "the key is missing"),
        ({"x": 1.0, "customer": None}, "the key is missing"),
        ({"x": 1.0, "customer": "  "}, "the key is missing"),
        ({"x": 1.0, "customer": 1.5}, "a key must be a text or a whole number, got 1.5"),
        ({"x": 1.0, "customer": True}, "a key must be a text or a whole number, got True"),
        ({"x": 1.0, "customer": ["a"]}, "a key must be a text or a whole number"),
        ({"x": 1.0, "customer": "a" * 1001}, "at most 1000 letters"),
    ],
)
def test_a_row_without_a_key_is_refused_and_nothing_is_lost(tmp_path, row, what):
    async def scenario(service: Service) -> None:
        with pytest.raises(Refused) as first:
            await service.predict("default", [row])
        good = [{"x": 1.0, "customer": "a"}, {"x": 2.0, "customer": 7}]
        _, ids = await ask(service, good)
        await service.label("default", [(ids[0], "yes")])
        before = dumps(model_of(service))
        with pytest.raises(Refused) as later:
            await service.predict("default", [good[0], row])
        assert (first.value.status, later.value.status) == (422, 422)
        assert what in later.value.sentence
        assert "row 1, column 'customer'" in later.value.sentence
        await service.label("default", [(ids[1], "yes")])
        assert dumps(model_of(service)) != before
        assert service.models.state("default").rows == 2

    with_service(tmp_path, scenario, options())


def test_arrow_challengers_files_and_schemas_know_the_key(tmp_path):
    import pyarrow as pa

    async def scenario(service: Service) -> None:
        rows, labels = rows_of(0, 100, 5)
        table = pa.Table.from_pylist(rows)
        asked = await service.predict("default", table)
        ids = [f"{asked.seq}-{i}" for i in range(100)]
        await service.decisions.create(CreateRequest("other", "logistic", challenger_of="default"))
        await service.label("default", list(zip(ids, labels, strict=True)))
        assert service.models.state("other").models["other"].n_keys_ == 5
        with pytest.raises(Refused, match="row 1, column 'customer': a key must be a text or a whole number, got 0"):
            await service.predict("default", pa.table({"customer": [1.0, 0.5], "x": [0.0, 1.0], "y": [1.0, 2.0]}))
        with pytest.raises(Refused, match="row 1, column 'customer': the key is missing"):
            await service.predict("default", pa.table({"customer": ["a", None], "x": [0.0, 1.0], "y": [1.0, 2.0]}))
        file = await service.decisions.file("default")
        assert loads(file).predict([rows[0]]).shape == (1,)
        await service.decisions.create_from_file("copy", file)
        assert (
            service.models.state("copy").key("copy", "3").rows
            == service.models.state("default").key("default", "3").rows
        )
        await service.decisions.create(
            CreateRequest("told", "oldc", schema={"columns": [{"name": "x", "kind": "number"}]}, key="who")
        )
        await service.predict("told", [{"x": 1.0, "who": "me"}])
        for wrong, why in (
            ({"challenger_of": "default", "key": "x"}, "keys of its champion"),
            ({"task": "regression", "key": "x"}, "a regression model has no keys"),
            ({"key_memory": LEAST}, "key_memory needs a key"),
            ({"key": "x", "key_memory": 5}, "65536"),
        ):
            with pytest.raises(Refused, match=why):
                await service.decisions.create(CreateRequest("wrong", "oldc", **wrong))
        with pytest.raises(Refused, match="decides by costs"):
            await service.decisions.create(CreateRequest("wrong", "cost-sensitive", key="x"))

    with_service(tmp_path, scenario, options())


def test_over_http_a_key_is_described_and_counted(start):
    server = start("--new", "oldc", "--key", "customer", "--key-memory", "1MB")
    client = Client(f"http://127.0.0.1:{server.port}")
    rows, labels = rows_of(0, 60, 3)
    rows[0]["customer"] = "a/b c?é"
    answers = client.predict(rows)
    client.label(answers.ids, labels)
    assert client.key("a/b c?é").rows == 1
    assert sum(client.key(key).rows for key in (0, 1, 2)) == 59
    assert client.model("default").key == "customer"
    for path, status, what in (
        ("/v1/models/default/keys/none", 404, "has learned no row of the key 'none'"),
        ("/v1/models/other/keys/1", 404, "no model 'other'"),
    ):
        with pytest.raises(ServiceRefused, match=what) as refused:
            client.key(path.split("/")[-1], model=path.split("/")[3])
        assert refused.value.status == status
    client.create("plain", "oldc")
    with pytest.raises(ServiceRefused, match="has no keys"):
        client.key("1", model="plain")
    metrics = urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics").read().decode()
    assert 'thalweg_model_keys{learner="default",model="default",place="memory"} 4.0' in metrics
    client.close()
    assert server.stop() == 0
