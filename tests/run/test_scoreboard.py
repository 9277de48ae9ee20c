"""The scoreboard against scikit-learn and slow definitions; neither chunks nor interruptions change a digit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix, f1_score, recall_score
from tests.examples import examples

from thalweg.container import packed, unpacked
from thalweg.evaluate.layout import confusion_terms
from thalweg.evaluate.probability_scores import BINS, reliability_of
from thalweg.run import scoreboard
from thalweg.run.label_scoreboard import PREDICTORS, LabelScoreboard
from thalweg.run.scoreboard import FADE, BlockMeans

CLASSES = np.array([1, 2, 3])
#: Rows that came before any label was known.
UNPREDICTED = 3


def answers(rows: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    truth = CLASSES[rng.integers(0, 3, rows)]
    given_answers = {
        name: np.where(rng.random(rows) < 0.6, truth, CLASSES[rng.integers(0, 3, rows)]) for name in PREDICTORS
    }
    for each in given_answers.values():
        each[:UNPREDICTED] = 0
    proba = rng.dirichlet(np.ones(3), rows)
    proba[5] = [1.0, 0.0, 0.0]
    of_truth = proba[np.arange(rows), np.searchsorted(CLASSES, truth)]
    squared = np.square(proba - (truth[:, None] == CLASSES)).sum(axis=1)
    confidences = [of_truth, proba.max(axis=1), squared]
    for each in confidences:
        each[:UNPREDICTED] = np.nan
    return truth, given_answers, confidences


def fill(truth, given_answers, confidences, cuts=(), *, interrupted: bool = False) -> LabelScoreboard:
    board = LabelScoreboard()
    for begin, end in zip([0, *cuts], [*cuts, len(truth)], strict=True):
        part = slice(begin, end)
        if interrupted:
            told = unpacked(packed(board.state()))
            board = LabelScoreboard()
            board.restore(told)
        board.add_labels(
            truth[part],
            {name: each[part] for name, each in given_answers.items()},
            2,
            *(each[part] for each in confidences),
        )
    return board


def scores_of(board: LabelScoreboard) -> dict:
    terms = {name: confusion_terms(each, 1) for name, each in board.confusions(3).items()}
    terms["model"] |= {"areas": (0.5, 0.1), "reliability": reliability_of(np.zeros((3, BINS)))}
    return board.scores({*PREDICTORS, "probabilities", "positive", "areas", "reliability"}, terms, positive=1)


def test_scores_are_those_of_scikit_learn() -> None:
    truth, given_answers, confidences = answers(700)
    board = fill(truth, given_answers, confidences)
    assert (board.rows, board.unpredicted) == (697, UNPREDICTED)
    truth, given_answers = truth[UNPREDICTED:], {name: each[UNPREDICTED:] for name, each in given_answers.items()}
    no_change_error = (given_answers["no_change"] != truth).mean()
    for name, given_answer in given_answers.items():
        score = scores_of(board)[name]
        error = (given_answer != truth).mean()
        assert score["error"] == pytest.approx(error, abs=1e-15)
        assert score["kappa"] == pytest.approx(cohen_kappa_score(truth, given_answer), abs=1e-12)
        assert score["recall"] == pytest.approx(recall_score(truth, given_answer, labels=[2], average="micro"))
        assert score["f1"] == pytest.approx(f1_score(truth, given_answer, labels=[2], average="micro"))
        assert score["kappa_temporal"] == pytest.approx(1 - error / no_change_error, abs=1e-12)
    of_truth, of_answer, squared = (each[UNPREDICTED:] for each in confidences)
    least = np.finfo(np.float64).eps
    assert scores_of(board)["model"]["log_loss"] == pytest.approx(
        -np.log(np.maximum(of_truth, least)).mean(), rel=1e-12
    )
    assert scores_of(board)["model"]["brier"] == pytest.approx(squared.mean(), rel=1e-12)
    expected = confusion_matrix(truth, given_answers["model"], labels=[0, *CLASSES])
    assert board.confusion[0].tolist() == expected.tolist()
    bins = np.minimum((of_answer * 10).astype(int), 9)
    calibration = board.calibration()
    right = given_answers["model"] == truth
    for i in range(10):
        here = bins == i
        assert calibration["rows"][i] == here.sum()
        assert calibration["accuracy"][i] == (pytest.approx(right[here].mean()) if here.any() else None)
        assert calibration["confidence"][i] == (pytest.approx(of_answer[here].mean()) if here.any() else None)


@examples(30)
@given(rows=st.integers(6, 300), data=st.data())
def test_chunks_and_interruptions_do_not_matter_to_the_last_bit(rows: int, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as small:
        small.setattr(scoreboard, "WINDOW", 40)
        small.setattr(scoreboard, "MOST_POINTS", 16)
        told = answers(max(rows, 6), seed=rows)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(told[0])), max_size=6)))
        whole = fill(*told)
        parts = fill(*told, cuts, interrupted=data.draw(st.booleans()))
        assert parts.confusion.tolist() == whole.confusion.tolist()
        assert scores_of(parts) == scores_of(whole)
        assert parts.curve() == whole.curve()
        assert parts.calibration() == whole.calibration()
        assert parts.verdict() == whole.verdict()


def test_points_of_the_curve_are_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoreboard, "WINDOW", 50)
    monkeypatch.setattr(scoreboard, "MOST_POINTS", 20)
    told = answers(777)
    curve = fill(*told, cuts=(100, 101, 400)).curve()
    assert 10 <= len(curve["rows"]) <= 20
    assert np.diff(curve["rows"]).tolist() == [curve["rows"][0] - UNPREDICTED] * (len(curve["rows"]) - 1)
    for name in PREDICTORS:
        wrong = (told[1][name] != told[0])[UNPREDICTED:]
        for point, row in enumerate(np.array(curve["rows"]) - UNPREDICTED):
            assert curve["error"][name][point] == pytest.approx(wrong[max(row - 50, 0) : row].mean(), abs=1e-12)
            weights = FADE ** np.arange(row)[::-1]
            assert curve["fading"]["error"][name][point] == pytest.approx(
                np.average(wrong[:row], weights=weights), abs=1e-12
            )


def test_means_of_blocks_give_students_interval() -> None:
    values = np.random.default_rng(1).integers(-1, 2, 1000)
    blocks = BlockMeans()
    for part in np.split(values, [1, 77, 500]):
        blocks.add(part)
    found = blocks.interval()
    length, count = found["block_rows"], found["blocks"]
    assert length & (length - 1) == 0
    assert count == 1000 // length
    assert 32 <= count < 64
    means = values[: count * length].reshape(count, length).mean(axis=1)
    half = stats.t.ppf(0.975, count - 1) * stats.sem(means)
    assert found["difference"] == pytest.approx(values.mean(), abs=1e-12)
    assert (found["low"], found["high"]) == pytest.approx((values.mean() - half, values.mean() + half), abs=1e-12)


def test_few_rows_have_no_interval() -> None:
    blocks = BlockMeans()
    blocks.add(np.array([1, 0, 1]))
    assert blocks.interval()["low"] is None
