"""Runs over sparse files: whatever stands around the learner takes compressed rows, late labels and checkpoints too."""

from __future__ import annotations

import gzip
import io
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
from tests.cli.calls import metrics, run

from thalweg import load
from thalweg.errors import InvalidInput
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def write(kind: str, count: int = 2500, numbers: bool = False) -> None:
    rng = np.random.default_rng(4)
    lines = []
    for _ in range(count):
        sign = 1 if rng.random() < 0.5 else -1
        keys = rng.choice(300, 5, replace=False)
        entries = [(f"{key}" if kind == "svmlight" else f"w{key}", round(rng.normal() + sign, 3)) for key in keys]
        bar = "" if kind == "svmlight" else "| "
        target = f"{10 + sum(value * (key % 7 - 3) for key, (_, value) in zip(keys, entries, strict=True)):.3f}"
        lines.append(f"{target if numbers else sign} {bar}" + " ".join(f"{key}:{value}" for key, value in entries))
    lines[1200] = "1 3:x" if kind == "svmlight" else "1 2.5 | a"
    Path("rows").write_text("\n".join(lines))


def begun(folder: str, **options: Any) -> Run:
    given = {"source": "rows", "model": "auto", "out": folder, "chunk": 200, "bad_rows": "skip"}
    return Run(RunOptions.of(given | options))


class Cut(Exception):
    pass


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", ["svmlight", pytest.param("vowpal-wabbit", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("delay", "numbers"), [pytest.param(0, False, marks=pytest.mark.slow), (70, False), (70, True)]
)
def test_a_run_that_is_cut_off_resumes_to_the_same_bytes(kind: str, delay: int, numbers: bool) -> None:
    write(kind, numbers=numbers)
    whole = begun("whole", delay=delay)
    whole.go()
    whole.save_model(Path("whole/model"))
    assert (whole.counts.processed, whole.pending, whole.counts.skipped) == (2499, delay, 1)
    assert (whole.options.target, whole.task.name) == ("label", "regression" if numbers else "classification")
    if numbers:
        scores = {name: own["rmse"] for name, own in whole.task.scores().items()}
        assert scores["model"] < 0.5 * scores["running_mean"]
    assert "line 1,201: " in whole.notices.complaints[0]

    def cut(status: Any) -> None:
        if status.rows > 1500:
            raise Cut

    first = begun("cut", delay=delay)
    with pytest.raises(Cut):
        first.go(cut, checkpoint_seconds=0)
    again = begun("cut", delay=delay)
    assert again.resume()
    assert 1000 < again.counts.processed < 1500
    again.go()
    again.save_model(Path("cut/model"))
    for file in ("model", "predictions.csv"):
        assert Path("cut", file).read_bytes() == Path("whole", file).read_bytes()


def test_the_commands_take_sparse_files(capsys: pytest.CaptureFixture[str]) -> None:
    write("svmlight")
    command = ("run", "rows", "--out", "out")
    code, _, told = run(capsys, *command)
    assert (code, told) == (
        2,
        "thalweg: rows, line 1,201: 'x' is not a finite number; --bad-rows skip leaves such rows out\n",
    )
    assert run(capsys, *command, "--bad-rows", "skip", "--quiet")[0] == 0
    assert metrics()["scores"]["model"]["error"] < 0.2
    code, said, _ = run(capsys, "predict", "out/model.thalweg", "rows", "--bad-rows", "skip")
    assert (code, len(said.splitlines())) == (0, 2500)
    code, said, _ = run(capsys, "inspect", "out/model.thalweg")
    assert "sparse features by their indices" in said
    for option, wrong in {
        "--target": "rows: the target 'features' must hold labels or numbers, got values of type map<int32, double>",
        "--time": "column 'features' must hold times, got values of type map<int32, double>",
    }.items():
        code, _, told = run(capsys, *command, "--fresh", option, "features")
        assert (code, told) == (2, f"thalweg: {wrong}\n")


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", ["svmlight", "vowpal-wabbit"])
def test_a_pipe_needs_no_more_options_than_a_file_and_lines_to_predict_need_no_label(
    kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(kind, 1250)
    assert run(capsys, "run", "rows", "--out", "out", "--bad-rows", "skip", "--quiet")[0] == 0
    os.mkfifo("pipe")
    packed = gzip.compress(Path("rows").read_bytes())
    with ThreadPoolExecutor(1) as writer:
        writer.submit(Path("pipe").write_bytes, packed)
        assert run(capsys, "run", "pipe", "--out", "piped", "--bad-rows", "skip", "--quiet")[0] == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed)))
    assert run(capsys, "run", "-", "--out", "input", "--bad-rows", "skip", "--quiet")[0] == 0
    for other in ("piped", "input"):
        assert Path(other, "predictions.csv").read_bytes() == Path("out/predictions.csv").read_bytes()
    lines = Path("rows").read_text().splitlines()[:1000]
    Path("rows").write_text("\n".join(lines))
    Path("unlabelled").write_text("\n".join(line.split(None, 1)[1] for line in lines))
    code, answers, _ = run(capsys, "predict", "out/model.thalweg", "unlabelled")
    assert (code, answers) == run(capsys, "predict", "out/model.thalweg", "rows")[:2]
    write("vowpal-wabbit" if kind == "svmlight" else "svmlight", 1250)
    code, _, told = run(capsys, "predict", "out/model.thalweg", "rows", "--bad-rows", "skip")
    wrong = "'w280' is not an index, and those of this column are, as in svmlight files"
    if kind == "vowpal-wabbit":
        wrong = "280 is an index, and those of this column are names, as in Vowpal Wabbit files"
    assert (code, f"rows, row 1, column 'features': the feature {wrong}\n" in told) == (0, True), told


