"""Rules of values fire where a slow twin says, however rows are cut."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from thalweg.container import packed, unpacked
from thalweg.errors import InvalidParameter
from thalweg.evaluate.alert_rules import AlertRule
from thalweg.evaluate.metrics import Rows
from thalweg.run.alert_log import EVERY, AlertLog


def slow(values: np.ndarray, window: int, hold: int, bound: float) -> list[tuple[int, int | None]]:
    """Rows at which a mean above a bound is told, and at which it ceases."""
    found: list[tuple[int, int | None]] = []
    since, told = None, False
    for row in range(EVERY, len(values) + 1, EVERY):
        if row < window:
            continue
        if values[row - window : row].mean() > bound:
            since = row if since is None else since
            if not told and row - since >= hold:
                found.append((row, None))
                told = True
        else:
            if told:
                found[-1] = (found[-1][0], row)
            since, told = None, False
    return found


@examples(100)
@given(
    seed=st.integers(0, 999),
    window=st.integers(1, 300),
    hold=st.integers(0, 300),
    cuts=st.lists(st.integers(0, 2000), max_size=8),
)
def test_a_rule_fires_where_its_mean_has_held(seed: int, window: int, hold: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    values = np.asarray(rng.random(2000) < 0.5 + 0.3 * np.sin(np.arange(2000) / 200.0), dtype=float)
    rule = AlertRule.parse(f"error > 0.5 over {window} rows for {hold} rows")
    log = AlertLog([rule])
    ends = sorted({*cuts, 2000})
    for at, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        log.add_rows(np.arange(start + 1, end + 1), Rows(np.zeros(end - start), {"model": values[start:end]}))
        if at == 1:
            other = AlertLog([rule])
            other.restore(unpacked(packed(log.state())))
            log = other
    assert [(alert["row"], alert["ended"]) for alert in log.fired] == slow(values, window, hold, 0.5)


@examples(100)
@given(text=st.text(max_size=40))
def test_any_text_is_a_rule_or_refused(text: str) -> None:
    with suppress(InvalidParameter):
        assert AlertRule.parse(text).text == text.strip()


def test_recall_and_rmse_are_ratios_of_sums() -> None:
    recall, rmse = (AlertLog([AlertRule.parse(f"{text} over 50 rows")]) for text in ("recall<=0.25", "rmse>=2"))
    positive, said = np.tile([1, 1, 1, 1, 0], 10), np.tile([1, 0, 0, 0, 0], 10)
    recall.add_rows(np.arange(1, 51), Rows(positive, {"model": said}, positive=1))
    rmse.add_rows(np.arange(1, 51), Rows(np.full(50, 3.0), {"model": np.tile([1.0, 5.0], 25)}))
    assert [(alert["row"], alert["value"]) for log in (recall, rmse) for alert in log.fired] == [(50, 0.25), (50, 2.0)]


@pytest.mark.parametrize("column", ["a(b)", "a > b", "Ort, Straße"])
def test_columns_may_hold_any_signs(column: str) -> None:
    rule = AlertRule.parse(f"missing({column}) > 0.1 over 20 rows")
    assert (rule.column, rule.bound, rule.window) == (column, 0.1, 20)


@pytest.mark.parametrize("text", ["error>20", "error<0", "missing(x)>1", "coverage>=1.5", "recall<=-0.1"])
def test_a_rule_that_cannot_fire_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameter, match="a share from 0 to 1"):
        AlertRule.parse(text)
