"""Text and very many categories in a plan with sparse columns: found, hashed, written down, the same by any cut."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher

pa = pytest.importorskip("pyarrow")
from tests.tables.test_sparse_columns import encoded, same  # noqa: E402

from thalweg.errors import InvalidInput  # noqa: E402
from thalweg.tables import Block, Encoder, Plan, chunks, plan_columns  # noqa: E402
from thalweg.tables.columns.map import MapColumn  # noqa: E402
from thalweg.tables.columns.wide_category import SparseCategoryColumn  # noqa: E402

ROWS = 200
WORDS = ("river", "rain", "flood", "gauge", "level", "storm", "bridge", "mill")


def table() -> Any:
    rng = np.random.default_rng(7)
    texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(ROWS)]
    return pa.table(
        {
            "report": [*texts[:-2], None, "unknown"],
            "station": [f"s{i % 90}" if i % 7 else None for i in range(ROWS)],
            "code": [f"{i:05d}-x" for i in range(ROWS)],
            "notes": [f'{{"said": "the river rises by {i}"}}' for i in range(ROWS)],
            "height": rng.normal(size=ROWS),
            "label": ["a", "b"] * (ROWS // 2),
        }
    )


def head() -> Any:
    return next(chunks([Block(table(), "rows", 1, typed=True)], ROWS))


def kinds(plan: Plan) -> dict[str, str]:
    return {name: kind for name, kind, _ in plan.describe()}


def test_running_text_is_found_and_makes_wide_categories_sparse() -> None:
    found = plan_columns(head(), target="label", detect_text=True, hash_bits=10)
    assert kinds(found) == {
        **{"report": "text", "station": "sparse category", "height": "number"},
        **dict.fromkeys(("code", "notes", "label"), "–"),
    }
    assert found.width == 2 + 2 * 2**10
    dense = plan_columns(head(), target="label")
    assert (kinds(dense)["report"], kinds(dense)["station"]) == ("–", "wide category")
    assert "name the rows" in dense.left_out["report"]
    assert kinds(plan_columns(head(), target="label", detect_text=True, categorical=["report"]))["report"] != "text"


def test_text_that_is_named_is_text_whatever_it_holds() -> None:
    plan = plan_columns(head(), target="label", text=["height", "code"], ngrams=(1, 3))
    assert (kinds(plan)["height"], kinds(plan)["code"]) == ("text", "text")
    assert "runs of 1 to 3 words" in plan.describe()[2][2]
    with pytest.raises(InvalidInput, match="no column 'nix'"):
        plan_columns(head(), target="label", text=["nix"])
    lists = pa.table({"tags": [["a"], ["b"]], "label": ["a", "b"]})
    with pytest.raises(InvalidInput, match=r"rows: column 'tags' cannot be text: values of type list<.*> cannot be"):
        plan_columns(next(chunks([Block(lists, "rows", 1, typed=True)], 2)), target="label", text=["tags"])


def test_categories_are_hashed_as_column_and_category() -> None:
    column = SparseCategoryColumn("station", hash_bits=12)
    plan = Plan((column,), {}, ("station",), marks_gaps=False)
    cells = table().column("station")
    truth = FeatureHasher(2**12).transform(
        [{} if cell is None else {f"station={cell}": 1} for cell in cells.to_pylist()]
    )
    assert same(encoded(pa.table({"station": cells}), 9, plan), truth.tocsr())
    assert column.words is not None
    assert {column.words[index] for index in column.words} <= {f"station=s{i}" for i in range(90)}


def test_plans_and_words_are_the_same_by_any_cut_and_after_a_break() -> None:
    def plan() -> Plan:
        return plan_columns(head(), target="label", detect_text=True, ngrams=(1, 2), hash_bits=12, na=["unknown"])

    whole = Encoder(plan())
    X = whole.encode(head()).X
    assert X[[ROWS - 1]].nnz == X[[ROWS - 2]].nnz  # both texts are missing
    assert same(encoded(table(), 7, plan()), X)
    parts = Encoder(plan())
    for chunk in chunks([Block(table(), "rows", 1, typed=True)], 30):
        parts.encode(chunk)
        parts = Encoder.from_json(json.loads(json.dumps(parts.to_json())))
    assert parts.to_json() == whole.to_json() == pickle.loads(pickle.dumps(whole)).to_json()
    before = whole.to_json()
    marks = whole.mark()
    whole.encode(head())
    whole.undo(marks)
    assert whole.to_json() == before
    whole.encode(head())
    assert whole.to_json() != before


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("column", "forged"),
    [
        (0, {"ngrams": [2, 1]}),
        (0, {"ngrams": [1, 17]}),
        (0, {"ngrams": [0, 1]}),
        (0, {"ngrams": 1}),
        (0, {"hash_bits": 31}),
        (0, {"analyzer": "char"}),
        (1, {"hash_bits": 0}),
        (1, {"hash_bits": 10**9}),
    ],
)
def test_forged_plans_are_refused(column: int, forged: dict[str, Any]) -> None:
    described = plan_columns(head(), target="label", detect_text=True).to_json()
    Plan.from_json(json.loads(json.dumps(described)))
    described["columns"][column] |= forged
    with pytest.raises((ValueError, TypeError)):
        Plan.from_json(described)


def test_names_of_maps_are_remembered_but_not_of_those_saved_without() -> None:
    def read(column: MapColumn) -> dict[str, Any]:
        cells = pa.array([[("rain", 1.0), ("flood", 2.0)], None, [("rain", 3.0)]], pa.map_(pa.string(), pa.float64()))
        parsed = column.parse(pa.chunked_array([cells]))
        column.encode(parsed[np.array([0, 2])], np.empty((2, 0)), learn=True)
        return column.state()

    counts = read(MapColumn("words", keys="name"))["words"]["counts"]
    assert sorted(counts) == [["flood", 1], ["rain", 2]]
    before = MapColumn("words", keys="name")
    before.restore({})
    assert read(before) == {}
    assert read_indices() == {}


def read_indices() -> dict[str, Any]:
    column = MapColumn("features", keys="index")
    column.encode(column.parse(pa.chunked_array([pa.nulls(2)])), np.empty((2, 0)), learn=True)
    return column.state()
