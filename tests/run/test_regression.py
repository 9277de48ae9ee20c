"""A run that predicts numbers: the scores of its own predictions, the same bytes however it is cut, late targets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.calls import metrics, predictions, run

from thalweg import TableRegressor, load
from thalweg.catalogue import make_model
from thalweg.run.regression_scoreboard import RegressionScoreboard

pytest.importorskip("pyarrow")

ROWS = 1500
RUN = ("run", "prices.csv", "--target", "price", "--out", "out", "--quiet")
LATE = {
    "at once": ("--drop", "told", "--season", "24"),
    "delayed": ("--drop", "told", "--delay", "60", "--season", "24"),
    "timed": ("--time", "when", "--label-time", "told"),
}


@pytest.fixture(autouse=True)
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drifting price, with gaps, categories, and targets that never come."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, ROWS))
    steps = np.arange(ROWS)
    price = 50 + np.where(steps < 900, 4.0, -4.0) * a + 2 * b + 3 * np.sin(steps * np.pi / 12) + rng.normal(size=ROWS)
    lines = ["a,b,kind,when,told,price"]
    for i in range(ROWS):
        when = np.datetime64("2024-01-01T00") + i
        told = "" if i % 31 == 5 else str(when + int(rng.integers(0, 90)))
        target = "" if i % 13 == 4 else f"{price[i]:.3f}"
        cell = "" if i % 17 == 3 else f"{a[i]:.4f}"
        lines.append(f"{cell},{b[i]:.4f},{'flat' if i % 3 else 'house'},{when},{told},{target}")
    Path("prices.csv").write_text("\n".join(lines) + "\n")


def columns(folder: str = "out") -> dict[str, np.ndarray]:
    lines = predictions(folder)
    return {name: np.array([float(line[name] or "nan") for line in lines]) for name in lines[0]}


def test_no_error_is_smaller_by_more_than_all_of_it() -> None:
    board = RegressionScoreboard(("last_value", "running_mean"), 0.9)
    truth = np.where(np.arange(640) % 320 < 10, 100.0, 0.125)
    answers = {"model": truth * 0.999, "last_value": np.zeros(640), "running_mean": np.zeros(640)}
    board.add_numbers(truth, answers, np.full(640, np.nan), np.full(640, np.nan))
    for kind in ("mae", "mse"):
        found = board.verdict()["last_value"][kind]
        assert found["skill_low"] < found["skill"] < found["skill_high"] == 1.0
        assert found["low"] == -np.mean(truth if kind == "mae" else truth**2)


def test_the_scores_are_those_of_the_predictions(capsys: pytest.CaptureFixture[str]) -> None:
    code, said, complaint = run(capsys, *RUN[:-1], "--drop", "told", "--season", "24", "--coverage", "0.8")
    assert code == 0
    assert complaint.startswith(
        "regression: price holds 899 different numbers in the first 1,000 rows; --task classification takes them"
    )
    assert "mean absolute error" in said.splitlines()[0]
    (scored,) = [line.split() for line in said.splitlines() if line.startswith("value 24 rows ago ")]
    season = metrics()["scores"]["season"]
    amounts = [f"{season[key]:.4g}" for key in ("mae", "recent_mae", "rmse")]
    assert scored[4:] == [*amounts, f"{season['r2']:.3f}".replace("-", "−")]
    assert "Of the blocks of 1,000 rows, the lowest coverage was " in " ".join(said.split())
    found, lines = metrics(), columns()
    target = lines["target"]
    held = ~np.isnan(target) & ~np.isnan(lines["prediction"])
    baselines = {name: np.full(ROWS, np.nan) for name in metrics()["verdict"]}
    assert list(baselines) == ["last_value", "running_mean", "running_median", "season"]
    known: list[float] = []
    for i in range(ROWS):
        if known:
            back = [target[at] for at in range(i - 24, -1, -24) if not np.isnan(target[at])]
            baselines["last_value"][i], baselines["running_mean"][i] = known[-1], np.mean(known)
            baselines["running_median"][i] = np.median(known[-1000:])
            baselines["season"][i] = back[0] if back else known[-1]
        known += [] if np.isnan(target[i]) else [target[i]]
    errors = {name: (target - each)[held] for name, each in ({"model": lines["prediction"]} | baselines).items()}
    assert found["rows"]["scored"] == held.sum() == len(known) - 1
    for name, error in errors.items():
        score = found["scores"][name]
        assert score["mae"] == pytest.approx(np.abs(error).mean())
        assert score["rmse"] == pytest.approx(np.sqrt(np.square(error).mean()))
        assert score["recent_rmse"] == pytest.approx(np.sqrt(np.square(error[-1000:]).mean()))
        share = np.square(error).sum() / np.square(errors["running_mean"]).sum()
        assert score["r2"] == pytest.approx(1 - share)
    skill = found["verdict"]["season"]["mae"]
    better = 1 - np.abs(errors["model"]).mean() / np.abs(errors["season"]).mean()
    assert skill["skill"] == pytest.approx(better)
    assert skill["skill_low"] < better < skill["skill_high"]
    lower, upper, truth = (lines[name][held][1:] for name in ("lower", "upper", "target"))
    intervals = found["intervals"]
    assert intervals["coverage"] == pytest.approx(((lower <= truth) & (truth <= upper)).mean())
    assert intervals["coverage"] == pytest.approx(0.8, abs=0.02)
    assert intervals["mean_width"] == pytest.approx((upper - lower).mean())
    above = truth - upper
    assert intervals["pinball_upper"] == pytest.approx(np.where(above > 0, 0.9 * above, -0.1 * above).mean())
    sizes = found["by_size"]
    assert sum(sizes["rows"]) == held.sum()
    total = np.dot(sizes["rows"], sizes["mae"]["model"])
    assert total == pytest.approx(np.abs(errors["model"]).sum())
    assert 8 <= len(sizes["rows"]) <= 10
    in_first = held & (target < sizes["to"][0])
    assert in_first.sum() == sizes["rows"][0]


def results() -> dict[str, Any]:
    """What a run left behind, but for its options: chunks are among them."""
    found: dict[str, Any] = {name: Path("out", name).read_bytes() for name in ("predictions.csv", "model.thalweg")}
    return found | {"metrics": json.loads(Path("out/metrics.json").read_bytes()) | {"run": None}}


@pytest.mark.quick(1)
@pytest.mark.parametrize("late", LATE)
def test_neither_chunks_nor_a_stop_change_the_results(late: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Killed half-way by a cell that is no number, resumed once it is mended."""
    arguments = (*RUN, *LATE[late], "--model", "auto-linear")
    assert run(capsys, *arguments)[0] == 0
    whole = results()
    lines = Path("prices.csv").read_text().splitlines()
    Path("prices.csv").write_text("\n".join([*lines[:1250], lines[1250].rsplit(",", 1)[0] + ",cheap", *lines[1251:]]))
    small = (*arguments, "--chunk", "61", "--checkpoint-seconds", "0", "--fresh")
    code, _, complaint = run(capsys, *small)
    assert code == 2
    assert complaint.startswith("thalweg: prices.csv, row 1,250, column 'price': 'cheap' is not a number; --bad-rows")
    assert Path("out/checkpoint").exists()
    Path("prices.csv").write_text("\n".join(lines) + "\n")
    assert run(capsys, "run", "--resume", "--out", "out", "--quiet")[0] == 0
    assert results() == whole


