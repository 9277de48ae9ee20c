"""Numbers and times as people write them are those of the plain forms."""

from __future__ import annotations

from datetime import datetime, timedelta
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
from thalweg.tables.timestamps import form_of  # noqa: E402


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


#: Forms with the ways in which people write them, for strftime.
WRITTEN = {
    None: ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%SZ", "%Y-%m-%d %I:%M %p", "%Y-%m-%dT%H:%M+00:00"),
    "day.month.year": ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%y, %H:%M:%S", "%a %d.%m.%Y"),
    "month.day.year": ("%m.%d.%Y",),
    "year/month/day": ("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%Y.%m.%d"),
    "month/day/year": ("%m/%d/%Y", "%m/%d/%y %I:%M %p", "%m/%d/%Y %H:%M", "%A, %m/%d/%Y %I:%M:%S%p"),
    "day/month/year": ("%d/%m/%Y", "%d/%m/%YT%H:%M:%S", "%d/%m/%y", "%d/%m/%Y %H:%M (%a)"),
    "month-day-year": ("%m-%d-%Y", "%m-%d-%y"),
    "day-month-year": ("%d-%m-%Y", "%d-%m-%Y %H:%M"),
    "day month year": ("%d %B %Y", "%d-%b-%Y", "%d%b%Y", "%A, %d %B %Y", "%a, %d %b %Y %H:%M:%S GMT", "%d-%b-%y"),
    "day/month/year:time": ("%d/%b/%Y:%H:%M:%S +0000",),
    "month day year": ("%b %d, %Y", "%B %d %Y %I:%M %p", "%b-%d-%Y", "%b. %d, %Y at %H:%M"),
    "year month day": ("%Y-%b-%d", "%Y %B %d"),
    "month day time year": ("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S +0000 %Y"),
    "yearmonthday": ("%Y%m%d", "%Y%m%dT%H%M%S", "%Y%m%d %H:%M"),
    "year-month": ("%Y-%m", "%YM%m", "%Y %b"),
    "month/year": ("%m/%Y", "%m-%Y"),
    "month year": ("%b %Y", "%B, %Y", "%b-%y", "%b '%y"),
}
TIMES = st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2068, 1, 1)), min_size=1)


@pytest.mark.parametrize(("form", "pattern"), [(form, each) for form, several in WRITTEN.items() for each in several])
@examples(10, least=1)
@given(times=TIMES, case=st.sampled_from([str, str.upper, str.lower]))
def test_any_time_comes_back_from_any_form(form: str | None, pattern: str, times: list[datetime], case: Any) -> None:
    times = [*times, datetime(2024, 2, 29, 17, 5), datetime(1987, 10, 31, 0, 7)]  # with days that are no months
    written = [case(f"{when:{pattern}}") for when in times]
    moments = [datetime.strptime(f"{when:{pattern}}", pattern) for when in times]
    same = [int((when.replace(tzinfo=None) - datetime(1970, 1, 1)) / timedelta(microseconds=1)) for when in moments]
    clock = Clock.settle("when", pa.chunked_array([written]))
    assert clock.form == form
    assert Clock(clock.form).parse(pa.chunked_array([written])).tolist() == same
    if not pattern.replace("%", "").isalpha() or "%b" in pattern:  # what is all digits is a number as a feature
        plan, X = features(written)
        assert form is None or f", read as {form};" in plan.describe()[0][2]
        iso = features(
            [when.strftime("%Y-%m-%d" if "%M" not in pattern else "%Y-%m-%dT%H:%M:%S.%f") for when in moments]
        )
        named = dict(zip(iso[0].feature_names, iso[1].T, strict=True))
        assert all((column == named[name]).all() for name, column in zip(plan.feature_names, X.T, strict=True))


@pytest.mark.parametrize(
    ("cell", "utc"),
    [
        ("2024-03-10T01:30:00-05:30", "2024-03-10T07:00"),
        ("Sun, 10 Mar 2024 01:30 EST", "2024-03-10T06:30"),
        ("10/Mar/2024:01:30:00 +0200", "2024-03-09T23:30"),
        ("Sun Mar 10 2024 01:30:00 GMT+0100 (CET)", "2024-03-10T00:30"),
        ("March 9, 2024 24:00", "2024-03-10T00:00"),
        ("2024-Q2", "2024-04-01T00:00"),
        ("1st March 2024 12 am", "2024-03-01T00:00"),
    ],
)
def test_zones_are_turned_to_utc(cell: str, utc: str) -> None:
    column = pa.chunked_array([[cell]])
    assert Clock.settle("when", column).parse(column).astype("datetime64[us]") == np.datetime64(utc)


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "2024-13-01",
            "2024-02-30",
            "31.4.2024",
            "1.2.24",
            "2024-01-01 24:01",
            "2024-01-01 13:00 PM",
            "Smarch 1, 2024",
        ),
        *("1 Jan", "Jan 18", "2024-01-01T", "2024-1-1-1", "10:60", "1.2.3", "Monday", "2024-01-01 10:00 XYZ"),
    ],
)
def test_what_is_no_time_is_refused(cell: str) -> None:
    with pytest.raises(InvalidInput, match=r"^column 'when' must hold times or numbers, but holds .*: times are read"):
        Clock.settle("when", pa.chunked_array([[cell]]))
    assert features([cell])[0].columns[0].kind == "category"


