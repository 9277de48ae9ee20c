"""The code blocks of a page, and how they are run: one after the other, in one namespace and one folder.

- ``python`` runs; it prints what the comments behind its prints say, or the ``text`` block that directly follows it.
- ``console`` runs: each ``$ thalweg …``, and what it prints is what stands below it, where anything does. A command
  that ends in ``&`` runs in the background until the page ends, or until ``$ kill %1`` stops it as it would in a shell.
- ``sh`` is not run: how to install, which happened before.

``…`` alone on a line stands for any number of lines. The address that a service is shown at is replaced by a free one.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import unified_diff
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from tests.ports import ReservedPort
from tests.waiting import PATIENCE
from thalweg.cli import main

FENCED = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
ANY_LINES = "…"
SHOWN_ADDRESS = "127.0.0.1:8080"


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, the line it begins at, and the output block that follows it."""

    language: str
    code: str
    line: int
    output: list[str] | None


def blocks_of(page: Path, address: str = SHOWN_ADDRESS) -> list[Block]:
    """All fenced blocks of a page, in order; its service stands at this address."""
    text = page.read_text(encoding="utf-8").replace(SHOWN_ADDRESS, address)
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
    with Background() as background, ExitStack() as at_last:
        at_last.callback(lambda: namespace["client"].close() if "client" in namespace else None)
        for block in blocks_of(page, background.address):
            where = f"{page.name}, line {block.line}"
            if block.language == "python":
                exec(compile("\n" * block.line + block.code, str(page), "exec"), namespace)
                expected = SAID.findall(block.code) if block.output is None else block.output
                assert_same(printed(), expected, where)
            elif block.language == "console":
                for command, expected in commands_of(block):
                    if command[0] == "kill":
                        background.stop()
                        continue
                    if command[-1] == "&":
                        background.start(command[1:-1])
                        continue
                    with pytest.raises(SystemExit) as left:
                        main(command[1:])
                    assert left.value.code == 0, f"{where}: {command}"
                    if expected:
                        assert_same(printed(), expected, where)
                    printed()


class Background:
    """A command that runs on while the page does: a service, at a free address."""

    def __init__(self) -> None:
        self._port = ReservedPort()
        self.address = f"127.0.0.1:{self._port.number}"
        self._running = ExitStack()

    def start(self, command: list[str]) -> None:
        """Begin, and wait until it says where it listens."""
        process = subprocess.Popen(
            [sys.executable, "-m", "thalweg", *command, "--listen", self.address], stderr=subprocess.PIPE, text=True
        )
        self._running.callback(self._end, process)
        assert process.stderr is not None
        assert any(self.address in line for line in process.stderr)  # it may say first with what it goes on

    def stop(self) -> None:
        """As ``kill`` does, and wait."""
        self._running.close()

    def _end(self, process: subprocess.Popen[str]) -> None:
        process.terminate()
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode in (0, -15), said

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *reason: object) -> None:
        self.stop()
        self._port.release()


def commands_of(block: Block) -> list[tuple[list[str], list[str]]]:
    """The commands of a console block, each with the lines shown below it."""
    commands: list[tuple[list[str], list[str]]] = []
    for line in block.code.splitlines():
        if line.startswith("$ "):
            command = shlex.split(line[2:], comments=True)
            allowed = command[0] == "thalweg" or command == ["kill", "%1"]
            assert allowed, f"a console block runs thalweg, not {command[0]}"
            commands.append((command, []))
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