@pytest.mark.parametrize("late", ["delayed", "timed"])
def test_late_targets_are_learned_when_they_come(late: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A loop over the rows, with the model as it was. Gaps are filled, since they become the mean so far."""
    Path("prices.csv").write_text(Path("prices.csv").read_text().replace("\n,", "\n0.5,"))
    assert run(capsys, *RUN, *LATE[late], "--model", "linear")[0] == 0
    lines = columns()
    X = load("out/model.thalweg").encode(_frame())
    table = [line.split(",") for line in Path("prices.csv").read_text().splitlines()[1:]]
    when, told = (np.array([row[at] for row in table], dtype="datetime64[h]") for at in (3, 4))
    due = np.arange(ROWS) + 60.5 if late == "delayed" else (told - when[0]).astype(float)
    due[np.isnat(told)] = np.inf if late == "timed" else due[np.isnat(told)]
    waiting = [i for i in range(ROWS) if not np.isnan(lines["target"][i])]
    waiting.sort(key=lambda i: (due[i], i))
    model = make_model("linear", task="regression")
    for i in range(ROWS):
        while waiting and due[waiting[0]] <= i and waiting[0] < i:
            first = waiting.pop(0)
            model.learn_one(X[first], float(lines["target"][first]))
        expected = model.predict_one(X[i])
        assert (np.nan if expected is None else expected) == pytest.approx(lines["prediction"][i], nan_ok=True)


def _frame() -> Any:
    import pandas as pd

    return pd.read_csv("prices.csv")


@pytest.mark.slow
def test_intervals_keep_their_coverage_when_targets_come_late(capsys: pytest.CaptureFixture[str]) -> None:
    """A random walk: after fifty rows the target is far from where the model that predicted it saw it.

    Intervals that the model tracks while it learns, as if it had predicted then, hold it far too seldom. Those that are
    judged as they were given may differ from the coverage by the range of q over step times rows, 4 / (0.05 * 5000).
    """
    rng = np.random.default_rng(2)
    walk = np.cumsum(rng.normal(size=5000))
    before = np.concatenate([np.zeros(50), walk[:-50]])
    Path("prices.csv").write_text("before,price\n" + "".join(f"{a},{b}\n" for a, b in zip(before, walk, strict=True)))
    assert run(capsys, *RUN, "--model", "linear", "--delay", "50")[0] == 0
    assert metrics()["intervals"]["coverage"] == pytest.approx(0.9, abs=0.016)
    model, held = make_model("linear", task="regression"), []
    for i in range(len(walk)):
        if i > 60:
            low, high = model.predict_interval([[before[i]]])
            held.append(low[0] <= walk[i] <= high[0])
        if i >= 50:
            model.learn_one([before[i - 50]], float(walk[i - 50]))
    assert np.mean(held) < 0.8


REFUSED = {
    "texts": (("--target", "kind", "--task", "regression"), "the target 'kind' must hold numbers for regression, but"),
    "--positive": (("--positive", "50"), "--positive must be left out for regression: it is about classes, got '50'"),
    "--probabilities": (("--task", "regression", "--probabilities", "all"), "--probabilities must be left out for"),
    "a classifier": (("--model", "oldc"), "--model must be one of auto, auto-linear, robust, tiling, forest, linear"),
    "a coverage": (("--coverage", "0.7"), "--coverage must be one of 0.5, 0.8, 0.9, 0.95, 0.99, got 0.7"),
    "a season of labels": (("--target", "kind", "--season", "7"), "--season must be left out for labels"),
    "a target of --numeric": (
        ("--numeric", "price"),
        "--numeric price names the target column: --task regression makes",
    ),
    "two kinds": (
        ("--numeric", "x", "--categorical", "x"),
        "column x is given to --categorical and to --numeric: choose",
    ),
    "both": (("--task", "regression", "--categorical", "price"), "--categorical price makes the target a class label"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_go_together_is_refused(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    given, message = REFUSED[case]
    code, said, complaint = run(capsys, *RUN, *given)
    assert (code, said, complaint.count("\n"), message in complaint) == (2, "", 1, True), complaint
    assert not Path("out").exists()


def test_codes_with_leading_zeros_are_numbers_where_the_user_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("prices.csv").read_text().splitlines()
    coded = [f"{line},{i % 40:03}" for i, line in enumerate(lines[1:])]
    Path("prices.csv").write_text("\n".join([f"{lines[0]},zip", *coded]) + "\n")
    arguments = ("run", "prices.csv", "--target", "price", "--out", "out", "--quiet", "--model", "linear")
    code, _, complaint = run(capsys, *arguments, "--limit", "120")
    assert (code, "--numeric zip reads it as numbers" in complaint) == (0, True)
    assert dict(line[:2] for line in metrics()["columns"])["zip"] == "category"
    code, _, complaint = run(capsys, *arguments, "--limit", "120", "--fresh", "--numeric", "zip")
    assert (code, "zip" in complaint) == (0, False)
    assert dict(line[:2] for line in metrics()["columns"])["zip"] == "number"
    assert run(capsys, "predict", "out/model.thalweg", "prices.csv")[0] == 0


def test_the_user_decides(capsys: pytest.CaptureFixture[str]) -> None:
    """Whole numbers of which there are few are classes, unless --task says otherwise; and the other way round."""
    lines = Path("prices.csv").read_text().splitlines()
    grades = [f"{line},{i % 5},{i % 60}" for i, line in enumerate(lines[1:])]
    Path("prices.csv").write_text("\n".join([f"{lines[0]},grade,bikes", *grades]) + "\n")
    arguments = ("run", "prices.csv", "--out", "out", "--quiet", "--fresh", "--drop", "told", "--limit", "120")
    for target, given, task in (
        ("grade", ("--model", "oldc"), "classification"),
        ("grade", ("--model", "linear", "--task", "regression"), "regression"),
        ("price", ("--model", "oldc", "--task", "classification"), "classification"),
        ("price", ("--model", "oldc", "--categorical", "price"), "classification"),
        ("price", ("--model", "linear"), "regression"),
        ("bikes", ("--model", "linear"), "regression"),
    ):
        assert run(capsys, *arguments, "--target", target, *given)[0] == 0
        assert metrics()["task"] == task


def test_bad_targets_are_skipped_and_the_model_is_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("prices.csv").read_text().splitlines()
    text[700] = text[700].rsplit(",", 1)[0] + ",cheap"
    text[701] = text[701].rsplit(",", 1)[0] + ",NA"
    text[20:23] = [line.rsplit(",", 1)[0] + ",-999" for line in text[20:23]]
    Path("prices.csv").write_text("\n".join(text) + "\n")
    given = ("--drop", "told", "--bad-rows", "skip", "--model", "linear", "--coverage", "0.5")
    code, _, warned = run(capsys, *RUN, *given)
    assert code == 0
    assert "the target 'price' has -999 3 times in the first 1,000 rows, far from its other values: if" in warned
    rows = metrics()["rows"]
    assert (rows["read"], rows["skipped"], len(predictions())) == (ROWS, 1, ROWS - 1)
    assert rows["bad"] == ["prices.csv, row 700, column 'price': 'cheap' is not a number"]
    model = load("out/model.thalweg")
    assert isinstance(model, TableRegressor)
    frame = _frame()
    lower, upper = model.predict_interval(frame, 0.5)
    np.testing.assert_allclose(model.predict(frame), (lower + upper) / 2)
    assert model.predict_one(frame.iloc[5].to_dict()) == model.predict(frame.iloc[5:6])[0]
    before = model.predict(frame[:1])
    assert model.partial_fit(frame[:50], np.full(50, 1000.0)).predict(frame[:1]) > before


def test_runs_are_compared_row_by_row(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("linear", "tiling", "oldc"):
        given = ("--task", "classification", "--limit", "100") if name == "oldc" else ("--delay", "9")
        assert run(capsys, *RUN, "--drop", "told", "--model", name, "--out", name, *given)[0] == 0
    code, said, _ = run(capsys, "compare", "linear", "tiling", "--json")
    assert code == 0
    (pair,) = json.loads(said)["pairs"]
    one, two = columns("linear"), columns("tiling")
    residuals = [(each["target"] - each["prediction"])[:-9] for each in (one, two)]  # the last targets never came
    squared = np.nanmean(np.square(residuals[0]) - np.square(residuals[1]))
    found = pair["errors"]
    assert found["mae"]["difference"] == pytest.approx(pair["difference"])
    assert found["mse"]["difference"] == pytest.approx(squared)
    assert found["mse"]["low"] < squared < found["mse"]["high"]
    code, said, _ = run(capsys, "compare", "linear", "tiling")
    assert code == 0
    assert said.index("tiling") < said.index("linear") < said.index("last value")  # the best first
    assert "…" not in said
    code, _, complaint = run(capsys, "compare", "linear", "oldc")
    assert (code, "predicts labels and linear/metrics.json numbers: they cannot be" in complaint) == (2, True)


def test_a_saved_model_predicts_a_table_and_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *RUN, "--drop", "told", "--model", "auto-linear", "--coverage", "0.8")[0] == 0
    model, frame = load("out/model.thalweg"), _frame()
    for given, coverage in (((), 0.8), (("--coverage", "0.95"), 0.95)):
        code, said, _ = run(capsys, "predict", "out/model.thalweg", "prices.csv", *given)
        lines = [line.split(",") for line in said.splitlines()]
        assert (code, lines[0]) == (0, ["row", "prediction", "lower", "upper"])
        expected = np.column_stack([model.predict(frame), *model.predict_interval(frame, coverage)])
        np.testing.assert_array_equal(np.array(lines[1:], dtype=float)[:, 1:], expected)
    for given in (("--coverage", "0.7"), ("--probabilities", "all")):
        code, said, complaint = run(capsys, "predict", "out/model.thalweg", "prices.csv", *given)
        assert (code, said, complaint.count("\n")) == (2, "", 1)
    code, said, _ = run(capsys, "inspect", "out/model.thalweg")
    assert code == 0
    assert "absolute error" in said


def test_many_categories_are_learned_by_their_mean_target(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    shop = rng.integers(0, 150, 1200)
    sales = rng.normal(size=150)[shop] * 5 + rng.normal(size=1200)
    lines = [f"{x:.3f},shop {s},{y:.3f}" for x, s, y in zip(rng.normal(size=1200), shop, sales, strict=True)]
    Path("prices.csv").write_text("\n".join(["x,shop,price", *lines]) + "\n")
    found = []
    for chunk in ("90", "700"):
        given = ("--model", "auto-linear", "--delay", "20", "--chunk", chunk, "--fresh")
        assert run(capsys, *RUN, *given)[0] == 0
        found.append(results())
    assert found[0] == found[1]
    told = metrics()
    assert told["model"]["title"] == "AutoRegressor"
    assert told["columns"][1][1:] == [
        "wide category",
        "the mean target of its category so far, less that of all rows, counted in 65,536 hashed cells; 0 for an empty "
        "cell or a new category",
    ]
    # eight rows for each shop in the end, the first of them predicted without knowing it
    assert told["scores"]["model"]["recent_mae"] < 0.6 * told["scores"]["running_mean"]["mae"]
    model, new = load("out/model.thalweg"), {"x": 0.0, "shop": f"shop {shop[-1]}"}
    assert model.predict_one(new) != model.predict_one(new | {"shop": "another"})
