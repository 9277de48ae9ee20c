"""Features from earlier rows in the service: those of a run over the same rows and times of labels, to the last bit."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.service.in_process import state_of, with_service
from thalweg import load
from thalweg.client.protocol import ColumnsRequest, CreateRequest
from thalweg.errors import ThalwegError
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run
from thalweg.service.commands import Refused
from thalweg.service.journal.databases import open_journal
from thalweg.service.learning.encoding import read_back
from thalweg.service.options import ServeOptions
from thalweg.service.server import first_model
from thalweg.service.service import Service
from thalweg.tables.encoder import Encoder

FEATURES = (
    "risk = rate(target = bad) by card over 4h",
    "unusual = amount / mean(amount) by card over 20 rows",
    "often = count() by card fading 90min",
    "since_last() by card",
    '"shop before" = last(shop) by card',
    "lag(target, 2) by shop",
    "seen = distinct(shop) by card",
    "earlier = lag(amount, 30min)",
)
TRAINED, ROWS = 200, 320
START = np.datetime64("2024-03-01T00:00")
#: Columns that a row has when it is predicted.
KNOWN = ("card", "amount", "shop", "when")


def payments() -> list[dict[str, Any]]:
    """Labels of the first rows come at once, those of later ones up to two hours late."""
    rng = np.random.default_rng(5)
    minute, card = np.cumsum(rng.integers(0, 3, ROWS)), rng.integers(0, 6, ROWS)
    bad = rng.random(ROWS) < np.where((card + np.arange(ROWS) // 50) % 3 == 0, 0.8, 0.1)
    late = np.where(np.arange(ROWS) < TRAINED, 0, rng.integers(1, 60, ROWS) * (1 + bad))
    amount = [
        None if missing else round(value, 2)
        for missing, value in zip(rng.random(ROWS) < 0.05, rng.gamma(2, 10, ROWS).tolist(), strict=True)
    ]
    shop = rng.choice(["web", "town", "café"], ROWS)
    when, known = ([str(START + np.timedelta64(int(at), "m")) for at in times] for times in (minute, minute + late))
    columns = {"card": [f"c{each}" for each in card], "amount": amount, "shop": shop.tolist(), "when": when}
    columns |= {"known": known, "state": np.where(bad, "bad", "good").tolist()}
    columns["state"][TRAINED - 1] = ""  # a run ends before the label of its last row
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


TABLE = payments()
#: Of the rows that are not trained, before which of them the label comes.
COMES = [next((j for j in range(i + 1, ROWS) if TABLE[j]["when"] >= TABLE[i]["known"]), ROWS) for i in range(ROWS)]


def run_over(folder: Path, rows: list[dict[str, Any]]) -> tuple[Path, list[dict[str, str]]]:
    """The model file of a run, and its predictions."""
    folder.mkdir()
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    times = {"time": "when", "label_time": "known", "drop": ("card", "when")}
    run = Run(
        RunOptions(
            str(folder / "rows.csv"),
            "state",
            model="logistic",
            feature=FEATURES,
            head=100,
            out=str(folder / "out"),
            **times,
        )
    )
    run.go()
    run.save_model(folder / "model.thalweg")
    with (folder / "out" / "predictions.csv").open(newline="", encoding="utf-8") as file:
        return folder / "model.thalweg", list(csv.DictReader(file))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, str]], np.ndarray]:
    """The model file of a run over the first rows; predictions and encoded rows of a run over all of them."""
    folder, encoded = tmp_path_factory.mktemp("runs"), []
    model, _ = run_over(folder / "first", TABLE[:TRAINED])
    with pytest.MonkeyPatch.context() as patch:
        encode: Callable[..., Any] = Encoder.encode

        def noted(*given: Any, **more: Any) -> Any:
            found = encode(*given, **more)
            encoded.append(found.X)
            return found

        patch.setattr(Encoder, "encode", noted)
        _, predictions = run_over(folder / "all", TABLE)
    return model, predictions[TRAINED:], np.concatenate(encoded)[TRAINED:]


class Player:
    """Rows and labels as they come, from one row to another; what came of each is noted."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self.X: list[np.ndarray] = []
        #: Cells of numbers and words, None where one is missing.
        self.cells: list[list[Any]] = []

    def labels(self, at: int) -> list[tuple[str, str]]:
        """Those that come before a row, in their order."""
        came = [i for i in range(TRAINED, at) if COMES[i] == at]
        came.sort(key=lambda i: (TABLE[i]["known"], i))
        return [(self.found[i - TRAINED].id, TABLE[i]["state"]) for i in came]

    def through(self, end: int) -> Callable[[Service], Any]:
        async def scenario(service: Service) -> None:
            for at in range(TRAINED + len(self.found), end):
                for each in self.labels(at):
                    await service.label("default", [each])
                await self.ask(service, [TABLE[at]])

        return scenario

    async def ask(self, service: Service, rows: list[dict[str, Any]]) -> None:
        asked = await service.predict("default", [{name: row[name] for name in KNOWN} for row in rows])
        self.found.extend(asked.response.predictions(asked.seq))
        self.X.extend(asked.body.X)
        plan = service.models.state("default").columns
        numbers = [each for each in read_back(plan, asked.body.X, asked.body.gaps, {}) if each is not None]
        words = [np.append(names, None)[places] for places, names in asked.body.cells.values()]
        self.cells.extend(
            [None if cell != cell else cell for cell in row] for row in zip(*numbers, *words, strict=True)
        )


