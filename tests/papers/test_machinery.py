from __future__ import annotations

import importlib
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.waiting import PATIENCE

from thalweg.evaluate import collect_steps, holdout
from thalweg.papers import registry
from thalweg.papers.kuncheva2008 import reproduce, study
from thalweg.papers.kuncheva2008.study import HeldOutTrial, OnePassTrial
from thalweg.papers.schnackenberg2018.protocol import NextStepTrial
from thalweg.papers.study import Meter, run_all, run_each, run_in_processes, seeds_of_run
from thalweg.papers.trials import Candidate
from thalweg.streams import DriftingGaussians, MovingPlane, Stagger, Table


def ignore(_: float) -> None:
    pass


@given(bottom=st.integers(1, 99), steepness=st.floats(0.1, 10))
def test_the_search_finds_the_best_hundredth_of_a_single_dip(bottom: int, steepness: float) -> None:
    def error(rate: float) -> float:
        return steepness * abs(rate - bottom / 100)

    coarse = {rate: error(rate) for rate in study.COARSE}
    fine = {rate: error(rate) for rate in study.refined(coarse)}
    assert not coarse.keys() & fine.keys()
    assert study.best(coarse | fine) == bottom / 100


def test_results_come_in_the_order_of_the_tasks_whichever_ends_first() -> None:
    second_done = threading.Event()
    shares: list[float] = []

    def slow_first() -> int:
        assert second_done.wait(PATIENCE)
        return 1

    def quick_second() -> int:
        second_done.set()
        return 2

    assert run_all([slow_first, quick_second], 2, shares.append) == [1, 2]
    assert shares == [0.5, 1.0]


def test_an_error_in_a_task_ends_the_work_and_drops_what_was_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    shut_down = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            if cancel_futures:
                super().shutdown(wait=False, cancel_futures=True)
            shut_down.set()
            super().shutdown(wait)

    def fail() -> None:
        raise RuntimeError("task 0 failed")

    def dawdle(number: int) -> None:
        begun.append(number)
        assert shut_down.wait(PATIENCE)

    monkeypatch.setattr("thalweg.papers.study.ThreadPoolExecutor", Pool)
    with pytest.raises(RuntimeError, match="task 0 failed"):
        run_all([fail, *[partial(dawdle, number) for number in range(50)]], 1, ignore)
    assert len(begun) <= 1


def test_results_are_handed_out_as_they_come_and_told_by_number() -> None:
    first_may_end = threading.Event()

    def slow_first() -> int:
        assert first_may_end.wait(PATIENCE)
        return 1

    handed_out = run_each([slow_first, lambda: 2], 2, ignore)
    assert next(handed_out) == (1, 2)
    first_may_end.set()
    assert list(handed_out) == [(0, 1)]


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_tell_every_result_by_its_number_and_pass_errors_on(workers: int) -> None:
    tasks = [partial(pow, number, 2) for number in range(5)]
    assert sorted(run_in_processes(tasks, workers)) == [(number, number**2) for number in range(5)]
    with pytest.raises(ZeroDivisionError):
        list(run_in_processes([partial(divmod, 1, 0)], workers))


@given(work=st.lists(st.floats(0.1, 100), min_size=1, max_size=6))
def test_progress_never_goes_back_and_ends_at_one(work: list[float]) -> None:
    told: list[float] = []
    meter = Meter({str(number): amount for number, amount in enumerate(work)}, lambda share, _: told.append(share))
    for number in range(len(work)):
        stage = meter.stage(str(number))
        for share in (0.0, 0.5, 1.0):
            stage(share)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("stream", [Stagger, MovingPlane])
@pytest.mark.parametrize("rate", [0.3, reproduce.ADAPTIVE])
def test_many_candidates_at_once_err_as_each_alone_in_holdout(stream, rate) -> None:
    candidates = [Candidate(model, rate) for model in reproduce.MODELS["STAGGER"]]
    measured = HeldOutTrial(stream, seed=5, runs=2).measure(candidates, 2, ignore)
    for run in range(2):
        stream_seed, learner_seed = seeds_of_run(5, run)
        for place, candidate in enumerate(candidates):
            alone = collect_steps(holdout(candidate.learner(learner_seed), stream(seed=stream_seed)))
            np.testing.assert_array_equal(measured.errors[run, place], alone.error)


