"""Tables turned into features, against one cell after the other, and the same however they are cut."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from tests.examples import examples  # noqa: E402

from thalweg.errors import InvalidInput  # noqa: E402
from thalweg.tables import (  # noqa: E402
    BadRow,
    Block,
    Chunk,
    Encoder,
    Plan,
    Target,
    chunks,
    plan_columns,
)
from thalweg.tables.columns.number import NumberColumn  # noqa: E402

MISSING = ("", "NA", " nan ", "?", "None")


def chunk_of(table: Any, bad: tuple[BadRow, ...] = ()) -> Chunk:
    found = list(chunks([Block(table, "table.csv", 1, list(bad))], len(table)))
    assert len(found) == 1
    return found[0]


def text_table(columns: dict[str, list[str]]) -> Any:
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


# ------------------------------------------------------------------ the slow way


def encoded_by_hand(plan: Plan, columns: dict[str, list[str]]) -> np.ndarray:
    """One row after the other, one cell after the other."""
    rows = len(next(iter(columns.values())))
    total, count = dict.fromkeys(columns, 0.0), dict.fromkeys(columns, 0)
    known: dict[str, list[str]] = {name: [] for name in columns}
    found = []
    for i in range(rows):
        row: list[float] = []
        gap = False
        for column in plan.columns:
            name = column.name
            cell = columns[name][i].strip()
            words = ("", "na", "n/a", "nan", "null", "none", "nil", "?", "-")
            missing = cell == "" if column.kind == "category" else cell.lower() in words
            if column.kind == "number":
                if missing:
                    row.append(total[name] / count[name] if count[name] else 0.0)
                else:
                    row.append(float(cell))
                    total[name] += float(cell)
                    count[name] += 1
                if column.indicator:
                    row.append(float(missing))
                else:
                    gap |= missing
            elif column.kind == "category":
                places = [0.0] * (column.room + 1)
                if not missing:
                    if cell not in known[name] and len(known[name]) < column.room:
                        known[name].append(cell)
                    places[known[name].index(cell) if cell in known[name] else column.room] = 1.0
                row += places
                gap |= missing
            else:
                row += [0.0] * 4 if missing else on_circles(cell, column.hours)
                gap |= missing
        found.append([*row, float(gap)])
    return np.array(found)


def on_circles(cell: str, hours: bool) -> list[float]:
    when = datetime.fromisoformat(cell)
    of_day = (when.hour + when.minute / 60 + when.second / 3600) / 24
    of_week = (when.weekday() + of_day) / 7
    of_year = ((when.timetuple().tm_yday - 1) + of_day) / 365.2425
    turns = (of_day, of_week) if hours else (of_week, of_year)
    return [wave(2 * math.pi * turn) for turn in turns for wave in (math.sin, math.cos)]


numbers = st.one_of(
    st.floats(-1e6, 1e6).map(repr), st.integers(-99, 99).map(str), st.just(" 4.5 "), st.sampled_from(MISSING)
)
words = st.one_of(st.sampled_from(["red", "green", "blue", " red", "a,b", "ö"]), st.sampled_from(MISSING))
rare = st.one_of(st.integers(0, 30).map(lambda i: f"word {i}"), st.sampled_from(MISSING))
times = st.one_of(
    st.datetimes(datetime(1960, 1, 1), datetime(2100, 1, 1)).map(lambda t: t.replace(microsecond=0).isoformat(sep=" ")),
    st.sampled_from(MISSING),
)
days = st.one_of(st.dates(datetime(1960, 1, 1).date()).map(str), st.sampled_from(MISSING))


@st.composite
def tables(draw, head: int = 6):
    """The first rows are sure to tell what the columns are; later ones may hold anything of that kind."""
    rows = draw(st.integers(head, 40))
    columns = {
        "number": ["1.5", "", "2", "3", "-4", "0.25"],
        "clean": ["1", "2", "3", "4", "5", "6"],
        "colour": ["red", "green", "red", "", "green", "red"],
        "rare": ["word 1", "word 2", "word 1", "word 2", "word 1", "word 2"],
        "when": ["2024-02-29 13:30:00", "2024-03-01 00:00:00", "", "2024-03-02 01:00:00", "", ""],
        "day": ["2024-02-29", "2024-03-01", "2024-03-02", "", "2024-03-02", "2024-03-02"],
        "label": ["a", "b", "a", "b", "", "a"],
    }
    kinds = {"number": numbers, "clean": numbers, "colour": words, "rare": rare, "when": times, "day": days}
    kinds["label"] = st.sampled_from(["a", "b", ""])
    more = rows - head
    return {name: first + draw(st.lists(kinds[name], min_size=more, max_size=more)) for name, first in columns.items()}


def plan_of(columns: dict[str, list[str]]) -> Plan:
    head = {name: cells[:6] for name, cells in columns.items()}
    return plan_columns(chunk_of(text_table(head)), target="label")


@examples(60)
@given(columns=tables())
def test_features_are_those_of_the_slow_way(columns: dict[str, list[str]]) -> None:
    plan = plan_of(columns)
    assert [column.kind for column in plan.columns] == ["number", "number", "category", "category", "time", "time"]
    encoded = Encoder(plan).encode(chunk_of(text_table(columns)))
    assert encoded.X.shape[1] == len(plan.feature_names)
    np.testing.assert_allclose(encoded.X, encoded_by_hand(plan, columns), rtol=1e-12, atol=1e-9)
    assert not encoded.bad


@examples(60)
@given(columns=tables(), data=st.data())
def test_chunks_and_interruptions_do_not_matter_to_the_last_bit(columns: dict[str, list[str]], data) -> None:
    table = text_table(columns)
    whole = Encoder(plan_of(columns))
    X = whole.encode(chunk_of(table)).X
    cuts = sorted(data.draw(st.sets(st.integers(1, len(table) - 1), max_size=5)))
    encoder, parts = Encoder(plan_of(columns)), []
    for begin, end in zip([0, *cuts], [*cuts, len(table)], strict=True):
        told = json.loads(json.dumps([encoder.plan.to_json(), encoder.state()]))
        encoder = Encoder(Plan.from_json(told[0]))
        encoder.restore(told[1])
        parts.append(encoder.encode(chunk_of(table.slice(begin, end - begin))).X)
    assert encoder.plan.describe() == whole.plan.describe()
    assert np.concatenate(parts).tobytes() == X.tobytes()
    assert encoder.state() == whole.state()


def test_predicting_remembers_nothing_and_an_unseen_category_is_none() -> None:
    columns = {"level": ["1", "3", ""], "colour": ["red", "red", "green"], "label": ["a", "b", "a"]}
    plan = plan_columns(chunk_of(text_table(columns)), target="label")
    encoder = Encoder(plan)
    encoder.encode(chunk_of(text_table(columns)))
    before = encoder.state()
    fresh = text_table({"level": ["", "7"], "colour": ["puce", "green"], "label": ["", ""]})
    X = encoder.encode(chunk_of(fresh), learn=False).X
    assert encoder.state() == before
    assert X[0, :2].tolist() == [2.0, 1.0]  # the mean, and that it is one
    assert X[0, 2:-1].sum() == 0.0
    assert X[1, 2:4].tolist() == [0.0, 1.0]


# ------------------------------------------------------------------ what columns are


def planned(values: Any, **options: Any) -> Plan:
    table = pa.table({"x": values, "other": list(range(len(values))), "label": ["a"] * len(values)})
    return plan_columns(chunk_of(table), target="label", **options)


def settled(values: Any, **options: Any) -> tuple[str, str]:
    return planned(values, **options).describe()[0][1:]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([1, 2, 3]), "number"),
        (pa.array([1.5, None, 3.0]), "number"),
        (pa.array(["1", "2e5", " -3 "]), "number"),
        (pa.array([True, False, None]), "category"),
        (pa.array(["yes", "no", "yes"]), "category"),
        (pa.array(["yes", "no", "yes"]).dictionary_encode(), "category"),
        (pa.array(["1.5", "2", "3"]).dictionary_encode(), "category"),
        (pa.array(["2024-01-01", "2024-01-02", None]), "time"),
        (pa.array(["2024-01-01T12:00:00+02:00", "2024-01-02T12:00:00Z", None]), "time"),
        (pa.array(["2024-01-01 01:00:00", "2024-01-02 00:00:00"]).dictionary_encode(), "category"),
        (pa.array([datetime(2024, 1, 1, 5), None]), "time"),
        (pa.array([datetime(2024, 1, 1).date(), None]), "time"),
        (pa.array([f"name {i}" for i in range(60)]), "–"),
        (pa.array([f"{i}.5" for i in range(60)] + ["warm"]), "number"),
        (pa.array(["1", "2", "X"] * 20), "category"),
        (pa.array([None, None], pa.float64()), "–"),
        (pa.array(["", "NA", "nan"]), "–"),
        (pa.array([[1], [2]]), "–"),
        (pa.array([b"1", b"2"]), "–"),
        (pa.array([b"1", b"2"], pa.large_binary()), "–"),
        (pa.array([1, 2], pa.time32("s")), "time"),
        (pa.array(["07:30", "7:31:59", None]), "time"),
        (pa.array(["31.01.2024 07:00", "1.2.2024 7:30"]), "time"),
        (pa.array(["2024/01/31", "2024/2/1"]), "time"),
        (pa.array(["01/31/2024", "02/01/2024", "later"]), "time"),
        (pa.array(["01/02/2024", "02/01/2024"]), "–"),
        (pa.array(["1,5", "-2", "1.234,5"]), "number"),
        (pa.array(["1,250", "2,375"]), "number"),
        (pa.array(["a,b", "1,5"]), "category"),
        (pa.array(['{"b": 1}', '{"b": 2}']), "–"),
    ],
    ids=str,
)
def test_what_a_column_is(values: Any, kind: str) -> None:
    assert settled(values)[0] == kind


def test_numbers_may_be_declared_categories() -> None:
    kind, treatment = settled(pa.array([3, 1, 3]), categorical=["x"])
    told = "one feature for each of its first 6 categories, one for all others; an empty cell has none of them"
    assert (kind, treatment) == ("category", told)


def test_many_categories_are_hashed_into_cells() -> None:
    rare = [f"r{i % 150}" for i in range(300)]
    plan = planned(pa.array(rare))
    assert plan.describe()[0][1:] == (
        "wide category",
        "one number: how often each label came with its category so far, counted in 65,536 hashed cells; "
        "0 for an empty cell or a new category",
    )
    assert plan.wide_categories == ((0, 1),)
    again = Plan.from_json(plan.to_json()).columns[0]
    encoded = np.empty((4, 1))
    again.encode(again.parse(pa.chunked_array([["r3", None, "r3", "new"]])), encoded, learn=True)
    np.testing.assert_array_equal(encoded, [[26781], [-1], [26781], [17477]])
    declared = planned(pa.array([float(i) for i in range(300)]), categorical=["x"])
    assert declared.describe()[0][1] == "wide category"


def test_names_of_rows_and_empty_columns_are_left_out_with_the_reason() -> None:
    assert "name the rows (60 different values in the first 60)" in settled(pa.array([f"n{i}" for i in range(60)]))[1]
    told = "left out: all of the first 3 values are missing: empty or NA, N/A, NaN, null, none, nil, ? or -"
    assert told == settled(pa.array(["", "NA", "nan"]))[1]
    assert settled(pa.array([1, 2]), drop=["x"])[1] == "left out, as asked"
    assert settled(pa.array([1, 2]), reserved=["x"])[1] == "says when the label comes"


@pytest.mark.parametrize("option", ["drop", "categorical", "reserved"])
def test_a_column_that_is_not_there_is_named(option: str) -> None:
    with pytest.raises(InvalidInput, match=r"table.csv has no column 'y'; it has 'x', 'other', 'label'$"):
        settled(pa.array([1, 2]), **{option: ["y"]})


def test_a_text_and_a_typed_table_give_the_same_features() -> None:
    text = text_table({"n": ["1.5", "", "3"], "c": ["true", "false", "true"], "label": ["1", "0", "1"]})
    typed = pa.table({"n": [1.5, None, 3.0], "c": [True, False, True], "label": [1.0, 0.0, 1.0]})
    found = []
    for table in (text, typed):
        plan = plan_columns(chunk_of(table), target="label")
        words, places = Target("label").labels(chunk_of(table))
        found.append((Encoder(plan).encode(chunk_of(table)).X.tolist(), words, places.tolist()))
    assert found[0] == found[1]
    assert found[0][1:] == (["1", "0"], [0, 1, 0])


WORDS_FOR_NOTHING = ["NA", "none", "null", "-", "?", "n/a", "nan"]


@pytest.mark.parametrize("word", WORDS_FOR_NOTHING)
def test_a_word_for_nothing_is_a_name_like_any_other(word: str) -> None:
    """A label or a category: only an empty cell, a null or NaN is none."""
    cells = [word, "EU", "", word, "EU"]
    head = chunk_of(text_table({"region": cells, "level": [word, "1", "2", "3", "4"], "label": cells}))
    assert Target("label").labels(head)[0] == [word, "EU"]
    assert Target("label").labels(head)[1].tolist() == [0, 1, -1, 0, 1]
    plan = plan_columns(head, target="label")
    assert [column.kind for column in plan.columns] == ["category", "number"]
    encoder = Encoder(plan)
    X = encoder.encode(head).X
    assert encoder.state()["region"] == {"categories": [word, "EU"]}
    assert X[:, :2].tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]]
    assert X[:, -2].tolist() == [1, 0, 0, 0, 0]  # a word for nothing among numbers is a missing number


@pytest.mark.parametrize("labels", [pa.array([1.0, None, float("nan"), 0.0]), pa.array(["1", None, "", "0"])], ids=str)
def test_nulls_and_nan_are_no_labels(labels: Any) -> None:
    words, places = Target("label").labels(chunk_of(pa.table({"label": labels})))
    assert (words, places.tolist()) == (["1", "0"], [0, -1, -1, 1])


# ------------------------------------------------------------------ bad cells

BAD_CELLS = [(3, "number", "warm"), (5, "when", "yesterday"), (5, "number", "cold"), (7, "number", "1e999")]
COMPLAINTS = [
    "table.csv, row 2: it has 1 cell, the header 4",
    "table.csv, row 5, column 'number': 'warm' is not a number",
    "table.csv, row 7, column 'number': 'cold' is not a number",
    "table.csv, row 9, column 'number': '1e999' is beyond the numbers that can be learned",
]


def dirty() -> tuple[Plan, Any, tuple[BadRow, ...]]:
    """Row 2 of the file could not be read, where that is told, so that those at 0, 1, 2 … are its rows 1, 3, 4 …"""
    columns = {
        "number": ["1", "2", "3", "4", "5", "6", "7", "8", "9"],
        "when": [f"2024-01-0{i}" for i in range(1, 10)],
        "colour": list("rgbrgbrgb"),
        "label": list("ababababa"),
    }
    plan = plan_columns(chunk_of(text_table(columns)), target="label")
    for at, name, cell in BAD_CELLS:
        columns[name][at] = cell
    ragged = BadRow("table.csv", 2, None, "it has 1 cell, the header 4")
    return plan, text_table(columns), (ragged,)


def test_the_first_bad_cell_is_named_and_nothing_was_learned() -> None:
    plan, table, _ = dirty()
    encoder = Encoder(plan)
    before = encoder.state()
    with pytest.raises(InvalidInput, match=r"^table.csv, row 4, column 'number': 'warm' is not a number$"):
        encoder.encode(chunk_of(table))
    assert encoder.state() == before


def test_bad_rows_are_skipped_counted_once_and_numbered_past_ragged_ones() -> None:
    plan, table, ragged = dirty()
    encoder = Encoder(plan, bad_rows="skip")
    encoded = encoder.encode(chunk_of(table, ragged))
    assert encoded.kept.tolist() == [0, 1, 2, 4, 6, 8]
    assert [str(each) for each in encoded.bad] == COMPLAINTS
    alone = Encoder(dirty()[0])
    assert encoded.X.tobytes() == alone.encode(chunk_of(table.take(encoded.kept))).X.tobytes()
    assert encoder.state() == alone.state()


def test_missing_values_may_be_refused() -> None:
    plan = plan_columns(chunk_of(text_table({"x": ["1", "2"], "label": ["a", "b"]})), target="label")
    table = text_table({"x": ["1", "NA", "3"], "label": ["a", "b", "a"]})
    with pytest.raises(InvalidInput, match=r"^table.csv, row 2, column 'x': the value is missing$"):
        Encoder(plan, missing="error").encode(chunk_of(table))
    skipped = Encoder(plan, missing="error", bad_rows="skip").encode(chunk_of(table))
    assert skipped.kept.tolist() == [0, 2]
    assert [str(each) for each in skipped.bad] == ["table.csv, row 2, column 'x': the value is missing"]


def test_numbers_encoded_at_once_have_the_digits_of_numbers_encoded_one_column_at_a_time():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4, 3000)) * 10.0 ** rng.integers(-3, 6, (4, 3000))
    values[rng.random((4, 3000)) < 0.1] = np.nan
    made = [
        Encoder(Plan(tuple(NumberColumn(str(i), indicator=i == 2) for i in range(4)), {}, tuple("0123")))
        for _ in range(2)
    ]
    whole = made[0].features(list(values), 3000, learn=True)  # too many rows to be encoded at once
    cut = np.split(values, [1, 700, 1500, 2500], axis=1)
    parts = [made[1].features(list(part), part.shape[1], learn=True) for part in cut]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert made[0].state() == made[1].state()
    few = made[0].features([column[:9] for column in values], 9, learn=False)
    np.testing.assert_array_equal(few, made[0].features(list(values), 3000, learn=False)[:9])