def assert_one_truth(folder: Path) -> None:
    """With its snapshots and from the journal alone, the model is the same."""
    assert state_of(folder) == state_of(folder, from_snapshots=False)


def test_a_service_that_is_killed_has_the_features_of_a_run(runs, tmp_path):
    model, by_run, X = runs
    player, killed = Player(), tmp_path / "killed"

    async def until_killed(service: Service) -> None:
        await player.through(TRAINED + 70)(service)
        shutil.copytree(tmp_path / "live", killed, ignore=shutil.ignore_patterns("*lock*"))

    with_service(tmp_path / "live", until_killed, ServeOptions(model=model))
    with_service(killed, player.through(TRAINED + 90))
    with_service(killed, player.through(ROWS))
    assert np.array(player.X).tobytes() == X.tobytes()
    assert [each.prediction for each in player.found] == [each["prediction"] for each in by_run]
    assert_one_truth(killed)


@pytest.mark.quick(1)
@pytest.mark.parametrize("how", ["erased", "revised", "withdrawn"])
def test_what_is_put_right_was_never_wrong(how, runs, tmp_path):
    """Features of later rows are as if a label had been right at first, or a row had never come."""
    given, wrong = ServeOptions(model=runs[0]), TRAINED + 30

    class Wrong(Player):
        def labels(self, at: int) -> list[tuple[str, str]]:
            turned = {"bad": "good", "good": "bad"}
            own = self.found[wrong - TRAINED].id if at > wrong else None
            return [(row, turned[label] if row == own else label) for row, label in super().labels(at)]

    class Right(Player):
        def labels(self, at: int) -> list[tuple[str, str]]:
            own = self.found[wrong - TRAINED].id if at > wrong and how != "revised" else None
            return [(row, label) for row, label in super().labels(at) if row != own]

        async def ask(self, service: Service, rows: list[dict[str, Any]]) -> None:
            if how == "erased" and rows == [TABLE[wrong]]:
                self.found.append(SimpleNamespace(id="none"))
            else:
                await super().ask(service, rows)

    player, right = Wrong(), Right()

    async def put_right(service: Service) -> None:
        await player.through(ROWS - 20)(service)
        row = player.found[wrong - TRAINED].id
        if how == "revised":
            await service.label("default", [(row, TABLE[wrong]["state"])], revise=True)
        else:
            await service.withdraw("default", [row], erase=how == "erased")
        await player.through(ROWS)(service)

    with_service(tmp_path / "live", put_right, given)
    with_service(tmp_path / "right", right.through(ROWS), given)
    assert COMES[wrong] < ROWS - 40
    assert player.cells[-60:-20] != right.cells[-60:-20]
    assert player.cells[-20:] == right.cells[-20:]
    assert len(player.cells[0]) == 10
    assert_one_truth(tmp_path / "live")


