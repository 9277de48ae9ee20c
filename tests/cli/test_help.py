"""Help fits a screen, describes every option, and shells complete commands and options."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.cli.calls import run
from thalweg.cli import parser

COMMANDS = parser().commands  # type: ignore[attr-defined]
LONG = {name for name, command in COMMANDS.items() if command.layout.further}
#: Lines of a help text at 100 columns; commands with many options, and lists of papers, have more.
SCREEN, LONG_SCREEN = 45, 60


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen_with_examples_first(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, command, "--help")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) <= (LONG_SCREEN if command in LONG or command == "reproduce" else SCREEN)
    assert max(map(len, lines)) <= 100
    at = lines.index("Examples:")
    assert at < min(lines.index(each) for each in lines if re.match(r"(Options|Model|Data):$", each))
    examples = [line for line in lines[at + 1 : lines.index("", at)] if f"thalweg {command}" in line]
    assert 2 <= len(examples) <= 4


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_described_once_and_named_in_the_short_help(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [each for each in COMMANDS[command].params if each.param_type_name == "option"]
    _, short, _ = run(capsys, command, "--help")
    _, whole, _ = run(capsys, command, "--help-all" if command in LONG else "--help")
    for each in options:
        name = max(each.opts, key=len)
        assert re.search(rf"{name}\b", short)
        assert len(re.findall(rf"^  (?:-\w, |--\S+, )?{name}(?:,| |$)", whole, re.MULTILINE)) == 1
        assert (each.help or "")[-1:] == "."


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_name_options_that_exist(command: str) -> None:
    for example in COMMANDS[command].layout.examples:
        assert len(example) <= 78  # with the margin, a line of a terminal with 80 columns
        for part in " ".join(shlex.split(example)).split(" | "):
            words = part.split()
            if words[0] == "thalweg":
                known = {opt for each in COMMANDS[words[1]].params for opt in each.opts}
                assert {word for word in words if re.match(r"-{1,2}[a-z]", word)} <= known


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_a_shell_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--show-completion", shell)
    assert (code, f"_THALWEG_COMPLETE=complete_{shell}" in out) == (0, True)


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    said = "thalweg: --install-completion must be one of bash, zsh, fish, got 'tcsh'\n"
    assert run(capsys, "--install-completion", "tcsh") == (2, "", said)


@pytest.mark.parametrize(
    ("typed", "completed"), [("thalweg ru", ["run"]), ("thalweg run --ta", ["--target", "--task"])]
)
def test_commands_and_options_are_completed(
    typed: str, completed: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_THALWEG_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    code, out, _ = run(capsys)
    assert (code, out.split()) == (0, completed)
