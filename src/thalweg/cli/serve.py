"""``thalweg serve``: a model that answers over HTTP and learns when labels come."""

from __future__ import annotations

import os
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class LogFormat(StrEnum):
    text = "text"
    json = "json"


#: Options that a configuration file does not take.
_TYPED = ("config", "make-token", "scope", "prometheus-rules", "help")


def read_config(context: typer.Context, file: Path | None) -> Path | None:
    """Take the options of a file of TOML as defaults, below the environment and the command line."""
    from thalweg.errors import InvalidParameter

    if file is None or context.resilient_parsing:
        return file
    try:
        given = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidParameter(f"--config {file} cannot be read: {error}") from error
    names = {option.removeprefix("--"): each for each in context.command.params for option in each.opts}
    names = {name: each for name, each in names.items() if name not in _TYPED}
    found = given.pop("serve", {})
    if strange := [*given, *(found.keys() - names.keys() if isinstance(found, dict) else ["serve"])]:
        rule = "has a table [serve] of options of `thalweg serve`"
        raise InvalidParameter(f"--config {file} {rule}; {strange[0]!r} is none of them")
    for name, value in found.items():
        several = getattr(names[name], "multiple", False)
        if not isinstance(value, list if several else (str, int, float)):
            expected = "a list of texts" if several else "a text, a number, true or false"
            raise InvalidParameter(f"--config {file}: {name} must be {expected}, got {value!r}")
    context.default_map = {str(names[name].name): value for name, value in found.items()}
    return file


def serve(
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            is_eager=True,
            callback=read_config,
            help="Options from a file of TOML, in a table [serve]; THALWEG_SERVE_… and what is typed come first.",
        ),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Begin with a model that `thalweg run` wrote.")
    ] = None,
    new: Annotated[
        str | None, typer.Option(metavar="KIND", help="Begin with a new model, by default auto; see `thalweg models`.")
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="TASK", help="Task of the new model: classification (default) or regression."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Share of intervals that hold the label, in regression (default: 0.9)."),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The columns of the new model, as JSON; by default the first rows tell."),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Label of interest of the first model: ROC AUC, PR AUC, recall, precision."),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(metavar="COSTS", help="Costs of a false positive and a false negative of it: fp=1,fn=50."),
    ] = None,
    data: Annotated[Path, typer.Option(metavar="DIR", help="Where the journal is kept; what is there goes on.")] = Path(
        "thalweg-serve"
    ),
    new_journal: Annotated[
        bool, typer.Option("--new-journal", help="Begin a new journal where one is empty or gone.")
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help="Erase old records, at the start and later: all but 90d, 1000000rows or 20GB (default: keep all).",
        ),
    ] = None,
    keep_replies: Annotated[
        str,
        typer.Option(metavar="TIME", help="How long a request with an Idempotency-Key gets its first reply again."),
    ] = "30d",
    answer_when_full: Annotated[
        bool,
        typer.Option(
            "--answer-when-full",
            help="Predict while the journal cannot be written, without recording rows (default: refuse).",
        ),
    ] = False,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="Keep the journal in PostgreSQL, as in postgresql://…")
    ] = None,
    follow: Annotated[
        str | None,
        typer.Option(
            metavar="JOURNAL",
            help="Predict by the models of another service and learn nothing: its --data folder, or postgresql://…",
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column of keys, each of which gets a model of its own beside a shared one."
        ),
    ] = None,
    key_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Memory for keys, as in 2GB; cold keys go to a temporary file (default: all)."
        ),
    ] = None,
    database_timeout: Annotated[
        float,
        typer.Option(
            min=0.1, metavar="SECONDS", help="Give up a call of PostgreSQL after this long without an answer."
        ),
    ] = 10.0,
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to listen.")] = "127.0.0.1:8080",
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Lines of NAME, read, learn or admin, and a SHA-256.")
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Listen beyond this machine without tokens.")] = False,
    expire: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Give up rows without a label: after 30d or 12h, or all but the last 1000000rows (whole requests).",
        ),
    ] = "30d",
    promote: Annotated[
        bool, typer.Option("--promote", help="Promote a challenger as soon as it is better beyond doubt.")
    ] = False,
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            envvar="THALWEG_SERVE_FROM",
            metavar="URL",
            help="Also read a stream: redis://HOST/STREAM or kafka://HOST:PORT/TOPIC; again for more.",
        ),
    ] = None,
    alert: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="Alert rule over the last labels, such as error>0.2; may be repeated."),
    ] = None,
    alert_webhook: Annotated[
        str | None, typer.Option(metavar="URL", help="Post each alert there as signed JSON, in the background.")
    ] = None,
    alert_secret_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Secret that signs alerts (default: THALWEG_ALERT_SECRET)."),
    ] = None,
    prometheus_rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write --alert and rules of the service for Prometheus, and do nothing else."
        ),
    ] = None,
    max_body: Annotated[int, typer.Option(min=1, metavar="BYTES", help="Of a request.")] = 16 << 20,
    max_rows: Annotated[int, typer.Option(min=1, metavar="N", help="Rows or labels of a request.")] = 100_000,
    max_waiting: Annotated[
        int, typer.Option(min=1, metavar="N", help="Requests in work at a time, labels and others.")
    ] = 2048,
    max_connections: Annotated[int, typer.Option(min=1, metavar="N", help="Connections that may be open.")] = 4096,
    max_connections_per_address: Annotated[
        int, typer.Option(min=1, metavar="N", help="Connections of one address, unless it is a trusted proxy.")
    ] = 512,
    max_header: Annotated[int, typer.Option(min=256, metavar="BYTES", help="Of the line and headers of a request.")] = (
        32 << 10
    ),
    header_timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Time in which the headers of a request must come.")
    ] = 10.0,
    keep_alive: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Time that a connection may be idle between requests.")
    ] = 75.0,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="Proxy, or network of proxies, in front of the service; again for more (default: 127.0.0.1 and ::1).",
        ),
    ] = None,
    log_format: Annotated[
        LogFormat, typer.Option(help="Log as text, or as lines of JSON with one for each request.")
    ] = LogFormat.text,
    otel_endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send a span for each request to a collector of OpenTelemetry (OTLP, HTTP)."),
    ] = None,
    make_token: Annotated[
        str | None, typer.Option(metavar="NAME", help="Make a token, show it once, and do nothing else.")
    ] = None,
    scope: Annotated[str, typer.Option(help="Of the token to be made: read, learn or admin.")] = "learn",
) -> None:
    """Answer rows and learn their labels over HTTP; nothing that was acknowledged is ever lost."""
    if make_token is not None:
        _make_token(make_token, scope, token_file)
        return
    if prometheus_rules is not None:
        _write_prometheus_rules(prometheus_rules, alert or [], keep)
        return
    from thalweg.errors import MissingExtra
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
        answer_when_full,
        otel_endpoint,
        key,
        None if key_memory is None else bytes_of(key_memory, "key_memory"),
    )
    try:
        from thalweg.service.server import serve as run
    except ImportError as error:
        raise MissingExtra.of(error.name or "starlette", "serve", "thalweg serve") from error
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
        raise InvalidParameter.of_option("listen", "be a host and a port, as in 127.0.0.1:8080", listen)
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
    typer.echo(f"The token, which is kept nowhere: {token}")
    typer.echo(f"Its line in {file}: {line}" if file else f"Its line for --token-file: {line}")
