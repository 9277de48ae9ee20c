"""Recorded runs set side by side: who belongs to whom, and what the tests say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.sample_metrics import sample_metrics

from thalweg.errors import InvalidInput
from thalweg.evaluate import friedman, nemenyi_difference
from thalweg.run.compare import DataSet, gather, has_predictions, read_run
from thalweg.run.pairs import pairs, ranking

ROWS, WINDOW = 12_000, 1000


def record(
    folder: Path,
    model: str = "oldc",
    error: float = 0.2,
    *,
    seed: int = 0,
    source: str = "river.csv",
    options: dict[str, Any] | None = None,
    change: dict[str, dict[str, Any]] | None = None,
) -> Path:
    """A run over invented rows, as it would be left behind: the labels are the source's, the mistakes its own."""
    truth = np.random.default_rng(sum(source.encode())).integers(0, 2, ROWS)
    wrong = np.random.default_rng(seed).random(ROWS) < error
    metrics = sample_metrics()
    metrics["run"] |= {
        "source": source,
        "options": {"model": model, "rate": None, "out": str(folder), **(options or {})},
    }
    metrics["model"]["name"] = model
    metrics["rows"] |= {"read": ROWS, "predicted": ROWS, "scored": ROWS, "pending": 0, "pending_rows": []}
    metrics["scores"]["model"]["error"] = float(wrong.mean())
    points = range(100, ROWS + 1, 100)
    metrics["curve"] |= {
        "rows": list(points),
        "error": {"model": [float(wrong[max(0, row - WINDOW) : row].mean()) for row in points]},
    }
    for part, values in (change or {}).items():
        metrics[part] |= values
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "metrics.json"
    path.write_text(json.dumps(metrics))
    answers = np.where(wrong, 1 - truth, truth)
    lines = (
        f"{row},{label},{answer},0.75\n" for row, (label, answer) in enumerate(zip(truth, answers, strict=True), 1)
    )
    (folder / "predictions.csv").write_text("row,label,prediction,probability\n" + "".join(lines))
    return path


def gathered(*paths: Path) -> list[DataSet]:
    return gather([read_run(path) for path in paths])


@pytest.mark.slow
def test_pairs_are_tested_by_rows_and_by_windows_as_scipy_does(tmp_path: Path) -> None:
    errors = {"oldc": 0.20, "auto": 0.22, "pa": 0.30}
    paths = [record(tmp_path / name, name, error, seed=at) for at, (name, error) in enumerate(errors.items())]
    wrong = {name: np.random.default_rng(at).random(ROWS) < error for at, (name, error) in enumerate(errors.items())}
    (data,) = gathered(*paths)
    found = pairs(data)
    assert [(pair.first, pair.second) for pair in found] == [("oldc", "auto"), ("oldc", "pa"), ("auto", "pa")]
    by_rows, by_windows = [], []
    for pair in found:
        one, other = wrong[pair.first], wrong[pair.second]
        assert pair.difference == pytest.approx(one.mean() - other.mean())
        assert pair.rows is not None
        assert pair.windows is not None
        only = int((one & ~other).sum()), int((other & ~one).sum())
        assert (pair.rows.only_first, pair.rows.only_second) == only
        by_rows.append(stats.binomtest(only[0], sum(only)).pvalue)
        blocks = [each.reshape(-1, WINDOW).mean(axis=1) for each in (one, other)]
        assert pair.windows.windows == ROWS // WINDOW
        by_windows.append(stats.wilcoxon(*blocks).pvalue)
    for tests, plain in (([pair.rows for pair in found], by_rows), ([pair.windows for pair in found], by_windows)):
        smallest, middle, largest = sorted(plain)  # Holm's correction, by hand
        expected = np.minimum(np.maximum.accumulate([3 * smallest, 2 * middle, largest]), 1.0)
        assert sorted(test.p_value for test in tests if test) == pytest.approx(expected)
    assert all(found[at].rows.p_value < 0.001 for at in (1, 2))  # type: ignore[union-attr]


def test_runs_alike_are_not_told_apart(tmp_path: Path) -> None:
    (data,) = gathered(record(tmp_path / "a", "oldc"), record(tmp_path / "b", "auto"))
    (pair,) = pairs(data)
    assert (pair.difference, pair.rows, pair.windows) == (0.0, (0, 0, 1.0), (12, 0.0, 1.0))


def test_labels_that_came_after_the_end_and_missing_ones_are_in_no_count(tmp_path: Path) -> None:
    paths = [record(tmp_path / name, name, 0.3, seed=at) for at, name in enumerate(("oldc", "auto"))]
    for path in paths:
        file = path.parent / "predictions.csv"
        header, *lines = file.read_text().splitlines()
        fields = [line.split(",") for line in lines]
        unlabelled = [[row, "" if int(row) <= 500 else label, *rest] for row, label, *rest in fields]
        file.write_text("\n".join([header, *map(",".join, unlabelled)]) + "\n")
        metrics = json.loads(path.read_text())
        mistakes = sum(label not in ("", answer) for _, label, answer, _ in unlabelled[: ROWS - 50])
        late = {"pending": 50, "pending_rows": [[ROWS - 49, ROWS]]}
        metrics["rows"] |= {"scored": ROWS - 550, "unlabelled": 500, **late}
        metrics["scores"]["model"]["error"] = mistakes / (ROWS - 550)
        path.write_text(json.dumps(metrics))
    (pair,) = pairs(gathered(*paths)[0])
    first, second = (np.random.default_rng(seed).random(ROWS)[500:-50] < 0.3 for seed in range(2))
    assert pair.rows is not None
    assert pair.errors is not None
    assert pair.errors["error"].mean == pytest.approx(pair.difference) == first.mean() - second.mean()
    assert (pair.rows.only_first, pair.rows.only_second) == (int((first & ~second).sum()), int((second & ~first).sum()))


