"""Completion of commands and options in bash, zsh and fish, by the scripts of Typer."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import typer

SHELLS = ("bash", "zsh", "fish")
#: Set by the script of a shell when it asks for completions.
_ASKED = "_THALWEG_COMPLETE"
_OPTIONS = ("--install-completion", "--show-completion")
_DETECTED = "detected"


def prepare_completion() -> None:
    """Load what the script of a shell needs, where one asks."""
    if _ASKED in os.environ:
        from typer._completion_classes import completion_init

        completion_init()


def with_shell(arguments: Sequence[str]) -> Iterator[str]:
    """Give the completion options a value where none follows: the parser has no optional values.

    Examples
    --------
    >>> list(with_shell(["--show-completion"])), list(with_shell(["--show-completion", "fish"]))
    (['--show-completion', 'detected'], ['--show-completion', 'fish'])
    """
    for at, argument in enumerate(arguments):
        yield argument
        if argument in _OPTIONS and (at + 1 == len(arguments) or arguments[at + 1].startswith("-")):
            yield _DETECTED


def install(context: typer.Context, shell: str | None) -> None:
    """Add the completion script to the start-up files of the shell, and exit."""
    if shell is None or context.resilient_parsing:
        return
    from typer._completion_shared import install

    name, path = install(_supported(shell, "install_completion"), "thalweg", _ASKED)
    typer.echo(f"Completion for {name} is installed in {path}. It works in new terminals.")
    raise typer.Exit


def show(context: typer.Context, shell: str | None) -> None:
    """Print the completion script, and exit."""
    if shell is None or context.resilient_parsing:
        return
    from typer._completion_shared import get_completion_script

    shell = _supported(shell, "show_completion")
    typer.echo(get_completion_script(prog_name="thalweg", complete_var=_ASKED, shell=shell))
    raise typer.Exit


def _supported(shell: str, option: str) -> str:
    from thalweg.errors import InvalidParameter

    if shell == _DETECTED:
        import shellingham  # type: ignore[import-untyped]

        try:
            shell = shellingham.detect_shell()[0]
        except shellingham.ShellDetectionFailure as error:
            raise InvalidParameter.of_option(option, f"name a shell ({', '.join(SHELLS)})", None) from error
    if shell not in SHELLS:
        raise InvalidParameter.of_option(option, f"be one of {', '.join(SHELLS)}", shell)
    return shell
