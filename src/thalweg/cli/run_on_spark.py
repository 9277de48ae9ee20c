"""``thalweg run --engine spark``: a folder that is too large for one machine."""

from __future__ import annotations

import json as json_module
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from thalweg.run.options import RunOptions

#: What the run in a folder was begun with.
_SETTINGS = "settings.json"


def run_on_spark(given: Mapping[str, Any], *, key: str | None, master: str, json: bool) -> None:
    """Train on the folder, write predictions and metrics, and print the scores."""
    from thalweg.errors import InvalidParameter
    from thalweg.files import write_atomically
    from thalweg.run.notices import Notices
    from thalweg.run.options import METRICS, RunOptions
    from thalweg.run.tasks import PossibleTasks

    apply = [name for name, info in RunOptions.declared().items() if info.on_spark]
    for name, value in given.items():
        if value and name not in apply:
            raise InvalidParameter(f"--{name.replace('_', '-')} has no effect with --engine spark: leave it out")
    options = RunOptions.of({name: given[name] for name in apply})
    time = options.time
    if time is None:
        raise InvalidParameter("--time COL is missing: --engine spark needs a column to order the rows by")
    out = Path(options.out)
    begun = _begun(out)
    if begun is not None and options.task is None:
        options = replace(options, task=begun.get("task"))
    _require_same(options, begun, key, out)
    tasks = PossibleTasks(options, Notices(options, 0))  # refuses what no task can do before Spark starts

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
                time=time,
                key=key,
                drop=options.drop,
                delimiter=options.delimiter,
            )
            settled = options.task is not None or begun is not None
            task = tasks.settle_by(None if settled else folder.quantity())
            if task.name == "regression":
                options = replace(options, task="regression")
            out.mkdir(parents=True, exist_ok=True)
            settings = options.resolved() | {"key": key}
            write_atomically(out / _SETTINGS, json_module.dumps(settings, indent=1, ensure_ascii=False).encode())
            coverage = options.coverage if task.name == "regression" else None
            result = folder.go(options.make_model(task.name), out, coverage)
    finally:
        spark.stop()
    metrics = {"engine": "spark", "options": settings | {"master": master}, "rows": result}
    write_atomically(out / METRICS, json_module.dumps(metrics, indent=1, ensure_ascii=False).encode())
    if json:
        typer.echo(json_module.dumps(metrics, ensure_ascii=False))
    else:
        typer.echo("\n".join([*([tasks.inferred] if tasks.inferred else []), *_in_words(result, key, out)]))


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


def _begun(out: Path) -> dict[str, Any] | None:
    """What the run in a folder was begun with; without a task it learns labels. None where there is no run."""
    from thalweg.run.options import what_is_in

    if (out / _SETTINGS).exists():
        settings: dict[str, Any] = json_module.loads((out / _SETTINGS).read_bytes())
        return settings
    return None if what_is_in(out) == "no run" else {}


def _require_same(options: RunOptions, begun: dict[str, Any] | None, key: str | None, out: Path) -> None:
    """Refuse to resume a run that was started with other options."""
    from thalweg.errors import InvalidParameter

    if begun is None:
        return
    other = options.first_other(begun, besides=("key",))  # which is no option of this kind of run
    if other is None and begun["key"] != key:
        other = f"key = {begun['key']!r}, not {key!r}"
    if other is not None:
        raise InvalidParameter(f"{out} holds a run, started with {other}: choose another folder with --out")


def _in_words(run: Mapping[str, Any], key: str | None, out: Path) -> list[str]:
    who = "One model" if key is None else f"{run['keys']:,} models, one per {key},"
    where = f"Model: {out / 'model.thalweg'}" if key is None else f"State of every key: {out / 'checkpoint'}"
    sentences = [f"{who} predicted {run['predicted']:,} rows{f', {_scores(run)}' if run['predicted'] else ''}."]
    if run.get("unpredicted"):
        sentences.append(
            f"The first {run['unpredicted']:,} rows, those of the first file, were learned without a prediction."
        )
    if run["predicted"]:
        sentences.append(f"Predictions: {out / 'predictions'}")
    return [*sentences, where]


def _scores(run: Mapping[str, Any]) -> str:
    if not run["scored"]:
        return "none of them with a label"
    if "error" in run:
        return f"{run['error']:.4f} of them wrongly"
    errors = f"with a mean absolute error of {run['mae']:.4g} (RMSE {run['rmse']:.4g})"
    if run.get("coverage") is None:
        return errors
    held = f"{100 * run['coverage']:.1f} % of the targets, with a mean width of {run['mean_width']:.4g}"
    return f"{errors}; intervals hold {held}"