MONTHS = [f"01/{month:02}/{year}" for year in (2018, 2019) for month in range(1, 13)]


@pytest.mark.parametrize(
    ("cells", "form", "because"),
    [
        (["03/01/2024", "13/01/2024"], "day/month/year", "13/01/2024 has no other reading"),
        (["10/01/2024", "11/01/2024", "01/02/2024", "02/02/2024"], "day/month/year", "the rows are in time order then"),
        (["02-02-24", "02-01-24", "01-11-24", "01-10-24"], "month-day-year", "the rows are in time order then"),
        (MONTHS, "day/month/year", "the times are at even distances then"),
        (MONTHS[::-2] + MONTHS, "day/month/year", "all are the same day of a month then"),
        (
            [f"0{day}/02/2024 {hour:02}:00" for day in range(1, 5) for hour in range(24)],
            "day/month/year",
            "the times are at even distances then",
        ),
    ],
)
def test_days_and_months_are_told_apart_by_the_first_rows(cells: list[str], form: str, because: str) -> None:
    found = form_of(pa.chunked_array([cells]))
    assert found is not None
    assert (found.form, found.because) == (form, because)


@pytest.mark.parametrize("cells", [["01/02/2024"], ["01-01-2018"] * 9, MONTHS[:12], ["03/04/1980", "05/12/1971"]])
def test_days_and_months_that_cannot_be_told_apart_are_asked_about(cells: list[str]) -> None:
    with pytest.raises(InvalidInput, match="may be day/month or month/day: write them as 2024-01-31, or let more rows"):
        Clock.settle("when", pa.chunked_array([cells]))
    told = plan_columns(chunk_of(x=cells, y=["1"] * len(cells)), target="label").describe()[0][2]
    assert told == f"left out: its dates, such as {cells[0]}, may be day/month or month/day: write them as 2024-01-31"


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


def test_a_comma_that_may_part_thousands_is_decided_by_other_cells() -> None:
    cells = ["1,250", "2,375"]
    for other, first in ((["1", "2"], 1250.0), (["1,5", "2"], 1.25), (["1.5", "2"], 1250.0)):
        chunk = chunk_of(x=cells, y=other)
        plan = plan_columns(chunk, target="label")
        assert Encoder(plan).encode(chunk).X[0, 0] == first
    chunk = chunk_of(x=["1.250", "2.375"], y=["0,5", "1"])
    assert Encoder(plan_columns(chunk, target="label")).encode(chunk).X[0, 0] == 1250.0
    assert features(["1,250", "2,375,000"])[1][:, 0].tolist() == [1250.0, 2375000.0]
    assert features(cells, decimal=",")[1][:, 0].tolist() == [1.25, 2.375]
    assert features(["0,250", "2,375"])[1][:, 0].tolist() == [0.25, 2.375]
    assert [column.kind for column in features(["1,5", "2,5"], decimal=".")[0].columns] == ["category"]


def test_a_point_among_commas_makes_its_row_bad() -> None:
    plan = features(["1,5", "2,5"])[0]
    with pytest.raises(
        InvalidInput, match=r"^table.csv, row 2, column 'x': '1.5' is not a number with a decimal comma$"
    ):
        Encoder(plan).encode(chunk_of(x=["1,5", "1.5"]))


@examples(30)
@given(numbers=NUMBERS, data=st.data())
def test_numbers_as_people_write_them(numbers: list[Any], data: Any) -> None:
    plain = [f"{number:.2f}" for number in numbers]
    wanted = features([*plain, "0.25"])[1].tobytes()
    unit = data.draw(st.sampled_from(["$", "€", "%", "USD", ""]))
    apart = data.draw(st.sampled_from([",", "'", " ", "\u202f", "\xa0", ""]))
    before, bracket = data.draw(st.booleans()), data.draw(st.booleans())

    def written(number: Any) -> str:
        digits = f"{abs(number):,.2f}".replace(",", apart)
        digits = f"{unit}{digits}" if before else f"{digits} {unit}".strip()
        return digits if number >= 0 else f"({digits})" if bracket else f"-{digits}"

    cells = [written(number) for number in numbers]
    plan, X = features([*cells, "0.25"])
    assert plan.columns[0].kind == "number"
    np.testing.assert_array_equal(np.abs(X), np.abs(np.frombuffer(wanted).reshape(X.shape)))
    assert (X + 0.0).tobytes() == (np.frombuffer(wanted).reshape(X.shape) + 0.0).tobytes()


