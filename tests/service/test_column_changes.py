"""Columns that change while a model lives: it goes on, late labels of old rows are learned, and a replay is exact."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from tests.service.in_process import erase, state_of, with_service
from thalweg.client.protocol import ColumnsRequest
from thalweg.service import decisions
from thalweg.service.auth import Authorizer
from thalweg.service.commands import Refused
from thalweg.service.http.app import build
from thalweg.service.options import ServeOptions
from thalweg.service.service import Service
from thalweg.store import dumps, loads
from thalweg.tables.column_changes import ColumnChange, changed
from thalweg.tables.encoder import Encoder

RNG = np.random.default_rng(11)


def rows_of(count: int, **columns: Any) -> list[dict[str, Any]]:
    """Rows of x, in (-1, 1), and a city, beside further columns: functions of x."""
    found = []
    for x in RNG.uniform(-1, 1, size=count).tolist():
        city = "north" if x > 0 else "south"
        found.append({"x": x, "city": city} | {name: make(x) for name, make in columns.items()})
    return found


async def taught(service: Service, rows: list[dict[str, Any]]) -> list[str]:
    """Ask rows, and give each the label of its sign; the answers."""
    asked = await service.predict("default", rows)
    labels = ["up" if row.get("x", row.get("height", 0)) > 0 else "down" for row in rows]
    await service.label("default", [(f"{asked.seq}-{at}", label) for at, label in enumerate(labels)])
    return [each.prediction for each in asked.response.predictions(asked.seq)]


@pytest.mark.parametrize("kind", ["oldc", "auto-linear", "regression"])
def test_a_replay_of_changed_columns_is_exact_and_late_labels_of_old_rows_are_learned(tmp_path, kind):
    async def scenario(service: Service) -> None:
        if kind == "regression":

            async def teach(rows: list[dict[str, Any]]) -> None:
                asked = await service.predict("default", rows)
                await service.label("default", [(f"{asked.seq}-{at}", float(at)) for at in range(len(rows))])
        else:

            async def teach(rows: list[dict[str, Any]]) -> None:
                await taught(service, rows)

        label: Any = 1.0 if kind == "regression" else "up"
        await teach(rows_of(40))
        old = await service.predict("default", rows_of(3))
        await service.decisions.change_columns("default", ColumnsRequest({"wind": 0.5, "sky": "clear"}))
        await teach(rows_of(20, wind=lambda x: x + 2, sky=lambda x: "clear" if x > 0 else "cloudy"))
        await teach(rows_of(5))  # from clients that do not send them yet
        await service.label("default", [(f"{old.seq}-0", label)])
        older = await service.predict("default", rows_of(1, wind=lambda x: x))
        await service.decisions.change_columns("default", ColumnsRequest(retire=["city"], rename={"x": "height"}))
        rows = [{"height": row["x"], "wind": 1.0} for row in rows_of(10)]
        await teach(rows)
        service.models.threads["default"].keep()
        service.models.drain()
        await service.decisions.change_columns("default", ColumnsRequest({"last": {"kind": "number", "default": -1}}))
        await teach([row | {"last": 2.0, "city": "ignored"} for row in rows])
        await service.label("default", [(f"{old.seq}-1", label), (f"{older.seq}-0", label)])
        with pytest.raises(Refused, match="the model has no such column"):
            await service.predict("default", [{"x": 1.0}])
        model = loads(await service.decisions.file("default"))
        frame = pa.table(
            {"height": [1.0, -1.0], "wind": [1.0, 2.0]}
        )  # without those that are retired or have a default
        assert len(model.predict(frame)) == 2
        shown = service.models.by_name["default"].encoder
        kept = service.models.threads["default"].model.follower.encoder()
        assert shown.to_json() == kept.to_json()

    options = ServeOptions(new="auto", task="regression") if kind == "regression" else ServeOptions(new=kind)
    with_service(tmp_path, scenario, options)
    live = state_of(tmp_path)
    assert live == state_of(tmp_path, from_snapshots=False)


def test_a_model_with_an_added_column_learns_what_it_says(tmp_path):
    async def scenario(service: Service) -> None:
        noise = [{"x": value} for value in RNG.normal(size=60).tolist()]
        asked = await service.predict("default", noise)
        await service.label("default", [(f"{asked.seq}-{at}", "up" if at % 2 else "down") for at in range(60)])
        await service.decisions.change_columns("default", ColumnsRequest({"tells": 0.0}))
        for _ in range(10):
            signs = RNG.choice([-1.0, 1.0], size=10).tolist()
            asked = await service.predict("default", [{"x": 0.0, "tells": sign} for sign in signs])
            labels = ["up" if sign > 0 else "down" for sign in signs]
            await service.label("default", [(f"{asked.seq}-{at}", label) for at, label in enumerate(labels)])
        asked = await service.predict("default", [{"tells": 1.0}, {"tells": -1.0}])
        assert [each.prediction for each in asked.response.predictions(asked.seq)] == ["up", "down"]

    with_service(tmp_path, scenario)


def test_a_model_returns_to_a_state_from_before_its_columns_changed(tmp_path):
    north, south = {"height": 0.8, "city": "north"}, {"height": -0.8, "city": "south"}

    def learner(file: bytes) -> bytes:
        return dumps(loads(file).learner_)

    async def scenario(service: Service) -> None:
        await taught(service, rows_of(40))
        await service.decisions.name_version("default", "good")
        then = learner(await service.decisions.file("default"))
        await service.decisions.change_columns("default", ColumnsRequest(rename={"x": "height"}))
        turned = await service.predict("default", [south, north] * 20)
        await service.label("default", [(f"{turned.seq}-{at}", ("up", "down")[at % 2]) for at in range(40)])
        await service.decisions.roll_back("default", "good", None)
        assert learner(await service.decisions.file("default")) == then  # rows are no wider

        await service.decisions.change_columns("default", ColumnsRequest({"wind": 0.5}))
        wide = learner(await service.decisions.file("default"))
        await service.decisions.roll_back("default", "good", None)
        assert learner(await service.decisions.file("default")) not in (
            then,
            wide,
        )  # of wider rows, without those turned
        asked = await service.predict("default", [north, south])
        assert [each.prediction for each in asked.response.predictions(asked.seq)] == ["up", "down"]
        await service.label("default", [(f"{asked.seq}-0", "up"), (f"{asked.seq}-1", "down")])

    with_service(tmp_path, scenario)
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False)

    async def more(service: Service) -> None:
        await taught(service, [north, south] * 10)
        service.models.threads["default"].keep()
        service.models.drain()

    with_service(tmp_path, more)
    assert erase(tmp_path, "5rows").records > 0

    async def after_the_cut(service: Service) -> None:
        with pytest.raises(Refused, match="columns were added since record"):
            await service.decisions.roll_back("default", "good", None)

    with_service(tmp_path, after_the_cut)


def test_labels_that_come_while_a_model_is_learned_again_are_in_it(tmp_path, monkeypatch):
    learn, tries = decisions._learned_again, []

    async def scenario(service: Service) -> None:
        loop = asyncio.get_running_loop()
        await taught(service, rows_of(20))
        waiting = await service.predict("default", rows_of(1))

        def interrupted(*arguments: Any) -> Any:
            found = learn(*arguments)
            tries.append(found)
            if len(tries) == 1:
                told = service.label("default", [(f"{waiting.seq}-0", "up")])
                asyncio.run_coroutine_threadsafe(told, loop).result()
            return found

        monkeypatch.setattr(decisions, "_learned_again", interrupted)
        await service.decisions.change_columns("default", ColumnsRequest({"wind": 0.0}))
        assert len(tries) == 2
        assert service.models.states()[0].summary("default").labels == 21

    with_service(tmp_path, scenario)
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False)


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        (ColumnsRequest(), "there must be a column"),
        (ColumnsRequest({"x": 0.0}), "would be there twice"),
        (ColumnsRequest({"new": None}), "its default must be a number or a text"),
        (ColumnsRequest({"new": True}), "its default must be a number or a text"),
        (ColumnsRequest({"new": {"kind": "map", "default": 1}}), "must be of kind"),
        (ColumnsRequest({"new": {"kind": "number", "default": "a"}}), "its default must be a number"),
        (ColumnsRequest({"new": {"kind": "time", "default": "soon"}}), "column 'new' cannot be added"),
        (ColumnsRequest({"": 1.0}), "must have a name"),
        (ColumnsRequest(retire=["y"]), "learns from no such column"),
        (ColumnsRequest(retire=["x", "city"]), "not retired"),
        (ColumnsRequest(rename={"x": "city"}), "would be there twice"),
        (ColumnsRequest(retire=["x"], rename={"x": "z"}), "not both"),
    ],
)
def test_changes_that_cannot_be_are_refused_and_change_nothing(asked, what):
    from thalweg.service.batcher import ColumnVote
    from thalweg.service.learning import schema

    class Model:
        name, epoch, vote = "default", 0, ColumnVote()
        encoder = schema.as_described(
            {"columns": [{"name": "x", "kind": "number"}, {"name": "city", "kind": "category"}]}
        )

    models = SimpleNamespace(model=lambda name: Model(), journal=SimpleNamespace(another=None))
    before = Model.encoder.to_json()
    with pytest.raises(Refused, match=what):
        asyncio.run(decisions.Decisions(models, None).change_columns("default", asked))
    assert Model.encoder.to_json() == before


def test_an_encoder_with_changed_columns_comes_back_from_json():
    from thalweg.service.learning import schema

    told = {"columns": [{"name": name, "kind": kind} for name, kind in (("a", "number"), ("b", "category"))]}
    change = ColumnChange.from_json(
        ColumnChange([schema.added_column("c", "k"), schema.added_column("d", 2)], ["b"], {"a": "z"}).to_json()
    )
    found = changed(schema.as_described(told), change)
    again = Encoder.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert again.plan.names == ("z", "b", "c", "d")
    assert [column.default for column in again.plan.columns] == [None, None, "k", 2]


def test_columns_change_and_rows_are_erased_over_http(tmp_path):
    async def scenario(service: Service) -> None:
        transport = httpx.ASGITransport(build(service, Authorizer([])))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost/v1") as client:

            async def post(path: str, **body: Any) -> tuple[int, Any]:
                reply = await client.post(path, json=body, headers={"Idempotency-Key": f"{path} {body}"})
                return reply.status_code, reply.json()

            _, asked = await post("/predict", rows=[{"x": 1.0, "city": "a"}, {"x": 2.0, "city": "b"}])
            subject = asked["predictions"][0]["id"]
            columns = {"add": {"wind": 0.5}, "retire": ["city"], "rename": {"x": "height"}}
            first = await post("/models/default/columns", **columns)
            assert first == await post("/models/default/columns", **columns)  # the same request, done once
            assert first[0] == 200
            assert (await post("/predict", row={"height": 1.0}))[0] == 200
            assert (await post("/models/default/columns", add={"wind": 1}))[0] == 422
            assert (await post("/models/default/columns", add=["wind"]))[1]["error"].startswith("add must be an object")
            status, erased = await post("/models/default/erase", ids=[subject, "7-70"])
            assert (status, erased["erased"], erased["unknown"]) == (200, 1, ["7-70"])
            again = await post("/predict", rows=[{"x": 1.0, "city": "a"}, {"x": 2.0, "city": "b"}])
            assert again == (410, {"error": "the rows that were sent with this Idempotency-Key have been erased"})
            shown = (await client.get("/models/default")).json()
            assert shown["waiting"] == 2

    with_service(tmp_path, scenario)
