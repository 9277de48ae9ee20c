"""Scores for rare classes against scikit-learn, for every average and every chunking."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

from tests.evaluate.test_metrics import AVERAGES, records, split, weights_of
from thalweg import NoChange, OnlineLDC, OnlineLogistic
from thalweg.container import packed, unpacked
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import (
    NO_PREDICTION,
    AlertMeter,
    Alerts,
    Average,
    Cumulative,
    Fading,
    Record,
    Summary,
    Windowed,
    curve,
    prequential,
    summarise,
)
from thalweg.evaluate.probability_scores import EDGES, BinnedAuc, log_odds_bins, running_auc
from thalweg.streams import Fraud, Table

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def same(found: float | None, expected: float) -> None:
    assert found is not None
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def check_class_scores(summary: Summary, who: str, y: np.ndarray, answers: np.ndarray, weights: np.ndarray) -> None:
    """Weighted scikit-learn over the classes that have rows or answers."""
    held = weights > 1e-14 * weights.max()
    # What is left out must not be all there is of a class, nor be felt beside the rest of it.
    for codes in (y, answers):
        assume(np.isin(codes[~held], codes[held]).all())
        for of_class in (codes == each for each in np.unique(codes[held])):
            assume(weights[of_class & ~held].sum() < 1e-10 * weights[of_class & held].sum())
    y, answers, weights = y[held], answers[held], weights[held]
    assert summary.by_class is not None
    found, by_class = summary.scores[who], summary.by_class[who]
    classes = np.arange(len(by_class["recall"]))
    expected = sk.precision_recall_fscore_support(
        y, answers, labels=classes, sample_weight=weights, zero_division=np.nan
    )
    for values, theirs, undefined in zip(
        by_class.values(),
        expected,
        (~np.isin(classes, answers), ~np.isin(classes, y), ~np.isin(classes, np.append(y, answers))),
        strict=False,
    ):
        assert np.isnan(values).tolist() == undefined.tolist()
        assert values[~undefined] == pytest.approx(theirs[~undefined], rel=1e-9, abs=1e-9)
    seen = by_class["recall"][~np.isnan(by_class["recall"])]
    same(found.balanced_accuracy, sk.balanced_accuracy_score(y, answers, sample_weight=weights))
    same(found.g_mean, float(np.prod(seen)) ** (1 / len(seen)))
    same(found.matthews, sk.matthews_corrcoef(y, answers, sample_weight=weights))
    same(found.cost, float(np.average(np.where(answers == y, 0.0, 1.0 + y), weights=weights)))


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.filterwarnings("ignore:A single label was found")
@given(record=records(), average=AVERAGES, chunk=st.integers(1, 70))
def test_scores_by_class_are_scikit_learns(record: Record, average: Average, chunk: int) -> None:
    classes = len(record.classes)
    costs = np.where(np.eye(classes), 0.0, 1.0 + np.arange(classes)[:, np.newaxis])
    summary = summarise(split(record, chunk), costs=costs, average=average)
    scored = record.predicted()
    weights = weights_of(average, len(scored))
    check_class_scores(summary, "model", scored.y, scored.predictions, weights)
    check_class_scores(summary, "no_change", scored.y, scored.no_change, weights)
    check_class_scores(summary, "majority", scored.y, scored.majority, weights)


@given(record=records(), average=AVERAGES, chunk=st.integers(1, 70), decimals=st.integers(1, 9))
def test_areas_are_scikit_learns(record: Record, average: Average, chunk: int, decimals: int) -> None:
    """Rounded scores have ties. Over all rows, scores in one bin of log-odds are ties as well."""
    assert record.proba is not None
    scored = record.predicted()
    scores = np.round(record.proba[:, 0], decimals)
    rounded = Record(0, record.classes, record.y, record.predictions, record.no_change, record.majority,
                     np.column_stack([scores, *record.proba.T[1:]]))  # fmt: skip
    summary = summarise(split_without_rate(rounded, chunk), positive=0, average=average)
    weights = weights_of(average, len(scored))
    positive, scores = scored.y == 0, scores[len(record) - len(scored) :]
    if isinstance(average, Cumulative):
        scores = log_odds_bins(scores)
    same(summary.share, float(np.average(positive, weights=weights)))
    held = weights > 1e-14 * weights.max()
    if positive[held].any():
        same(summary.model.pr_auc, sk.average_precision_score(positive, scores, sample_weight=weights))
        if not positive[held].all():
            same(summary.model.roc_auc, sk.roc_auc_score(positive, scores, sample_weight=weights))
    else:
        assert np.isnan(summary.model.pr_auc)
        assert np.isnan(summary.model.roc_auc)


def split_without_rate(record: Record, size: int) -> list[Record]:
    return [
        Record(part.start, part.classes, part.y, part.predictions, part.no_change, part.majority, part.proba)
        for part in split(record, size)
    ]


def rare_scores(rows: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """P(positive) of rows of which one in a hundred is positive, with ties."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.01
    return np.round(1 / (1 + np.exp(4 - rng.normal(size=rows) - 1.5 * positive)), 5), positive


