"""Numbers and times as people write them are those of the plain forms."""

from __future__ import annotations

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
    Block,
    Chunk,
    Encoder,
    Plan,
    chunks,
    plan_columns,
)
from thalweg.tables.clock import NEVER, Clock  # noqa: E402
from thalweg.tables.rows import Piece  # noqa: E402


def chunk_of(**columns: list[str]) -> Chunk:
    rows = len(next(iter(columns.values())))
    table = pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})
    (chunk,) = chunks([Block(table.append_column("label", pa.array(["a"] * rows)), "table.csv", 1)], rows)
    return chunk


def features(cells: list[str], **options: Any) -> tuple[Plan, np.ndarray]:
    chunk = chunk_of(x=cells)
    plan = plan_columns(chunk, target="label", **options)
    plan = Plan.from_json(plan.to_json())
    return plan, Encoder(plan).encode(chunk).X


ISO = "%Y-%m-%dT%H:%M:%S"
DAYS = st.lists(
    st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)).map(lambda t: t.replace(microsecond=0)), min_size=1
)
WRITTEN = {
    "day.month.year": ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S"),
    "year/month/day": ("%Y/%m/%d", "%Y/%m/%d %H:%M:%S"),
    "month/day/year": ("%m/%d/%Y", "%m/%d/%Y %H:%M"),
    "day/month/year": ("%d/%m/%Y", "%d/%m/%YT%H:%M:%S"),
}


@pytest.mark.parametrize(("form", "pattern"), [(form, each) for form, several in WRITTEN.items() for each in several])
@examples(20)
@given(times=DAYS)
def test_times_are_those_of_iso(form: str, pattern: str, times: list[datetime]) -> None:
    times = [*times, datetime(2024, 2, 29, 7, 5)]  # a day that is no month
    written = [f"{when:{pattern}}" for when in times]
    plan, X = features(written)
    assert f", read as {form};" in plan.describe()[0][2]
    same = [datetime.strptime(cell, pattern).strftime(ISO) for cell in written]
    assert X.tobytes() == features(same if "%H" in pattern else [cell[:10] for cell in same])[1].tobytes()


def test_zeros_may_be_left_out_and_days_that_are_none_are_bad() -> None:
    assert features(["1.2.2024 7:30"])[1].tobytes() == features(["2024-02-01 07:30"])[1].tobytes()
    chunk = chunk_of(x=["1.2.2024", "30.2.2024", "29.2.2024"])
    encoded = Encoder(plan_columns(chunk, target="label"), bad_rows="skip").encode(chunk)
    told = "table.csv, row 2, column 'x': '30.2.2024' is not a time such as 31.01.2024 07:30"
    assert [str(each) for each in encoded.bad] == [told]


def test_a_time_of_day_is_an_hour() -> None:
    plan, X = features(["06:00", "18:00", "0:00", ""])
    assert plan.feature_names[:2] == ("x sin hour", "x cos hour")
    np.testing.assert_allclose(X[:, :2], [[1, 0], [-1, 0], [0, 1], [0, 0]], atol=1e-12)


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (["1 days 02:03:04", "", "0 days 00:00:00.500000"], [93784.0, 46892.25, 0.5]),
        (["PT5M", "PT1H30M", "-P1DT0.5S"], [300.0, 5400.0, -86400.5]),
        (["02:03:04", "26:00:00", "-00:00:01"], [7384.0, 93600.0, -1.0]),
        (["1 day, 2:03:04", "2 days, 0:00:00", "-1 days +23:59:59"], [93784.0, 172800.0, -1.0]),
    ],
)
def test_durations_are_seconds(cells: list[str], seconds: list[float]) -> None:
    if "" in cells:
        seconds[1] = seconds[0]  # the mean so far
    plan, X = features(cells)
    assert plan.columns[0].kind == "duration"
    assert X[:, 0].tolist() == seconds
    again = Encoder(Plan.from_json(plan.to_json()))
    assert again.encode(chunk_of(x=cells)).X.tolist() == X.tolist()
    told = r"^table.csv, row 1, column 'x': 'long' is not a duration such as 1 days 02:03:04 or PT5M$"
    with pytest.raises(InvalidInput, match=told):
        Encoder(plan).encode(chunk_of(x=["long"]))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_of_arrow_are_seconds(unit: str) -> None:
    table = pa.table(
        {"x": pa.array([90, None, 30], pa.duration("s")).cast(pa.duration(unit)), "label": ["a", "b", "a"]}
    )
    chunk = Chunk([Piece(Block(table, "t.parquet", 1, typed=True), 0, 3)], [])
    plan = plan_columns(chunk, target="label")
    assert Encoder(plan).encode(chunk).X[:, :2].tolist() == [[90.0, 0.0], [90.0, 1.0], [30.0, 0.0]]


