"""``thalweg serve``: a model that answers over HTTP and learns when labels come."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
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
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="Keep the journal in PostgreSQL, as in postgresql://…")
    ] = None,
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to listen.")] = "127.0.0.1:8080",
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Lines of NAME, read or learn, and a SHA-256.")
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
            metavar="URL",
            help="Also read a stream: redis://HOST/STREAM or kafka://HOST:PORT/TOPIC; again for more.",
        ),
    ] = None,
    max_body: Annotated[int, typer.Option(min=1, metavar="BYTES", help="Of a request.")] = 16 << 20,
    max_rows: Annotated[int, typer.Option(min=1, metavar="N", help="Rows or labels of a request.")] = 100_000,
    max_waiting: Annotated[int, typer.Option(min=1, metavar="N", help="Requests in work at the same time.")] = 2048,
    make_token: Annotated[
        str | None, typer.Option(metavar="NAME", help="Make a token, show it once, and do nothing else.")
    ] = None,
    scope: Annotated[str, typer.Option(help="Of the token to be made: read or learn.")] = "learn",
) -> None:
    """Answer rows and learn their labels over HTTP; nothing that was acknowledged is ever lost."""
    if make_token is not None:
        _make_token(make_token, scope, token_file)
        return
    from thalweg.errors import MissingExtra
    from thalweg.service.options import Expiry, Limits, ServeOptions

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
    )
    try:
        from thalweg.service.server import serve as run
    except ImportError as error:
        raise MissingExtra.of(error.name or "starlette", "serve", "thalweg serve") from error
    run(options, lambda line: typer.echo(line, err=True))


def _address(listen: str) -> tuple[str, int]:
    from thalweg.errors import InvalidParameter

    host, _, port = listen.lower().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise InvalidParameter.of_option("listen", "be a host and a port, as in 127.0.0.1:8080", listen)
    return host, int(port)


def _make_token(name: str, scope: str, file: Path | None) -> None:
    from thalweg.errors import InvalidParameter
    from thalweg.service.auth import make_token

    if scope not in ("read", "learn"):
        raise InvalidParameter.of_option("scope", "be read or learn", scope)
    if not name or any(letter.isspace() or letter == "#" for letter in name):
        raise InvalidParameter.of_option("make_token", "be a name without blanks", name)
    token, line = make_token(name, "read" if scope == "read" else "learn")
    if file is not None:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(line + "\n")
    typer.echo(f"The token, which is kept nowhere: {token}")
    typer.echo(f"Its line in {file}: {line}" if file else f"Its line for --token-file: {line}")
