"""Labels that come late: the service predicts what a run predicts, whatever is killed or replayed in between."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.service.in_process import state_of, with_service
from thalweg import cli
from thalweg.service.options import ServeOptions
from thalweg.service.service import Service

ROWS = 300


def late_stream(seed: int) -> tuple[list[dict[str, float]], list[str], list[int]]:
    """Rows, their labels, and after how many rows each comes: later for one label than for the other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(size=(ROWS, 2)) + y[:, None] * np.linspace(1.5, -1.5, ROWS)[:, None]
    known = np.arange(ROWS) + 1 + rng.integers(0, 10, ROWS) * (1 + 2 * y)
    rows = [{"a": float(a), "b": float(b)} for a, b in X]
    return rows, ["yes" if each else "no" for each in y], known.tolist()


def predictions_of_a_run(folder: Path, model: str) -> list[tuple[str, float]]:
    rows, labels, known = late_stream(3)
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["at", "known", "a", "b", "state"])
        writer.writerows(
            [2000 + i, 2000 + known[i], row["a"], row["b"], labels[i]] for i, row in enumerate(rows)
        )
    times = ["--time", "at", "--label-time", "known", "--drop", "at", "--drop", "known"]
    with pytest.raises(SystemExit):
        cli.main(
            ["run", str(folder / "rows.csv"), "--target", "state", "--model", model, *times, "--out", str(folder / "run"), "--quiet"]
        )
    with (folder / "run" / "predictions.csv").open(newline="", encoding="utf-8") as file:
        given = list(csv.DictReader(file))
    return [(each["prediction"], float(each["probability"] or 0)) for each in given]


@pytest.mark.parametrize("model", ["auto-linear"])
def test_the_service_predicts_what_a_run_predicts(tmp_path: Path, model: str) -> None:
    rows, labels, known = late_stream(3)
    by_run = predictions_of_a_run(tmp_path, model)
    found: list[tuple[str, float]] = []

    async def scenario(service: Service) -> None:
        ids: list[str] = []
        for at, row in enumerate(rows):
            came = [i for i in range(at) if known[i] == at]
            if came:  # in any order within one request
                await service.label("default", [(ids[i], labels[i]) for i in reversed(came)])
            response = await service.predict("default", [row])
            ids.append(f"{response.seq}-0")
            found.append(response)

    with_service(tmp_path / "live", scenario, ServeOptions(new=model))
    print(found[:2], by_run[:40])
    assert state_of(tmp_path / "live") is not None