def test_a_restart_and_a_replica_know_what_the_service_knew(runs, tmp_path):
    """Requests come together, learners change places, and a column is added on the way."""
    row, found, here = {name: TABLE[-1][name] for name in KNOWN} | {"note": 1.0}, [], tmp_path / "live"

    async def scenario(service: Service) -> None:
        player = Player()
        for begin in range(TRAINED, ROWS - 1, 7):
            rows = [{name: each[name] for name in KNOWN} for each in TABLE[begin : min(begin + 7, ROWS - 1)]]
            labels = [each for at in range(begin - 6, begin + 1) for each in player.labels(at)]
            asked = await asyncio.gather(
                *(service.predict("default", [each]) for each in rows),
                *(service.label("default", [each]) for each in labels),
                *([service.explain("default", rows)] if TRAINED < begin < TRAINED + 56 else []),
            )
            for each in asked[: len(rows)]:
                player.found.extend(each.response.predictions(each.seq))
            if begin == TRAINED + 28:
                await service.decisions.create(CreateRequest("rival", "oldc", challenger_of="default"))
            if begin == TRAINED + 56:
                await service.decisions.name_version("default", "before")
                await service.decisions.promote("rival", force=True)
                await service.decisions.change_columns("default", ColumnsRequest(add={"note": 0.5}))
            if begin == TRAINED + 84:
                await service.decisions.roll_back("default", "before", None)
        for column in ("shop", "amount"):
            with pytest.raises(Refused, match="features from earlier rows read it"):
                await service.decisions.change_columns("default", ColumnsRequest(retire=[column]))
        shutil.copytree(here, tmp_path / "copy", ignore=shutil.ignore_patterns("*lock*"))
        file = await service.decisions.file("default")
        (tmp_path / "model.thalweg").write_bytes(file)
        found.append((await service.predict("default", [row])).body.X)

    async def same(service: Service) -> None:
        found.append((await service.predict("default", [row])).body.X)

    async def replicate() -> None:
        replica = Service(open_journal(tmp_path / "copy", None, read_only=True), ServeOptions(follow="."))
        await replica.start()
        for _ in range(2):
            await same(replica)
        await replica.stop()

    with_service(here, scenario, ServeOptions(model=runs[0]))
    asyncio.run(replicate())
    with_service(tmp_path / "copy", same)
    model = load(tmp_path / "model.thalweg")
    found.append(model.encode(pd.DataFrame([row])))
    assert len({each.tobytes() for each in found}) == 1
    assert len(found) == 5
    assert_one_truth(here)


def test_a_new_model_has_features_by_its_schema_or_its_first_rows(tmp_path):
    lines = ("risk = rate(target = bad) by card over 4h", "last(shop) by card", "amount / mean(amount) by card")
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"columns": [{"name": "amount", "kind": "number"}]}))
    values = []

    async def scenario(service: Service) -> None:
        player = Player()
        for at in range(TRAINED, TRAINED + 30):
            for each in player.labels(at):
                await service.label("default", [each])
            asked = await service.predict("default", [{name: TABLE[at][name] for name in KNOWN} | {"amount": 1.0 + at}])
            player.found.extend(asked.response.predictions(asked.seq))
        plan = service.models.state("default").columns
        at = {name: place for place, name in enumerate(plan.feature_names)}
        values.append([asked.body.X[0, at[name]] for name in ("risk", "amount / mean(amount) by card")])
        words = service.models.model("default").encoder.history
        values[-1].append(words.is_of_words("last(shop) by card"))
        explained = (await service.explain("default", [{"amount": 5.0, "when": TABLE[-1]["when"], "card": "c1"}]))[1]
        assert "amount / mean(amount) by card" in explained[0]["contributions"]

    for more in ({}, {"schema": schema}):
        given = ServeOptions(new="oldc", feature=lines, time="when", **more)
        with_service(tmp_path / f"live{len(more)}", scenario, given)
        assert_one_truth(tmp_path / f"live{len(more)}")
    assert values[0] == values[1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"feature": ("x = mean(",)}, "x = mean("),
        ({"feature": ("rate(target)",)}, "say of which label"),
        ({"feature": ("count() over 1h",)}, "name the column of times"),
        ({"time": "when"}, "give features, too"),
        ({"features": Path("auto")}, "thalweg run --features auto"),
        ({"features": Path("no such file")}, "cannot be read"),
    ],
)
def test_features_that_cannot_be_are_refused_at_once(given, message, tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"columns": [{"name": "amount", "kind": "number"}]}))
    with pytest.raises(ThalwegError, match=re.escape(message)):
        first_model(ServeOptions(schema=schema, **given))
