"""How the run was made: its rows, its columns, its model, and the command."""

from __future__ import annotations

from typing import Any

from thalweg.report.page.content import Metrics
from thalweg.report.page.frames import folded, section
from thalweg.report.page.markup import Markup, table, tag
from thalweg.report.page.numbers import count, counted
from thalweg.report.page.parameters import in_words

#: Columns that are shown without being asked for.
_MOST_COLUMNS = 40


def rows(metrics: Metrics) -> Markup:
    """What became of the rows, late and missing labels and unreadable rows included."""
    seen = metrics["rows"]
    lines = [
        (count(seen["read"]), "read", "all rows of the source"),
        (count(seen["skipped"]), "skipped", "could not be used"),
        (count(seen["answered"]), "answered", "each before its label was learned"),
        (count(seen["unlabelled"]), "without label", "answered; neither right nor wrong"),
        (count(seen["pending"]), "pending", "their label had not come when the source ended"),
        (count(seen["scored"]), "scored", f"what every score counts; {_lateness(metrics['run']['options'])}"),
        (count(seen["learned"]), "learned", "by the model"),
    ]
    listed = table(("rows", "", ""), lines, caption="What became of the rows")
    bad = seen["bad"]
    if not bad:
        return section("rows", "Rows", listed)
    summary = "The skipped rows" + (f": the first {count(len(bad))}" if len(bad) < seen["skipped"] else "")
    complaints = tag("ul", *(tag("li", each) for each in bad), class_="bad")
    return section("rows", "Rows", listed, folded(summary, complaints))


def _lateness(options: dict[str, Any]) -> str:
    if options.get("label_time"):
        return f"labels came at the time in column {options['label_time']}"
    if options.get("delay"):
        return f"labels came {counted(int(options['delay']), 'row')} late"
    return "labels came at once"


def columns(metrics: Metrics) -> Markup:
    """What was done to each column."""
    told = table(("column", "kind", "what was done"), metrics["columns"], caption="Columns")
    many = len(metrics["columns"]) > _MOST_COLUMNS
    return section(
        "columns", "Columns", folded(f"All {count(len(metrics['columns']))} columns", told) if many else told
    )


def model(metrics: Metrics) -> Markup:
    """What learned, with which parameters."""
    learned = metrics["model"]
    used = sum(kind != "–" for _, kind, _ in metrics["columns"])
    features = (
        f"{counted(used, 'column')} {'gives' if used == 1 else 'give'} {counted(learned['features'], 'feature')}, the "
        "last of which tells that a value is missing where there were no gaps at first."
    )
    about = tag("p", tag("b", learned["title"]), f": {learned['about'].rstrip('.')}. {features}")
    parts = [about]
    if learned["parameters"]:
        parts.append(_options("parameter", learned["parameters"], "Parameters of the model"))
    if learned["explain"]:
        parts.append(folded("In the model’s own words, at the end", tag("pre", learned["explain"])))
    return section("model", "Model", *parts)


def run(metrics: Metrics) -> Markup:
    """The command that made the page, and all options."""
    made = metrics["run"]
    command = tag("pre", tag("code", made["command"]), class_="command", tabindex="0")
    options = folded("All options", _options("option", made["options"], "Options of the run"))
    return section("run", "How this was made", command, options)


def _options(kind: str, given: dict[str, Any], caption: str) -> Markup:
    return table((kind, "value"), [(name, in_words(value)) for name, value in given.items()], caption=caption)
