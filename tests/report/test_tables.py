from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.table import Table

from thalweg.report import tables


def printed(table: Table) -> list[str]:
    console = Console(width=80, record=True, file=StringIO())
    console.print(table)
    return [" ".join(line.split()) for line in console.export_text().splitlines()]


def test_scores_leave_empty_what_is_not_known() -> None:
    table = tables.scores(("error", "log-loss"), {"O-LDC": (0.25, 0.5), "Other": (0.125, None)})
    assert printed(table) == ["error log-loss", "O-LDC 0.250 0.500", "Other 0.125"]
    assert printed(tables.scores(("error",), {})) == ["error"]


def test_a_narrow_terminal_wraps_names_and_cuts_no_number() -> None:
    name, cells = "auto-linear categorical=station,weekday season=24", ["−0.0013 to +0.0146"] * 3
    lines = printed(tables.lines(("", "PR AUC", "ROC AUC", "cost"), [[name, *cells]]))
    assert " ".join(lines).count(cells[0]) == 3
    assert "…" not in "".join(lines)


def test_sections_are_under_their_names() -> None:
    groups = {"SVM": [[" block 51", "0.9", "3"]], "MLP": [tables.Styled([" block 51", "0.8", "4"], "dim")]}
    table = tables.sections(("", "dip", "blocks"), groups)
    assert printed(table) == ["dip blocks", "SVM", "block 51 0.9 3", "", "MLP", "block 51 0.8 4"]


def test_errors_have_gaps_between_groups_and_the_least_in_bold() -> None:
    groups = [{"ours": [0.25, None], "other": [0.125, 0.5]}, {"peer": [0.5, 0.75]}]
    table = tables.errors(("SEA", "ELEC2"), groups)
    assert printed(table) == ["SEA ELEC2", "ours .2500", "other .1250 .5000", "", "peer .5000 .7500"]
    console = Console(width=80, file=StringIO(), force_terminal=True, color_system="standard")
    console.print(table)
    assert [text for text in (".2500", ".1250", ".5000", ".7500") if f"\x1b[1m{text}" in console.file.getvalue()] == [
        ".1250",
        ".5000",
    ]