def test_the_area_of_a_window_is_scikit_learns_to_the_last_digits() -> None:
    scores, positive = rare_scores(30_000)
    auc = running_auc(Windowed(2000))
    for at in range(0, 30_000, 300):
        auc.push(scores[at : at + 300], positive[at : at + 300])
        last = slice(max(0, at + 300 - 2000), at + 300)
        if positive[last].any():
            assert abs(auc.roc_auc() - sk.roc_auc_score(positive[last], scores[last])) < 1e-12
            assert abs(auc.average_precision() - sk.average_precision_score(positive[last], scores[last])) < 1e-12


def test_a_score_must_be_a_number() -> None:
    """And nothing of the call is taken."""
    auc = running_auc(Windowed(10))
    with pytest.raises(ValueError, match="a score is not a number"):
        auc.push(np.array([0.5, np.nan]), np.array([True, False]))
    auc.push(np.array([0.0, -0.0]), np.array([True, False]))  # a tie
    assert auc.roc_auc() == 0.5


def test_fading_areas_forget_what_is_negligible() -> None:
    scores, positive = rare_scores(60_000)
    auc = running_auc(Fading(0.999))
    auc.push(scores, positive)
    weights = 0.999 ** np.arange(len(scores))[::-1]
    assert abs(auc.roc_auc() - sk.roc_auc_score(positive, scores, sample_weight=weights)) < 1e-10


def test_areas_over_all_rows_are_close_to_the_exact_ones() -> None:
    scores, positive = rare_scores(50_000)
    auc = BinnedAuc()
    auc.push(scores, positive)
    assert abs(auc.roc_auc() - sk.roc_auc_score(positive, scores)) < 1e-4
    assert abs(auc.average_precision() - sk.average_precision_score(positive, scores)) < 1e-3
    assert log_odds_bins(np.array([0.0, 1e-300, 1e-9, 0.5, 1 - 1e-9, 1.0])).tolist() == [0, 0, 1233, 2560, 3886, 5120]


def test_reliability_is_that_of_scikit_learn() -> None:
    """In the bins of 0.1 that both have; ours below 0.1 are narrower and add up to its first."""
    rng = np.random.default_rng(4)
    said = rng.random(4000) ** 3
    came = rng.random(4000) < said**1.2
    codes = np.where(said > 0.5, 1, 0)
    record = Record(0, np.arange(2), came.astype(np.int64), codes, codes, codes, np.column_stack([1 - said, said]))
    found = summarise(split_without_rate(record, 700)).reliability
    assert found is not None
    observed, probability = calibration_curve(came, said, n_bins=10)
    first = int(np.searchsorted(EDGES, 0.1))
    assert found.observed[first:] == pytest.approx(observed[1:], rel=1e-12)
    assert found.probability[first:] == pytest.approx(probability[1:], rel=1e-12)
    held = slice(0, first)
    weights = found.rows[held]
    assert np.average(found.observed[held], weights=weights) == pytest.approx(observed[0], rel=1e-12)
    assert np.average(found.probability[held], weights=weights) == pytest.approx(probability[0], rel=1e-12)
    places = np.searchsorted(EDGES[1:-1], said)
    gaps = [abs(said[places == at].sum() - came[places == at].sum()) for at in range(len(EDGES) - 1)]
    assert found.expected_error == pytest.approx(sum(gaps) / 4000, rel=1e-12)


@given(seed=st.integers(0, 2**32), count=st.integers(1, 12), cuts=st.lists(st.integers(1, 40), max_size=12))
def test_alerts_are_the_best_of_each_period(seed: int, count: int, cuts: list[int]) -> None:
    """Whatever the chunks, with ties and labels out of order, and through a saved state."""
    rng = np.random.default_rng(seed)
    rows = 200
    period = np.sort(rng.integers(0, 8, rows))
    scores, positive = rng.integers(0, 9, rows) / 8.0, rng.random(rows) < 0.2
    order = np.argsort(np.arange(rows) + rng.integers(0, 60, rows), kind="stable")
    meter, done = AlertMeter(count), 0
    for size in [*cuts, rows]:
        these = order[done : done + size]
        meter.update(period[these], these, scores[these], positive[these])
        saved, meter = unpacked(packed(meter.state())), AlertMeter(count)
        meter.restore(saved)
        done += size
    alerts = found = 0
    whole = np.unique(period)[:-1]
    for each in whole.tolist():
        own = np.flatnonzero(period == each)
        best = own[np.argsort(-scores[own], kind="stable")[:count]]
        alerts, found = alerts + len(best), found + int(positive[best].sum())
    result = meter.scores()
    assert (result.periods, result.alerts, result.found) == (len(whole), alerts, found)
    assert result.positives == int(positive[np.isin(period, whole)].sum())