@pytest.mark.parametrize("model", ["logistic", "perceptron", "pa", "winnow"])
def test_models_that_are_scaled_learn_sparse_rows_without_means(model: str) -> None:
    write("svmlight")
    done = begun("out", model=model)
    done.go()
    steps = done.task.model.named_steps
    assert not steps["standardscaler"].with_mean
    assert done.task.scores()["model"]["error"] < 0.25


def test_numbers_beside_text_are_learned_by_the_members_over_dense_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    words, sizes = rng.integers(0, 60, (1500, 6)), rng.normal(1000, 50, 1500)
    effects = rng.normal(size=60)
    prices = effects[words].sum(axis=1) + sizes / 10 + 0.3 * rng.normal(size=1500)
    texts = [" ".join(f"word{word}" for word in row) for row in words]
    lines = [f"{size:.1f},{text},{price:.3f}" for size, text, price in zip(sizes, texts, prices, strict=True)]
    Path("rows").write_text("\n".join(["size,review,price", *lines]))
    assert run(capsys, "run", "rows", "--target", "price", "--out", "out", "--quiet")[0] == 0
    scores = metrics()["scores"]
    assert scores["model"]["rmse"] < 0.3 * scores["running_mean"]["rmse"]
    model = load("out/model.thalweg")
    assert model.learner_.dense_features == 2
    said = run(capsys, "predict", "out/model.thalweg", "rows")[1]
    answers = [float(line.split(",")[1]) for line in said.splitlines()[1:]]
    rows = [{"size": size, "review": text} for size, text in zip(sizes.round(1), texts, strict=True)]
    np.testing.assert_allclose(model.predict(rows), answers)
    assert model.predict_one(rows[0]) == pytest.approx(answers[0])


def test_a_model_of_a_table_learns_dicts_and_tables_with_maps(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"label": "ab"[i % 2], "x": i % 7, "words": {f"w{i % 2}{i % 5}": 1, "the": 2}} for i in range(600)]
    Path("rows").write_text("\n".join(map(json.dumps, rows)))
    assert run(capsys, "run", "rows", "--target", "label", "--model", "logistic", "--out", "out", "--quiet")[0] == 0
    by_dict, by_table, by_frame, by_row = (load("out/model.thalweg") for _ in range(4))
    labels = [row.pop("label") for row in rows]
    cells = pa.array([list(row["words"].items()) for row in rows], pa.map_(pa.string(), pa.float64()))
    table = pa.table({"x": [row["x"] for row in rows], "words": cells})
    by_dict.partial_fit(rows, labels)
    by_table.partial_fit(table, labels)
    frame = pd.DataFrame(rows)
    by_frame.partial_fit(frame, labels)
    for row, label in zip(rows, labels, strict=True):
        by_row.learn_one(row, label)
    expected = by_dict.predict_proba(rows)
    np.testing.assert_array_equal(by_table.predict_proba(table), expected)
    np.testing.assert_array_equal(by_frame.predict_proba(frame), expected)
    with pytest.raises(InvalidInput, match="X, row 0, column 'words': 'free' is not an object of numbers"):
        by_frame.predict(frame.assign(words="free"))
    np.testing.assert_allclose(by_row.predict_proba(rows), expected, atol=1e-12)
    with pytest.raises(InvalidInput, match="X, row 1, column 'words': 'much', the value of 'the', is not a number"):
        by_dict.partial_fit([rows[0], {"x": 1, "words": {"the": "much"}}], ["a", "b"])
    np.testing.assert_array_equal(by_dict.predict_proba(rows), expected)
