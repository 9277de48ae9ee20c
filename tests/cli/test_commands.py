from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.waiting import PATIENCE
from thalweg import cli
from thalweg.papers.auto import reproduce as auto
from thalweg.papers.auto import sources, study
from thalweg.papers.karnick2008 import reproduce as karnick2008
from thalweg.papers.karnick2008.data import Checkerboard, SeaConcepts
from thalweg.papers.kuncheva2008 import reproduce as kuncheva2008
from thalweg.papers.registry import PAPERS
from thalweg.papers.schnackenberg2018 import reproduce as schnackenberg2018


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    printed = capsys.readouterr()
    return int(stop.value.code or 0), printed.out, printed.err


@pytest.mark.parametrize(
    "arguments",
    [["--help"], [], *([command, "--help"] for command in ("demo", "reproduce", "compare", "generate"))],
)
def test_help_is_given_without_loading_the_work(arguments: list[str]) -> None:
    code = (
        "import sys; from thalweg import cli\n"
        "try: cli.main(sys.argv[1:])\n"
        "finally: print(sorted({'numpy', 'sklearn', 'matplotlib', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout.startswith("Usage: thalweg")
    assert done.stderr == "[]\n"


def test_help_lists_every_paper_with_its_items_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "reproduce", "--help")
    lines = out.splitlines()
    for paper in PAPERS.values():
        at = lines.index(f"  {paper.name}: {paper.authors}")
        assert lines[at + 2].split() == list(paper.items)
    assert max(map(len, lines)) <= 80


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--version")
    assert (code, out.split()[0]) == (0, "thalweg")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["wander"], "wander"),
        (["demo", "--rows", "many"], "--rows"),
        (["demo", "--rows", "10"], "--rows"),
        (["demo", "--sideways"], "--sideways"),
        (["serve", "--port", "8000"], "(Possible options: --listen)"),
        (["reproduce"], "paper"),
        (["reproduce", "nobody1999"], "kuncheva2008"),
        (["reproduce", "nobody1999"], "schnackenberg2018"),
        (["reproduce", "kuncheva2008", "table9"], "table1"),
        (["reproduce", "kuncheva2008", "fig7"], "fig3"),
        (["reproduce", "auto", "trees"], "forest"),
        (["reproduce", "kuncheva2008", "table1", "--fast"], "kuncheva2008 has no short version"),
        (["reproduce", "karnick2008", "fig1"], "fig2"),
        (["reproduce", "kuncheva2008", "table1", "--with-moa"], "kuncheva2008 has no such models"),
        (["reproduce", "auto", "ranks", "--with-refitted"], "refitted ones to curved, still, got ranks"),
        (["reproduce", "kuncheva2008", "table1", "--runs", "0"], "--runs"),
        (["reproduce", "kuncheva2008", "table1", "--seed", "-1"], "--seed"),
        (["reproduce", "kuncheva2008", "table1", "--jobs", "0"], "--jobs"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("thalweg: ")
    assert said in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--out", "{file}"],
        ["reproduce", "kuncheva2008", "fig2", "--out", "{file}/below"],
        ["reproduce", "kuncheva2008", "table2", "--json", "{file}/rows.json"],
        ["reproduce", "kuncheva2008", "table2", "--json", "{folder}"],
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kuncheva2008, "reproduce", lambda *_, **__: pytest.fail("work was begun"))
    file = tmp_path / "file"
    file.write_text("in the way")
    code, out, err = run(capsys, *[part.format(file=file, folder=tmp_path) for part in arguments])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert str(tmp_path) in err
    assert file.read_text() == "in the way"


def test_a_bug_is_one_line_too_and_debug_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug\nof two lines")

    monkeypatch.setattr(kuncheva2008, "reproduce", broken)
    arguments = ("reproduce", "kuncheva2008", "fig2", "--out", str(tmp_path))
    code, _, err = run(capsys, *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert "ZeroDivisionError" in err
    assert "--debug" in err
    with pytest.raises(ZeroDivisionError):
        cli.main([*arguments, "--debug"])


def test_an_interrupt_is_said_and_has_its_own_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kuncheva2008, "reproduce", interrupted)
    code, _, err = run(capsys, "reproduce", "kuncheva2008", "fig2", "--out", str(tmp_path))
    assert (code, err) == (130, "thalweg: interrupted\n")


def test_the_demo_beats_baselines_and_a_frozen_model_and_leaves_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "folder"
    code, out, _ = run(capsys, "demo", "--rows", "5000", "--seed", "3", "--out", str(folder))
    assert code == 0
    metrics = json.loads((folder / "metrics.json").read_text())
    errors = {name: scores["error"] for name, scores in metrics["scores"].items()}
    assert errors["model"] < 0.1
    assert min(errors["no_change"], errors["majority"]) > 0.3
    assert metrics["against"]["references"]["frozen"]["loss"] > 0.3
    assert f"Report: {folder / 'report.html'}" in out
    assert (folder / "report.html").stat().st_size > 100_000
    assert [line.split()[1] for line in out.splitlines()[-3:]] == ["run", "predict", "serve"]
    again, _, _ = run(capsys, "demo", "--rows", "1000", "--out", str(folder))
    assert (again, json.loads((folder / "metrics.json").read_text())["rows"]["learned"]) == (0, 1000)