def test_periods_that_are_long_over_are_closed() -> None:
    meter = AlertMeter(2)
    for day in range(1000):
        meter.update(np.array([day, day - 100]), np.array([day, day]), np.array([0.5, 0.9]), np.array([True, True]))
    assert len(meter.state()["_open"]) == 64
    assert meter.scores() == (1.0, 1.0, 999, 999, 999, 999)


def test_labels_that_come_late_have_probabilities() -> None:
    """A delay of 0 through the late walk is the walk at once, and every row with a prediction is scored."""
    stream = Fraud(seed=2)
    late = list(prequential(OnlineLDC(0.01), stream, rows=6000, delay=500, chunk=700))
    scores = np.concatenate([record.predicted().proba for record in late])
    assert len(scores) == 5499
    assert scores.sum(axis=1) == pytest.approx(np.ones(len(scores)))
    summary = summarise(late, positive=1, average=Windowed(5499))
    truth = np.concatenate([record.predicted().y for record in late])
    same(summary.model.roc_auc, sk.roc_auc_score(truth == 1, scores[:, 1]))
    together = summarise(prequential(OnlineLDC(0.01), stream, rows=6000, delay=500), positive=1)
    assert together.model.roc_auc == summarise(late, positive=1).model.roc_auc
    argmax = np.concatenate([record.predicted().predictions for record in late])
    assert (scores.argmax(axis=1) == argmax).all()


def test_a_curve_ends_where_a_summary_does() -> None:
    def walk() -> list[Record]:
        return list(prequential(OnlineLogistic(), Fraud(seed=3), rows=7500))

    over_time = curve(walk(), positive=1, every=2000, costs={"fp": 1, "fn": 50}, average=Windowed(3000))
    last = summarise(walk(), positive=1, costs={"fp": 1, "fn": 50}, average=Windowed(3000))
    assert over_time.rows.tolist() == [2000, 4000, 6000, 7500]
    assert over_time.model.pr_auc[-1] == last.model.pr_auc
    assert over_time.model.cost[-1] == last.model.cost
    assert over_time.by_class["model"]["recall"][-1].tolist() == last.by_class["model"]["recall"].tolist()
    assert over_time.model.calibration_error[-1] == last.reliability.expected_error


def test_a_baseline_without_a_prediction_is_wrong() -> None:
    """A model that was fitted before predicts the first row; no baseline does."""
    model = OnlineLDC(0.1).partial_fit([[0.0], [1.0], [0.1], [0.9]], ["a", "b", "a", "b"])
    (record,) = prequential(model, Table([[1.0], [0.0], [1.0]], ["b", "a", "b"]))
    assert record.no_change.tolist() == [NO_PREDICTION, 1, 0]
    summary = summarise([record], positive="b", costs={"fp": 1, "fn": 50})
    assert summary.by_class["model"]["recall"].tolist() == [1.0, 1.0]
    assert summary.by_class["no_change"]["recall"].tolist() == [0.0, 0.0]
    assert summary.by_class["no_change"]["precision"].tolist() == [0.0, 0.0]
    assert summary.no_change.cost == pytest.approx((50 + 1 + 50) / 3)


def test_what_is_refused() -> None:
    def walk(labels: list[str]) -> list[Record]:
        return list(prequential(NoChange(), Table([[0.0]] * len(labels), labels)))

    with pytest.raises(InvalidParameter, match=r"'positive' parameter of Meter must be one of the classes"):
        summarise(walk(["a", "b"]), positive="c")
    for costs in ({"fp": -1}, {"false": 1}, [[0, 1]], "dear"):
        with pytest.raises(InvalidParameter, match="'costs' parameter of Meter must be numbers fp= and fn="):
            summarise(walk(["a", "b"]), costs=costs)
    with pytest.raises(InvalidParameter, match="'alerts' parameter of Meter must be left out"):
        summarise(walk(["a", "b", "c"]), alerts=Alerts(1, rows=2))
    with pytest.raises(InvalidParameter, match="'count' parameter of Alerts"):
        Alerts(0, rows=2)
    with pytest.raises(InvalidInput, match="at least one row"):
        summarise([])
    with pytest.raises(InvalidInput, match="before the first label"):
        summarise(walk(["a"]))
