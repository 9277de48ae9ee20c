"""Tables and lists of learners, from what their classes say of themselves (`GuideRow`, `CatalogueEntry`).

A line ``<!-- learners: reference -->`` of a page becomes the reference of every classifier. ``python
docs/hooks/learners.py`` writes the table "which one when" into its page, so that it is there in a checkout, too; a test
holds that it is current.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import learners

if TYPE_CHECKING:
    from thalweg.learners.base.catalogue_entry import GuideRow

REFERENCE = "<!-- learners: reference -->"
PAGE = Path(__file__).parents[1] / "algorithms" / "index.md"
TABLE = re.compile(r"(?<=<!-- learners: table -->\n\n)(?:\|.*\n)+")


def on_page_markdown(markdown: str, **_: object) -> str:
    """The mark becomes what it names."""
    return markdown.replace(REFERENCE, reference())


def with_table(markdown: str) -> str:
    """The page with the table as it should be."""
    return TABLE.sub(lambda _: f"{site_table()}\n", markdown)


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


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
