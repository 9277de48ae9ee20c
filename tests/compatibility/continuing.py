"""Continue a run and a service that an earlier version began; `write_fixtures` and the tests do the same."""

from __future__ import annotations

import csv
import json
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.recorded import FIXTURES, sha256
from tests.service.rows import stream
from tests.service.server import Server
from thalweg import cli, load
from thalweg.store import dumps, loads

#: The model of a run over the first rows of the table, and how many of those have a label.
FINISHED, FINISHED_ROWS = FIXTURES / "runs" / "finished.thalweg", 1090
#: The same of a run that predicts numbers.
FINISHED_NUMBERS = FIXTURES / "runs" / "finished-numbers.thalweg"
#: Models of the journal, and the options by which each is replayed.
REPLAYS = {
    "default": ["--model", "default"],
    "default, whole": ["--model", "default", "--whole"],
    "default, before the correction": ["--model", "default", "--to", "12"],
    "river": ["--model", "river"],
    "rival": ["--model", "rival"],
}


def thalweg(*arguments: str) -> None:
    """Call the command line, which must succeed."""
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert not ended.value.code, arguments


def finish_run(name: str, folder: Path) -> dict[str, str]:
    """Resume a copy of a stopped run, and let its model predict the whole table; digests of the results."""
    shutil.copy(FIXTURES / "runs" / "rows.csv", folder)
    out = Path(shutil.copytree(FIXTURES / "runs" / name, folder / name))
    with chdir(folder):
        thalweg("run", "--resume", "--out", name, "--quiet")
        thalweg("predict", f"{name}/model.thalweg", "rows.csv", "--bad-rows", "skip", "--out", "predicted.csv")
    assert not (out / "checkpoint").exists()
    return {
        "options": sha256((out / "options.toml").read_bytes()),
        "predictions": sha256((out / "predictions.csv").read_bytes()),
        "metrics": sha256(_without_words(json.loads((out / "metrics.json").read_bytes()))),
        "model": sha256(dumps(load(out / "model.thalweg").learner_)),
        "predicted": sha256((folder / "predicted.csv").read_bytes()),
    }


def table_rows() -> list[dict[str, str]]:
    """The rows of the table that have a label and all cells."""
    with (FIXTURES / "runs" / "rows.csv").open(newline="", encoding="utf-8") as lines:
        return [row for row in csv.DictReader(lines) if row["state"]]


def continue_table() -> dict[str, str]:
    """Let the model of a finished run predict and then learn the rows after those of the run; digests of both."""
    model, rows = load(FINISHED), table_rows()[FINISHED_ROWS:]
    found = [model.predict(rows).tolist(), model.predict_proba(rows).tolist(), model.predict_one(rows[0])]
    model.partial_fit(rows[1:], [row["state"] for row in rows[1:]]).learn_one(rows[0], rows[0]["state"])
    return {"predictions": sha256(json.dumps(found).encode()), "model": sha256(dumps(model))}


def continue_numbers() -> dict[str, str]:
    """The same of the model of a run that predicts numbers."""
    model, rows = load(FINISHED_NUMBERS), table_rows()[FINISHED_ROWS:]
    found = [model.predict(rows).tolist(), *(end.tolist() for end in model.predict_interval(rows, 0.8))]
    model.partial_fit(rows[1:], [float(row["rain"]) for row in rows[1:]]).learn_one(rows[0], float(rows[0]["rain"]))
    return {"predictions": sha256(json.dumps(found).encode()), "model": sha256(dumps(model))}


def _without_words(metrics: dict[str, Any]) -> bytes:
    """Metrics without the version and the sentences for people, which may be worded better later."""
    del metrics["run"]["version"], metrics["model"]["about"], metrics["model"]["explain"]
    metrics["rows"]["bad"] = len(metrics["rows"]["bad"])
    metrics["columns"] = [column[:2] for column in metrics["columns"]]
    return json.dumps(metrics, sort_keys=True).encode()


def replay(data: Path) -> dict[str, bytes]:
    """Model files that are rebuilt from a copy of the journal, by name of the replay."""
    shutil.copytree(FIXTURES / "journal", data, dirs_exist_ok=True)
    return {name: _replayed(data, options) for name, options in REPLAYS.items()}


def replay_sparse(data: Path) -> dict[str, str]:
    """Digests of the learners that are rebuilt from a copy of a journal of sparse rows, by model."""
    shutil.copytree(FIXTURES / "sparse-journal", data, dirs_exist_ok=True)
    return {
        name: sha256(dumps(loads(_replayed(data, ["--model", name, "--whole"])).learner_))
        for name in ("default", "numbers")
    }


def _replayed(data: Path, options: list[str]) -> bytes:
    out = data / "replayed.thalweg"
    thalweg("replay", str(data), "--out", str(out), *options)
    return out.read_bytes()


def continue_service(data: Path, waiting: dict[str, list[str]]) -> dict[str, str]:
    """Start a service on the journal, label rows it answered before and new ones, correct a label; digests of models.

    Parameters
    ----------
    data : Path
        A folder with a journal.
    waiting : dict
        By model, the ids of rows without a label.
    """
    rows, labels = stream(60, seed=5)
    server = Server("--expire", "36500d", data=data)
    try:
        client = server.client()
        for model, ids in waiting.items():
            new = [each["id"] for each in client.predict(rows[:40], model=model)]
            given = list(zip([*ids, *new], labels, strict=False))
            assert client.label(given, model=model)["learned"] == len(given)
            other = next(label for label in labels if label != given[0][1])
            assert client.label([(ids[0], other)], model=model, revise=True)["revised"] == 1
    finally:
        assert server.stop() == 0
    # Without the notes, which hold numbers of requests.
    return {
        name: sha256(dumps(loads(_replayed(data, ["--model", name])).learner_))
        for name in ("default", "river", "rival")
    }
