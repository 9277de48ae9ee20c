"""The code blocks of a page, and how they are run: one after the other, in one namespace and one folder.

- ``python`` runs; it prints what the comments behind its prints say, or the ``text`` block that directly follows it.
- ``console`` runs: each ``$ thalweg …``, and what it prints is what stands below it, where anything does.
- ``sh`` is not run: how to install, which happened before.

``…`` alone on a line stands for any number of lines.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from thalweg.cli import main

FENCED = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
ANY_LINES = "…"


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, the line it begins at, and the output block that follows it."""

    language: str
    code: str
    line: int
    output: list[str] | None


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = list(FENCED.finditer(text))
    blocks = []
    for block, following in zip_longest(found, found[1:]):
        shows = following and following["language"] == "text" and not text[block.end() : following.start()].strip()
        output = following["code"].splitlines() if shows else None
        blocks.append(Block(block["language"], block["code"], text.count("\n", 0, block.start()) + 1, output))
    return blocks


def run(page: Path, printed: Callable[[], str]) -> None:
    """Run a page in the current folder; ``printed`` tells what has been printed since it was last asked."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(page):
        where = f"{page.name}, line {block.line}"
        if block.language == "python":
            exec(compile("\n" * block.line + block.code, str(page), "exec"), namespace)
            expected = SAID.findall(block.code) if block.output is None else block.output
            assert_same(printed(), expected, where)
        elif block.language == "console":
            for command, expected in commands_of(block):
                with pytest.raises(SystemExit) as left:
                    main(command)
                assert left.value.code == 0, f"{where}: {command}"
                if expected:
                    assert_same(printed(), expected, where)
                printed()


def commands_of(block: Block) -> list[tuple[list[str], list[str]]]:
    """The commands of a console block, each with the lines shown below it."""
    commands: list[tuple[list[str], list[str]]] = []
    for line in block.code.splitlines():
        if line.startswith("$ "):
            program, *arguments = shlex.split(line[2:], comments=True)
            assert program == "thalweg", f"a console block runs thalweg, not {program}"
            commands.append((arguments, []))
        else:
            commands[-1][1].append(line)
    return commands


def assert_same(printed: str, expected: list[str], where: str) -> None:
    """What was printed is what the page shows, but for spaces at the ends of lines, and those that may not break."""
    lines = [line.rstrip() for line in printed.replace("\N{NO-BREAK SPACE}", " ").strip("\n").splitlines()]
    shown = [line.rstrip() for line in expected]
    pattern = "".join(r"(?:.*\n)*?" if line == ANY_LINES else re.escape(line) + r"\n" for line in shown)
    difference = "\n".join(unified_diff(shown, lines, "shown", "printed", lineterm=""))
    assert re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)), f"{where}\n{difference}"
