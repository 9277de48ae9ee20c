"""What the report says of inputs, rises of the error and alerts stays short, with the largest first."""

from __future__ import annotations

from typing import Any

from thalweg.report.page.change_lines import change_lines
from thalweg.report.page.input_parts import findings, input_parts
from thalweg.report.page.row_axis import RowAxis


def metrics_with(rises: int) -> dict[str, Any]:
    """Rises of the error at every thousandth row, of which the last but one is the longest."""
    sizes = [0.2 + (0.3 if at == rises - 2 else 0.0) for at in range(rises)]
    changes = [
        {"row": 1000 * at, "found": 1000 * at + 49, "before": 0.1, "seen": 0.4, "after": size}
        for at, size in enumerate(sizes, start=1)
    ]
    causes = [
        {"row": each["row"], "at": each["row"], "found_at": each["found"], "cause": "concept"}
        | {"columns": [], "changed": []}
        for each in changes
    ]
    inputs = {"changes": [], "causes": causes, "columns": [], "predictions": [], "targets": [], "not_watched": []}
    return {"task": "classification", "changes": changes, "inputs": inputs}


def test_of_many_rises_the_largest_come_first_and_the_rest_together() -> None:
    found = [each.sentence for each in findings(metrics_with(29))]
    assert len(found) == 4
    assert "at row 28,000 from" in found[0]
    assert found[-1].startswith("The error rose 26 more times, by less or for a shorter time")
    assert len(findings(metrics_with(4))) == 4  # one alone is no group


def test_the_report_shows_the_largest_in_the_order_of_rows_and_folds_the_rest() -> None:
    metrics = metrics_with(29)
    for at, cause in enumerate(metrics["inputs"]["causes"]):  # each has a column, and so a sentence of its own
        cause |= {"columns": ["a"], "changed": [{"column": "a", "row": 1000 * at, "when": "with"}], "cause": "unclear"}
    parts = input_parts(metrics)
    for part, size in (("input_findings", 6), ("input_folded", 23)):
        rows = [int(sentence.split("at row ")[1].split()[0].replace(",", "")) for sentence in parts[part]]
        assert (rows, len(rows)) == (sorted(rows), size)
    assert any("at row 28,000 " in sentence for sentence in parts["input_findings"])
    lines = change_lines(metrics["changes"][::-1], str, RowAxis({}))
    assert [len(lines.largest), len(lines.others)] == [8, 21]
    for part in (lines.largest, lines.others):
        numbers = [int(line[0]) for line in part]
        assert (numbers, [line[1] for line in part]) == (sorted(numbers), [f"{number},000" for number in numbers])
    assert "28,000" in [line[1] for line in lines.largest]
    assert [mark["name"] for mark in lines.marks] == [line[0] for line in lines.largest]  # a chart marks only these


def test_only_columns_that_changed_before_or_with_a_rise_are_named_as_its_cause() -> None:
    def said(cause: str, *changed: tuple[str, int, str]) -> str:
        metrics = metrics_with(1)
        near = [dict(zip(("column", "row", "when"), each, strict=True)) for each in changed]
        columns = [each["column"] for each in near if each["when"] != "after"]
        metrics["inputs"]["causes"][0] |= {"cause": cause, "changed": near, "columns": columns}
        [(_, sentence)] = findings(metrics)
        return sentence

    relation = "the relation between inputs and label changed"
    assert said("concept", ("b", 1150, "after")).endswith(
        f"until the next change) before any input was seen to change: probably {relation}. "
        "Column b (row 1,150) changed after the rise."
    )
    told = said("unclear", ("a", 1010, "with"), ("c", 300, "before"), ("b", 1150, "after"))
    assert "until the next change) when column a changed, after column c (row 300) had changed. Too few rows" in told
    assert told.endswith("too. Column b (row 1,150) changed after the rise.")
    assert said("unclear", ("b", 1150, "after")).endswith(
        f"Column b (row 1,150) changed after the rise. Whether {relation} cannot be said."
    )


def test_an_alert_of_an_event_has_no_end_and_one_that_holds_lasts_to_the_end() -> None:
    fired = [
        {"rule": "error_rise", "row": 5, "before": 0.1, "seen": 0.4},
        {"rule": "error>0.2", "row": 7, "value": 0.25, "ended": None},
        {"rule": "error>0.2", "row": 3, "value": 0.25, "ended": 6},
    ]
    lines = input_parts(metrics_with(0) | {"alerts_fired": {"fired": fired, "left_out": 0}})["alert_lines"]
    assert [line[-1] for line in lines] == ["", "the end", "6"]
