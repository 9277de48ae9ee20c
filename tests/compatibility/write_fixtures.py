"""Write the fixtures: what this version of thalweg saves, for later versions to load and continue.

Run by hand, ``python -m tests.compatibility.write_fixtures``. The fixtures stand for files that users have, so they are
not written again when a test fails: a new kind of model or file is added, and what is there stays as it is.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from tests.compatibility.continuing import (
    FINISHED,
    FINISHED_NUMBERS,
    continue_numbers,
    continue_service,
    continue_table,
    finish_run,
    replay,
    replay_sparse,
)
from tests.compatibility.models import MODELS
from tests.compatibility.recorded import BEFORE, FIXTURES, RECORD, continued, here, learn, read_record, sha256
from tests.service.rows import SCHEMA, stream
from tests.service.server import Server
from tests.waiting import PATIENCE, wait_until
from thalweg import Part, __version__, load
from thalweg.store import dumps

#: Rows of the table, and those that a run has answered before it is stopped. The first 1,000 are taken at once.
TABLE_ROWS, HALF_WAY = 1500, 1150
#: The options of each run that is stopped half-way.
RUNS = {
    "auto-delayed": ["--delay", "40"],
    "oldc-timed": ["--model", "oldc", "--adaptive", "--time", "when", "--label-time", "told"],
    "nse-dropping": ["--model", "nse", "--drop", "told"],
    "numbers-delayed": [
        "--target",
        "rain",
        "--model",
        "auto-linear",
        "--delay",
        "40",
        "--season",
        "24",
        "--drop",
        "told",
    ],
}


def write_models() -> dict[str, Any]:
    """A file of each model after its first rows, and digests of what it is after further ones."""
    folder = FIXTURES / "models"
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    for kind, models in MODELS.items():
        for name, unlearned in models.items():
            path = folder / f"{name}.thalweg"
            if not path.exists():
                model = clone(unlearned)
                learn(model, kind, *BEFORE)
                path.write_bytes(dumps(model, notes={"rows": kind} if isinstance(model, Part) else None))
            found[name] = {"rows": kind, **continued(load(path), kind)}
    return found


def write_table(path: Path) -> None:
    """A drifting table with a category that comes late, gaps, labels that never come and rows that are too short."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, TABLE_ROWS)
    level = np.round(rng.normal(size=TABLE_ROWS) + truth * np.linspace(2.0, -2.0, TABLE_ROWS), 2)
    rain = np.round(rng.normal(size=TABLE_ROWS) + truth, 2)
    lines = ["level,rain,wind,when,told,state"]
    for i in range(TABLE_ROWS):
        wind = rng.choice(["north", "south"] if i < 1100 else ["north", "east", "calm"])
        when = np.datetime64("2024-01-01T00") + i
        told = "" if i % 13 == 0 else str(when + int(rng.integers(0, 200)))
        state = "" if i % 11 == 0 else ("low", "high", "flood")[truth[i]]
        lines.append(f"{level[i] if i % 17 else ''},{rain[i]},{wind},{when},{told},{state}")
        if i % 600 == 599:
            lines.append("1.0,2.0")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


#: The options of the runs whose finished models are kept.
FINISHED_RUNS = {
    FINISHED: ["--target", "state", "--model", "oldc", "--rate", "0.05"],
    FINISHED_NUMBERS: ["--target", "rain", "--model", "auto-linear"],
}


def write_finished() -> None:
    """The models of runs over the first rows of the table."""
    for path, options in FINISHED_RUNS.items():
        if path.exists():
            continue
        table = path.with_name("rows.csv").read_text(encoding="utf-8").splitlines()
        with tempfile.TemporaryDirectory() as into:
            Path(into, "rows.csv").write_text("\n".join(table[:1201]) + "\n", encoding="utf-8")
            command = [sys.executable, "-m", "thalweg", "run", "rows.csv", "--out", "out"]
            more = ["--drop", "told", "--bad-rows", "skip", "--quiet"]
            subprocess.run([*command, *options, *more], cwd=into, check=True)
            path.write_bytes(Path(into, "out", "model.thalweg").read_bytes())


def write_runs() -> dict[str, Any]:
    """A folder of each run as SIGINT leaves it, and digests of what the run leaves behind when it is resumed."""
    folder = FIXTURES / "runs"
    for name, options in RUNS.items():
        while not (folder / name / "checkpoint").exists():  # else the run was finished before the signal came
            stop_half_way(folder, name, options)
    found = {}
    for name in RUNS:
        with tempfile.TemporaryDirectory() as into:
            found[name] = finish_run(name, Path(into))
    return found


def stop_half_way(folder: Path, name: str, options: list[str]) -> None:
    """Send SIGINT to a run in the middle of the table."""
    command = [sys.executable, "-m", "thalweg", "run", "rows.csv", "--target", "state", "--out", name]
    process = subprocess.Popen(
        [*command, "--quiet", "--fresh", "--chunk", "5", "--bad-rows", "skip", *options], cwd=folder
    )
    written = folder / name / "predictions.csv"

    def half_way() -> bool:
        ended = process.poll() is not None
        return ended or (written.exists() and written.read_bytes().count(b"\n") > HALF_WAY)

    wait_until(half_way, pause=0.001)
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE)


