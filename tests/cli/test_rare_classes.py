"""A run over a table with a rare class: what it says, and that neither chunks nor interruptions change a byte."""

from __future__ import annotations

import csv
import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as sk

from tests.cli.calls import metrics, predictions, run
from thalweg.errors import InvalidParameter
from thalweg.evaluate import mean_interval
from thalweg.evaluate.probability_scores import log_odds_bins
from thalweg.report.page import build
from thalweg.report.page.rare_verdict import no_change_area, question
from thalweg.report.page.tiles import tiles
from thalweg.report.page.verdict import headline, tone
from thalweg.run.metrics import metrics_of
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run

pytest.importorskip("pyarrow")

ROWS = 3000
ASKED = ("--positive", "yes", "--costs", "fp=1,fn=20", "--alerts", "5/day", "--time", "when", "--drop", "when")
OPTIONS = {"positive": "yes", "costs": "fp=1,fn=20", "alerts": "5/day", "time": "when", "drop": ("when",)}


@pytest.fixture
def rare_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row in 25 is positive; 100 rows a day."""
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(rare_rows())


@cache
def rare_rows() -> str:
    rng = np.random.default_rng(7)
    truth = rng.random(ROWS) < 0.04
    X = np.round(rng.normal(size=(ROWS, 2)) + 1.5 * truth[:, None], 3)
    times = np.datetime64("2024-01-01T00:00:00") + np.arange(ROWS) * 864
    lines = (f"{a},{b},{when},{'yes' if t else 'no'}\n" for (a, b), when, t in zip(X, times, truth, strict=True))
    return "a,b,when,fraud\n" + "".join(lines)


def results(folder: str) -> dict[str, bytes]:
    return {name: (Path(folder) / name).read_bytes() for name in ("metrics.json", "predictions.csv", "report.html")}


def scored(folder: str = "out") -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Row numbers, truth, predictions and P(yes) of the rows with a prediction."""
    rows = [row for row in predictions(folder) if row["prediction"]]
    number, truth, said = (np.array([row[name] for row in rows]) for name in ("row", "label", "prediction"))
    return number.astype(int), truth == "yes", said == "yes", np.array([float(row["P(yes)"]) for row in rows])


def test_scores_are_those_of_scikit_learn(rare_table: None, capsys: pytest.CaptureFixture[str]) -> None:
    run(
        capsys,
        "run",
        "table.csv",
        "--target",
        "fraud",
        "--model",
        "oldc",
        *ASKED,
        "--probabilities",
        "all",
        "--out",
        "out",
    )
    scores, found = metrics()["scores"], metrics()["rare"]
    number, truth, said, of_yes = scored()
    model = scores["model"]
    assert (found["positive"], found["named"], found["share"]) == ("yes", True, truth.mean())
    assert model["recall"] == pytest.approx(sk.recall_score(truth, said), rel=1e-14)
    assert model["precision"] == pytest.approx(sk.precision_score(truth, said), rel=1e-14)
    assert model["f1"] == pytest.approx(sk.f1_score(truth, said))
    assert model["matthews"] == pytest.approx(sk.matthews_corrcoef(truth, said))
    assert model["balanced_accuracy"] == pytest.approx(sk.balanced_accuracy_score(truth, said))
    assert model["cost"] == pytest.approx(((said & ~truth) + 20 * (truth & ~said)).mean())
    # The file has six digits of each probability.
    assert model["recent_roc_auc"] == pytest.approx(sk.roc_auc_score(truth, of_yes), abs=1e-5)
    assert model["recent_pr_auc"] == pytest.approx(sk.average_precision_score(truth, of_yes), abs=1e-4)
    assert model["roc_auc"] == pytest.approx(model["recent_roc_auc"], abs=1e-3)
    assert model["pr_auc"] == pytest.approx(model["recent_pr_auc"], abs=1e-2)
    assert found["curve"]["recall"][-1] is not None
    reliability = found["reliability"]
    assert sum(reliability["rows"]) == len(truth)
    came = [rows * share for rows, share in zip(reliability["rows"], reliability["observed"], strict=True) if rows]
    assert sum(came) == pytest.approx(truth.sum())
    day = (number - 1) // 100
    right = alerts = 0
    for each in range(day.max()):  # the last one may not be over
        own = np.flatnonzero(day == each)
        best = own[np.argsort(-of_yes[own], kind="stable")[:5]]
        right, alerts = right + int(truth[best].sum()), alerts + len(best)
    assert (found["alerts"]["found"], found["alerts"]["alerts"], found["alerts"]["periods"]) == (right, alerts, 29)
    assert found["alerts"]["precision"] == right / alerts
    costs = found["costs"]["majority"]
    assert costs["difference"] == pytest.approx(model["cost"] - scores["majority"]["cost"])
    assert costs["low"] < costs["difference"] < costs["high"]


