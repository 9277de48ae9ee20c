"""One run of the zoo, and what must hold of it."""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import re
import shutil
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.zoo.forms import FORMS, PLAIN, RAW, Form, Sheet
from tests.zoo.tables import Table, tables

#: Processor time that a run may take: for itself, and for each cell.
SECONDS, SECONDS_PER_CELL = 10.0, 100e-6
#: Of a clock on the wall, for a run that never ends: others may be at work on the machine.
_TIMES_WALL = 6.0
#: The rows by which `thalweg run` settles what a column is.
_HEAD = 1_000
#: What an error may be above that of the best baseline: standard errors, and a share of that error.
_STANDARD_ERRORS, _SHARE = 3.0, 0.02
#: Tables on which a baseline is better, and why. Each is checked: one that is not needed any more is a failure.
BASELINE_WINS = {
    "turnips": "a price goes on from the one before it, which is in no column",
}
#: Imported once, so that a process begins at once.
_IMPORTED = ["jinja2", "pandas", "pyarrow.parquet", "thalweg.run.runner", "thalweg.run.metrics", "thalweg.cli"]
#: How a headline may call a baseline.
_CALLED = {
    "no_change": ("no-change", "no change"),
    "majority": ("majority",),
    "last_value": ("last value",),
    "running_mean": ("running mean",),
    "running_median": ("running median",),
    "season": ("rows ago",),
}


@dataclass
class Outcome:
    """What became of one run."""

    table: str
    form: str
    failures: list[str] = field(default_factory=list)
    #: Whether there was no run.
    refused: bool = False
    #: Columns, and those of them whose kind is not what a person says.
    columns: int = 0
    wrong_kinds: list[str] = field(default_factory=list)
    cells: int = 0
    seconds: float = 0.0
    headline: str = ""
    #: Of the model, as `metrics.json` has it.
    error: float | None = None

    @property
    def name(self) -> str:
        return self.table if self.form == PLAIN.name else f"{self.table}:{self.form}"

    @property
    def microseconds_per_cell(self) -> float:
        return 1e6 * self.seconds / max(self.cells, 1)


def outcomes(name: str, *, forms: tuple[str, ...] | None = None) -> list[Outcome]:
    """Run a table in its plain form and in others, in a process of its own, which ends when a run does not."""
    table = tables()[name]
    left = [PLAIN.name, *table.forms] if forms is None else list(forms)
    found: list[Outcome] = []
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    while left:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_serve, args=(name, left, sender), daemon=True)
        process.start()
        sender.close()
        try:
            while left:
                limit = receiver.recv() if receiver.poll(_TIMES_WALL * 60.0) else None
                if limit is None or not receiver.poll(_TIMES_WALL * limit):
                    found.append(Outcome(name, left.pop(0), ["it did not end"]))
                    break
                found.append(receiver.recv())
                left.pop(0)
        except EOFError:
            found.append(Outcome(name, left.pop(0), ["the process ended without a word"]))
        process.kill()
        process.join()
    _compare(found)
    return found


def _compare(found: list[Outcome]) -> None:
    """A form that loses nothing must give the scores of the plain one."""
    plain = next((each for each in found if each.form == PLAIN.name), None)
    for each in found:
        form = FORMS.get(each.form)
        if plain is None or each is plain or form is None or not form.lossless or each.failures or plain.failures:
            continue
        if each.error is not None and abs(each.error - (plain.error or 0.0)) > 1e-9 * abs(each.error):
            each.failures.append(f"error {each.error:.6g}, in the plain form {plain.error:.6g}")


