"""Labels that come late: the service predicts what a run predicts for the same rows and times of labels."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.service.in_process import state_of, with_service
from thalweg import cli
from thalweg.learners.base.kept_predictions import ends_with_width
from thalweg.service.options import ServeOptions
from thalweg.service.service import Service

ROWS = 200
#: Rows, their labels, and before which row each comes.
Stream = tuple[list[dict[str, float]], list[Any], list[int]]


def late_stream(*, of_numbers: bool = False) -> Stream:
    """Labels come later where one class is right, or where numbers are large."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, ROWS)
    turn = np.linspace(1.5, -1.5, ROWS)
    X = rng.normal(size=(ROWS, 2)) + y[:, None] * turn[:, None]
    known = np.arange(ROWS) + 1 + rng.integers(0, 10, ROWS) * (1 + 2 * y)
    labels: list[Any] = ["yes" if each else "no" for each in y]
    if of_numbers:
        labels = [round(each, 4) for each in (X[:, 0] * turn + 3 * y + rng.normal(size=ROWS) / 4).tolist()]
    return [{"a": float(a), "b": float(b)} for a, b in X], labels, known.tolist()


def rows_of_a_run(folder: Path, model: str, stream: Stream) -> list[dict[str, str]]:
    rows, labels, known = stream
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["at", "known", "a", "b", "state"])
        writer.writerows([1000 + i, 1000 + known[i], *row.values(), labels[i]] for i, row in enumerate(rows))
    options = ["--time", "at", "--label-time", "known", "--drop", "at", "--model", model, "--out", str(folder / "run")]
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(folder / "rows.csv"), "--target", "state", *options])
    assert not ended.value.code
    with (folder / "run" / "predictions.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows_of_a_service(folder: Path, options: ServeOptions, stream: Stream) -> list[Any]:
    """What is answered; and the state of the model is the same with its snapshots and from the journal alone."""
    rows, labels, known = stream
    found: list[Any] = []

    async def scenario(service: Service) -> None:
        for at, row in enumerate(rows):
            came = [i for i in range(at) if known[i] == at]
            if came:  # in any order within one request
                await service.label("default", [(found[i].id, labels[i]) for i in reversed(came)])
            asked = await service.predict("default", [row])
            found.extend(asked.response.predictions(asked.seq))

    with_service(folder / "live", scenario, options)
    whole, snapshots = (state_of(folder / "live", from_snapshots=each) for each in (True, False))
    assert whole == snapshots
    return found


@pytest.mark.parametrize("model", ["auto-linear", "auto"])
def test_the_service_predicts_what_a_run_predicts(tmp_path: Path, model: str) -> None:
    stream = late_stream()
    found = rows_of_a_service(tmp_path, ServeOptions(new=model), stream)
    by_run = rows_of_a_run(tmp_path, model, stream)
    assert [each.prediction or "" for each in found] == [each["prediction"] for each in by_run]
    likely = [
        (max(each.probabilities.values(), default=0.0), run["probability"])
        for each, run in zip(found, by_run, strict=True)
    ]
    several = [(live, float(run)) for live, run in likely if 0 < live < 1]  # a run doubts while one label is known
    np.testing.assert_allclose(*np.transpose(several), atol=1e-4)
    assert len(several) > 150


@pytest.mark.parametrize("model", ["auto-linear", "auto"])
def test_the_service_predicts_the_numbers_of_a_run(tmp_path: Path, model: str) -> None:
    stream = late_stream(of_numbers=True)
    found = rows_of_a_service(tmp_path, ServeOptions(new=model, task="regression"), stream)
    by_run = rows_of_a_run(tmp_path, model, stream)
    told = [
        (each.prediction, *ends_with_width(np.array(each.lower, float), np.array(each.upper, float))) for each in found
    ]
    expected = [[float(each[name] or "nan") for name in ("prediction", "lower", "upper")] for each in by_run]
    np.testing.assert_array_equal(np.array(told, dtype=float), expected)
    assert np.isfinite(expected).all(axis=1).sum() > 150