def test_the_demo_leaves_a_run_of_other_rows_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "metrics.json").write_text("{}")
    code, out, err = run(capsys, "demo", "--rows", "1000", "--out", str(tmp_path))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--out" in err
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.json"]


@pytest.mark.parametrize("package", ["pyarrow", "jinja2"])
def test_without_the_extra_for_files_the_demo_says_what_to_install(
    package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    code, out, err = run(capsys, "demo", "--rows", "1000", "--out", str(tmp_path))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "thalweg[files]" in err
    assert list(tmp_path.iterdir()) == []


def test_reproduce_prints_paper_beside_measured_and_writes_rows_and_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        kuncheva2008, "DATA", dict.fromkeys(PAPERS["kuncheva2008"].items, (kuncheva2008.tables.STAGGER,))
    )
    rows = tmp_path / "rows.json"
    code, out, _ = run(
        capsys,
        "reproduce",
        "kuncheva2008",
        "all",
        "--runs",
        "2",
        "--out",
        str(tmp_path),
        "--json",
        str(rows),
        "--jobs",
        "2",
    )
    assert code == 0
    (line, _) = [line.split() for line in out.splitlines() if line.startswith(" O-LDC λ")]
    assert line[2] == "0.90"
    assert line[4:7] == ["0.156", "±", "0.024"]
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == [f"kuncheva2008-fig{n}.svg" for n in (1, 2, 3)]
    items = [row["item"] for row in json.loads(rows.read_text())]
    assert {item: items.count(item) for item in items} == {
        "table1": 4,
        "table1-at-paper-rate": 4,
        "table2": 4,
        "fig1": 84,
        "fig3": 4,
    }
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 80


@pytest.mark.slow
def test_a_second_paper_without_an_item_means_all_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shortened = {
        name: replace(each, stream=replace(each.stream, length=200))
        for name, each in schnackenberg2018.SITUATIONS.items()
    }
    monkeypatch.setattr(schnackenberg2018, "SITUATIONS", shortened)
    rows = tmp_path / "rows.json"
    arguments = ["--runs", "2", "--out", str(tmp_path), "--json", str(rows), "--jobs", "2"]
    code, out, err = run(capsys, "reproduce", "schnackenberg2018", *arguments)
    assert code == 0
    assert sum(line.startswith(".1  .4979 ") for line in out.splitlines()) == 1
    assert out.count("Bayes error 0.0") == 4
    assert "test predictions in" in out
    assert "random numbers" in " ".join(out.split())
    assert "100 %  Sudden" in err
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        f"schnackenberg2018-fig{n}.png" for n in range(1, 8)
    ]
    items = [row["item"] for row in json.loads(rows.read_text())]
    assert {item: items.count(item) for item in items} == dict.fromkeys(
        [f"table{n}" for n in range(1, 5)] + [f"fig{n}" for n in range(4, 8)], 27
    )
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 80


@pytest.mark.slow
def test_splits_are_another_name_for_runs_and_a_sketch_needs_no_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    code, out, err = run(capsys, "reproduce", "bounsiar", "fig1", "--splits", "3", "--out", str(tmp_path))
    assert code == 0
    assert "the median gain of 3 training sets" in out
    assert "100 %  fig1" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bounsiar-fig1.png", "bounsiar-fig1.svg"]
    code, out, err = run(capsys, "reproduce", "bounsiar", "table1", "--splits", "3")
    assert (code, out) == (2, "")
    assert err.startswith("thalweg: The benchmark set banana is not at hand: set THALWEG_DATA")


@pytest.mark.slow
def test_a_study_of_our_own_prints_narrow_tables_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (auto, study):
        monkeypatch.setattr(module, "SOURCES", {"data": (), "generated": sources.GENERATED[:2]})
    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    for item in ("generated", "ranks", "fig-ranks"):
        code, out, _ = run(capsys, "reproduce", "auto", item, "--runs", "2", "--out", str(tmp_path))
        assert code == 0
        assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 80
    assert sorted(path.name for path in tmp_path.iterdir()) == ["auto-fig-ranks.png", "auto-fig-ranks.svg"]


@pytest.mark.slow
def test_the_short_version_of_a_paper_that_has_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"board": Checkerboard(blocks=16), "sea": SeaConcepts(blocks=8, rows=40, test_rows=100)}
    monkeypatch.setattr(karnick2008, "FAST_DATA", data)
    rows = tmp_path / "rows.json"
    for item in ("fig2", "fig3", "table", "drifts", "weightings", "time"):
        arguments = [item, "--fast", "--jobs", "1", "--out", str(tmp_path), "--json", str(rows)]
        code, out, _ = run(capsys, "reproduce", "karnick2008", *arguments)
        assert code == 0
        assert ("The short version" in out) == (item != "fig2")
        assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 80
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        f"karnick2008-{item}.png" for item in ("fig2", "fig3", "time")
    ]
    assert {row["measure"] for row in json.loads(rows.read_text())} == {"seconds"}


def test_where_figures_cannot_be_drawn_an_item_that_draws_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(karnick2008, "reproduce", lambda *_, **__: pytest.fail("work was begun"))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run(capsys, "reproduce", "karnick2008", "time", "--out", str(tmp_path))
    assert code == 2
    assert "thalweg[plot]" in err
