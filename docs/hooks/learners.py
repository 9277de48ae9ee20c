"""Tables and lists of learners, from what their classes say of themselves (`GuideRow`, `CatalogueEntry`).

On a page, a line ``<!-- learners: table -->`` becomes the table "which one when", and ``<!-- learners: reference -->``
the reference of every classifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from thalweg import learners

if TYPE_CHECKING:
    from thalweg.learners.base.catalogue_entry import GuideRow

MARK = re.compile(r"^<!-- learners: (?P<what>table|reference) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Marks become what they name."""
    return MARK.sub(lambda mark: {"table": site_table, "reference": reference}[mark["what"]](), markdown)


def described() -> Iterator[tuple[Any, tuple[GuideRow, ...]]]:
    """Every class that has rows in the guide, in order."""
    for name in learners.MODULES:
        learner = getattr(learners, name)
        if learner._guide:
            yield learner, learner._guide


def site_table() -> str:
    """With links to the learners' pages and the names that `thalweg run --model` takes."""
    lines = [("learner", "`--model`", "use it when", "not when", "you choose", "probabilities", "cost of a row")]
    for learner, rows in described():
        names = [f"`{learner._catalogue.name}`" if learner._catalogue else "", *("" for _ in rows[1:])]
        for row, name in zip(rows, names, strict=True):
            link = f"[`{row.learner}`]({row.page}.md)"
            lines.append((link, name, row.when, row.not_when, row.to_choose, row.probabilities, row.cost))
    return _markdown(lines)


def reference() -> str:
    """One line for each class, which mkdocstrings reads."""
    return "\n".join(f"::: thalweg.{learner.__name__}" for learner, _ in described())


def _markdown(lines: list[tuple[str, ...]]) -> str:
    rule = "|" + "---|" * len(lines[0])
    first, *others = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([first, rule, *others])
