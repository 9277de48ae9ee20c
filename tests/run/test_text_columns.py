"""Runs over tables with text: found without an option, resumed to the same bytes, and explained by their words."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow")
from tests.cli.calls import metrics, run

from thalweg import load
from thalweg.run.metrics import metrics_of
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run

FILL = ["the", "of", "to", "and", "in", "we", "is", "for", "on", "this", "that", "you", "with", "it", "are", "be"]
OWN = {
    "spam": ["winner", "free", "prize", "money", "offer", "click", "lottery", "cheap"],
    "ham": ["meeting", "agenda", "minutes", "project", "report", "schedule", "budget", "draft"],
}


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def write(rows: int = 2500) -> None:
    rng = np.random.default_rng(1)
    with open("mail.csv", "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["sender", "size", "body", "label"])
        for i in range(rows):
            label = "spam" if rng.random() < 0.4 else "ham"
            words = [rng.choice(OWN[label] if rng.random() < 0.15 else FILL) for _ in range(rng.integers(5, 25))]
            sender = f"{'ann' if label == 'ham' and rng.random() < 0.5 else rng.integers(300)}@example.org"
            body = "" if i % 50 == 7 else " ".join(words)
            lines.writerow([sender, round(float(rng.normal()), 3), body, label])


def begun(folder: str, **options: Any) -> Run:
    given = {"source": "mail.csv", "target": "label", "model": "auto", "out": folder, "chunk": 200, "ngrams": "1-2"}
    return Run(RunOptions.of(given | options))


class Cut(Exception):
    pass


@pytest.mark.slow
def test_a_run_that_is_cut_off_resumes_to_the_same_bytes() -> None:
    write()
    whole = begun("whole", delay=70, text=["body"])
    whole.go()
    whole.save_model(Path("whole/model"))
    whole.write_metrics(metrics_of(whole) | {"run": None})

    def cut(status: Any) -> None:
        if status.rows > 1500:
            raise Cut

    with pytest.raises(Cut):
        begun("cut", delay=70, text=["body"]).go(cut, checkpoint_seconds=0)
    again = begun("cut", delay=70, text=["body"])
    assert again.resume()
    assert 1000 < again.counts.processed < 1600
    again.go()
    again.save_model(Path("cut/model"))
    again.write_metrics(metrics_of(again) | {"run": None})
    for file in ("model", "predictions.csv", "metrics.json"):
        assert Path("cut", file).read_bytes() == Path("whole", file).read_bytes()


def test_words_of_a_model_behind_a_scaler_carry_the_decision_too(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    code, _, told = run(
        capsys, "run", "mail.csv", "--target", "label", "--model", "logistic", "--quiet", "--out", "out"
    )
    assert (code, told) == (0, "")
    found = metrics()
    assert found["scores"]["model"]["error"] < 0.15
    assert found["words"]["share"] == 1.0
    for each in found["words"]["labels"]:
        own = {f"body: {word}" for word in OWN[each["label"]]}
        assert len({word for word, _ in each["words"][:8]} & own) >= 6


def test_words_that_carry_the_decision_are_those_of_each_label(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    code, said, told = run(capsys, "run", "mail.csv", "--target", "label", "--out", "out", "--quiet")
    assert (code, told) == (0, "")
    found = metrics()
    assert [line[1] for line in found["columns"]] == ["sparse category", "number", "text", "–"]
    assert found["scores"]["model"]["error"] < 0.1
    assert 0.0 < found["words"]["share"] < 1.0
    for each in found["words"]["labels"]:
        words, weights = zip(*each["words"], strict=True)
        own = {f"body: {word}" for word in OWN[each["label"]]}
        assert set(words[: len(own)]) - {"sender=ann@example.org"} <= own
        assert len(words) <= 15
        assert list(weights) == sorted(weights, reverse=True)
    heaviest = [each["words"][0][0] for each in found["words"]["labels"]]
    assert f"Words with the largest weights: ham “{heaviest[0]}”, spam “{heaviest[1]}”." in said
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "Words that carry the decision" in page
    assert f'<th scope="row">{heaviest[1]}</th>' in page
    assert "the last of which tells" not in page

    code, said, _ = run(capsys, "predict", "out/model.thalweg", "mail.csv")
    lines = list(csv.DictReader(said.splitlines()))
    rows = list(csv.DictReader(Path("mail.csv").read_text(encoding="utf-8").splitlines()))
    model = load("out/model.thalweg")
    assert [line["prediction"] for line in lines] == model.predict(rows).tolist()
    assert [model.predict_one(row) for row in rows[:20]] == [line["prediction"] for line in lines[:20]]


@pytest.mark.parametrize("model", ["calibrated", "majority"])
def test_words_need_weights(model: str) -> None:
    write(400)
    of_model = begun("out", model=model, text=["body"])
    of_model.go()
    assert not of_model.warnings()
    assert ("words" in metrics_of(of_model)) == (model == "calibrated")


def test_words_need_rows_that_are_learned() -> None:
    rows = [f"{'' if i % 2 else 'the river rises again'},{i % 4 // 2 if i % 2 else ''}\n" for i in range(100)]
    Path("mail.csv").write_text("body,label\n" + "".join(rows))
    unseen = begun("out", text=["body"])
    unseen.go()
    assert (unseen.counts.learned, unseen.counts.unlabelled) == (50, 50)
    assert "words" not in metrics_of(unseen)


def test_names_of_vowpal_wabbit_are_words_and_indices_are_none() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 600).tolist()
    names = [OWN["spam" if label else "ham"][rng.integers(8)] for label in labels]
    Path("names").write_text("".join(f"{label} |n {name} the:2\n" for label, name in zip(labels, names, strict=True)))
    Path("indices").write_text("".join(f"{label} {label + 3}:1\n" for label in labels))
    of_names, of_indices = (begun(f"{name}.out", source=name, ngrams="1") for name in ("names", "indices"))
    of_names.go()
    of_indices.go()
    assert "words" not in metrics_of(of_indices)
    for each in metrics_of(of_names)["words"]["labels"]:
        own = {f"n^{word}" for word in OWN["spam" if each["label"] == "1" else "ham"]}
        assert {word for word, _ in each["words"][:8]} == own


@pytest.mark.slow
def test_models_of_dense_rows_leave_text_out_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    write(1200)
    dense = begun("out", model="oldc", ngrams="1")
    with pytest.warns(UserWarning, match="column 'body' is left out: .* which the model oldc"):
        dense.go()
    assert dense.encoder is not None
    assert "which the model oldc of classification does not take" in dense.encoder.plan.left_out["body"]
    assert not dense.encoder.plan.sparse_columns
    command = ("run", "mail.csv", "--target", "label", "--out", "out", "--fresh")
    hashing = ("--hash-bits", "18", "--ngrams", "1-2", "--quiet")
    assert "--hash-bits 18 has no effect" in run(capsys, *command, "--model", "oldc", *hashing)[2]
    assert metrics()["warnings"][0] == "--ngrams 1-2 has no effect: no column is text; --text names one"
    assert "no effect" not in run(capsys, *command, *hashing)[2]
    for options, wrong in {
        ("--text", "body", "--model", "oldc"): "--text must be left out: the model oldc of classification takes no "
        "sparse rows, got 'body'",
        ("--text", "label"): "--text label names the target column, which holds labels or numbers: leave it out",
        (
            "--text",
            "body",
            "--categorical",
            "body",
        ): "column body is given to --text and to --categorical: choose one of them",
        ("--ngrams", "2-1"): "--ngrams must be a number of words or a range of them within 1 to 16, such as 1-2, got "
        "'2-1'",
        ("--hash-bits", "31"): "--hash-bits must be a whole number of at most 30, got 31",
    }.items():
        code, _, told = run(capsys, *command, *options)
        assert (code, told) == (2, f"thalweg: {wrong}\n")


def test_curved_boundaries_are_learned_beside_text(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(3000, 2))
    far = np.hypot(*points.T) > 1.2
    words = rng.choice(["alpha", "beta", "gamma", "delta", "omega", "sigma"], size=(3000, 12))
    lines = [
        f"{a!r},{b!r},{' '.join(text)},{'far' if c else 'near'}"
        for (a, b), text, c in zip(points.tolist(), words, far, strict=True)
    ]
    Path("rows.csv").write_text("\n".join(["a,b,note,side", *lines]))
    assert run(capsys, "run", "rows.csv", "--target", "side", "--out", "out", "--quiet")[0] == 0
    found = metrics()
    assert [line[1] for line in found["columns"]] == ["number", "number", "text", "–"]
    assert found["scores"]["model"]["error"] < 0.1
    assert found["model"]["parameters"]["dense_features"] == 3
    assert load("out/model.thalweg").predict(list(csv.DictReader(Path("rows.csv").read_text().splitlines()))).shape == (
        3000,
    )
