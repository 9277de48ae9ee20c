"""The command line: one command, one file; each imports its work when it is called.

An error is one line on standard error and exit code 2; ``--debug`` shows where it came from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from thalweg.cli.compare import compare
from thalweg.cli.completion import install, prepare_completion, show, with_shell
from thalweg.cli.conformance import conformance
from thalweg.cli.demo import demo
from thalweg.cli.generate import HELP as GENERATE_HELP
from thalweg.cli.generate import generate
from thalweg.cli.journals import compact, erase, replay, verify
from thalweg.cli.models import inspect, models
from thalweg.cli.options import WIDTH, with_examples, with_help
from thalweg.cli.predict import predict
from thalweg.cli.reproduce import HELP as REPRODUCE_HELP
from thalweg.cli.reproduce import reproduce
from thalweg.cli.run import HELP as RUN_HELP
from thalweg.cli.run import run
from thalweg.cli.serve import HELP as SERVE_HELP
from thalweg.cli.serve import serve
from thalweg.cli.terminal import Process
from thalweg.stopping import Stopped, Stopping

EXIT_ERROR = 2
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143  # 128 + the number of the signal, as shells report it
#: What options of other tools are called here.
_CALLED_HERE = {"--port": "--listen", "--host": "--listen", "--label": "--target", "--sep": "--delimiter"}

app = typer.Typer(
    name="thalweg",
    add_completion=False,  # Typer's own options take no name of a shell
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": WIDTH},
)
app.command(short_help="Train a model on a table and report its errors.", cls=with_help(RUN_HELP))(run)
app.command(
    short_help="Predict the rows of a table with a saved model.",
    cls=with_examples(
        "thalweg predict thalweg-run/model.thalweg new.csv -o predictions.csv",
        "thalweg predict thalweg-run/model.thalweg new.parquet --explain",
        "zcat new.ndjson.gz | thalweg predict thalweg-run/model.thalweg -",
    ),
)(predict)
app.command(
    short_help="Serve a model over HTTP that learns from late labels.",
    context_settings={"auto_envvar_prefix": "THALWEG_SERVE"},
    cls=with_help(SERVE_HELP),
)(serve)
app.command(
    short_help="Rebuild a served model as of any record of its journal.",
    cls=with_examples(
        "thalweg replay thalweg-serve --to 5000 --out model.thalweg",
        "thalweg replay --database postgresql://host/db --model eu --out eu.thalweg",
    ),
)(replay)
app.command(
    short_help="Check a service's journal for damage.",
    cls=with_examples("thalweg verify thalweg-serve", "thalweg verify --database postgresql://host/db"),
)(verify)
app.command(
    short_help="Erase the old records of a service's journal.",
    cls=with_examples("thalweg compact thalweg-serve --keep 90d", "thalweg compact thalweg-serve --keep 1000000rows"),
)(compact)
app.command(
    short_help="Erase single rows from a service's journal.",
    cls=with_examples("thalweg erase thalweg-serve --id 12-0", "thalweg erase thalweg-serve --id 12-0 --id 12-1"),
)(erase)
app.command(
    short_help="Describe a model file.",
    cls=with_examples("thalweg inspect thalweg-run/model.thalweg", "thalweg inspect thalweg-run/model.thalweg | head"),
)(inspect)
app.command(
    short_help="List the models of `thalweg run` and when to use which.",
    cls=with_examples("thalweg models", "thalweg models | grep rare"),
)(models)
app.command(
    short_help="Run on a drifting stream beside a frozen model and write the report.",
    cls=with_examples("thalweg demo", "thalweg demo --rows 100000 --seed 7 --out demo"),
)(demo)
app.command(
    help=REPRODUCE_HELP,
    short_help="Reproduce a paper: its numbers beside measured ones.",
    cls=with_examples(
        "thalweg reproduce kuncheva2008 table1 --runs 10", "thalweg reproduce auto ranks --json ranks.json"
    ),
)(reproduce)
app.command(
    short_help="Compare runs and test their differences.",
    cls=with_examples("thalweg compare run-a run-b", "thalweg compare run-a/metrics.json run-b/metrics.json --json"),
)(compare)
app.command(
    short_help="Run the estimator checks of scikit-learn and River.",
    cls=with_examples("thalweg conformance OnlineLDC", "thalweg conformance --suite River --json counts.json"),
)(conformance)
app.command(
    help=GENERATE_HELP,
    short_help="Write rows of a generated stream to a file.",
    cls=with_examples(
        "thalweg generate sea -o sea.csv --rows 20000",
        "thalweg generate stagger -o - --rows 5000 | thalweg run - --target label",
    ),
)(generate)


@app.callback(invoke_without_command=True)
def thalweg(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; allowed anywhere in the command.")
    ] = False,
    install_completion: Annotated[
        str | None,
        typer.Option(metavar="[SHELL]", callback=install, help="Install completion for bash, zsh or fish, and exit."),
    ] = None,
    show_completion: Annotated[
        str | None,
        typer.Option(metavar="[SHELL]", callback=show, help="Print the completion script of a shell, and exit."),
    ] = None,
) -> None:
    """Learn from data streams that drift.

    Start with `thalweg demo`, or with `thalweg run rows.csv --target COL`.
    """
    if version:
        from thalweg import __version__

        typer.echo(f"thalweg {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@cache
def parser() -> Callable[..., Any]:
    """The parser of all commands, made once: Typer evaluates the annotations of every option for it."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code."""
    Process.of_one_command = arguments is None
    if Process.of_one_command:
        _write_utf8()
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    command = list(with_shell([argument for argument in given if argument != "--debug"]))
    prepare_completion()
    try:
        with Stopping() if Process.of_one_command else nullcontext():
            code = parser()(command, prog_name="thalweg", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except Stopped as stopped:
        code = stopped.exit_code
    except Exception as error:
        if isinstance(error.__cause__, Stopped):  # wrapped by Python 3.11, where a class was being made
            code = error.__cause__.exit_code
        elif debug:
            raise
        else:
            typer.echo(f"thalweg: {_one_line(error)}", err=True)
            code = EXIT_ERROR
    if code in (EXIT_INTERRUPTED, EXIT_TERMINATED):
        typer.echo("thalweg: interrupted", err=True)
    sys.exit(code if isinstance(code, int) else 0)


def _write_utf8() -> None:
    """UTF-8 to files and pipes, whatever the system's encoding; a terminal shows what it can, and escapes the rest."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # None where there is no console
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def _suggest(error: Any) -> None:
    """Let the parser's error about an option name the option that is meant, where its letters are not close."""
    meant = _CALLED_HERE.get(getattr(error, "option_name", ""))
    if meant is not None and any(meant in parameter.opts for parameter in error.ctx.command.params):
        error.possibilities = [meant]


def _one_line(error: Exception) -> str:
    """What went wrong, for people: a bug says that it is one."""
    from thalweg.errors import ThalwegError

    if hasattr(error, "format_message"):  # the parser's own errors, whichever library raises them
        _suggest(error)
        message = str(error.format_message())
    elif isinstance(error, OSError) and error.strerror:
        message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    elif isinstance(error, ThalwegError):
        message = str(error)
    else:
        message = f"internal error, {type(error).__name__}: {error} (--debug shows where)"
    return " ".join(message.split())
