"""``thalweg serve``: a model that predicts over HTTP and learns when labels arrive."""

from __future__ import annotations

import os
import tomllib
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli.help import HelpLayout


class LogFormat(StrEnum):
    text = "text"
    json = "json"


#: Options that a configuration file does not take.
_TYPED = ("config", "make-token", "scope", "prometheus-rules", "help")
HELP = HelpLayout(
    examples=(
        "thalweg serve",
        "thalweg serve --model model.thalweg --listen 0.0.0.0:80 --token-file tokens",
        "thalweg serve --make-token app --scope learn --token-file tokens",
    ),
    common={
        "Model": ("new", "model", "task", "key", "schema", "positive"),
        "Journal": ("data", "database", "expire", "keep"),
        "Network": ("listen", "token_file", "make_token", "scope", "insecure"),
        "Operation": ("sources", "alert", "alert_webhook", "promote", "config", "help", "help_all"),
    },
    further={
        "Model details": ("coverage", "costs", "key_memory"),
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
    names = {option.removeprefix("--"): each for each in context.command.params for option in each.opts}
    names = {name: each for name, each in names.items() if name not in _TYPED}
    found = given.pop("serve", {})
    if strange := [*given, *(found.keys() - names.keys() if isinstance(found, dict) else ["serve"])]:
        close = get_close_matches(strange[0], names, 1)
        rule = "put the options of `thalweg serve` in a table [serve], named as in --help-all"
        told = f"did you mean {close[0]!r}?" if close and strange[0] not in given else rule
        raise InvalidParameter(f"--config {file} has an unknown entry {strange[0]!r}: {told}")
    for name, value in found.items():
        several = getattr(names[name], "multiple", False)
        if not isinstance(value, list if several else (str, int, float)):
            expected = "a list of texts" if several else "a text, a number, true or false"
            raise InvalidParameter(f"--config {file}: {name} must be {expected}, got {value!r}")
    context.default_map = {str(names[name].name): value for name, value in found.items()}
    return file


def _warn_of_misspelt_variables(context: typer.Context) -> None:
    """Others begin like ours, such as Kubernetes' for a service of that name: only near misses are told."""
    prefix = f"{context.auto_envvar_prefix}_"
    known = [str(each.name).upper() for each in context.command.params] + ["FROM"]
    for name in (each.removeprefix(prefix) for each in os.environ if each.startswith(prefix)):
        if name not in known and (close := get_close_matches(name, known, 1, 0.8)):
            told = f"the environment variable {prefix}{name} is ignored: did you mean {prefix}{close[0]}?"
            typer.echo(f"thalweg: {told}", err=True)


def serve(
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            is_eager=True,
            callback=read_config,
            help="TOML file with options in a table [serve]; environment and command line override it.",
        ),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Model file of `thalweg run` to start with.")
    ] = None,
    new: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="New model to start with, one of `thalweg models` (default: auto)."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="TASK", help="Task of the new model: classification (the default) or regression."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Coverage of the prediction intervals of regression (default: 0.9)."),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="JSON file with the columns of the new model (default: taken from the first rows)."
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Label of interest, for ROC AUC, PR AUC, recall and precision."),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(
            metavar="COSTS",
            help="Costs of a false positive and a false negative, such as fp=1,fn=50. Needs --positive.",
        ),
    ] = None,
    data: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the journal; a service in it resumes.")] = Path(
        "thalweg-serve"
    ),
    new_journal: Annotated[
        bool, typer.Option("--new-journal", help="Start a new journal where the old one is empty or gone.")
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help="Records to keep: 90d, 1000000rows or 20GB; older ones are erased as the service runs (default: all).",
        ),
    ] = None,
    keep_replies: Annotated[
        str,
        typer.Option(metavar="TIME", help="How long replies to requests with an Idempotency-Key are kept."),
    ] = "30d",
    predict_when_full: Annotated[
        bool,
        typer.Option(
            "--predict-when-full",
            help="Predict without recording while the journal cannot be written (default: refuse requests).",
        ),
    ] = False,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="PostgreSQL database for the journal, such as postgresql://host/db (default: --data)."
        ),
    ] = None,
    follow: Annotated[
        str | None,
        typer.Option(
            metavar="JOURNAL",
            help="Journal of a service to follow, a folder or postgresql://…: predict with its models, learn nothing.",
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column of keys: each key gets a model of its own beside the shared one."),
    ] = None,
    key_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory for the models of keys, such as 2GB; others go to a temporary file (default: no limit).",
        ),
    ] = None,
    database_timeout: Annotated[
        float,
        typer.Option(min=0.1, metavar="SECONDS", help="Time limit of a call to PostgreSQL, in seconds."),
    ] = 10.0,
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Address to listen on.")] = "127.0.0.1:8080",
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of access tokens, as --make-token writes it.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow other machines to connect without tokens.")
    ] = False,
    expire: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="How long a row waits for its label: 30d, 12h, or until 1000000rows came after it.",
        ),
    ] = "30d",
    promote: Annotated[
        bool, typer.Option("--promote", help="Promote a challenger as soon as it is significantly better.")
    ] = False,
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            envvar="THALWEG_SERVE_FROM",
            metavar="URL",
            help="Stream to read rows from: redis://HOST/STREAM or kafka://HOST:PORT/TOPIC; may be repeated.",
        ),
    ] = None,
    alert: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="Alert rule, such as error>0.2 or input_drift; may be repeated."),
    ] = None,
    alert_webhook: Annotated[
        str | None, typer.Option(metavar="URL", help="URL to post each alert to, as signed JSON.")
    ] = None,
    alert_secret_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File with the secret that signs alerts (default: the variable THALWEG_ALERT_SECRET)."
        ),
    ] = None,
    prometheus_rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File to write Prometheus rules to, for --alert and the service itself; then exit."
        ),
    ] = None,
    max_body: Annotated[int, typer.Option(min=1, metavar="BYTES", help="Size limit of a request body, in bytes.")] = 16
    << 20,
    max_rows: Annotated[
        int, typer.Option(min=1, metavar="N", help="Limit of rows or labels in one request.")
    ] = 100_000,
    max_waiting: Annotated[int, typer.Option(min=1, metavar="N", help="Limit of requests in progress.")] = 2048,
    max_connections: Annotated[int, typer.Option(min=1, metavar="N", help="Limit of open connections.")] = 4096,
    max_connections_per_address: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Limit of open connections from one address; trusted proxies have none."),
    ] = 512,
    max_header: Annotated[
        int, typer.Option(min=256, metavar="BYTES", help="Size limit of the headers of a request, in bytes.")
    ] = (32 << 10),
    header_timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Time limit for the headers of a request, in seconds.")
    ] = 10.0,
    keep_alive: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Time that a connection may be idle, in seconds.")
    ] = 75.0,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address or network of a proxy in front of the service; may be repeated (default: 127.0.0.1 and ::1).",
        ),
    ] = None,
    log_format: Annotated[
        LogFormat, typer.Option(help="Format of the log: text, or json with one line for each request.")
    ] = LogFormat.text,
    otel_endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", help="OpenTelemetry collector to send a span of each request to (OTLP over HTTP)."),
    ] = None,
    make_token: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of a token to make: print it once, add it to --token-file, and exit."),
    ] = None,
    scope: Annotated[
        str, typer.Option(metavar="SCOPE", help="Scope of the token to make: read, learn or admin.")
    ] = "learn",
) -> None:
    """Serve a model over HTTP that predicts rows and learns their labels, now or weeks later.

    Every acknowledged row and label is in a journal on disk, from which a restarted service resumes.
    """
    if make_token is not None:
        _make_token(make_token, scope, token_file)
        return
    if prometheus_rules is not None:
        _write_prometheus_rules(prometheus_rules, alert or [], keep)
        return
    from thalweg.errors import MissingExtra

    try:
        from thalweg.service.options import (
            PROXIES,
            ConnectionLimits,
            Expiry,
            Limits,
            Retention,
            ServeOptions,
            bytes_of,
            network_of,
            seconds_of,
        )
        from thalweg.service.server import serve as run
    except ImportError as error:
        raise MissingExtra.of(error.name or "starlette", "serve", "thalweg serve") from error

    host, port = _address(listen)
    options = ServeOptions(
        data,
        database,
        model,
        new,
        host,
        port,
        token_file,
        insecure,
        Expiry.of(expire),
        promote,
        Limits(max_body, max_rows, max_waiting),
        tuple(sources or ()),
        schema,
        positive,
        costs,
        task,
        coverage,
        tuple(alert or ()),
        alert_webhook,
        alert_secret_file,
        database_timeout,
        ConnectionLimits(max_connections, max_connections_per_address, max_header, header_timeout, keep_alive),
        tuple(network_of(each) for each in trusted_proxy) if trusted_proxy else PROXIES,
        log_format is LogFormat.json,
        new_journal,
        None if keep is None else Retention.of(keep),
        follow,
        seconds_of(keep_replies, "keep_replies"),
        predict_when_full,
        otel_endpoint,
        key,
        None if key_memory is None else bytes_of(key_memory, "key_memory"),
    )
    run(options, lambda line: typer.echo(line, err=True))


def _write_prometheus_rules(file: Path, rules: list[str], keep: str | None) -> None:
    from thalweg.cli.terminal import writable_file
    from thalweg.files import write_atomically
    from thalweg.service.alerts import service_rules
    from thalweg.service.options import Retention
    from thalweg.service.prometheus_rules import of_models, of_service, rule_file

    keep_bytes = None if keep is None else Retention.of(keep).bytes
    text = rule_file([*of_models(service_rules(rules)), *of_service(keep_bytes)])
    writable_file(file)
    write_atomically(file, text.encode())


def _address(listen: str) -> tuple[str, int]:
    from thalweg.errors import InvalidParameter

    host, _, port = listen.lower().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise InvalidParameter.of_option("listen", "be a host and a port, such as 127.0.0.1:8080", listen)
    return host, int(port)


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