def write_journal() -> dict[str, Any]:
    """The journal of a service with two models and a challenger, and digests of what replaying it gives."""
    folder = FIXTURES / "journal"
    path = folder / "journal.sqlite3"
    if path.exists():
        waiting = read_record()["journal"]["waiting"]
    else:
        with tempfile.TemporaryDirectory() as data:
            waiting = serve(Path(data))
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes((Path(data) / path.name).read_bytes())
    with tempfile.TemporaryDirectory() as data:
        replayed = replay(Path(data))
        after = continue_service(Path(data), waiting)
    return {
        "waiting": waiting,
        "replayed": {name: sha256(content) for name, content in replayed.items()},
        "after": after,
    }


def serve(data: Path) -> dict[str, list[str]]:
    """Predictions, labels in another order, a challenger, a correction, a promotion, and a stop between them.

    Returns the ids, by model, of rows that have no label yet.
    """
    rows, labels = stream(160)
    server = Server("--new", "oldc", data=data)
    client = server.client()
    client.post("/v1/models", {"name": "river", "kind": "logistic", "parameters": {"rate": 0.05}, "schema": SCHEMA})
    ids: dict[str, list[str]] = {"default": [], "river": []}
    for model, known in ids.items():
        known += [
            each["id"] for begin in range(0, 80, 20) for each in client.predict(rows[begin : begin + 20], model=model)
        ]
        order = np.random.default_rng(4).permutation(70)
        for part in np.split(order, [1, 5, 40]):
            client.label([(known[i], labels[i]) for i in part], model=model)
    client.post("/v1/models", {"name": "rival", "kind": "auto", "challenger_of": "default"}, idempotency_key="rival")
    server.stop()  # which writes a snapshot
    server = Server("--new", "oldc", data=data)
    client = server.client()
    for model, known in ids.items():
        known += [each["id"] for each in client.predict(rows[80:150], model=model)]
        client.label([(known[i], labels[i]) for i in range(80, 140)], model=model)
        client.label([(known[i], labels[i - 1]) for i in (20, 90)], model=model, revise=True)
    server.stop()  # a snapshot after the correction
    server = Server("--new", "oldc", data=data)
    client = server.client()
    client.post("/v1/models/rival/promote", {"force": True})
    client.label([(ids["default"][i], labels[i]) for i in range(140, 145)])
    server.kill()  # the last records are in no snapshot
    with closing(sqlite3.connect(data / "journal.sqlite3")) as journal:
        journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return {model: known[145:] + known[70:80] for model, known in ids.items()}


def write_sparse_journal() -> dict[str, str]:
    """The journal of a service with two models of sparse rows, and digests of what replaying it gives."""
    path = FIXTURES / "sparse-journal" / "journal.sqlite3"
    if not path.exists():
        with tempfile.TemporaryDirectory() as data:
            serve_sparse(Path(data))
            path.parent.mkdir(parents=True)
            path.write_bytes((Path(data) / path.name).read_bytes())
    with tempfile.TemporaryDirectory() as data:
        return replay_sparse(Path(data))


def serve_sparse(data: Path) -> None:
    """Labels and numbers, predicted from numbers, maps and text; some come late and one is corrected."""
    plain, labels = stream(60)
    rng = np.random.default_rng(6)
    words = [[f"w{word}" for word in each] for each in rng.integers(0, 30, (60, 4)).tolist()]
    rows = [
        {"level": row["level"], "words": dict.fromkeys(each, 1.5), "note": " ".join(each)}
        for row, each in zip(plain, words, strict=True)
    ]
    kinds = {"level": "number", "words": "map", "note": "text"}
    schema = {"columns": [{"name": name, "kind": kind} for name, kind in kinds.items()]}
    server = Server("--new", "auto", data=data)
    client = server.client()
    client.post("/v1/models", {"name": "numbers", "kind": "auto-linear", "task": "regression", "schema": schema})
    numbers = [float(row["level"] or 0.0) + len(row["words"]) for row in rows]
    for model, targets in {"default": labels, "numbers": numbers}.items():
        given = [{name: row[name] for name in ("level", "words")} for row in rows] if model == "default" else rows
        ids = [each["id"] for at in range(0, 60, 20) for each in client.predict(given[at : at + 20], model=model)]
        client.label([(ids[i], targets[i]) for i in rng.permutation(50).tolist()], model=model)
        client.label([(ids[7], targets[8])], model=model, revise=True)
    server.stop()
    with closing(sqlite3.connect(data / "journal.sqlite3")) as journal:
        journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def main() -> None:
    """Write the files that are missing and the digests; refuse to change a digest that was recorded here before."""
    (FIXTURES / "runs").mkdir(parents=True, exist_ok=True)
    if not (FIXTURES / "runs" / "rows.csv").exists():
        write_table(FIXTURES / "runs" / "rows.csv")
    before = read_record() if RECORD.exists() else {"on": None}
    write_finished()
    record = {
        "version": before.get("version", __version__),
        "on": here(),
        "models": write_models(),
        "runs": write_runs(),
        "finished": continue_table(),
        "finished numbers": continue_numbers(),
        "journal": write_journal(),
        "sparse journal": write_sparse_journal(),
    }
    parts = ("models", "runs", "finished", "finished numbers", "journal", "sparse journal")
    for part in parts if before["on"] == here() else ():
        for name, digests in before.get(part, {}).items():
            if record[part][name] != digests:
                sys.exit(f"{part}, {name}: it does not end with the recorded bytes, so nothing is recorded")
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