def test_other_numbers_as_people_write_them() -> None:
    cells = ["+3", "1.5e3", ".5", "5.", "7-", "\u22128", "12,34,567"]
    assert features(cells)[1][:, 0].tolist() == [3.0, 1500.0, 0.5, 5.0, -7.0, -8.0, 1234567.0]
    plan = features(["$1", "$2"])[0]
    with pytest.raises(InvalidInput, match="row 2, column 'x': '€3' is not a number"):
        Encoder(plan).encode(chunk_of(x=["$1", "€3"]))
    for mixed in (["$1", "€2", "$3"], ["1 kg", "2 kg"], ["0,1,2", "3,4"]):
        assert features(mixed)[0].columns[0].kind == "category"


@examples(60)
@given(st.integers(1, 6), st.lists(st.integers(0, 999_999), min_size=2, max_size=80), st.booleans(), st.booleans())
def test_digits_of_one_width_with_leading_zeros_are_codes(
    width: int, numbers: list[int], with_gap: bool, with_word: bool
) -> None:
    cells = [str(number % 10**width).zfill(width) for number in numbers]
    spoiled = cells + [""] * with_gap + ["abroad"] * with_word
    is_code = width > 1 and any(cell[0] == "0" for cell in cells)
    has_few_words = len(cells) >= 19 or not with_word
    (line, _) = plan_columns(chunk_of(x=spoiled, other=spoiled), target="label", numeric=["other"]).describe()[:2]
    if has_few_words and is_code:
        assert line[1] in ("category", "wide category")
    elif not with_word:
        assert line[1] == "number"
    shorter = [*cells, "7" * (width + 1)]
    if not with_word:
        assert features(shorter)[0].columns[0].kind == "number"
    plan, X = features([*cells, ""] if with_gap else cells, numeric=["x"])
    assert plan.columns[0].kind == "number"
    np.testing.assert_array_equal(X[: len(cells), 0], [float(cell) for cell in cells])


def test_words_among_numbers_make_categories_unless_they_are_few() -> None:
    numbers = [f"{i % 60}.5" for i in range(100)]
    for words, kind in ((4, "number"), (5, "number"), (25, "wide category")):
        chunk = chunk_of(x=[*(f"A/{i}" for i in range(words)), *numbers[words:]])
        assert plan_columns(chunk, target="label").columns[0].kind == kind


def test_days_in_digits_are_times_where_the_column_is_a_clock() -> None:
    cells = ["20240131", "20240201", "", "20240229"]
    clock = Clock.settle("x", pa.chunked_array([cells]))
    assert clock.detected is not None
    for forms, kind in ({"x": clock.detected}, "time"), ({}, "number"):
        assert features(cells, forms=forms)[0].columns[0].kind == kind


def test_long_digits_name_things() -> None:
    assert features([f"{i % 7 + 1}" * 50 for i in range(60)])[0].columns[0].kind == "number"
    assert features([f"{i % 7 + 1}" * 51 for i in range(60)])[0].columns[0].kind == "category"


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
        pa.array([1.7e9 + 3, 1.7e9 + 1.5, None, 1.7e9 + 20]),
        pa.array(["1.75", "-1e-3", "-", "20"]),
        pa.array(["2,300", "1,250", "", "1,002,000"]),
        pa.array([3, 1, None, 20], pa.duration("s")),
        pa.array([3, 1, None, 20], pa.time32("s")),
        pa.array([3, 1, None, 20], pa.decimal128(5, 2)),
        pa.array([3, 1, None, 20], pa.timestamp("us", "UTC")).dictionary_encode(),
        pa.array(["3.1.2024", "1.1.2024", "", "20.1.2024"]),
        pa.array(["2024-01-03", "2024-01-01", None, "2024-01-20"]),
        pa.array(["01/03/2024", "01/01/2024", None, "01/20/2024"]),
        pa.array(["0:05:00.5", "0:05:00.25", "", "26:00:00"]),
        pa.array(["PT1H", "PT59M59.9S", "NA", "P1D"]),
        pa.array(["1 days 00:00:00", "-1 days +23:59:59", None, "10 days"]),
    ],
    ids=str,
)
def test_a_clock_orders_rows(cells: Any) -> None:
    column = pa.chunked_array([cells])
    clock = Clock.settle("when", column)
    found = Clock(clock.form).parse(column)
    assert found.argsort().tolist() == [1, 0, 3, 2]
    assert found[2] == NEVER
