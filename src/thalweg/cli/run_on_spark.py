"""``thalweg run --engine spark``: a folder that is too large for one machine."""

from __future__ import annotations

import json as json_module
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from thalweg.run.options import RunOptions

#: What the run in a folder was begun with.
_SETTINGS = "settings.json"


def run_on_spark(given: Mapping[str, Any], *, key: str | None, master: str, json: bool) -> None:
    """Learn the folder, write answers and metrics, and tell how it went."""
    from thalweg.errors import InvalidParameter
    from thalweg.files import write_atomically
    from thalweg.run.options import METRICS, RunOptions

    apply = [name for name, info in RunOptions.declared().items() if info.on_spark]
    for name, value in given.items():
        if value and name not in apply:
            raise InvalidParameter(f"--{name.replace('_', '-')} does not apply with --engine spark")
    options = RunOptions.of({name: given[name] for name in apply})
    if options.time is None:
        raise InvalidParameter("--time COL is missing: with --engine spark it puts the rows in order")
    model = options.make_model()
    out = Path(options.out)
    _require_same(options, key, out)

    from thalweg.spark.sessions import require_spark, session

    require_spark()
    from thalweg.spark.folders import FolderRun
    from thalweg.spark.sessions import spark_errors_as_ours

    with _silent_children():
        spark = session(master)
    spark.sparkContext.setLogLevel("OFF")
    try:
        with spark_errors_as_ours(options.source):
            folder = FolderRun(
                spark,
                options.source,
                target=options.target,
                time=options.time,
                key=key,
                drop=options.drop,
                delimiter=options.delimiter,
            )
            out.mkdir(parents=True, exist_ok=True)
            settings = options.resolved() | {"key": key}
            write_atomically(out / _SETTINGS, json_module.dumps(settings, indent=1, ensure_ascii=False).encode())
            found = folder.go(model, out)
    finally:
        spark.stop()
    metrics = {"engine": "spark", "options": settings | {"master": master}, "rows": found}
    write_atomically(out / METRICS, json_module.dumps(metrics, indent=1, ensure_ascii=False).encode())
    typer.echo(json_module.dumps(metrics, ensure_ascii=False) if json else _in_words(found, key, out))


@contextmanager
def _silent_children() -> Iterator[None]:
    """Processes that are started here write nothing to standard error; Spark's errors come as exceptions."""
    sys.stderr.flush()
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _require_same(options: RunOptions, key: str | None, out: Path) -> None:
    """Refuse to go on with a run that was begun with other options."""
    from thalweg.errors import InvalidParameter
    from thalweg.run.options import what_is_in

    begun: dict[str, Any] = {}
    if (out / _SETTINGS).exists():
        begun = json_module.loads((out / _SETTINGS).read_bytes())
    elif what_is_in(out) == "no run":
        return
    other = options.first_other(begun)
    if other is None and begun["key"] != key:
        other = f"key = {begun['key']!r} and not {key!r}"
    if other is not None:
        raise InvalidParameter(f"{out} holds a run, begun with {other}: choose another folder with --out")


def _in_words(found: Mapping[str, Any], key: str | None, out: Path) -> str:
    error = "none of them with a label" if found["error"] is None else f"{found['error']:.4f} of them wrongly"
    who = "One model" if key is None else f"{found['keys']:,} models, one per {key},"
    where = f"Model: {out / 'model.thalweg'}" if key is None else f"State of every key: {out / 'checkpoint'}"
    told = [f"{who} answered {found['answered']:,} rows{f', {error}' if found['answered'] else ''}."]
    if found.get("unanswered"):
        told.append(f"The first {found['unanswered']:,} rows, those of the first file, were learned unanswered.")
    if found["answered"]:
        told.append(f"Answers: {out / 'answers'}")
    return "\n".join([*told, where])
