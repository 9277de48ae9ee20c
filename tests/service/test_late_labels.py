"""Labels that come late: the service predicts what a run predicts for the same rows and times of labels."""

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


def late_stream() -> tuple[list[dict[str, float]], list[str], list[int]]:
    """Rows, their labels, and before which row each comes: later for one label than for the other."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(size=(ROWS, 2)) + y[:, None] * np.linspace(1.5, -1.5, ROWS)[:, None]
    known = np.arange(ROWS) + 1 + rng.integers(0, 10, ROWS) * (1 + 2 * y)
    return [{"a": float(a), "b": float(b)} for a, b in X], ["yes" if each else "no" for each in y], known.tolist()


def predictions_of_a_run(folder: Path, model: str) -> list[tuple[str, float]]:
    rows, labels, known = late_stream()
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["at", "known", "a", "b", "state"])
        writer.writerows([1000 + i, 1000 + known[i], *row.values(), labels[i]] for i, row in enumerate(rows))
    options = ["--time", "at", "--label-time", "known", "--drop", "at", "--model", model, "--out", str(folder / "run")]
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(folder / "rows.csv"), "--target", "state", *options])
    assert not ended.value.code
    with (folder / "run" / "predictions.csv").open(newline="", encoding="utf-8") as file:
        return [(each["prediction"], float(each["probability"] or 0)) for each in csv.DictReader(file)]


@pytest.mark.parametrize("model", ["auto-linear", "auto"])
def test_the_service_predicts_what_a_run_predicts(tmp_path: Path, model: str) -> None:
    rows, labels, known = late_stream()
    found: list[tuple[str, float]] = []

    async def scenario(service: Service) -> None:
        ids: list[str] = []
        for at, row in enumerate(rows):
            came = [i for i in range(at) if known[i] == at]
            if came:  # in any order within one request
                await service.label("default", [(ids[i], labels[i]) for i in reversed(came)])
            asked = await service.predict("default", [row])
            (given,) = asked.response.predictions(asked.seq)
            ids.append(given.id)
            found.append((given.prediction or "", max(given.probabilities.values(), default=0.0)))

    with_service(tmp_path / "live", scenario, ServeOptions(new=model))
    by_run = predictions_of_a_run(tmp_path, model)
    assert [label for label, _ in found] == [label for label, _ in by_run]
    several = [i for i, (_, likely) in enumerate(found) if 0 < likely < 1]  # a run doubts while one label is known
    np.testing.assert_allclose([found[i][1] for i in several], [by_run[i][1] for i in several], atol=1e-4)
    assert len(several) > 250
    whole, snapshots = (state_of(tmp_path / "live", from_snapshots=each) for each in (True, False))
    assert whole == snapshots
