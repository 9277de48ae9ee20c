from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.run.test_comparing import record
from thalweg import cli


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main(["compare", *map(str, arguments)])
    printed = capsys.readouterr()
    return int(stop.value.code or 0), printed.out, printed.err


def test_runs_over_the_same_data_stand_side_by_side_the_best_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "a", "oldc", 0.30)
    besides = {"alert": ["error > 0.3"], "against": "frozen"}  # predictions are the same with these
    record(tmp_path / "b", "oldc", 0.20, seed=1, options={"rate": 0.1} | besides)
    code, out, err = run(capsys, tmp_path / "a", tmp_path / "b" / "metrics.json")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "river.csv, label state, 12,000 rows"
    assert " ".join(lines[1:3]).startswith("oldc rate=0.1 has the lowest error: ")
    names = [line.split("0.")[0].strip() for line in lines[5:9]]
    assert names == ["oldc rate=", "oldc", "no change", "majority"]
    assert "oldc – oldc rate=0.1" in " ".join(out.split())
    (pair,) = [line.split() for line in lines if line.startswith("  error ")]
    assert 0.0 < float(pair[2]) < float(pair[1]) < float(pair[4]) < 0.12
    assert pair[7:] == ["<", "0.001", "<", "0.001"]
    assert "in 12 windows of 1,000 rows" in " ".join(out.split())
    assert "Holm" not in out
    assert max(map(len, lines)) <= 80


def test_a_baseline_that_is_better_than_every_run_is_named_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    score = {"error": 0.15, "recent_error": 0.1, "kappa": 0.0, "kappa_temporal": None}
    for model, error in (("oldc", 0.3), ("auto", 0.2)):
        record(tmp_path / model, model, error, change={"scores": {"majority": score}})
    _, out, _ = run(capsys, tmp_path / "oldc", tmp_path / "auto")
    said = " ".join(out.split())
    assert re.search(r"No run is better than majority, a baseline: error 15\.0 % against (19|20)\.\d %\. Of the ", said)
    assert "Of the runs, auto has the lowest error: " in said


def test_a_small_difference_is_not_called_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "a", "oldc", 0.30)
    record(tmp_path / "b", "auto", 0.30, seed=1)
    _, out, _ = run(capsys, tmp_path / "a", tmp_path / "b")
    assert re.search(
        r"lowest error, but (oldc|auto) may be as good: the difference is −\d\.\d to ", " ".join(out.split())
    )


def test_baselines_that_differ_are_named_by_their_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "a", "oldc", 0.30, options={"delay": 0})
    score = {"error": 0.45, "recent_error": 0.4, "kappa": 0.1, "kappa_temporal": None}
    late = {"scores": {"no_change": score}}
    record(tmp_path / "b", "oldc", 0.20, seed=1, options={"delay": 100}, change=late)
    _, out, _ = run(capsys, tmp_path / "a", tmp_path / "b")
    assert [line.split("  ")[0] for line in out.splitlines() if line.startswith(("no change", "majority"))] == [
        "no change, oldc delay=100",
        "no change, oldc",
        "majority",
    ]


def test_several_data_sets_give_ranks_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [tmp_path / f"{source} {model}" for source in "abc" for model in ("oldc", "auto", "pa")]
    for at, folder in enumerate(folders):
        source, model = folder.name.split()
        record(folder, model, 0.1 + 0.1 * (at % 3), seed=at, source=f"{source}.csv")
    out_folder = tmp_path / "pictures" / "new"
    code, out, _ = run(capsys, *folders, "--out", out_folder)
    assert code == 0
    (ranks,) = [line.split() for line in out.splitlines() if line.startswith("mean rank")]
    assert ranks[2:] == ["1.00", "2.00", "3.00"]
    assert "Over 3 data sets the models differ" in " ".join(out.split())
    assert "A baseline" not in out
    lower = {"error": 0.05, "recent_error": 0.05, "kappa": 0.0, "kappa_temporal": None}
    for at, model in enumerate(("oldc", "auto", "pa")):
        record(tmp_path / f"b {model}", model, 0.1 + 0.1 * at, source="b.csv", change={"scores": {"majority": lower}})
    assert "A baseline has a lower error than every model on b.csv." in run(capsys, *folders)[1]
    assert sorted(path.name for path in out_folder.iterdir()) == ["critical-difference.png", "critical-difference.svg"]


