"""JSON values of changing types mean the same however the file is cut into blocks and the rows into chunks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from tests.examples import examples  # noqa: E402

from thalweg.tables import (  # noqa: E402
    Block,
    Encoder,
    Target,
    chunks,
    ndjson_rows,
    open_source,
    plan_columns,
)

HEAD = 8
FIRST: list[dict[str, Any]] = [
    {"number": i + 0.5, "flag": i % 2 == 0, "code": i % 3, "when": f"2024-01-0{i + 1}", "label": i % 2}
    for i in range(HEAD)
]
anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.integers(2**53, 2**70),
    st.floats(-1e6, 1e6),
    st.floats(-3, 3).map(round).map(float),
    st.sampled_from(["x", "true", "1", "1.0", "", "1e-7", 1e-7, 1e16, 1e20, -0.0, "-0", "inf", float("inf")]),
    st.sampled_from([2**53 - 1, 2**53, 2.0**53, "2024-02-30", "2024-03-01"]),
)
labels = st.sampled_from([0, 1, 1.0, "1", True, "x", None])
later = st.fixed_dictionaries({**dict.fromkeys(("number", "flag", "code", "when"), anything), "label": labels})


def encoded(path: Path, lines: int, size: int) -> tuple[Any, ...]:
    """Features, labels and complaints, with the file cut into blocks of so many lines."""
    with mock.patch.object(ndjson_rows, "_LINES", lines):
        found = chunks(open_source(path).blocks(), size, head=HEAD)
        encoder, X, labels, bad = None, [], [], []
        for chunk in found:
            if encoder is None:
                plan = plan_columns(chunk, target="label", categorical=["code"])
                encoder = Encoder(plan, bad_rows="skip")
            part = encoder.encode(chunk)
            X.append(part.X)
            words, places = Target("label").labels(chunk)
            labels += [words[place] if place >= 0 else "" for place in places[part.kept]]
            bad += [str(each) for each in part.bad]
        assert encoder is not None
        return encoder.plan.describe(), np.concatenate(X).tobytes(), labels, bad


@examples(60)
@given(rows=st.lists(later, min_size=1, max_size=25), lines=st.integers(1, 12), size=st.integers(1, 12))
def test_cuts_do_not_matter(rows: list[dict[str, Any]], lines: int, size: int, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("cuts") / "rows.ndjson"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*FIRST, *rows]))
    assert encoded(path, lines, size) == encoded(path, 10_000, 10_000)


@pytest.mark.parametrize("lines", [1, 3, 100])
def test_a_truth_value_is_no_number(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "rows.ndjson"
    more = [{**FIRST[0], "number": value} for value in (True, 1, False, "true", None)]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*FIRST, *more]))
    _, _, labels, bad = encoded(path, lines, 4)
    assert len(labels) == HEAD + 2
    assert [each.split(", ", 1)[1] for each in bad] == [
        f"row {row}, column 'number': {word!r} is not a number"
        for row, word in ((9, "true"), (11, "false"), (12, "true"))
    ]


@pytest.mark.parametrize("at", [3, 1500])
@pytest.mark.parametrize("dirt", ["yesterday", "2024-02-30", "7"])
def test_a_time_that_is_none_makes_its_row_bad_wherever_it_stands(at: int, dirt: str) -> None:
    """As a word among numbers does, among the first rows and later."""
    count = 2000
    when = [str(np.datetime64("2024-01-01") + i // 48) for i in range(count)]  # recurring, as days do
    when[at] = dirt
    table = pa.table({"when": when, "label": ["a", "b"] * (count // 2)})
    head, *rest = chunks([Block(table, "days.csv", 1)], 500, head=1000)
    encoder = Encoder(plan_columns(head, target="label"), bad_rows="skip")
    assert [column.kind for column in encoder.plan.columns] == ["time"]
    bad = [str(each) for chunk in (head, *rest) for each in encoder.encode(chunk).bad]
    told = f"{dirt!r} is not a time such as 2008-05-17 or 2008-05-17T12:30:00"
    assert bad == [f"days.csv, row {at + 1:,}, column 'when': {told}"]