@pytest.mark.quick(1)
@pytest.mark.parametrize("late", [{}, {"delay": 130}])
def test_neither_chunks_nor_interruptions_change_a_byte(
    late: dict[str, int], rare_table: None, capsys: pytest.CaptureFixture[str]
) -> None:
    delay = [word for name, value in late.items() for word in (f"--{name}", str(value))]
    plain = ["run", "table.csv", "--target", "fraud", "--model", "oldc", *ASKED, *delay]
    plain += ["--probabilities", "all", "--quiet"]
    run(capsys, *plain, "--out", "whole")
    whole = json.loads(results("whole")["metrics.json"])
    run(capsys, *plain, "--out", "small", "--chunk", "177")
    small = json.loads(results("small")["metrics.json"])
    assert small["rare"] == whole["rare"]
    assert results("small")["predictions.csv"] == results("whole")["predictions.csv"]
    options = RunOptions(source="table.csv", target="fraud", model="oldc", probabilities="all", chunk=250, out="cut",
                         **OPTIONS, **late)  # fmt: skip
    resumed: Run | None = None
    for stop in (1, 2, 2, 100):
        resumed = Run(options)
        resumed.resume()
        stopped = _interrupted(resumed, stop)
    assert not stopped
    assert resumed is not None
    assert json.loads(json.dumps(metrics_of(resumed)))["rare"] == whole["rare"]
    assert Path("cut/predictions.csv").read_bytes() == results("whole")["predictions.csv"]


class _StopError(Exception):
    """The run is to end here."""


def _interrupted(resumed: Run, chunks: int) -> bool:
    left = iter(range(chunks))

    def tell(_: object) -> None:
        if next(left, None) is None:
            raise _StopError

    try:
        resumed.go(tell, checkpoint_seconds=0.0)
    except _StopError:
        return True
    return False