def test_the_next_step_is_what_is_answered_and_sums_tell_all() -> None:
    stream, runs = DriftingGaussians(scenario="circular", length=60), 3
    candidates = [Candidate(reproduce.O_LDC, rate) for rate in (0.5, 0.9)]
    measured = NextStepTrial(stream, seed=5, runs=runs).measure(candidates, 2, ignore)
    errors = np.empty((runs, 2, 49))
    for run in range(runs):
        stream_seed, learner_seed = seeds_of_run(5, run)
        here = DriftingGaussians(stream_seed, "circular")
        start_X, start_y = here.sampler("start").rows_at(np.arange(10))
        assert np.bincount(start_y).min() >= 2  # else it would have been drawn again
        X, y = here.take(60)
        test_X, test_y = here.sampler("test").sets_at(np.arange(11, 60), 100)
        for place, candidate in enumerate(candidates):
            learner = candidate.learner(learner_seed).fit(start_X, start_y)
            for step, row in enumerate(range(10, 59)):
                learner.learn_one(X[row], y[row])
                errors[run, place, step] = (learner.predict(test_X[step]) != test_y[step]).mean()
    for place in range(2):
        expected = errors[:, place]
        np.testing.assert_allclose(measured.curve(place), expected.mean(axis=0))
        np.testing.assert_allclose(measured.means(place), expected.mean(axis=1))
        summary = measured.summary(place)
        assert summary.mean == pytest.approx(expected.mean())
        assert summary.sd_curve == pytest.approx(expected.mean(axis=0).std(ddof=1))
        assert summary.mean_sd == pytest.approx(expected.std(axis=0, ddof=1).mean())
    assert measured.times().tolist() == list(range(11, 60))
    assert 0.0 < measured.effort.drawing < measured.effort.whole
    assert measured.differs(0, 1) is not None


def test_a_start_without_two_rows_of_a_class_is_drawn_again() -> None:
    stream = DriftingGaussians(length=13)
    redrawn = 0
    for run in range(300):
        here = DriftingGaussians(seeds_of_run(0, run)[0], length=13)
        redrawn += int(np.bincount(here.sampler("start").rows_at(np.arange(10))[1], minlength=2).min() < 2)
    assert redrawn
    measured = NextStepTrial(stream, seed=0, runs=300).measure([Candidate(reproduce.O_LDC, 0.5)], 1, ignore)
    assert measured.means(0).max() < 0.5
    single = NextStepTrial(stream, seed=0, runs=1).measure([Candidate(reproduce.O_LDC, 0.5)], 1, ignore)
    assert single.summary(0).mean_sd is None
    assert single.ci95(0) is None


def test_every_paper_of_the_list_can_be_loaded_and_has_its_items() -> None:
    for name, paper in registry.PAPERS.items():
        assert paper.name == name
        assert callable(importlib.import_module(f"thalweg.papers.{name}.reproduce").reproduce)
        assert len(set(paper.items)) == len(paper.items)


def test_runs_are_random_differently_and_do_not_depend_on_how_many_there_are() -> None:
    candidates = [Candidate(reproduce.O_LDC, 0.9)]
    few = HeldOutTrial(MovingPlane, seed=1, runs=2).measure(candidates, 1, ignore).errors
    more = HeldOutTrial(MovingPlane, seed=1, runs=3).measure(candidates, 3, ignore).errors
    np.testing.assert_array_equal(few, more[:2])
    assert not np.array_equal(more[0], more[1])


def test_a_single_run_claims_no_interval_and_no_difference() -> None:
    candidates = [Candidate(reproduce.O_LDC, 0.9), Candidate(reproduce.PERCEPTRON, 0.5)]
    measured = HeldOutTrial(Stagger, seed=0, runs=1).measure(candidates, 1, ignore)
    assert measured.ci95(0) is None
    assert measured.differs(1, 0) is None


def test_one_pass_sums_up_the_mistakes_it_saw() -> None:
    X, y = MovingPlane(seed=3).take(1000)
    candidates = [Candidate(reproduce.O_LDC, 0.9), Candidate(reproduce.NO_CHANGE, None)]
    measured = OnePassTrial(Table(X, y), seed=0, block=100, window=200).measure(candidates, 2, ignore)
    np.testing.assert_array_equal(measured.mistakes[1, 1:], y[1:] != y[:-1])
    assert measured.error(1) == measured.mistakes[1].mean()
    assert measured.kappa_temporal(0, 1) == pytest.approx(1 - measured.error(0) / measured.error(1))
    np.testing.assert_array_equal(measured.times(), np.arange(200, 1001, 50))
    np.testing.assert_allclose(
        measured.curve(0)[:2], [measured.mistakes[0, :200].mean(), measured.mistakes[0, 50:250].mean()]
    )
    assert measured.differs(0, 1)
    assert measured.differs(0, 0) is None
    blocks = measured.mistakes[0].reshape(10, 100).mean(axis=1)
    assert measured.ci95(0) == pytest.approx(2.262157 * blocks.std(ddof=1) / np.sqrt(10))
