"""`thalweg run --key`: related customers share what they know, and rows without a key are bad rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.calls import metrics, run
from thalweg import load
from thalweg.fleet import KeyedClassifier

pytest.importorskip("pyarrow")

_TOLD = ("run", "table.csv", "--target", "label", "--model", "oldc", "--quiet", "--fresh")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Customers whose labels depend on a number, each in a way of its own; a column of many shops that says nothing."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    customer, x, shop = rng.integers(0, 30, 1500), rng.normal(size=1500).round(3), rng.integers(0, 100, 1500)
    label = np.where(x + 2 * rng.normal(size=30)[customer] > 0, "yes", "no")
    lines = [f"s{s},c{c},{v},{y}" for s, c, v, y in zip(shop, customer, x, label, strict=True)]
    Path("table.csv").write_text("\n".join(["shop,customer,x,label", *lines]) + "\n")
    return lines


def test_a_run_with_keys(table: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    errors = []
    for more in (("--key", "customer"), ("--drop", "customer")):
        assert run(capsys, *_TOLD, *more, "--delay", "10", "--out", "out")[0] == 0
        errors.append(metrics()["scores"]["model"]["error"])
        if "--key" in more:
            _, kind, done = metrics()["columns"][1]
            assert (kind, done) == ("key", "chooses the model of a row by its key, and is no feature of that model")
            assert "customer" in {each["name"] for each in metrics()["importance"]["columns"]}
            model = load("out/model.thalweg")
    assert errors[0] < errors[1] - 0.1
    assert isinstance(model.learner_, KeyedClassifier)
    assert (model.learner_.key, model.learner_.n_keys_, model.learner_.learner.columns) == (1, 30, [(0, 1)])
    row = {"shop": "s1", "customer": "c7", "x": 0.5}
    assert model.predict([row]) == model.predict_one(row)
    with pytest.raises(ValueError, match="row 0, column 'customer': the key is missing"):
        model.predict([row | {"customer": None}])


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (("--key", "label"), "--key must be a column that no other option names"),
        (("--key", "city"), "has no column 'city'"),
        (("--key", "customer", "--model", "threshold"), "--key must be left out: OnlineThreshold, which decides"),
        (
            ("--key", "customer", "--target", "x", "--model", "auto"),
            "--key must be left out: models that predict numbers",
        ),
    ],
)
def test_what_has_no_keys_says_so(
    table: list[str], capsys: pytest.CaptureFixture[str], more: tuple[str, ...], what: str
) -> None:
    code, _, said = run(capsys, *_TOLD, *more, "--out", "out")
    assert code != 0
    assert what in said
    assert "Traceback" not in said


def test_a_row_without_a_key_is_bad(table: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["shop,customer,x,label", *table[:1200], "s1,,0.5,yes", *table[1200:]]
    Path("table.csv").write_text("\n".join(lines) + "\n")
    code, _, said = run(capsys, *_TOLD, "--key", "customer", "--out", "out")
    assert code != 0
    assert "row 1,201, column 'customer': the key is missing" in said
    assert run(capsys, *_TOLD, "--key", "customer", "--out", "out", "--bad-rows", "skip")[0] == 0
    assert metrics()["rows"]["skipped"] == 1
