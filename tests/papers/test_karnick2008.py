from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from thalweg import LearnNSE
from thalweg.errors import DataUnavailable, InvalidParameter
from thalweg.papers.karnick2008 import beyond, reproduce
from thalweg.papers.karnick2008.beyond import timed
from thalweg.papers.karnick2008.data import Blocks, Checkerboard, SeaConcepts
from thalweg.papers.karnick2008.study import (
    BAYES,
    BOARD,
    DATA,
    LEARNERS,
    SEA,
    WEIGHTINGS,
    AccuracyCurve,
    AccuracyCurves,
    AccuracyStudy,
    GoalNetwork,
    follow,
)
from thalweg.papers.registry import PAPERS, Outcome
from thalweg.papers.study import Request
from thalweg.streams import Table

#: Every learner on both data sets, in seconds.
SHORT = {BOARD: Checkerboard(blocks=24), SEA: SeaConcepts(blocks=12, rows=60, test_rows=200)}
#: One run, as it comes out of 5 runs ± 0.01 each.
SEA_BAYES, SEA_BAYES_ALONE = 0.971, 0.946
BOARD_BAYES_ALONE = 0.587


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "FAST_DATA", SHORT)


def values(outcome: Outcome) -> dict[tuple[str, str, str], float]:
    return {(each.data, each.model, each.more["measure"]): each.measured for each in outcome.findings}


# ---- data -----------------------------------------------------------------------------------------------


def test_a_block_of_the_board_is_balanced_and_the_grid_has_the_colours_of_its_time() -> None:
    board = Checkerboard(blocks=40)
    data = board.draw(seed=3)
    assert data.X.shape == (40, 100, 2)
    assert (data.y.sum(axis=1) == 50).all()
    for time in (0, 7, 39):
        points, colours = board.stream(3).grid_at(time)
        np.testing.assert_array_equal(data.points, points)
        np.testing.assert_array_equal(data.truth[time], colours)
        right = board.stream(3).concept(time).label(data.X[time])
        assert np.mean(right != data.y[time]) < 0.2  # blurred near the edges only
    assert not np.array_equal(data.X[0], data.X[1])


def test_a_tenth_of_each_block_of_sea_is_wrong_and_no_test_label() -> None:
    data = SeaConcepts(blocks=8, rows=250).draw(seed=3)
    for block, threshold in enumerate((8, 8, 9, 9, 7, 7, 9.5, 9.5)):
        assert np.count_nonzero((10 * data.X[block, :, :2].sum(axis=1) >= threshold) != data.y[block]) == 25
        np.testing.assert_array_equal(10 * data.points[:, :2].sum(axis=1) >= threshold, data.truth[block])
    assert SeaConcepts().changes == (50, 100, 150)


# ---- the network ----------------------------------------------------------------------------------------


def test_the_network_follows_its_gradient_to_the_goal_and_no_further() -> None:
    data = DATA[BOARD].draw(seed=1)
    X, y = data.X[0], data.y[0]
    network = GoalNetwork(hidden=4, random_state=5)
    Z, start = (X - X.mean(axis=0)) / X.std(axis=0), network._start(2)
    error = check_grad(lambda p: network._loss(p, Z, y)[0], lambda p: network._loss(p, Z, y)[1], start)
    assert error < 1e-6
    for goal in (0.2, 0.1, 0.05):
        fitted = GoalNetwork(goal=goal, random_state=5).fit(X, y)
        assert 0.5 * goal < fitted._loss(fitted.parameters_, Z, y)[0] <= goal
    assert np.mean(GoalNetwork(goal=0.02).fit(X, y).predict(X) == y) > 0.95
    hurried = GoalNetwork(goal=0.05, max_iter=2, random_state=5).fit(X, y)
    assert hurried._loss(hurried.parameters_, Z, y)[0] > 0.05


def test_the_network_names_the_labels_it_was_given_and_wants_two() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["dry", "dry", "wet", "wet"])
    assert GoalNetwork().fit(X, y).predict(X).tolist() == y.tolist()
    with pytest.raises(ValueError, match="two classes, got 1"):
        GoalNetwork().fit(X, np.array(["dry"] * 4))


