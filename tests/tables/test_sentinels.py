"""Numbers such as -999: found where they stand for a missing value, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from thalweg.service.learning import encoding  # noqa: E402
from thalweg.tables import Block, Chunk, Encoder, Plan, chunks, plan_columns  # noqa: E402
from thalweg.tables.sentinels import sentinels_of  # noqa: E402

RNG = np.random.default_rng(4)
NORMAL = RNG.normal(size=1000)


def having(values: np.ndarray, *sentinels: float) -> np.ndarray:
    """The values, with each sentinel in 1 % of them."""
    found = np.array(values, dtype=float)
    for start, sentinel in enumerate(sentinels):
        found[start + 1 :: 100] = sentinel
    return found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        *((having(NORMAL, code), (code,)) for code in (-999.0, -9999.0, 9999.0, 99999.0, -999.25, 1e30, -8888.0)),
        (having(NORMAL, -999.0, 9999.0), (-999.0, 9999.0)),
        (having(NORMAL, -999.0, -9999.0, -99.0), (-9999.0, -999.0, -99.0)),
        (having(1e6 + 1e4 * NORMAL, -1.0), (-1.0,)),
        (having(np.append(np.round(15 + 9 * NORMAL[:-1], 1), 5503.8), -999.0), (-999.0,)),
        (having(np.arange(1000) % 5 + 1, -999.0), (-999.0,)),
        (np.where(np.arange(1000) % 25 == 0, np.arange(1000) // 40, 999.0), (999.0,)),
    ],
)
def test_sentinels_are_found(values: np.ndarray, expected: tuple[float, ...]) -> None:
    assert sentinels_of(values) == expected


ORDINARY: dict[str, Callable[[], Any]] = {
    "normal": lambda: NORMAL,
    "a far value that occurs once": lambda: np.append(NORMAL, -999.0),
    "two impossible pressures": lambda: np.append(1013 + 8 * NORMAL, [5503.8, 5503.1]),
    "a code near the others": lambda: having(np.arange(1000), -1.0, 999.0),
    "counts with a few large values": lambda: np.append(RNG.poisson(2, 1000), [50, 73, 73, 99, 99, 99, 400, 1200]),
    "zeros and a few amounts": lambda: np.where(np.arange(1000) % 40 == 0, np.round(RNG.pareto(1, 1000) * 100), 0),
    "zeros far from all others": lambda: having(1e6 + NORMAL, 0.0),
    "lognormal": lambda: np.round(RNG.lognormal(2, 3, 1000), 1),
    "Cauchy": lambda: np.round(RNG.standard_cauchy(1000)),
    "two values": lambda: having(np.zeros(1000), 999.0),
    "three values": lambda: having(np.arange(1000) % 2, -999.0),
    "codes": lambda: RNG.choice([200, 201, 204, 301, 404, 500, 999], 1000),
    "prices": lambda: RNG.choice([0.99, 1.99, 4.99, 9.99, 19.99, 99.99, 999.0], 1000),
    "a column that moves to another level": lambda: np.append(NORMAL, np.full(50, 5000.0)),
    "a code among others that are close": lambda: np.append(RNG.integers(-6, 164, 1000), np.full(5, -1)),
    "one value": lambda: np.full(1000, -999.0),
    "nothing": lambda: np.full(1000, np.nan),
    "no rows": lambda: np.empty(0),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_values_are_not_taken_for_sentinels(name: str) -> None:
    assert sentinels_of(np.asarray(ORDINARY[name](), dtype=float)) == ()


def chunk_of(table: dict[str, Any]) -> Chunk:
    return next(iter(chunks([Block(pa.table(table), "table.csv", 1)], len(next(iter(table.values()))))))


def test_a_sentinel_is_a_gap_for_runs_models_and_the_service() -> None:
    values = np.round(having(NORMAL, -999.5), 3)
    gaps = [None if value == -999.5 else value for value in values.tolist()]
    for found in (values, [f"{value:.3f}" for value in values], [f"{value:.3f}".replace(".", ",") for value in values]):
        plan = plan_columns(chunk_of({"x": found}), target=None, na=["-999,5" if "," in str(found[0]) else "-999.50"])
        plan = Plan.from_json(json.loads(json.dumps(plan.to_json())))
        expected = Encoder(plan_columns(chunk_of({"x": gaps}), target=None)).encode(chunk_of({"x": gaps})).X
        np.testing.assert_array_equal(Encoder(plan).encode(chunk_of({"x": found})).X, expected)
    detected = plan_columns(chunk_of({"x": having(NORMAL, -999.0)}), target=None, detect_sentinels=True)
    assert detected.describe()[0][2].endswith("marked by a feature of its own; -999 counts as missing")
    encoder = Encoder(Plan.from_json(detected.to_json()))
    for rows in ([{"x": -999}], [{"x": "-999.0"}]):
        assert np.isnan(encoding.of_rows(rows, encoder).cells[0]).all()
    undetected = plan_columns(chunk_of({"x": having(NORMAL, -999.0)}), target=None)
    assert "na" not in undetected.to_json()["columns"][0]


def test_given_values_are_missing_in_columns_of_every_kind() -> None:
    table = {
        "level": ["1.5", "unknown", "-1.0", "2"],
        "colour": ["red", "unknown", "-1", "blue"],
        "day": ["2024-01-01", "unknown", "-1", "2024-01-03"],
        "length": ["PT5M", "unknown", "-1", "26:00:00"],
        "typed": pa.array([1.0, 2.0, -1.0, 3.0]),
    }
    plan = Plan.from_json(plan_columns(chunk_of(table), target=None, na=["unknown", "-1"]).to_json())
    assert [kind for _, kind, _ in plan.describe()] == ["number", "category", "time", "duration", "number"]
    assert all("unknown and -1 count as missing" in done for _, _, done in plan.describe())
    gaps = {
        name: [None if str(cell) in ("unknown", "-1", "-1.0") else cell for cell in cells]
        for name, cells in {**table, "typed": [1.0, 2.0, -1.0, 3.0]}.items()
    }
    encoder = Encoder(plan)
    expected = Encoder(Plan.from_json(plan.to_json())).encode(chunk_of(gaps)).X
    np.testing.assert_array_equal(encoder.encode(chunk_of(table)).X, expected)
    assert encoder.plan.columns[1].named_features()[:2] == ("colour = red", "colour = blue")
    row = {"level": -1, "colour": "unknown", "day": "unknown", "typed": -1.0}
    found = dict(zip(table, encoding.of_rows([row], encoder).cells, strict=True))
    assert found["colour"][0].tolist() == [-1]
    assert np.isnan([found["level"][0], found["typed"][0]]).all()
