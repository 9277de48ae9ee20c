"""What `thalweg run` and `predict` tell of rows, skipped ones included, in the terminal and on the page."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests.cli.calls import PLAIN, ROWS, metrics, run

pytest.importorskip("pyarrow")


def test_skipped_rows_keep_their_numbers(table, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", *PLAIN, "--out", "out", "--quiet")[0] == 0
    lines = Path("table.csv").read_text().splitlines()[:8]
    lines[3], lines[6] = "1", "x" + lines[6]  # rows 3 and 6: one cell, and a word for a number
    Path("new.csv").write_text("\n".join(lines) + "\n")
    code, said, complaint = run(capsys, "predict", "out/model.thalweg", "new.csv", "--bad-rows", "skip")
    assert code == 0
    assert [line["row"] for line in csv.DictReader(said.splitlines())] == ["1", "2", "4", "5", "7"]
    assert complaint.splitlines() == [
        "new.csv, row 3: it has 1 cell, the header 5",
        f"new.csv, row 6, column 'a': {'x' + lines[6][1:].split(',')[0]!r} is not a number",
        "2 rows were skipped",
    ]
    Path("new.csv").write_text("\n".join(lines[:4]) + "\n")
    _, _, complaint = run(capsys, "predict", "out/model.thalweg", "new.csv", "--bad-rows", "skip")
    assert complaint.splitlines()[-1] == "1 row was skipped"


def test_a_table_is_answered_in_its_own_encoding_and_by_the_rule_of_a_run(
    table, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("table.csv").read_text()
    Path("table.csv").write_text(text.replace(",dry", ',"a ""dry"", dusty one"'))
    assert run(capsys, "run", *PLAIN, "--out", "out", "--model", "majority", "--quiet")[0] == 0
    lines = [line.rsplit(",", 1)[0] for line in text.splitlines()[:8]]
    other = "\n".join([f"{line};größe" for line in lines]).replace(",", ";").encode("latin-1")
    Path("new.csv").write_bytes(other)
    code, guessed, complaint = run(capsys, "predict", "out/model.thalweg", "new.csv")
    told = "new.csv is not UTF-8 and is read as Windows-1252; --encoding names another encoding"
    assert (code, complaint) == (0, f"thalweg: {told}\n")
    arguments = ("predict", "out/model.thalweg", "new.csv", "--encoding", "latin-1", "--delimiter", ";")
    code, said, complaint = run(capsys, *arguments)
    assert (code, said, complaint) == (0, guessed, "")
    answers = {line.split(",", 2)[2].rsplit(",", 1)[0] for line in Path("out/predictions.csv").read_text().splitlines()}
    assert {line.split(",", 1)[1].rsplit(",", 1)[0] for line in said.splitlines()[1:]} <= answers
    assert run(capsys, *arguments, "-o", "answers.csv") == (0, "", "")
    assert Path("answers.csv").read_text() == said
    Path("old.csv").write_text("mine")
    assert run(capsys, *arguments[:3], "--encoding", "ascii", "-o", "old.csv")[0] == 2
    assert Path("old.csv").read_text() == "mine"


def test_a_model_without_labels_has_no_answers(table, capsys: pytest.CaptureFixture[str]) -> None:
    Path("none.csv").write_text("a,b,when,told,state\n" + "".join(f"{i % 7},{i},,,\n" for i in range(40)))
    for name in ("auto", "oldc", "perceptron", "majority"):
        assert run(capsys, "run", "none.csv", *PLAIN[1:], "--model", name, "--out", name, "--quiet")[0] == 0
        told = f"thalweg: {name}/model.thalweg cannot predict: it has learned no label\n"
        assert run(capsys, "predict", f"{name}/model.thalweg", "none.csv") == (2, "", told)


def page_text(folder: str = "out") -> str:
    page = (Path(folder) / "report.html").read_text()
    return " ".join(re.sub(r"<[^>]*>", " ", page.split("<main>")[1].split("</main>")[0]).split())


def test_a_short_run_says_what_it_is(table, capsys: pytest.CaptureFixture[str]) -> None:
    """No last thousand rows where there are fewer, no plural of one, and a row that nobody could answer."""
    _, said, _ = run(capsys, "run", *PLAIN, "--out", "out", "--limit", "300", "--quiet")
    assert "all 299 rows" in said
    assert "1,000" not in (said + page_text()).replace("shares of 1,000 rows", "")
    assert metrics()["confusion"]["unpredicted"] == 1
    assert sum(map(sum, metrics()["confusion"]["counts"])) == 299
    assert "1 row came before any label: not predicted, and not scored." in page_text()
    assert "2 columns give 3 features" in page_text()
    _, said, _ = run(capsys, "run", *PLAIN, "--out", "one", "--limit", "1", "--quiet")
    assert "0 rows predicted, 1 learned" in said
    assert "1 row came before any label was known: not predicted, not scored." in said
    assert not re.search(r"\b1 (rows|columns|features)\b", said + page_text("one"))
    _, said, _ = run(capsys, "run", *PLAIN, "--out", "long", "--quiet")
    assert "last 1,000 rows" in said
    assert "last 1,000 rows" in page_text("long")


def test_skipped_rows_are_told_first(table, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("table.csv").read_text().splitlines()
    Path("half.csv").write_text("\n".join([lines[0], *(line for each in lines[1:151] for line in (each, "1,2"))]))
    arguments = ("half.csv", *PLAIN[1:], "--bad-rows", "skip", "--quiet", "--out", "out")
    code, said, _ = run(capsys, "run", *arguments)
    assert code == 0
    assert said.splitlines()[0].endswith(" 150 of 300 rows were skipped.")
    assert "150 of 300 rows were skipped." in page_text()
    assert "\n  half.csv, row 2: it has 2 cells, the header 5\n" in said
    assert "\n  and 145 more; the report lists the first of them\n" in said


def test_categories_are_counted_as_they_are(table, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("table.csv").read_text().splitlines()
    winds = ["wind", *(["north", "south", "east"][at % 3] for at in range(ROWS))]
    Path("winds.csv").write_text("\n".join(f"{wind},{line}" for wind, line in zip(winds, lines, strict=True)))
    _, said, _ = run(capsys, "run", "winds.csv", *PLAIN[1:], "--quiet", "--out", "out")
    assert "each of its 3 categories" in " ".join(said.split())
    assert "one feature for each of its 3 categories, 4 for further ones that may come" in page_text()


def test_many_columns_fill_neither_the_terminal_nor_the_page(table, capsys: pytest.CaptureFixture[str]) -> None:
    header = ",".join([*(f"c{at}" for at in range(300)), "state"])
    cells = [[f"{'n' * (place % 2)}{(at + place) % 7}" for place in range(300)] for at in range(40)]  # no two alike
    rows = [",".join([*line, "ab"[at % 2]]) for at, line in enumerate(cells)]
    Path("wide.csv").write_text("\n".join([header, *rows]))
    code, said, complaint = run(capsys, "run", "wide.csv", "--target", "state", "--out", "out", "--quiet")
    assert code == 0
    assert re.fullmatch(r"thalweg: AutoClassifier: with [0-9,]+ features the bank .*\n", complaint)
    assert "\nc39 " in said
    assert "\nc40 " not in said
    assert "and 261 lines more: the report lists them all" in said
    assert re.search(
        r"<details><summary>All 301 columns</summary><div class=\"scroll\"", Path("out/report.html").read_text()
    )


def test_a_change_of_a_rare_class_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = str(tmp_path / "payments.csv"), str(tmp_path / "out")
    settings = ("--set", "share=0.04", "--set", "change=6000", "--rows", "9000")
    assert run(capsys, "generate", "fraud", "--out", file, *settings)[0] == 0
    code, said, _ = run(capsys, "run", file, "--target", "label", "--model", "auto-linear", "--out", out, "--quiet")
    assert code == 0
    (told,) = re.findall(r"The features of class 1 changed at row ([0-9,]+): (.*)\.", said)
    assert 5700 < int(told[0].replace(",", "")) < 6700
    assert {"payments_today", "declined_today", "device_risk"} & set(told[1].replace(" …", "").split(", "))
    assert "Changes of rare classes" in Path(out, "report.html").read_text()


def test_copies_of_the_label_and_row_numbers_are_told(table, capsys: pytest.CaptureFixture[str]) -> None:
    header, *lines = Path("table.csv").read_text().splitlines()
    coded = (f"{line},{at},{'A' if line.endswith('dry') else 'B'}" for at, line in enumerate(lines))
    Path("table.csv").write_text("\n".join([f"{header},id,outcome", *coded]) + "\n")
    code, _, told = run(capsys, "run", *PLAIN, "--out", "out", "--quiet")
    copied, counted = told.splitlines()
    assert code == 0
    assert copied.startswith("thalweg: column 'outcome' alone gives the right label in 1,000 of the first 1,000 rows")
    assert counted.startswith("thalweg: column 'id' looks like a row number (it grows by one with every row)")
    assert metrics()["warnings"] == [line.removeprefix("thalweg: ") for line in (copied, counted)]
    page = Path("out/report.html").read_text()
    assert "--drop outcome leaves it out" in page
    assert "--drop id leaves it out" in page
    assert run(capsys, "run", *PLAIN, "--drop", "id", "--drop", "outcome", "--out", "without", "--quiet")[2] == ""