def _serve(name: str, forms: list[str], sender: Connection) -> None:
    """For each form send the limit of its run, then what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        for form in forms:
            table = tables()[name]
            outcome, path, sheet = Outcome(name, form), Path(folder), None
            try:
                path, sheet = written(table, form, Path(folder))
                outcome.cells = sheet.frame.size
            except Exception:
                outcome.failures.append(f"it cannot be written: {traceback.format_exc()}")
            sender.send(_limit(outcome.cells))
            if sheet is not None:
                try:
                    _run(table, sheet, FORMS.get(form), path, outcome)
                except Exception:
                    outcome.failures.append(f"it cannot be checked: {traceback.format_exc()}")
            sender.send(outcome)


def _limit(cells: int) -> float:
    return SECONDS + SECONDS_PER_CELL * cells


def written(table: Table, form: str, folder: Path) -> tuple[Path, Sheet]:
    """The file of a table in a form, and what is expected of it."""
    if form == RAW:
        path = folder / table.path.name
        shutil.copyfile(table.path, path)
        return path, Sheet.of(table, raw=True)
    how = FORMS[form]
    plain = Sheet.of(table)
    sheet = how.change(plain)
    path = folder / f"{table.name}{how.suffix}"
    path.write_bytes(how.write(sheet))
    return path, sheet


def _run(table: Table, sheet: Sheet, form: Form | None, path: Path, outcome: Outcome) -> None:
    """Run it and look at what is written."""
    from thalweg import cli
    from thalweg.errors import InvalidInput
    from thalweg.tables import open_source

    target = sheet.target
    if table.headless or (form and form.nameless):  # the names are the reader's own
        with contextlib.suppress(InvalidInput):  # then the run says why
            names = next(iter(open_source(path).blocks())).table.column_names
            target = names[sheet.place] if len(names) == len(sheet.kinds) else target
    out = path.parent / "out"
    arguments = ["run", str(path), "--target", target, *sheet.options, "--out", str(out), "--fresh"]
    said, complaint, code = io.StringIO(), io.StringIO(), None
    began = time.process_time()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint):
        try:
            cli.main(arguments)
        except SystemExit as end:
            code = end.code or 0
        except Exception:
            traceback.print_exc()
    outcome.seconds = time.process_time() - began
    if outcome.seconds > _limit(outcome.cells):
        outcome.failures.append(f"it took {outcome.seconds:.1f} s for {outcome.cells:,} cells")
    for word in ("Traceback", "internal error"):
        if word in said.getvalue() + complaint.getvalue():
            outcome.failures.append(f"{word}: {complaint.getvalue()[-2000:]}")
    outcome.columns = len(sheet.kinds) - 1
    if code != 0:
        outcome.failures.append(f"exit code {code}: {complaint.getvalue().strip()[-600:]}")
        outcome.refused = True
        return
    metrics = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    _look_at_columns(sheet, metrics, outcome)
    _look_at_scores(table, metrics, outcome)


def _look_at_columns(sheet: Sheet, metrics: dict[str, Any], outcome: Outcome) -> None:
    read, rows = metrics["rows"]["read"], len(sheet.frame)
    if read != rows:
        outcome.failures.append(f"{read:,} of {rows:,} rows are read")
    task = "regression" if "running_mean" in metrics["scores"] else "classification"
    if task != sheet.task:
        outcome.failures.append(f"the task is {task}, expected {sheet.task}")
    if len(metrics["columns"]) != len(sheet.kinds):
        outcome.failures.append(f"{len(metrics['columns'])} columns, expected {len(sheet.kinds)}")
        return
    for place, ((name, kind, treatment), expected) in enumerate(zip(metrics["columns"], sheet.kinds, strict=True)):
        if expected is None:
            continue
        empty = _is_empty(sheet.frame.iloc[:_HEAD, place])
        warned = any(f"{name!r} looks like a row number" in warning for warning in metrics.get("warnings", ()))
        if not _accepted(expected, kind, empty=empty, warned=warned or rows < 100):
            what = f"left out ({treatment})" if kind == "–" else kind
            outcome.wrong_kinds.append(f"{name!r} is {what}, expected {' or '.join(sorted(expected))}")
    outcome.failures += outcome.wrong_kinds


def _is_empty(column: Any) -> bool:
    return all(cell is None or cell != cell or not str(cell).strip() for cell in column)


def _accepted(expected: frozenset[str], kind: str, *, empty: bool, warned: bool) -> bool:
    """Whether a person would accept the kind that was found."""
    if kind == "–":
        return empty or bool(expected & {"name", "text", "counter", "nothing"})
    accepted = {
        "number": kind == "number",
        "category": kind in ("category", "wide category", "sparse category"),
        "name": kind not in ("number", "time", "duration"),
        "text": kind == "text",
        "time": kind == "time",
        "counter": kind == "number" and warned,
        "nothing": False,
    }
    return any(accepted[each] for each in expected)


def _look_at_scores(table: Table, metrics: dict[str, Any], outcome: Outcome) -> None:
    from thalweg.report.score_table import verdict_of

    regression = "running_mean" in metrics["scores"]
    measure = "mae" if regression else "error"
    scores = {name: each[measure] for name, each in metrics["scores"].items() if each.get(measure) is not None}
    outcome.error = scores.pop("model", None)
    verdict = verdict_of(metrics)
    outcome.headline = verdict.headline
    if outcome.error is None or not scores:
        outcome.failures.append("nothing was scored")
        return
    best = min(scores, key=lambda name: scores[name])
    against = metrics["verdict"][best][measure]
    gap = outcome.error - scores[best]
    noise = _standard_error(against, outcome.error, metrics["rows"]["scored"])
    wins = gap > _STANDARD_ERRORS * noise + _SHARE * scores[best]
    if wins and table.name not in BASELINE_WINS:
        outcome.failures.append(f"{best} errs {scores[best]:.4g}, the model {outcome.error:.4g}, ± {noise:.2g}")
    if not wins and table.name in BASELINE_WINS and outcome.form == PLAIN.name:
        outcome.failures.append(f"no baseline wins any more: {table.name} needs no exception")
    outcome.failures += _untrue(verdict.headline, verdict.tone, outcome.error, scores, against)


def _standard_error(against: dict[str, Any], error: float, rows: int) -> float:
    low, high = against["low"], against["high"]
    if low is None or high is None:
        return float(error / max(rows, 1) ** 0.5)
    return float((high - low) / (2 * 1.96))


def _untrue(headline: str, tone: str, error: float, scores: dict[str, float], against: dict[str, Any]) -> Iterator[str]:
    """What a headline says that is not what the scores say."""
    best = min(scores.values())
    named = [name for name, words in _CALLED.items() if name in scores and any(word in headline for word in words)]
    claim = re.match(r"(Better|Worse) than (?!chance)", headline)
    if claim:
        if (claim[1] == "Better") != (error < best):
            yield f"{headline!r}, where the model errs {error:.4g} and the best baseline {best:.4g}"
        if not any(scores[name] <= best for name in named):
            yield f"{headline!r} does not name the best baseline: {scores}"
    if headline.startswith("Not better than") and not any(scores[name] <= error for name in named):
        yield f"{headline!r}, where the model errs {error:.4g}, and {scores}"
    beaten = against["low"] is not None and against["low"] > 0.0
    if beaten and not any(scores[name] < error for name in named):
        yield f"{headline!r} does not say that a baseline is better: {error:.4g}, {scores}"
    if beaten and tone == "better":
        yield f"{headline!r} is written as good news, where a baseline is better: {error:.4g}, {scores}"