def test_without_answers_of_their_own_runs_are_tested_by_windows_alone(tmp_path: Path) -> None:
    first, second = record(tmp_path / "a", "oldc"), record(tmp_path / "b", "auto", seed=1)
    beside = second.rename(first.with_name("b.json"))  # next to answers that are not its own
    runs = [read_run(path) for path in (first, beside)]
    assert [has_predictions(run, runs) for run in runs] == [False, False]
    (pair,) = pairs(gather(runs)[0])
    assert pair.rows is None
    assert pair.windows is not None


def test_a_short_run_has_too_few_windows(tmp_path: Path) -> None:
    few = {"rows": [1000, 2000], "error": {"model": [0.1, 0.2]}}
    paths = [record(tmp_path / name, name, change={"curve": few}) for name in ("oldc", "auto")]
    (pair,) = pairs(gathered(*paths)[0])
    assert pair.windows is None


def test_several_data_sets_are_ranked(tmp_path: Path) -> None:
    errors = np.array([[0.1, 0.2, 0.3], [0.2, 0.3, 0.25], [0.1, 0.15, 0.4], [0.2, 0.25, 0.3]])
    names = ("auto", "oldc", "pa")
    paths = [
        record(tmp_path / f"{at} {name}", name, source=f"{at}.csv", change={"scores": {"model": {"error": error}}})
        for at, line in enumerate(errors.tolist())
        for name, error in zip(names, line, strict=True)
    ]
    found = ranking(gathered(*paths))
    assert found.names == names
    assert (found.errors == errors).all()
    assert found.test.mean_ranks.tolist() == friedman(errors).mean_ranks.tolist() == [1.0, 2.25, 2.75]
    assert found.difference == nemenyi_difference(3, 4)


def test_names_tell_what_differs_and_nothing_else(tmp_path: Path) -> None:
    (data,) = gathered(
        record(tmp_path / "a", "oldc", options={"rate": 0.1, "drop": ["date"]}),
        record(tmp_path / "b", "oldc", options={"rate": 0.5, "drop": ["date"]}),
        record(tmp_path / "c", "auto", options={"drop": ["date"]}),
        record(tmp_path / "d", "auto", options={"drop": ["date"]}),
    )
    assert list(data.runs) == ["oldc rate=0.1", "oldc rate=0.5", "auto (c)", "auto (d)"]


def test_what_does_not_belong_together_is_refused_by_name(tmp_path: Path) -> None:
    here = record(tmp_path / "here", "oldc")
    cases = {
        "is the only run over river.csv, unlike": [here, record(tmp_path / "sea", "auto", source="sea.csv")],
        "is the only run over river.csv: there is nothing to compare": [here],
        "are the same run": [here, here],
        "the first learned the label state, the second learned the label price": [
            here,
            record(tmp_path / "target", "auto", change={"run": {"target": "price"}}),
        ],
        "the first read 12,000 rows, the second read 9 rows": [
            here,
            record(tmp_path / "short", "auto", change={"rows": {"read": 9}}),
        ],
        "oldc was run over river.csv but not over sea.csv: a ranking needs every model": [
            here,
            record(tmp_path / "x", "auto"),
            record(tmp_path / "y", "auto", source="sea.csv"),
            record(tmp_path / "z", "pa", source="sea.csv"),
        ],
    }
    for said, paths in cases.items():
        with pytest.raises(InvalidInput, match=said):
            gathered(*paths)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not the metrics.json of a run"),
        ("[1]", "is not the metrics.json of a run"),
        ("{}", "is not the metrics.json of a run"),
        ('{"schema": 99}', "is not the metrics.json of a run"),
        ("\x00\x01", "is not the metrics.json of a run"),
    ],
)
def test_other_files_are_no_runs(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    path.write_text(content)
    for given in (path, tmp_path):
        with pytest.raises(InvalidInput, match=said):
            read_run(given)


def test_runs_of_another_schema_or_without_scores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="another version"):
        read_run(_edited(record(tmp_path / "a"), lambda metrics: metrics.update(schema=99)))
    with pytest.raises(InvalidInput, match="none of its rows had a label"):
        read_run(_edited(record(tmp_path / "b"), lambda metrics: metrics["scores"]["model"].update(error=None)))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda lines: lines[:-1], "one has more rows than the other"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "their rows differ"),
        (lambda lines: [lines[0], "1,flood,0,0.75", *lines[2:]], "their labels differ"),
        (lambda lines: ["row,truth,prediction,probability", *lines[1:]], "is not the predictions.csv of a run"),
        (lambda lines: [lines[0], "1,0", *lines[2:]], "is not the predictions.csv of a run"),
        (
            lambda lines: [lines[0], *(line.rsplit(",", 2)[0] + ",7,0.75" for line in lines[1:])],
            "its errors are different",
        ),
    ],
)
def test_answers_that_do_not_fit_are_refused(edit: Any, said: str, tmp_path: Path) -> None:
    paths = [record(tmp_path / name, name, seed=at) for at, name in enumerate(("oldc", "auto"))]
    file = paths[1].parent / "predictions.csv"
    file.write_text("\n".join(edit(file.read_text().splitlines())) + "\n")
    with pytest.raises(InvalidInput, match=said):
        pairs(gathered(*paths)[0])


def _edited(path: Path, edit: Any) -> Path:
    metrics = json.loads(path.read_text())
    edit(metrics)
    path.write_text(json.dumps(metrics))
    return path
