"""``thalweg serve``: a model that predicts over HTTP and learns when labels arrive."""

from __future__ import annotations

import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg.cli.options import HelpLayout, with_options
from thalweg.service.options import ServeOptions

#: Options that a configuration file does not take.
_TYPED = ("config", "make-token", "scope", "prometheus-rules", "help")
HELP = HelpLayout(
    examples=(
        "thalweg serve",
        "thalweg serve --model model.thalweg --listen 0.0.0.0:80 --token-file tokens",
        "thalweg serve --make-token app --scope learn --token-file tokens",
    ),
    common={
        "Model": ("new", "model", "task", "key", "schema", "positive", "feature"),
        "Journal": ("data", "database", "expire", "keep"),
        "Network": ("listen", "token_file", "make_token", "scope", "insecure"),
        "Operation": ("sources", "uploads", "alert", "alert_webhook", "promote", "config", "help", "help_all"),
    },
    further={
        "Model details": ("features", "time", "coverage", "costs", "key_memory"),
        "Journal details": ("new_journal", "keep_replies", "predict_when_full", "database_timeout", "follow"),
        "Monitoring": ("alert_secret_file", "prometheus_rules", "otel_endpoint", "log_format"),
        "Requests": ("max_body", "max_rows", "max_waiting"),
        "Connections": (
            "max_connections",
            "max_connections_per_address",
            "max_header",
            "header_timeout",
            "keep_alive",
            "trusted_proxy",
        ),
    },
    note="Each option can also be set by an environment variable, such as THALWEG_SERVE_TOKEN_FILE for --token-file.",
)


def read_config(context: typer.Context, file: Path | None) -> Path | None:
    """Take the options of a file of TOML as defaults, below the environment and the command line."""
    from thalweg.errors import InvalidParameter

    if context.resilient_parsing:
        return file
    _warn_of_misspelt_variables(context)
    if file is None:
        return file
    try:
        given = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidParameter(f"--config {file} cannot be read: {error}") from error
    names = {option.removeprefix("--"): parameter for parameter in context.command.params for option in parameter.opts}
    names = {name: parameter for name, parameter in names.items() if name not in _TYPED}
    settings = given.pop("serve", {})
    if strange := [*given, *(settings.keys() - names.keys() if isinstance(settings, dict) else ["serve"])]:
        close = get_close_matches(strange[0], names, 1)
        rule = "put the options of `thalweg serve` in a table [serve], named as in --help-all"
        hint = f"did you mean {close[0]!r}?" if close and strange[0] not in given else rule
        raise InvalidParameter(f"--config {file} has an unknown entry {strange[0]!r}: {hint}")
    for name, value in settings.items():
        several = getattr(names[name], "multiple", False)
        if not isinstance(value, list if several else (str, int, float)):
            expected = "a list of texts" if several else "a text, a number, true or false"
            raise InvalidParameter(f"--config {file}: {name} must be {expected}, got {value!r}")
    context.default_map = {str(names[name].name): value for name, value in settings.items()}
    return file


def _warn_of_misspelt_variables(context: typer.Context) -> None:
    """Others begin like ours, such as Kubernetes' for a service of that name: only near misses are warned of."""
    prefix = f"{context.auto_envvar_prefix}_"
    known = [str(parameter.name).upper() for parameter in context.command.params] + ["FROM"]
    for name in (variable.removeprefix(prefix) for variable in os.environ if variable.startswith(prefix)):
        if name not in known and (close := get_close_matches(name, known, 1, 0.8)):
            warning = f"the environment variable {prefix}{name} is ignored: did you mean {prefix}{close[0]}?"
            typer.echo(f"thalweg: {warning}", err=True)


@with_options(ServeOptions, "THALWEG_SERVE")
def serve(
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            is_eager=True,
            callback=read_config,
            help="TOML file with options in a table [serve]; the command line overrides it.",
        ),
    ] = None,
    prometheus_rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File to write Prometheus rules to, for --alert and the service itself; then exit."
        ),
    ] = None,
    make_token: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of a token to make: print it once, add it to --token-file, and exit."),
    ] = None,
    scope: Annotated[
        str, typer.Option(metavar="SCOPE", help="Scope of the token to make: read, learn or admin.")
    ] = "learn",
    **given: Any,
) -> None:
    """Serve a model over HTTP that predicts rows and learns their labels, now or weeks later.

    Every acknowledged row and label is in a journal on disk, from which a restarted service resumes.
    """
    if make_token is not None:
        _make_token(make_token, scope, given["token_file"])
        return
    options = ServeOptions(**{name: value for name, value in given.items() if value is not None and value != []})
    if prometheus_rules is not None:
        _write_prometheus_rules(prometheus_rules, options)
        return
    from thalweg.cli.terminal import quick_start
    from thalweg.errors import MissingExtra

    try:
        with quick_start(frames=False):
            from thalweg.service.server import serve as run
    except ImportError as error:
        raise MissingExtra.of(error.name or "starlette", "serve", "thalweg serve") from error
    run(options, lambda line: typer.echo(line, err=True))


def _write_prometheus_rules(file: Path, options: ServeOptions) -> None:
    from thalweg.cli.prometheus_rules import of_models, of_service, rule_file
    from thalweg.cli.terminal import writable_file
    from thalweg.files import write_atomically
    from thalweg.service.alerts import service_rules

    keep_bytes = None if options.keep is None else options.keep.bytes
    text = rule_file([*of_models(service_rules(options.alert)), *of_service(keep_bytes)])
    writable_file(file)
    write_atomically(file, text.encode())


def _make_token(name: str, scope: str, file: Path | None) -> None:
    from thalweg.errors import InvalidParameter
    from thalweg.service.auth import SCOPES, make_token

    if scope not in SCOPES:
        raise InvalidParameter.of_option("scope", f"be one of {', '.join(SCOPES)}", scope)
    if not name or any(letter.isspace() or letter == "#" for letter in name):
        raise InvalidParameter.of_option("make_token", "be a name without blanks", name)
    token, line = make_token(name, SCOPES[SCOPES.index(scope)])
    if file is not None:
        readable_by_owner = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        with open(readable_by_owner, "a", encoding="utf-8") as lines:
            lines.write(line + "\n")
    typer.echo(f"The token, which is shown only this once: {token}")
    typer.echo(f"Its line in {file}: {line}" if file else f"Its line for --token-file: {line}")
