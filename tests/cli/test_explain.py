"""What `thalweg predict --explain` writes, for labels, numbers and text."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.calls import run
from thalweg import OnlineLDC, load, save
from thalweg.explain import contributions, importance

pytest.importorskip("pyarrow")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def explained(capsys, *arguments):
    code, said, _ = run(capsys, "predict", "thalweg-run/model.thalweg", *arguments, "--explain")
    assert code == 0
    return [row | {"contributions": json.loads(row["contributions"])} for row in csv.DictReader(io.StringIO(said))]


def table(rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6)).round(3)
    kinds = rng.choice(["a", "b", "c"], rows)
    return X, kinds, 2.0 * X[:, 2] - X[:, 4] + 3.0 * (kinds == "b") + 0.3 * rng.normal(size=rows)


def write(name, X, kinds, last=()):
    lines = [",".join([*map(str, row), kind, *rest]) for row, kind, *rest in zip(X, kinds, *last, strict=True)]
    header = [*(f"x{at}" for at in range(6)), "kind", *(["y"] if last else [])]
    Path(name).write_text("\n".join([",".join(header), *lines]) + "\n")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_base_and_contributions_add_up_to_what_is_predicted(task, capsys):
    X, kinds, score = table(1200)
    labels = np.where(score > 1.0, "yes", "no") if task == "classification" else score.round(3).astype(str)
    write("t.csv", X, kinds, [labels])
    assert run(capsys, "run", "t.csv", "--target", "y", "--quiet")[0] == 0
    write("new.csv", X[:6], kinds[:6])
    for row in explained(capsys, "new.csv"):
        predicted = float(row["probability" if task == "classification" else "prediction"])
        assert float(row["base"]) + sum(row["contributions"].values()) == pytest.approx(predicted, abs=2e-4)
        assert set(list(row["contributions"])[:3]) & {"x2", "kind", "x4"}
        assert set(row["contributions"]) <= {*(f"x{at}" for at in range(6)), "kind"}


@pytest.mark.parametrize("model", ["sets", "oldc"])
def test_a_file_of_ndjson_holds_objects_with_the_values_of_the_csv(model, capsys):
    X, kinds, score = table(900)
    write("t.csv", X, kinds, [np.where(score > 1.0, "yes", "nö")])
    assert run(capsys, "run", "t.csv", "--target", "y", "--model", model, "--quiet")[0] == 0
    write("new.csv", X[:6], kinds[:6])
    assert run(capsys, "predict", "thalweg-run/model.thalweg", "new.csv", "--explain", "-o", "p.ndjson")[0] == 0
    found = [json.loads(line) for line in Path("p.ndjson").read_text(encoding="utf-8").splitlines()]
    plain = explained(capsys, "new.csv")
    for row, other in zip(found, plain, strict=True):
        assert row["contributions"] == other["contributions"]
        assert isinstance(row["row"], int)
        assert (row["prediction"], row["probability"]) == (other["prediction"], float(other["probability"]))
        assert "|".join(row.get("prediction_set", [])) == other.get("prediction_set", "")


def test_words_of_a_text_are_named(capsys):
    rng = np.random.default_rng(1)
    words = [f"word{at}" for at in range(40)]
    texts = [" ".join([*rng.choice(words, 6), rng.choice(["good", "bad"]), str(at)]) for at in range(400)]
    lines = [f"{text},{'yes' if 'good' in text else 'no'}" for text in texts]
    Path("t.csv").write_text("\n".join(["note,y", *lines]) + "\n")
    assert run(capsys, "run", "t.csv", "--target", "y", "--text", "note", "--quiet")[0] == 0
    Path("new.csv").write_text("note\nword1 word2 good\nword3 bad\n")
    found = explained(capsys, "new.csv")
    assert [next(iter(row["contributions"])) for row in found] == ["note: good", "note: bad"]
    for row in found:
        assert float(row["base"]) + sum(row["contributions"].values()) == pytest.approx(
            float(row["probability"]), abs=2e-4
        )


def test_python_names_the_columns_and_words_that_the_command_names(capsys):
    rng = np.random.default_rng(2)
    kinds, late = rng.choice(["van", "bike"], 400), rng.choice(["late", "fast"], 400)
    y = np.where((late == "late") ^ (kinds == "van") & (rng.random(400) < 0.3), "bad", "good")
    lines = [f"{kind},{word} delivery {at},{y}" for at, (kind, word, y) in enumerate(zip(kinds, late, y, strict=True))]
    Path("t.csv").write_text("\n".join(["kind,note,y", *lines]) + "\n")
    assert run(capsys, "run", "t.csv", "--target", "y", "--text", "note", "--quiet")[0] == 0
    Path("new.csv").write_text("kind,note\nvan,late delivery\n")
    (row,) = explained(capsys, "new.csv")
    model = load("thalweg-run/model.thalweg")
    found = contributions(model, [{"kind": "van", "note": "late delivery"}])
    assert found.top(0) == pytest.approx(row["contributions"], rel=1e-4)
    assert {"note: late", "kind"} <= found.top(0).keys()
    with pytest.raises(AttributeError, match="rows are sparse, as those of text are, and are not kept"):
        model.partial_fit([{"kind": "van", "note": "late"}], ["bad"]).importance_  # noqa: B018
    assert set(importance(model, [{"kind": "van", "note": "late"}], ["bad"]).names) >= {"kind", "note"}


def test_a_model_without_background_says_so(capsys):
    import pandas as pd

    X, kinds, score = table(50)
    save(OnlineLDC().fit(pd.DataFrame(X, columns=[f"x{at}" for at in range(6)]), score > 0), "m.thalweg")
    write("new.csv", X[:2], kinds[:2])
    code, said, complaint = run(capsys, "predict", "m.thalweg", "new.csv", "--explain")
    assert (code, said) == (2, "")
    assert "keeps no background rows" in complaint
