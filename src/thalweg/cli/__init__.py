"""The command line: one command, one file; each imports its work when it is called.

An error is one line on standard error and exit code 2; ``--debug`` shows where it came from.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from thalweg.cli.compact import compact
from thalweg.cli.compare import compare
from thalweg.cli.conformance import conformance
from thalweg.cli.demo import demo
from thalweg.cli.erase import erase
from thalweg.cli.generate import HELP as GENERATE_HELP
from thalweg.cli.generate import generate
from thalweg.cli.models import inspect, models
from thalweg.cli.predict import predict
from thalweg.cli.replay import replay
from thalweg.cli.reproduce import HELP as REPRODUCE_HELP
from thalweg.cli.reproduce import reproduce
from thalweg.cli.run import run
from thalweg.cli.serve import serve
from thalweg.cli.verify import verify

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it

app = typer.Typer(name="thalweg", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command(short_help="Train a model on a table of rows in time order, and report how it did.")(run)
app.command(short_help="Predict the rows of a table with a saved model.")(predict)
app.command(
    short_help="Serve a model over HTTP that predicts, and learns from late labels.",
    context_settings={"auto_envvar_prefix": "THALWEG_SERVE"},
)(serve)
app.command(short_help="Rebuild a served model as it was at any point of its journal.")(replay)
app.command(short_help="Check that the journal of a service is as it was written.")(verify)
app.command(short_help="Erase the old records of a service's journal.")(compact)
app.command(short_help="Erase single rows from a service's journal.")(erase)
app.command(short_help="Describe a model file.")(inspect)
app.command(short_help="List the models of `thalweg run`, and when to use which.")(models)
app.command(short_help="Train on a drifting stream and draw the error over time.")(demo)
app.command(help=REPRODUCE_HELP, short_help="Reproduce a paper: its numbers beside measured ones.")(reproduce)
app.command(short_help="Compare runs and test their differences.")(compare)
app.command(short_help="Count the checks of scikit-learn and River that our estimators pass.")(conformance)
app.command(help=GENERATE_HELP, short_help="Write rows of a generated stream to a file.")(generate)


@app.callback(invoke_without_command=True)
def thalweg(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere.")] = False,
) -> None:
    """Models that stay right while the stream drifts."""
    if version:
        from importlib.metadata import version as installed_version

        typer.echo(f"thalweg {installed_version('thalweg')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    command = [argument for argument in given if argument != "--debug"]
    try:
        code = app(command, prog_name="thalweg", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except Exception as error:
        if debug:
            raise
        typer.echo(f"thalweg: {_one_line(error)}", err=True)
        code = EXIT_ERROR
    if code == EXIT_INTERRUPTED:
        typer.echo("thalweg: interrupted", err=True)
    sys.exit(code if isinstance(code, int) else 0)


def _one_line(error: Exception) -> str:
    """What went wrong, for people: a bug says that it is one."""
    from thalweg.errors import ThalwegError

    if hasattr(error, "format_message"):  # the parser's own errors, whichever library raises them
        message = str(error.format_message())
    elif isinstance(error, OSError) and error.strerror:
        message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    elif isinstance(error, ThalwegError):
        message = str(error)
    else:
        message = f"internal error, {type(error).__name__}: {error} (--debug shows where)"
    return " ".join(message.split())