def test_truth_values_may_all_be_missing_at_first() -> None:
    table = pa.table({"x": pa.array([None, None], pa.bool_()), "label": ["a", "b"]})
    chunk = Chunk([Piece(Block(table, "t.parquet", 1, typed=True), 0, 2)], [])
    assert plan_columns(chunk, target="label").columns[0].kind == "category"


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_an_index_without_a_name_is_left_out(name: str) -> None:
    counting, other = ["0", "1", "2"], ["0", "2", "1"]
    left_out = "left out: it has no name and counts the rows, as an index of pandas does"
    for cells, told in ((counting, left_out), (other, "as it is; a missing value becomes the mean so far")):
        plan = plan_columns(chunk_of(**{name: cells, "y": ["1", "2", "3"]}), target="label")
        assert plan.describe()[0][2] == told
    assert features(counting)[0].columns[0].kind == "number"


NUMBERS = st.lists(st.decimals(-10_000, 10_000, places=2), min_size=1)


@examples(50)
@given(numbers=NUMBERS, data=st.data())
def test_numbers_with_a_comma_are_those_with_a_point(numbers: list[Any], data: Any) -> None:
    points = [f"{number:.2f}" for number in numbers]
    commas = [cell.replace(".", ",") for cell in points]
    plan, X = features([*commas, ""])
    assert "with a decimal comma" in plan.describe()[0][2]
    assert X.tobytes() == features([*points, ""])[1].tobytes()
    grouped = [f"{number:,.2f}".translate(str.maketrans(",.", ".,")) for number in numbers]
    assert features([*grouped, ""], decimal=",")[1].tobytes() == X.tobytes()


def test_a_comma_that_may_part_thousands_is_asked_about() -> None:
    cells = ["1,250", "2,375"]
    chunk = chunk_of(x=cells, y=["1", "2"])
    told = plan_columns(chunk, target="label").describe()[0]
    assert told[1:] == (
        "–",
        "left out: the comma in 1,250 may part thousands: give --decimal , or write its numbers without",
    )
    assert features(cells, decimal=",")[1][:, 0].tolist() == [1.25, 2.375]
    assert features(["0,250", "2,375"])[1][:, 0].tolist() == [0.25, 2.375]
    assert [column.kind for column in features(["1,5", "2,5"], decimal=".")[0].columns] == ["category"]


def test_a_point_among_commas_makes_its_row_bad() -> None:
    plan = features(["1,5", "2,5"])[0]
    with pytest.raises(
        InvalidInput, match=r"^table.csv, row 2, column 'x': '1.5' is not a number with a decimal comma$"
    ):
        Encoder(plan).encode(chunk_of(x=["1,5", "1.5"]))


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("{i},234.5", "numbers with commas between thousands: write them without, such as 1,234.5"),
        ("{i}.5%", "percentages: write them as numbers, without the sign, such as 1.5%"),
        ("€ {i}.50", "amounts of money: write them as numbers, without the sign, such as € 1.50"),
        ("{i} Jan 2024", "dates, such as 1 Jan 2024: write them as 2024-01-31T07:30"),
    ],
)
def test_what_is_not_read_is_told(cell: str, told: str) -> None:
    chunk = chunk_of(x=[cell.format(i=i) for i in range(1, 100)], y=["1"] * 99)
    assert plan_columns(chunk, target="label").describe()[0][1:] == ("–", f"left out: it seems to hold {told}")


def test_long_text_is_planned_in_linear_time() -> None:
    chunk = chunk_of(x=[f"{i} " + "rain on a river " * 20_000 for i in range(60)], y=["1"] * 60)
    told = plan_columns(chunk, target="label").describe()[0][2]  # hours, where each place of a cell begins a search
    assert told == "left out: it seems to name the rows (60 different values in the first 60)"
    encoder = Encoder(features(["1", "2"])[0])
    with pytest.raises(InvalidInput, match=r"column 'x': 'rain on .{50} …' is not a number$"):
        encoder.encode(chunk_of(x=["rain on a river " * 20_000]))


def test_objects_of_json_are_told() -> None:
    chunk = chunk_of(x=['{"b": 1}', '{"b": 2}'], z=["[1]", "[]"], y=["1", "2"])
    kinds = [line[2] for line in plan_columns(chunk, target="label").describe()[:2]]
    what = "of JSON cannot be learned: write what they hold as columns of their own"
    assert kinds == [f"left out: objects {what}", f"left out: lists {what}"]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(["3", " 1 ", "", "20"]),
        pa.array([3, 1, None, 20]),
        pa.array([3.0, 1.0, float("nan"), 20.0]),
        pa.array(["3.1.2024", "1.1.2024", "", "20.1.2024"]),
        pa.array(["2024-01-03", "2024-01-01", None, "2024-01-20"]),
        pa.array(["01/03/2024", "01/01/2024", None, "01/20/2024"]),
    ],
    ids=str,
)
def test_a_clock_orders_rows(cells: Any) -> None:
    column = pa.chunked_array([cells])
    clock = Clock.settle("when", column)
    found = Clock(clock.form).parse(column)
    assert found.argsort().tolist() == [1, 0, 3, 2]
    assert found[2] == NEVER


def test_a_clock_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InvalidInput, match="the times in column 'when', such as '01/02/2024', may be day/month"):
        Clock.settle("when", pa.chunked_array([["01/02/2024"]]))