def test_a_rare_class_leads_the_report_without_being_asked_for(
    rare_table: None, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = ("run", "table.csv", "--target", "fraud", "--drop", "when", "--model", "oldc")
    _, said, _ = run(capsys, *plain, "--out", "out", "--figures")
    found = metrics()
    assert Path("out/figures/positive.svg").exists()
    assert question(found) == "positive"
    assert headline(found).startswith("Better than chance: PR AUC 0.")
    assert said.splitlines()[0] == headline(found)
    assert [tile.name for tile in tiles(found)][:3] == ["PR AUC", "Recall", "Precision"]
    page = Path("out/report.html").read_text()
    assert page.index("Recall, precision and areas over time") < page.index("Error over time")
    assert "Reliability of P(yes)" in page
    assert Path("out/predictions.csv").read_text().startswith("row,label,prediction,probability\n")
    for name, rows in (("no", 5000), ("yes", 4000)):  # classes of about the same size: the error is what matters
        at = found["rare"]["classes"]["labels"].index(name)
        found["rare"]["classes"]["rows"][at] = rows
    assert question(found) is None
    assert "Error over time" in build(found)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_file_sorted_by_its_label_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shuffled: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    truth = np.arange(900) < 60
    if shuffled:
        rng.shuffle(truth)
    values = np.round(rng.normal(size=900) + truth, 3)
    lines = (f"{a},{'yes' if t else 'no'}\n" for a, t in zip(values, truth, strict=True))
    Path("table.csv").write_text("a,stroke\n" + "".join(lines))
    _, said, _ = run(capsys, "run", "table.csv", "--target", "stroke", "--positive", "yes", "--out", "out")
    found = metrics()
    no_change = sk.average_precision_score(truth[1:], truth[:-1])
    assert no_change_area(found) == pytest.approx(no_change)
    first = said.splitlines()[0]
    if shuffled:
        assert first.startswith("Better than chance: PR AUC 0.")
        assert f"where no-change has {no_change:.3f} and chance {truth[1:].mean():.3f}; recall" in first
    else:
        assert first.startswith("Not better than no-change, which repeats the last label: ")
        assert tone(found) == "worse"
    sorted_by_label = "The label changes only once in 899 rows: is the file sorted by it?"
    assert (sorted_by_label in " ".join(said.split())) == (not shuffled)
    assert (sorted_by_label in Path("out/report.html").read_text()) == (not shuffled)
    assert shuffled or "the relation between inputs and label" not in said


def test_one_label_leaves_nothing_to_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text("a,state\n" + "".join(f"{at * 7 % 11},on\n" for at in range(300)))
    _, said, _ = run(capsys, "run", "table.csv", "--target", "state", "--out", "out")
    assert said.startswith("Every scored row has the label on: there is nothing to learn.")
    assert "interval" not in Path("out/report.html").read_text().split("</section>")[0].split("<main>")[1]


def test_costs_and_alerts_lead_where_they_are_asked_for(rare_table: None, capsys: pytest.CaptureFixture[str]) -> None:
    plain = ("run", "table.csv", "--target", "fraud", "--drop", "when", "--model", "oldc")
    run(capsys, *plain, "--costs", "fp=1,fn=20", "--out", "costs")
    found = metrics("costs")
    assert question(found) == "costs"
    assert headline(found).startswith("Cheaper than majority: 0.")
    assert tone(found) == "better"
    found["rare"]["costs"]["majority"] |= {"low": 0.1, "high": 0.2}
    assert (tone(found), headline(found)[:6]) == ("worse", "Dearer")
    run(capsys, *plain, "--alerts", "20/1000rows", "--out", "alerts")
    found = metrics("alerts")
    assert question(found) == "alerts"
    assert found["rare"]["alerts"]["per"] == "1,000 rows"
    assert "of the alerts are right; they hold" in headline(found)


def test_a_model_dearer_than_flagging_every_row_is_said_to_be(
    rare_table: None, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = ("run", "table.csv", "--target", "fraud", "--drop", "when", "--model", "oldc")
    _, said, _ = run(capsys, *plain, "--costs", "fp=1,fn=500", "--out", "out")
    found = metrics()
    truth = np.array([row["label"] == "yes" for row in predictions() if row["prediction"]])
    model, costs = found["scores"]["model"]["cost"], found["rare"]["costs"]
    assert costs["always"]["cost"] == (~truth).mean()
    assert costs["never"]["cost"] == 500 * truth.mean()
    assert costs["always"]["difference"] == pytest.approx(model - (~truth).mean())
    assert 0 < costs["always"]["low"] < costs["always"]["difference"] < costs["always"]["high"]
    assert tone(found) == "worse"
    assert said.startswith(f"Dearer than always predicting yes: {model:.4g} a row instead of {(~truth).mean():.4g}.")
    assert [line for line in said.splitlines() if line.startswith("always yes ")]
    assert f"always yes {(~truth).mean():.4g} · never yes" in Path("out/report.html").read_text()


def test_the_report_says_what_a_threshold_is_chosen_by(rare_table: None, capsys: pytest.CaptureFixture[str]) -> None:
    plain = ("run", "table.csv", "--target", "fraud", "--model", "threshold", "--positive", "yes", "--limit", "300")
    for costs, chosen in (((), "the highest F1 score"), (("--costs", "fp=1,fn=20"), "the lowest cost")):
        run(capsys, *plain, *costs, "--quiet", "--fresh", "--out", "out")
        page = Path("out/report.html").read_text()
        assert f"the threshold of {chosen} on the positive label" in page
        assert page.count("the threshold of ") == 1


def test_many_classes_have_macro_averages_and_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    shares = 1 / np.arange(1, 21)
    truth = rng.choice(20, 3000, p=shares / shares.sum())
    means = rng.normal(size=20)
    Path("table.csv").write_text(
        "a,kind\n" + "".join(f"{means[t] + 0.01 * rng.normal():.4f},kind {t}\n" for t in truth.tolist())
    )
    _, said, _ = run(capsys, "run", "table.csv", "--target", "kind", "--model", "oldc", "--out", "out")
    found = metrics()
    rows = [row for row in predictions() if row["prediction"]]
    labels, answers = ([row[name] for row in rows] for name in ("label", "prediction"))
    model = found["scores"]["model"]
    assert question(found) == "classes"
    assert model["macro_f1"] == pytest.approx(sk.f1_score(labels, answers, average="macro", zero_division=0))
    assert model["balanced_accuracy"] == pytest.approx(sk.balanced_accuracy_score(labels, answers))
    assert "roc_auc" not in model
    assert said.startswith("Better than majority, the best baseline: error ")
    assert f"Balanced accuracy over 20 classes {100 * model['balanced_accuracy']:.1f}" in said.splitlines()[0]
    classes = found["rare"]["classes"]
    missed = [label for label, share in zip(classes["labels"], classes["recall"], strict=True) if not share]
    _, _, sentence = " ".join(said.split()).partition("It found no row of ")
    assert all(label in sentence[:100] for label in missed[:5])
    assert bool(sentence) == bool(missed)
    assert "All 20 classes" in Path("out/report.html").read_text()
    code, _, complaint = run(capsys, "run", "table.csv", "--target", "kind", "--costs", "fp=1,fn=2", "--out", "other")
    assert code == 2
    assert "--positive must name the label of interest, one of kind " in complaint
    assert not Path("other").exists()


def test_probabilities_of_every_label_or_of_none(rare_table: None, capsys: pytest.CaptureFixture[str]) -> None:
    """A label that comes after the first rows has no column, and is named."""
    lines = Path("table.csv").read_text().splitlines()
    Path("table.csv").write_text("\n".join([*lines, '0,0,2024-06-01,"sure, no"', "0,0,2024-06-01,perhaps"]) + "\n")
    plain = ("run", "table.csv", "--target", "fraud", "--drop", "when", "--model", "oldc", "--quiet")
    _, _, complaint = run(capsys, *plain, "--probabilities", "all", "--out", "out")
    assert "row 3,001: the label 'sure, no' is in none of the first 1,000 rows and has no column" in complaint
    assert "--head 3002 makes one" in complaint
    row = predictions()[2000]
    assert list(row) == ["row", "label", "prediction", "probability", "P(no)", "P(yes)"]
    assert float(row["P(no)"]) + float(row["P(yes)"]) == pytest.approx(1.0, abs=2e-6)
    assert float(row[f"P({row['prediction']})"]) == float(row["probability"])
    assert predictions()[0]["P(no)"] == ""
    run(capsys, *plain, "--probabilities", "none", "--out", "none")
    assert Path("none/predictions.csv").read_text().splitlines()[:2] == ["row,label,prediction", '1,"no",']
    run(capsys, *plain, "--probabilities", "all", "--head", "3002", "--out", "long")
    with Path("long/predictions.csv").open(newline="") as rows:
        assert next(csv.reader(rows))[4:] == ["P(no)", "P(perhaps)", "P(sure, no)", "P(yes)"]


@pytest.mark.slow
def test_runs_are_compared_by_blocks(rare_table: None, capsys: pytest.CaptureFixture[str]) -> None:
    plain = ("run", "table.csv", "--target", "fraud", "--drop", "when", "--costs", "fp=1,fn=20", "--quiet")
    late = ("--delay", "200")  # the first 201 rows have no prediction, the last 200 no score
    run(capsys, *plain, *late, "--model", "oldc", "--probabilities", "all", "--out", "oldc")
    run(capsys, *plain, *late, "--model", "logistic", "--out", "logistic")
    _, printed, _ = run(capsys, "compare", "oldc", "logistic", "--json")
    (pair,) = json.loads(printed)["pairs"]
    both: dict[str, list[np.ndarray]] = {"roc_auc": [], "pr_auc": [], "recall": [], "cost": []}
    for folder in ("oldc", "logistic"):
        values = []
        for at in range(1, 19):  # the first block and the last one are empty
            rows = predictions(folder)[:-200]
            rows = [row for row in [*rows[: 150 * at], *rows[150 * at + 150 :]] if row["prediction"]]
            truth, said = (np.array([row[name] == "yes" for row in rows]) for name in ("label", "prediction"))
            top = np.array([float(row["probability"]) for row in rows])
            of_yes = np.where(said, top, 1 - top)
            if folder == "oldc":
                of_yes = np.array([float(row["P(yes)"]) for row in rows])
            cost = ((said & ~truth) + 20 * (truth & ~said)).mean()
            of_yes = log_odds_bins(of_yes)
            areas = sk.roc_auc_score(truth, of_yes), sk.average_precision_score(truth, of_yes)
            values.append((*areas, sk.recall_score(truth, said), cost))
        for name, column in zip(both, np.array(values).T, strict=True):
            both[name].append(column)
    one, two = (metrics(folder)["scores"]["model"] for folder in ("oldc", "logistic"))
    for name, (first, second) in both.items():
        difference, half = one[name] - two[name], mean_interval(17 * (first - second)).halfwidth
        assert pair["rare"][name]["difference"] == difference
        assert pair["rare"][name] == pytest.approx(
            {"difference": difference, "low": difference - half, "high": difference + half}, abs=1e-12
        )
    _, said, _ = run(capsys, "compare", "oldc", "logistic")
    cheaper = "oldc" if one["cost"] < two["cost"] else "logistic"
    assert f" {cheaper} has the lowest cost" in " ".join(said.split())
    assert "Label yes" in said
    assert "PR AUC" in said
    assert "not over the same rows" not in " ".join(said.split())
    assert "…" not in said
    assert f"{pair['rare']['pr_auc']['difference']:+.4f}".replace("-", "−") in said
    assert f"{pair['rare']['cost']['difference']:+.4g}".replace("-", "−") in said
    run(capsys, *plain, "--model", "logistic", "--out", "early")
    _, said, _ = run(capsys, "compare", "oldc", "early")
    assert "not over the same rows: " in " ".join(said.split())
    assert "are oldc 2,599, logistic 2,999." in " ".join(said.split())
    run(capsys, *plain, "--model", "perceptron", "--positive", "no", "--out", "no")
    _, printed, _ = run(capsys, "compare", "oldc", "no", "--json")
    assert json.loads(printed)["pairs"][0]["rare"] is None


REFUSED: dict[str, tuple[str, ...]] = {
    "--costs must be numbers of at least 0, such as fp=1,fn=50, got 'fp=-1'": ("--costs", "fp=-1"),
    "--alerts must be a number of alerts per minute, hour, day, week or number of rows": ("--alerts", "many"),
    "--time must name the column of row times, which --alerts 3/day needs": ("--alerts", "3/day"),
    "column 'a' holds whole numbers, not times": ("--alerts", "3/day", "--time", "a"),
    "--probabilities must be one of top, all, none": ("--probabilities", "some"),
    "--positive has no effect with --engine spark": ("--positive", "yes", "--engine", "spark"),
    "--probabilities has no effect with --engine spark": ("--probabilities", "all", "--engine", "spark"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_asked_is_said(message: str, rare_table: None, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("table.csv").read_text().splitlines()
    Path("table.csv").write_text(
        "\n".join([lines[0], *(f"{at},{line.partition(',')[2]}" for at, line in enumerate(lines[1:]))])
    )
    code, _, complaint = run(capsys, "run", "table.csv", "--target", "fraud", *REFUSED[message])
    assert code == 2
    assert message in complaint


def test_a_label_that_never_comes_is_named(rare_table: None, capsys: pytest.CaptureFixture[str]) -> None:
    plain = ("run", "table.csv", "--target", "fraud", "--model", "oldc", "--quiet", "--out", "out")
    code, said, complaint = run(capsys, *plain, "--positive", "fruad", "--checkpoint-seconds", "0")
    assert (code, said) == (2, "")
    assert "--positive must be a label of 'fraud', which has no, yes, got 'fruad'" in complaint
    assert not Path("out").exists()
    assert run(capsys, *plain, "--positive", "yes", "--limit", "40")[0] == 0


def test_the_first_rows_may_have_one_label(rare_table: None) -> None:
    """The label that comes second is then the one of interest, whatever the chunks."""
    lines = Path("table.csv").read_text().splitlines()
    early = [line.replace(",yes", ",no") for line in lines[1:1501]]
    Path("table.csv").write_text("\n".join([lines[0], *early, *lines[1501:]]) + "\n")
    found = []
    for chunk in (None, 100, 1400):
        options = RunOptions(source="table.csv", target="fraud", model="oldc", drop=("when",), chunk=chunk, out="out")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = Run(options)
            one.go()
        found.append(metrics_of(one)["rare"])
    assert found[0]["positive"] == "yes"
    assert found[1:] == found[:1] * 2


def test_a_model_that_decides_takes_the_costs_and_the_label_of_the_run() -> None:
    asked = {"source": "rows.csv", "target": "y", "costs": "fp=1,fn=50", "positive": "yes"}
    made = RunOptions.of(asked | {"model": "cost-sensitive"}).make_model()
    assert (made.costs, made.positive) == ({"fp": 1.0, "fn": 50.0}, "yes")
    assert RunOptions.of(asked | {"model": "threshold"}).make_model().objective == "cost"
    RunOptions.of(asked | {"model": "oldc"}).make_model()
    del asked["positive"]
    with pytest.raises(InvalidParameter, match="needs --positive"):
        RunOptions.of(asked | {"model": "threshold"}).make_model()
