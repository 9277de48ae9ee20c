"""The client against the real service: both kinds of calls, both kinds of bodies, and a service that comes and goes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from prometheus_client import parser

pytest.importorskip("httpx", reason="the client needs httpx")

from tests.ports import ReservedPort
from tests.service.rows import stream
from tests.service.server import Server
from thalweg import AutoClassifier, OnlineLinearRegression, PredictionIntervals, PredictionSets
from thalweg.client import AsyncClient, Client
from thalweg.errors import InvalidInput, ServiceRefused
from thalweg.streams import LinearResponse, MovingPlane

ROWS, LABELS = (each[1:] for each in stream(241))  # the first row has gaps, and tells too little


@pytest.fixture
def client(common: Server) -> Iterator[Client]:
    with Client(f"http://127.0.0.1:{common.port}") as client:
        yield client


def test_rows_labels_revisions_and_what_is_told_of_them(client: Client) -> None:
    client.create("river", "oldc", parameters={"rate": 0.05})
    first = client.predict_one(ROWS[0], model="river")
    assert (first.prediction, first.probability) == (None, None)
    answers = client.predict(ROWS[1:120], model="river", key="the morning's rows")
    again = client.predict(ROWS[1:120], model="river", key="the morning's rows")
    assert answers.ids == again.ids
    receipt = client.label([first.id, *answers.ids], LABELS[:120], model="river")
    assert (receipt.learned, receipt.complete) == (120, True)
    later = client.predict(ROWS[120:], model="river")
    assert set(later.predictions) <= {"low", "high", "flood"}
    assert later[0].probability == pytest.approx(max(later[0].probabilities.values()))
    assert sum(later[0].probabilities.values()) == pytest.approx(1.0)
    assert client.label(later.ids[0], "flood", model="river").learned == 1
    assert client.label(later.ids[0], "low", model="river").conflicts == (later.ids[0],)
    assert client.label({later.ids[0]: "low", "999999-0": "low"}, revise=True, model="river").unknown == ("999999-0",)
    model = client.model("river")
    assert (model.kind, model.rows, model.labels, model.waiting) == ("oldc", 240, 121, 119)
    assert model.parameters == {"rate": 0.05}
    assert [column["name"] for column in (model.schema or {})["columns"]] == ["level", "rain", "wind", "when"]
    course = client.course("river")
    assert (course.labels, course.waiting, course.points.labels[-1]) == (121, 119, 121)
    assert next(iter(client.events("river"))).labels == 121


def test_a_table_and_rows_are_the_same_to_a_model(client: Client) -> None:
    pd = pytest.importorskip("pandas")
    for name in ("by-rows", "by-table"):
        client.create(name, "oldc")
    given = [{"a": float(row), "b": float(row * row % 7)} for row in range(60)]
    truth = ["up" if row["b"] > 3 else "down" for row in given]
    for name, rows in (("by-rows", given), ("by-table", pd.DataFrame(given))):
        answers = client.predict(rows, model=name)
        client.label(np.array(answers.ids), np.array(truth), model=name)
    first = client.predict(given, model="by-rows")
    second = client.predict(np.array([[row["a"], row["b"]] for row in given]), columns=["a", "b"], model="by-table")
    assert first.predictions == second.predictions
    assert first.probability == second.probability
    assert (second.model, second.probabilities[0]) == ("by-table", None)


def test_a_model_is_made_with_costs(client: Client) -> None:
    client.create("cards", "cost-sensitive", positive="fraud", costs={"fp": 1, "fn": 50})
    assert client.model("cards").positive == "fraud"
    for wrong in ({"FP": 1, "fn": 50}, "fp=1"):
        with pytest.raises(InvalidInput, match="costs must be a mapping with fp and fn"):
            client.create("others", "auto", positive="fraud", costs=wrong)


def test_a_model_of_sets_gives_them_in_every_format(client: Client) -> None:
    pd = pytest.importorskip("pandas")
    X, y = MovingPlane(seed=2).take(300)
    rows, labels = [{"a": a, "b": b} for a, b in X.tolist()], y.astype(str)
    client.create("sets", "sets")
    assert client.predict_one(rows[0], model="sets").prediction_set is None  # before any label
    client.label(client.predict(rows, model="sets").ids, labels, model="sets")
    twin = PredictionSets(AutoClassifier()).partial_fit(X, labels)
    expected = twin.predict_labels(X[:50])
    given = client.predict(rows[:50], model="sets")
    assert given.prediction_sets == expected
    assert given[3].prediction_set == expected[3]
    assert client.predict(pd.DataFrame(rows[:50]), model="sets").prediction_sets == expected
    assert {len(each) for each in expected} >= {1, 2}


def test_numbers_come_with_intervals_in_every_format_and_from_both_clients(client: Client, common: Server) -> None:
    pd = pytest.importorskip("pandas")
    X, y = LinearResponse(seed=3).take(200)
    columns = [f"x{at}" for at in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns)
    rows = frame.to_dict("records")
    client.create("price", "linear", task="regression", coverage=0.8)
    for row, target in zip(rows[:120], y[:120].tolist(), strict=True):
        asked = client.predict_one(row, model="price")
        assert {asked.prediction is None, asked.lower is None, asked.upper is None} == {row is rows[0]}
        assert client.label([asked.id], [target], model="price").learned == 1
    twin = PredictionIntervals(OnlineLinearRegression(solver="rls", penalty=0.01, forgetting=0.001), coverage=0.8)
    X = np.pad(X, ((0, 0), (0, 1)))  # a last feature says whether a cell is missing
    for x, target in zip(X[:120], y[:120].tolist(), strict=True):
        twin.learn_one(x, target)
    lower, upper = twin.predict_interval(X[120:])
    by_rows, by_table = client.predict(rows[120:], model="price"), client.predict(frame[120:], model="price")
    for answers in (by_rows, by_table):
        assert answers.predictions == twin.predict(X[120:]).tolist()
        # A width is learned from the ends that were given, so that it may differ in its last bit.
        assert (answers.lower, answers.upper) == (pytest.approx(lower, rel=1e-12), pytest.approx(upper, rel=1e-12))
        assert answers.probability == [None] * 80
    assert (by_table[7].lower, by_table[7].prediction) == (by_rows.lower[7], by_rows.predictions[7])

    async def told() -> tuple[float | None, float | None]:
        async with AsyncClient(f"http://127.0.0.1:{common.port}", model="price", batch_rows=50) as awaiting:
            answers = await awaiting.predict(rows[120:])
            return answers[79].lower, (await awaiting.model("price")).coverage

    assert asyncio.run(told()) == (pytest.approx(lower[79], rel=1e-12), 0.8)
    client.label(by_rows.ids, y[120:], model="price")
    assert client.course("price").predictions.target[-1] == pytest.approx(y[-1], rel=1e-5)
    with pytest.raises(ServiceRefused, match="label 0: it must be a finite number"):
        client.label(by_table.ids[0], "high", model="price")


def test_champion_and_challenger(client: Client) -> None:
    client.create("champion", "perceptron")
    client.create("challenger", "auto", challenger_of="champion")
    for start in range(0, 240, 40):
        answers = client.predict(ROWS[start : start + 40], model="champion")
        client.label(answers.ids, LABELS[start : start + 40], model="champion")
    compared = client.compare("champion")
    assert (compared.champion, compared.challenger, compared.labels) == ("champion", "challenger", 200)
    assert compared.interval[0] <= compared.difference <= compared.interval[1]
    assert {model.name: model.challenger_of for model in client.models()}["challenger"] == "champion"
    with pytest.raises(ServiceRefused, match="nothing to promote"):
        client.promote("champion")
    client.promote("challenger", expected="auto")
    assert client.model("champion").kind == "auto"
    with pytest.raises(ServiceRefused, match="have not been compared"):
        client.promote("challenger")
    client.promote("challenger", force=True)
    assert client.model("champion").kind == "perceptron"
    client.archive("challenger")
    assert [model.archived for model in client.models() if model.name == "challenger"] == [True]
    client.restore("challenger")


def test_a_row_that_is_withdrawn_is_not_erased(client: Client) -> None:
    """With idempotency keys, as the client sends them."""
    client.create("rows", "oldc")
    ids = client.predict(ROWS[:3], model="rows").ids
    client.label(ids, LABELS[:3], model="rows")
    assert client.void(ids[:1], model="rows").voided == 1
    assert client.void(ids[:1], model="rows").repeated == 1
    assert client.erase(ids[:2], model="rows").erased == 2
    assert client.erase(ids[:2], model="rows").repeated == 2


def test_many_at_once_through_the_awaiting_client(common: Server) -> None:
    async def asked() -> tuple[int, set[str]]:
        async with AsyncClient(f"http://127.0.0.1:{common.port}", model="together") as client:
            await client.create("together", "oldc")
            answers = await asyncio.gather(*(client.predict_one(row) for row in ROWS[:50]))
            receipts = await asyncio.gather(
                *(client.label(answer.id, label) for answer, label in zip(answers, LABELS[:50], strict=True))
            )
            point = await anext(client.events("together"))
            assert point.labels == 50
            return sum(receipt.learned for receipt in receipts), {answer.id for answer in answers}

    learned, ids = asyncio.run(asked())
    assert (learned, len(ids)) == (50, 50)


def test_a_service_that_was_killed_is_waited_for(start: Callable[..., Server], tmp_path: Path) -> None:
    with ReservedPort() as port, Client(f"http://127.0.0.1:{port.number}") as client:
        here = ("--listen", f"127.0.0.1:{port.number}")
        server = start("--new", "oldc", *here)
        answers = client.predict(ROWS[:40])
        server.kill()
        start("--new", "oldc", *here)
        assert client.label(answers.ids, LABELS[:40]).learned == 40
        assert client.model("default").labels == 40


def test_metrics_are_told_by_the_service(client: Client, common: Server) -> None:
    client.create("counted", "oldc")
    client.label(client.predict(ROWS[:30], model="counted").ids, LABELS[:30], model="counted")
    told = common.client().call("GET", "/metrics")[1].decode()
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in parser.text_string_to_metric_families(told)
        for sample in family.samples
    }
    assert samples["thalweg_model_rows_total", "counted"] == 30
    assert samples["thalweg_model_labels_total", "counted", "counted"] == 30
    assert samples["thalweg_requests_total", "200", "predict"] >= 1
    assert samples["thalweg_ready",] == 1
    assert {"thalweg_model_label_delay_seconds", "thalweg_commits_total"} <= {name for name, *_ in samples}
    assert re.search(r'thalweg_request_seconds_bucket\{kind="label",le="\+Inf"\} \d', told)
