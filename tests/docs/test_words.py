"""Text for users has the field's terms: no docstring of a public name, help text or message uses a private word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from thalweg.cli import parser

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "thalweg"
#: Folders and files whose docstrings users read in the reference or by help().
PUBLIC = (
    *("__init__.py", "errors.py", "rates.py", "store.py", "client", "evaluate", "explain", "fleet"),
    *("frames", "learners", "merging", "pipeline", "river", "spark", "streams", "table_model", "text", "transforms"),
)
#: Private words, and the term to use instead.
TERMS = {
    r"\bvoices?\b": "member, weight of a member",
    r"\banswer(?:s|ed|ing)?\b": "prediction, predict",
    r"\b(?:go|goes|going|went)\s+on\b": "continue, resume",
    r"\b(?:of\s+late|lately)\b": "recent, over the last N rows",
    r"\btold\b|\btells?\b": "say, report, show, distinguish",
    r"\blook(?:s|ed at)? on the way\b": "snapshots, history points",
    r"\bno row waits for\b": "independent of the width",
    r"\bwith a handicap\b": "with a lower prior weight",
    r"\bin (?:the|its) shadow\b|\bbeyond doubt\b": "as a shadow challenger, significantly",
    r"\bhad the right label\b": "corrections are replayed",
    r"\bkn[eo]w the world\b": "never see a row before it is predicted",
    r"\btake what they take\b|\bsome\s+minutes\b": "a number with its unit",
    r"\bEverything random\b": "seed for the random number generator",
    r"\bby default found out\b": "(default: detected)",
    r"\bbeg[ai]ns? anew\b": "start over",
}
#: Code in prose, names of parameters and fields, names that the reference lists (:::).
NAMES = re.compile(
    r"^::: .*$|``.*?``|`.*?`|\"\w+\"|^\s*[\w, *]+ : .*$|^\s*(?:>>>|\.\.\.) (?:.*\n?)(?:.+\n?)*"
    r"|\bdid not answer\b",
    re.MULTILINE,
)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def docstrings() -> Iterator[tuple[str, str]]:
    """The docstrings of public names, with where they stand."""
    for part in PUBLIC:
        for path in sorted((PACKAGE / part).rglob("*.py")) if (PACKAGE / part).is_dir() else [PACKAGE / part]:
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    name = getattr(node, "name", "the module")
                    if not name.startswith("_") and (text := ast.get_docstring(node)):
                        yield f"{path.relative_to(ROOT)}: {name}", text


def helps() -> Iterator[tuple[str, str]]:
    """What ``--help`` says of every command and option."""
    for name, command in parser().commands.items():  # type: ignore[attr-defined]
        for text in (command.help, command.short_help, *(getattr(each, "help", None) for each in command.params)):
            yield f"thalweg {name}", text or ""


def messages() -> Iterator[tuple[str, str]]:
    """The literal parts of every error that is raised."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Raise) and node.exc is not None:
                words = [each.value for each in ast.walk(node.exc) if isinstance(each, ast.Constant)]
                yield (
                    f"{path.relative_to(ROOT)}:{node.lineno}",
                    " ".join(each for each in words if isinstance(each, str)),
                )


def page(path: Path) -> tuple[str, str]:
    """A page without its blocks of code."""
    text = path.read_text(encoding="utf-8")
    return str(path.relative_to(ROOT)), re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)


def private_words(texts: Iterator[tuple[str, str]], terms: Iterator[str]) -> list[str]:
    """Where a private word is, with the term to use instead."""
    patterns = {term: re.compile(term, 0 if "Everything" in term else re.IGNORECASE) for term in terms}
    return [
        f"{where}: {found[0]!r} in …{prose[max(0, found.start() - 30) : found.end() + 20]!r}…: write {TERMS[term]}"
        for where, text in texts
        for prose in [NAMES.sub("", text)]
        for term, pattern in patterns.items()
        for found in pattern.finditer(prose)
    ]


@pytest.mark.parametrize("texts", [docstrings, helps, messages])
def test_text_for_users_has_the_terms_of_the_field(texts):
    assert not private_words(texts(), iter(TERMS))


def test_pages_have_the_terms_of_the_field():
    assert not private_words(
        map(page, [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]), iter(TERMS)
    )


def test_a_private_word_is_found_and_code_is_not():
    said = "Each row is answered before.\n\nThe field ``answer`` is a name.\n\n>>> answers = 3\n"
    assert len(private_words(iter([("here", said)]), iter(TERMS))) == 1


#: Words that no name in the code is made of.
NOT_IN_NAMES = re.compile(
    r"(?<![^\W_])(?:bygone|crew|handicap|lately|seat|tells?|told|voices?)(?![^\W_])", re.IGNORECASE
)


def private_names(path: Path) -> list[str]:
    """Names of classes, functions, parameters, variables and attributes that are made of such words."""
    if not NOT_IN_NAMES.search(path.read_text(encoding="utf-8")):
        return []  # most files: their trees need not be walked
    names = [getattr(node, field, None) for node in ast.walk(parsed(path)) for field in ("id", "arg", "attr", "name")]
    return [name for name in names if isinstance(name, str) and NOT_IN_NAMES.search(name)]


def comments() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if comment := re.search(r"(?:^|\s)#:? .*", line):
                yield f"{path.relative_to(ROOT)}:{number}", comment[0]


def test_names_in_the_code_are_those_of_the_field(tmp_path):
    wrong = {str(path.relative_to(ROOT)): private_names(path) for path in sorted(PACKAGE.rglob("*.py"))}
    assert [item for item in wrong.items() if set(item[1]) - {"tell"}] == []  # file.tell()
    (tmp_path / "a.py").write_text("def f(row, told_at):\n    return row.what_it_told\n")
    assert private_names(tmp_path / "a.py") == ["told_at", "what_it_told"]


def test_comments_have_the_terms_of_the_field():
    assert not private_words(comments(), iter(TERMS))