def test_errors_over_time_are_drawn_where_a_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "a", "oldc", 0.30)
    record(tmp_path / "b", "auto", 0.20, seed=1)
    code, out, _ = run(capsys, tmp_path / "a", tmp_path / "b", "--out", tmp_path / "pictures")
    assert (code, "Errors over time: " in out) == (0, True)
    drawn = (tmp_path / "pictures" / "errors.svg").read_text()
    assert all(word in drawn for word in ("Error over time: river.csv, state", "oldc", "auto", "rows seen"))


def test_without_matplotlib_ranks_are_told_and_no_folder_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    folders = [tmp_path / f"{source} {model}" for source in "ab" for model in ("oldc", "auto")]
    for at, folder in enumerate(folders):
        record(folder, folder.name.split()[1], seed=at, source=folder.name.split()[0])
    code, out, _ = run(capsys, *folders, "--out", tmp_path / "pictures")
    assert (code, "thalweg[plot]" in out, (tmp_path / "pictures").exists()) == (0, True, False)


def test_a_program_reads_the_same_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "a", "oldc", 0.30)
    record(tmp_path / "b", "auto", 0.20, seed=1)
    code, out, err = run(capsys, tmp_path / "a", tmp_path / "b", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    (data,) = found["data_sets"]
    assert (data["source"], data["target"], data["rows"]) == ("river.csv", "state", 12_000)
    assert list(data["runs"]) == ["oldc", "auto"]
    assert data["runs"]["oldc"]["scores"] == json.loads((tmp_path / "a" / "metrics.json").read_text())["scores"]
    (pair,) = found["pairs"]
    errors = [run["scores"]["model"]["error"] for run in data["runs"].values()]
    assert pair["difference"] == errors[0] - errors[1]
    only = pair["mcnemar"]
    assert only["only_first"] - only["only_second"] == pytest.approx(12_000 * pair["difference"])
    assert max(only["p_value"], pair["wilcoxon"]["p_value"]) < 0.001
    assert found["ranking"] is None


def test_ranks_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [tmp_path / f"{source} {model}" for source in "abc" for model in ("oldc", "auto", "pa")]
    for at, folder in enumerate(folders):
        record(folder, folder.name.split()[1], 0.1 + 0.1 * (at % 3), seed=at, source=folder.name.split()[0])
    code, out, _ = run(capsys, *folders, "--json", "--out", tmp_path / "pictures")
    found = json.loads(out)
    assert (code, found["pairs"], len(found["data_sets"])) == (0, None, 3)
    assert found["ranking"]["models"] == ["oldc", "auto", "pa"]
    assert found["ranking"]["mean_ranks"] == [1.0, 2.0, 3.0]
    assert found["ranking"]["friedman"]["p_value"] < 0.05
    assert not (tmp_path / "pictures").exists()


def test_errors_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = record(tmp_path / "here")
    for arguments, said in (
        ([], "METRICS"),
        ([here], "nothing to compare"),
        ([here, tmp_path / "nowhere"], "nowhere"),
        ([here, tmp_path], "metrics.json"),
        ([here, here.parent / "predictions.csv"], "predictions.csv is not the metrics.json of a run"),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
        assert "internal" not in err


def test_runs_with_and_without_delay_are_compared_by_their_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [["generate", "sea", "--rows", "1500", "-o", "rows.csv"]]
    commands += [["run", "rows.csv", "--target", "label", "--model", "oldc", "--out", "at-once", "--quiet"]]
    commands += [[*commands[1][:-2], "late", "--delay", "30", "--quiet"]]
    for arguments in commands:
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert not stop.value.code
    capsys.readouterr()
    code, out, err = run(capsys, "at-once", "late")
    assert (code, err) == (0, "")
    assert "rows.csv, label label, 1,500 rows" in out
    assert "are not over the same rows: by run, the rows whose labels came in time" in " ".join(out.split())
