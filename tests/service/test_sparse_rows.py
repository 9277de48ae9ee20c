"""Sparse rows in a service: the predictions and the bytes of a run, through kills, late labels and corrections."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pytest
from scipy.sparse import csr_array, random_array

from tests.cli.calls import predictions, run
from tests.service.rows import stream
from tests.service.server import ARROW, Client, Server
from tests.service.test_arrow import as_stream
from thalweg import load
from thalweg.client import Client as TypedClient
from thalweg.client.protocol import CreateRequest
from thalweg.errors import JournalDamaged
from thalweg.service.batcher import PublishedModel
from thalweg.service.commands import Refused
from thalweg.service.journal.compressed_rows import CompressedRows, as_learned, stacked
from thalweg.service.journal.records import PredictBody, Predicted, Record, _header, _with_header
from thalweg.service.learning.creation import record_of
from thalweg.service.learning.ledger import predicted_rows
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.rebuild import decision
from thalweg.store import dumps

MAP = pa.map_(pa.int32(), pa.float64())
WORDS = {"columns": [{"name": "words", "kind": "map"}]}


def entries(rows: int) -> tuple[list[dict[int, float]], list[str]]:
    """Five of ten thousand features in each row, and labels that their values depend on."""
    rng = np.random.default_rng(4)
    signs = rng.choice([-1, 1], rows)
    keys = [np.sort(rng.choice(10_000, 5, replace=False)).tolist() for _ in range(rows)]
    values = (rng.normal(size=(rows, 5)) + signs[:, None]).round(3).tolist()
    return [dict(zip(*each, strict=True)) for each in zip(keys, values, strict=True)], [str(sign) for sign in signs]


def replayed(capsys: pytest.CaptureFixture[str], data: Path, *options: str) -> Any:
    """The learner that a journal gives."""
    assert run(capsys, "replay", str(data), "--out", "replayed.thalweg", *options)[0] == 0
    return load("replayed.thalweg").learner_


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_late_labels_give_the_predictions_of_a_run(
    start: Callable[..., Server], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, labels = entries(120)
    lines = [
        f"{label} " + " ".join(f"{key}:{value}" for key, value in row.items())
        for row, label in zip(rows, labels, strict=True)
    ]
    Path("rows.svm").write_text("\n".join(lines))
    assert run(capsys, "run", "rows.svm", "--out", "out", "--delay", "7", "--quiet")[0] == 0
    Path("schema.json").write_text(json.dumps({"columns": [{"name": "features", "kind": "map", "keys": "index"}]}))
    server = start("--new", "auto", "--schema", "schema.json")
    client = server.client()
    answers = []
    for at, row in enumerate(rows):
        if at > 7:
            client.label([(answers[at - 8]["id"], labels[at - 8])])
        if at % 2:
            answers += client.predict([{"features": row}])
        else:
            table = pa.table({"features": pa.array([list(row.items())], MAP)})
            status, found, _ = client.call("POST", "/v1/predict", as_stream(table), media=ARROW)
            assert status == 200
            answers += pa.ipc.open_stream(found).read_all().to_pylist()
        if at == 60:
            server.kill()
            server = start()
            client = server.client()
    expected = [each["prediction"] or None for each in predictions()]
    assert [each["prediction"] for each in answers] == expected
    client.label([(each["id"], label) for each, label in zip(answers, labels, strict=True)][-8:-7])
    server.stop()
    assert dumps(replayed(capsys, tmp_path / "data")) == dumps(load("out/model.thalweg").learner_)
    for kind in ("label", "predict"):
        with sqlite3.connect(tmp_path / "data" / "journal.sqlite3") as database:
            [(seq,)] = database.execute("SELECT min(seq) FROM journal WHERE kind = ?", [kind])
            database.execute("UPDATE journal SET body = substr(body, 1, length(body) - 20) WHERE seq = ?", [seq])
        database.close()
        code, _, told = run(capsys, "replay", str(tmp_path / "data"), "--whole", "--out", "replayed.thalweg")
        assert (code, len(told.splitlines())) == (2, 1)
        assert f"record {seq} of the journal is damaged: " in told


@pytest.mark.slow
def test_a_service_continues_a_run_with_kills_and_corrected_labels(
    start: Callable[..., Server], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, labels = stream(160)
    maps, _ = entries(160)
    rows = [
        row
        | {"words": None if at % 19 == 3 else {f"w{key}": value for key, value in each.items()}}
        | {"note": None if at % 11 == 5 else f"the level is {row['level']} and the wind {row['wind']} in {at}"}
        for at, (row, each) in enumerate(zip(plain, maps, strict=True))
    ]
    lines = [json.dumps(row | {"label": label}) for row, label in zip(rows, labels, strict=True)]
    for name, count in {"half": 100, "whole": 160}.items():
        Path(f"{name}.ndjson").write_text("\n".join(lines[:count]))
        options = ("--target", "label", "--head", "100", "--text", "note", "--out", name, "--quiet")
        assert run(capsys, "run", f"{name}.ndjson", *options)[0] == 0
    server = start("--model", "half/model.thalweg")
    client = server.client()
    answers = []
    for at in range(100, 160):
        [answer] = client.predict([rows[at]])
        answers.append(answer["probabilities"])
        if at % 10 == 5:
            wrong = next(label for label in labels if label != labels[at])
            client.label([(answer["id"], wrong)])
        assert client.label([(answer["id"], labels[at])], revise=True)["revised"] == (at % 10 == 5)
        if at == 130:
            server.kill()
            server = start()
            client = server.client()
    for each, predicted in zip(answers, predictions("whole")[100:], strict=True):
        assert round(each[predicted["prediction"]], 6) == float(predicted["probability"])
    server.stop()
    continued, whole = replayed(capsys, tmp_path / "data"), load("whole/model.thalweg")
    assert dumps(continued) == dumps(whole.learner_)
    assert dumps(replayed(capsys, tmp_path / "data", "--whole")) == dumps(whole.learner_)
    continued_encoder, expected = load("replayed.thalweg").encoder_, whole.encoder_
    assert continued_encoder.plan.to_json() == expected.plan.to_json()
    for column in expected.plan.columns:  # the names that reports show stay those of the run
        assert column.sparse or continued_encoder.state()[column.name] == column.state()


def test_numbers_are_predicted_from_maps_and_columns_far_from_zero(
    start: Callable[..., Server], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(7)
    words, sizes = rng.integers(0, 20, (200, 4)), rng.normal(500, 1, 200).round(3).tolist()
    rows = [{"size": size, "words": dict.fromkeys(map(str, each), 1)} for size, each in zip(sizes, words, strict=True)]
    effects = rng.normal(size=20)
    numbers = [3 * row["size"] + sum(effects[int(word)] for word in row["words"]) for row in rows]
    Path("schema.json").write_text(json.dumps({"columns": [{"name": "size", "kind": "number"}, *WORDS["columns"]]}))
    server = start("--new", "auto", "--task", "regression", "--schema", "schema.json")
    client, errors = server.client(), []
    for at in range(0, 160, 4):
        four = client.predict(rows[at : at + 4])
        client.label([(each["id"], numbers[at + place]) for place, each in enumerate(four)])
        errors += [(each["prediction"] or 0) - numbers[at + place] for place, each in enumerate(four)]
        if at == 80:
            server.kill()
            server = start()
            client = server.client()
    assert np.std(errors[80:]) < 0.5 * np.std(numbers)
    later = [each["prediction"] for each in client.predict(rows[160:])]
    server.stop()
    learner = replayed(capsys, tmp_path / "data")
    assert (type(learner).__name__, learner.dense_features) == ("AutoRegressor", 2)
    assert load("replayed.thalweg").predict(rows[160:]).tolist() == later


def refused(client: Client, row: Any, model: str = "default") -> str:
    status, answer, _ = client.call("POST", "/v1/predict", {"rows": [{"words": {"a": 1}}, row], "model": model})
    assert status == 422, answer
    return str(answer["error"])


def test_the_first_rows_may_hold_maps_and_a_bad_entry_refuses_its_request_alone(start: Callable[..., Server]) -> None:
    client = start().client()
    assert refused(client, {"words": {"b": "x"}}) == "row 1, column 'words': 'x', the value of 'b', is not a number"
    assert refused(client, {"words": 3}) == "row 1, column 'words': '3' is not an object of numbers"
    [first] = client.predict([{"words": {"free": 2, "money": True, "now": None}, "size": 3.5}])
    shown = client.settled("/v1/models/default")["schema"]["columns"]
    assert [each["kind"] for each in shown] == ["map", "number"]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"words": {"b": [1]}}, "'[1]', the value of 'b', is not a number"),
        ({"words": {"b": 1e51}}, "1e+51, the value of 'b', is beyond the numbers that can be learned"),
        ({"words": "b"}, "'b' is not an object of numbers"),
        ({"words": [1]}, "'[1]' is not an object of numbers"),
        ({"size": {"b": 1}}, "a cell must be a number, a text, true, false or null"),
    ]
    for row, why in wrong:
        assert refused(client, row) == f"row 1, column {next(iter(row))!r}: {why}"
    client.post(
        "/v1/models",
        {"name": "i", "kind": "majority", "schema": {"columns": [WORDS["columns"][0] | {"keys": "index"}]}},
    )
    for key in ("b", "-1", "2147483647", "9" * 30, "1.0", "²", ""):
        why = f"row 0, column 'words': the key {key!r} is not an index between 0 and 2147483646"
        status, answer, _ = client.call("POST", "/v1/predict", {"rows": [{"words": {key: 1}}], "model": "i"})
        assert (status, answer["error"]) == (422, why)
    total = {"words": {"7": 9e49, "07": 9e49}}
    assert "add up to a number beyond" in client.call("POST", "/v1/predict", {"row": total, "model": "i"})[1]["error"]
    for column in (pa.array([[("a", float("nan"))]], pa.map_(pa.string(), pa.float64())), pa.array([{"a": 1.0}])):
        given = as_stream(pa.table({"words": column}))
        status, answer, _ = client.call("POST", "/v1/predict", given, media=ARROW)
        assert (status, answer["error"][:23]) == (422, "row 0, column 'words': "), answer
    assert client.label([(first["id"], "spam")])["learned"] == 1
    assert client.predict([{"words": {"free": 1}}])[0]["prediction"] == "spam"
    assert client.settled()["models"][0]["rows"] == 2


def test_models_that_take_dense_rows_refuse_maps(start: Callable[..., Server]) -> None:
    client = start("--new", "oldc").client()
    use = "use auto, auto-linear, calibrated, cost-sensitive, threshold, sets, no-change, majority"
    why = f"column 'words' is sparse, which a model of kind 'oldc' does not take: {use}"
    assert refused(client, {"words": {"b": 2}}) == why
    assert client.predict([{"size": 1.0}])  # nothing was settled

    def created(**body: Any) -> tuple[int, str]:
        status, answer, _ = client.call("POST", "/v1/models", body)
        return status, answer.get("error", "")

    assert created(name="a", kind="oldc", schema=WORDS) == (422, why)
    assert created(name="a", kind="auto", schema=WORDS) == (201, "")
    assert created(name="b", kind="oldc", challenger_of="a") == (422, why)
    assert created(name="b", kind="majority", challenger_of="a") == (201, "")
    of_numbers = why.replace("oldc", "tiling").replace(use, "use auto, auto-linear, robust")
    assert created(name="c", kind="tiling", task="regression", schema=WORDS) == (422, of_numbers)
    beside = [{"name": "who", "kind": "wide category"}, {"name": "text", "kind": "text"}]
    assert created(name="wide", kind="auto", schema={"columns": [*WORDS["columns"], *beside]}) == (201, "")
    row = {"words": {"a": 1}, "who": "Ada", "text": "a long letter " * 200}
    [answer] = client.predict([row], model="wide")
    assert client.label([(answer["id"], "x")], model="wide")["learned"] == 1
    shown = client.settled("/v1/models/wide")["schema"]["columns"]
    assert [each["kind"] for each in shown] == ["map", "sparse category", "text"]
    assert created(name="c", kind="auto") == created(name="d", kind="oldc", challenger_of="c") == (201, "")
    assert refused(client, {"words": {"b": 2}}, "c") == why


def test_first_rows_must_suit_a_challenger_that_is_being_made() -> None:
    made = decision(Record(1, "m", "create", 1, 0, orjson.dumps(record_of(CreateRequest("m", "auto"), None))))
    model = PublishedModel.of(LiveModel("m", made), 0)
    model.coming.append("oldc")
    with pytest.raises(Refused, match="a model of kind 'oldc' does not take"):
        model.settle([{"words": {"free": 1}}])
    assert model.encoder is None
    model.coming.clear()
    assert model.settle([{"words": {"free": 1}}])["plan"]["columns"][0]["kind"] == "map"


def test_the_client_sends_maps(start: Callable[..., Server]) -> None:
    server = start("--new", "majority")
    with TypedClient(f"http://127.0.0.1:{server.port}") as client:
        client.create("i", "majority", schema={"columns": [WORDS["columns"][0] | {"keys": "index"}]})
        first = client.predict_one({"words": {"free": np.float64(2), "money": np.int64(1)}})
        client.label(first.id, "spam")
        assert client.predict_one({"words": {"offer": 1}}).prediction == "spam"
        found = client.predict([{"words": {np.int64(3): np.float32(0.5)}}, {"words": {7: True}}], model="i")
        table = pa.table({"words": pa.array([[(3, 0.5)], [(7, 1.0)]], MAP)})
        assert len(found + client.predict(table, model="i")) == 4


def body_of(X: csr_array) -> PredictBody:
    columns = {"prediction": np.zeros(X.shape[0], np.int16), "of_positive": np.linspace(0, 1, X.shape[0])}
    answers = Predicted(columns, ["a", "b"])
    return PredictBody(CompressedRows.of(X), {"m": answers}, "a", 3, np.ones((X.shape[0], 1), np.bool_))


@pytest.mark.parametrize("width", [2, 1000, 2**31 - 1, 2**33])
def test_compressed_rows_are_kept_as_they_are(width: int) -> None:
    rng = np.random.default_rng(width)
    for rows in (1, 2, 5):
        X = random_array((rows, min(width, 50)), density=0.3, rng=rng, format="csr")
        X = csr_array((X.data, X.indices.astype(np.int64) * (width // min(width, 50)), X.indptr), shape=(rows, width))
        X.sort_indices()
        body = body_of(X)
        found = PredictBody.from_bytes(body.to_bytes())
        assert found.to_bytes() == body.to_bytes()
        assert isinstance(found.X, CompressedRows)
        assert (len(found.X), found.X.nbytes) == (rows, body.X.nbytes)
        assert (as_learned(found.X) != X).nnz == 0
        np.testing.assert_array_equal(found.predictions["m"].columns["of_positive"], np.linspace(0, 1, rows))
        np.testing.assert_array_equal(found.X.first_features(2), X[:, :2].toarray())
        again = stacked([found.X[at : at + 1] for at in range(rows)])
        for name in ("indptr", "indices", "values"):
            np.testing.assert_array_equal(getattr(again, name), getattr(found.X, name))


def test_a_damaged_record_of_sparse_rows_is_found() -> None:
    whole = body_of(csr_array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]]))
    X = whole.X
    assert isinstance(X, CompressedRows)
    header, arrays = _header(whole.to_bytes())
    del header["arrays"]

    def forged(width: int = 3, **changed: Any) -> bytes:
        return _with_header(header | {"width": width}, arrays | changed)

    def described(*values: Any) -> bytes:
        """Entries of another type or shape than those that are there."""
        content = whole.to_bytes()
        size = int.from_bytes(content[:4], "little")
        told = orjson.loads(content[4 : 4 + size])
        told["arrays"]["values"] = values
        text = orjson.dumps(told)
        return len(text).to_bytes(4, "little") + text + content[4 + size :]

    assert forged() == whole.to_bytes()
    int32 = np.int32
    wrong = {
        "cut": forged()[:-40],
        "no header": b"",
        "too many": described("<f8", 10**15),
        "negative": described("<f8", -1),
        "text": described("<f8", "3"),
        "objects": described("|O", 3),
        "fewer entries": forged(values=X.values[:2]),
        "narrow": forged(width=2),
        "negative index": forged(indices=np.array([-1, 2, 0], int32)),
        "twice": forged(indices=np.array([2, 2, 0], int32)),
        "falling": forged(indices=np.array([2, 1, 0], int32)),
        "backwards": forged(indptr=np.array([0, 4, 3], int32)),
        "no number": forged(values=np.array([1.0, np.nan, 3.0])),
        "begins late": forged(indptr=np.array([1, 2, 3], int32)),
    }
    for what, body in wrong.items():
        with pytest.raises(JournalDamaged, match="record 9 of the journal is damaged"):
            predicted_rows(Record(9, "m", "predict", 1, 2, body))
        assert what
