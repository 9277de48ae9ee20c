"""Whether a run predicts classes or numbers does not depend on the order of its rows, and is said."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.calls import metrics, run

from thalweg import evaluate

pytest.importorskip("pyarrow")

ROWS = 1600
#: Most people earn nothing, others a whole number.
RNG = np.random.default_rng(0)
AGE = RNG.integers(18, 70, ROWS)
INCOME = np.where(RNG.uniform(size=ROWS) < 0.7, 0, AGE * 120 + RNG.integers(0, 3000, ROWS))
RUN = ("run", "rows.csv", "--target", "income", "--model", "tiling", "--out", "out", "--quiet", "--fresh")


def table(order: np.ndarray, income: np.ndarray = INCOME) -> str:
    return "age,income\n" + "".join(f"{AGE[at]},{income[at]}\n" for at in order.tolist())


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_sorted_quantity_turns_into_regression_as_if_that_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    order = np.argsort(INCOME, kind="stable")
    Path("rows.csv").write_text(table(order))
    code, _, said = run(capsys, *RUN)
    (sentence,) = metrics()["warnings"]
    assert (code, said.count(sentence)) == (0, 1)
    assert "the run starts over as regression; --task classification keeps" in sentence
    row = int(sentence.removeprefix("rows.csv, row ").partition(", column 'income': ")[0].replace(",", ""))
    assert (INCOME == 0).sum() < row < (INCOME == 0).sum() + 512
    turned = Path("out/predictions.csv").read_bytes()
    assert run(capsys, *RUN, "--task", "regression")[0] == 0
    assert Path("out/predictions.csv").read_bytes() == turned
    Path("rows.csv").write_text(table(np.arange(ROWS)))
    assert run(capsys, *RUN)[0] == 0
    assert metrics()["task"] == "regression"
    assert "warnings" not in metrics()


def test_a_run_that_turned_does_not_announce_classes_again(capsys: pytest.CaptureFixture[str]) -> None:
    income = np.where(np.arange(ROWS) < 1024, 100 * (AGE % 12), INCOME)
    Path("rows.csv").write_text(table(np.arange(ROWS), income))
    code, _, said = run(capsys, *(each for each in RUN if each != "--quiet"))
    assert (code, metrics()["task"]) == (0, "regression")
    assert said.count("classification: income holds 12 different whole numbers") == 1


def test_a_pipe_is_stopped_and_classes_that_are_asked_for_are_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = table(np.argsort(INCOME, kind="stable"))
    stdin = io.TextIOWrapper(io.BytesIO(lines.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    code, _, said = run(capsys, "run", "-", *RUN[2:])
    assert (code, said.count("\n"), Path("out").exists()) == (2, 1, False)
    assert "which is a quantity, and a pipe cannot be read again: start over with --task regression; " in said
    Path("rows.csv").write_text(lines)
    for asked in (("--task", "classification"), ("--categorical", "income")):
        code, _, said = run(capsys, *RUN[:4], "--model", "oldc", *RUN[6:], *asked)
        assert code == 0
        assert "--task regression predicts numbers" in said
        assert len(metrics()["confusion"]["classes"]) == len(np.unique(INCOME))


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([0] * 30 + [5178, 0, 7688, 12000], "regression"),
        ([0, 1] * 20, "classification"),
        ([*range(1, 11), 3, 4] * 3, "classification"),
        ([200] * 40 + [404] * 9 + [500, 301, 500, 301], "classification"),
        ([0] * 40 + [1, 99, 1], "classification"),
    ],
)
def test_whole_numbers_that_are_far_apart_and_seldom_repeat_are_a_quantity(values: list[int], task: str) -> None:
    X = RNG.normal(size=(len(values), 2))
    found = evaluate.run("tiling", X, values)
    assert found.metrics["task"] == task


def test_rows_in_memory_are_read_again_for_each_model() -> None:
    order = np.argsort(INCOME, kind="stable")
    with pytest.warns(UserWarning, match="the run starts over as regression; task='classification' keeps"):
        found = evaluate.compare(["auto", "tiling"], AGE[order, None], INCOME[order])
    for result in found.results.values():
        assert result.metrics["task"] == "regression"
        assert result.metrics["rows"]["learned"] == ROWS


def test_very_many_labels_are_warned_of() -> None:
    labels = [*["usual"] * 1000, *(f"label {at}" for at in range(250))]
    with pytest.warns(UserWarning, match="251 different labels so far, and the time of a row grows"):
        evaluate.run("oldc", RNG.normal(size=(len(labels), 2)), labels)


def test_a_target_far_beyond_all_others_is_named_with_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    income = np.round(RNG.normal(size=ROWS), 3)
    income[[700, 1200]] = 67781.0, -50000.0
    Path("rows.csv").write_text(table(np.arange(ROWS), income))
    for chunk in ("100", "1000"):
        code, _, said = run(capsys, *RUN, "--chunk", chunk)
        assert code == 0
        assert "row 701: the target 'income' is 67781, far beyond all others, which are within " in said
        assert "and so are those of 1 further row; --model robust lets such targets count for less" in said
    assert run(capsys, *RUN[:4], "--model", "robust", *RUN[6:])[2].count("--model robust") == 0