# ---- the course of a run --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "base",
    [
        pytest.param(GaussianNB(), id="bayes"),
        pytest.param(SVC(C=1e4, gamma=2.0), id="svm", marks=pytest.mark.slow),
        pytest.param(GoalNetwork(), id="network", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("data", SHORT.values(), ids=SHORT)
def test_a_course_is_what_the_ensemble_itself_answers(base: object, data: Checkerboard | SeaConcepts) -> None:
    blocks = data.draw(seed=2)
    course = follow(LearnNSE(base, random_state=9), blocks)
    model = LearnNSE(base, random_state=9)
    for block in range(len(blocks.X)):
        model.partial_fit(blocks.X[block], blocks.y[block])
        assert course.ensemble[block] == np.mean(model.predict(blocks.points) == blocks.truth[block])
        newest = model.members_[-1].predict(blocks.points)
        assert course.single[block] == np.mean(newest == blocks.truth[block])


def test_dips_and_recoveries_are_those_of_the_curve() -> None:
    # Three concepts of 20 blocks: before, a fall to 0.5 and a rise by 0.05 a block, then no recovery at all.
    rise = np.minimum(0.5 + 0.05 * np.arange(20), 0.95)
    ensemble = np.concatenate([np.full(20, 0.9), rise, np.full(20, 0.3)])
    courses = AccuracyCurves.of(
        [AccuracyCurve(ensemble, np.full(60, 0.72)), AccuracyCurve(ensemble + 0.01, np.full(60, 0.72))]
    )
    first, second = courses.recovery(20, 20), courses.recovery(40, 20)
    np.testing.assert_allclose(first.before, [0.9, 0.91])
    np.testing.assert_allclose(first.dip, [0.5, 0.51])
    assert first.blocks.tolist() == [6, 6]  # 0.5, 0.55, 0.6, 0.65, 0.7, 0.75
    assert second.blocks.tolist() == [21, 21]
    assert courses.mean_course.recovery(20, 20).dip[0] == pytest.approx(0.505)
    np.testing.assert_allclose(courses.as_good[0], (20 + 15) / 60)
    np.testing.assert_allclose([half[0] for half in courses.halves], [ensemble[:30].mean(), ensemble[30:].mean()])


# ---- the paper, reduced ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_naive_bayes_on_sea_falls_at_the_drifts_and_passes_the_newest_again() -> None:
    study = AccuracyStudy(DATA, Request(["drifts"], runs=1))
    study._jobs = [job for job in study._jobs if job.learner == BAYES]
    courses = study.courses(SEA, BAYES)
    assert courses.ensemble.mean() == pytest.approx(SEA_BAYES, abs=0.01)
    assert courses.single.mean() == pytest.approx(SEA_BAYES_ALONE, abs=0.01)
    for change in DATA[SEA].changes:
        recovery = courses.recovery(change, 50)
        assert recovery.dip[0] < recovery.before[0] - 0.02
        assert recovery.blocks[0] <= 12


@pytest.mark.slow
def test_on_the_board_the_age_of_errors_is_what_counts() -> None:
    data = {BOARD: Checkerboard(blocks=350)}
    study = AccuracyStudy(data, Request(["weightings"], runs=1))
    means = {weighting: study.courses(BOARD, BAYES, weighting).ensemble.mean() for weighting in WEIGHTINGS}
    by_age = study.courses(BOARD, BAYES)
    assert by_age.single.mean() == pytest.approx(BOARD_BAYES_ALONE, abs=0.01)
    assert means["age"] > by_age.single.mean() + 0.05
    assert means["age"] > means["lifetime"] + 0.02
    assert means["age"] > means["recursive"] + 0.03
    first, second = by_age.halves
    assert second[0] > first[0] + 0.02


# ---- items ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_all_items_are_the_same_with_any_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Table:
        raise DataUnavailable("nothing is at hand here.")

    cases = tuple(case._replace(load=missing) for case in beyond.CASES)
    monkeypatch.setattr("thalweg.papers.karnick2008.beyond.CASES", cases)
    shares: list[float] = []
    items = [item for item in PAPERS["karnick2008"].items if item != "time"]
    one = PAPERS["karnick2008"].reproduce(items, seed=4, fast=True, progress=lambda share, _: shares.append(share))
    two = PAPERS["karnick2008"].reproduce(items, seed=4, fast=True, workers=2)
    assert one == two
    assert shares == sorted(shares)
    boards, board, sea, table, drifts, weightings, real = one
    assert boards.draw is not None
    assert len(boards.draw().axes) == 6
    found = values(table)
    for learner in LEARNERS:
        for outcome, name in ((board, DATA[BOARD].name), (sea, DATA[SEA].name)):
            assert values(outcome)[name, f"Learn++.NSE, {learner}", "accuracy"] == found[name, learner, "ensemble"]
            halves = [found[name, learner, half] for half in ("first half", "second half")]
            assert np.mean(halves) == pytest.approx(found[name, learner, "ensemble"])
    assert len(drifts.findings) == 3 * 3 * 4
    by_weighting = {model: value for (_, model, measure), value in values(weightings).items() if measure == "accuracy"}
    assert by_weighting["age"] == found[DATA[BOARD].name, BAYES, "ensemble"]
    assert list(by_weighting) == list(WEIGHTINGS)
    assert real.findings == ()
    assert real.notes == ("Left out: nothing is at hand here.",)


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_runs_are_as_many_as_asked_for() -> None:
    (outcome,) = PAPERS["karnick2008"].reproduce(["weightings"], runs=2, fast=True)
    assert {each.runs for each in outcome.findings} == {2}
    assert all(each.ci95 is not None for each in outcome.findings)
    defaults = AccuracyStudy(DATA, Request(["table"], runs=0))
    counts = {learner: sum(job.learner == learner for job in defaults._jobs) for learner in LEARNERS}
    assert counts == {"naive Bayes": 10, "SVM": 4, "MLP": 6}
    with pytest.raises(InvalidParameter, match="'runs' parameter of karnick2008"):
        PAPERS["karnick2008"].reproduce(["fig2"], runs=0)


@pytest.mark.slow
def test_errors_on_real_data_are_those_of_blocks_answered_before_they_are_learned() -> None:
    try:
        case = beyond.CASES[0]._replace(load=lambda: Table(*table.take(330)))
        table = beyond.CASES[0].load()
    except DataUnavailable as error:
        pytest.skip(str(error))
    tasks = beyond.tasks_of(case, fast=False)
    errors = {name: each for task in tasks for name, each in task().items()}
    X, y = table.take(330)
    assert errors["No change"] == np.mean(y[30:] != y[29:-1])
    model, wrong, alone = LearnNSE(GaussianNB()), 0, 0
    for start in range(0, 330, 30):
        block = slice(start, start + 30)
        if start:
            wrong += np.sum(model.predict(X[block]) != y[block])
            before = slice(start - 30, start)
            alone += np.sum(GaussianNB().fit(X[before], y[before]).predict(X[block]) != y[block])
        model.partial_fit(X[block], y[block])
    assert errors["Learn++.NSE, naive Bayes"] == wrong / 300
    assert errors["newest naive Bayes alone"] == alone / 300
    assert errors["O-LDC soft"] < errors["No change"]


def test_time_is_taken_of_every_block_and_of_the_loop_at_some() -> None:
    data = SHORT[BOARD].draw(seed=0)
    told: list[float] = []
    timing = timed(Blocks(data.X, data.y, data.points[:50], data.truth[:, :50]), told.append)
    assert timing.seconds.shape == (24,)
    assert (timing.seconds > 0).all()
    assert timing.loop_members[[0, -1]].tolist() == [1, 24]
    assert timing.total == pytest.approx(timing.seconds.sum())
    assert len(timing.loop_seconds) == len(told)
    assert told[-1] == 1.0


def test_only_this_paper_has_a_short_version() -> None:
    assert [paper.name for paper in PAPERS.values() if paper.fast is not None] == ["karnick2008"]
