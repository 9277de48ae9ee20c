"""``thalweg run``: a table of rows in time order, learned test-then-train, with a report and a saved model."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thalweg.cli.options import HelpLayout, with_options
from thalweg.run.options import RunOptions

if TYPE_CHECKING:
    from rich.table import Table

    from thalweg.run.runner import Run, RunStatus

#: Columns, skipped rows, and labels with their heaviest word, that the terminal shows.
_MOST_COLUMNS, _MOST_COMPLAINTS, _MOST_LABELS = 40, 5, 4
#: Exit code of a run that completed, in which an alert fired.
ALERT_FIRED = 3
#: Seconds between lines, or between redrawings, of the live view.
_PLAIN_SECONDS, _LIVE_SECONDS = 5.0, 0.2
HELP = HelpLayout(
    examples=(
        "thalweg run rows.csv --target price",
        "thalweg run rows.csv --target fraud --time paid_at --label-time known_at",
        "thalweg run rows.csv --target state --alert 'error>0.2' --out monday",
        "thalweg run --resume --out monday",
    ),
    common={
        "Data": ("target", "time", "delay", "label_time", "drop", "categorical"),
        "Model": ("model", "task", "key", "rate"),
        "Evaluation": ("positive", "against", "alert"),
        "Results": ("out", "resume", "fresh", "json", "quiet", "help", "help_all"),
    },
    further={
        "Reading files": (
            "sort",
            "numeric",
            "header",
            "delimiter",
            "encoding",
            "decimal",
            "bad_rows",
            "head",
            "limit",
            "chunk",
        ),
        "Missing values": ("missing", "na", "keep_sentinels"),
        "Text, history": ("text", "ngrams", "hash_bits", "feature", "features"),
        "Model and labels": ("adaptive", "window", "seed", "label_budget", "labels_of", "label_start"),
        "Metrics": ("costs", "against_rows", "coverage", "season", "alerts", "explore", "label_curve"),
        "Files": ("config", "model_out", "figures", "checkpoint_seconds", "probabilities", "progress"),
        "Spark": ("engine", "master"),
    },
)


def _as_in_a_file(value: Any) -> Any:
    """A value of the command line as TOML would hold it; `None` for a flag or a list that was not given."""
    if value is False or value == []:
        return None
    return str(value) if isinstance(value, Path) else value


@with_options(RunOptions)
def run(
    *,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Replace the run in the folder. A finished run with equal options is always replaced.",
        ),
    ] = False,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="TOML file with options of this command.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the interrupted run in the folder.")] = False,
    figures: Annotated[bool, typer.Option("--figures", help="Also write every figure as PNG and SVG.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print only the metrics, as JSON.")] = False,
    checkpoint_seconds: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="S",
            help="Time between checkpoints, in seconds (default: 5, or longer where a checkpoint takes long).",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    progress: Annotated[
        str,
        typer.Option(
            metavar="FORMAT", help="Progress on standard error: line (the default), or json, lines for programs."
        ),
    ] = "line",
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="spark, for a folder of Parquet or CSV files too large for one machine (default: this process). Needs "
            "--time. Features are the columns of numbers. Also takes --task, --coverage, --model, --rate, --adaptive, "
            "--window, --seed, --drop, --delimiter, --out and --json. The same command resumes a stopped run.",
        ),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(metavar="URL", help="URL of the Spark master for --engine spark (default: local[*])."),
    ] = None,
    **given: Any,
) -> None:
    """Train a model on a table of rows in time order and report its errors.

    Evaluation is test-then-train (prequential): each row is predicted before its label is learned.
    """
    from thalweg.cli.terminal import quick_start, writable_file, writable_folder
    from thalweg.errors import InvalidParameter

    with quick_start(frames=engine is not None):
        from thalweg.report.page import require_jinja
        from thalweg.run import options as folders
        from thalweg.run.metrics import metrics_of
        from thalweg.run.options import what_is_in
        from thalweg.run.runner import Run
        from thalweg.stopping import Stopped

    given = {name: value if name == "header" else _as_in_a_file(value) for name, value in given.items()}
    if engine is not None:
        if engine != "spark":
            raise InvalidParameter.of_option("engine", "be spark", engine)
        from thalweg.cli.run_on_spark import run_on_spark

        given |= {"fresh": fresh, "config": config, "resume": resume, "figures": figures}
        key = given.pop("key")
        run_on_spark(
            given | {"checkpoint_seconds": checkpoint_seconds}, key=key, master=master or "local[*]", json=json
        )
        return
    if master is not None:
        raise InvalidParameter.of_option("master", "be left out without --engine spark", master)
    if progress not in ("line", "json"):
        raise InvalidParameter.of_option("progress", "be line or json", progress)
    if resume and fresh:
        raise InvalidParameter(
            "--resume and --fresh exclude each other: --resume continues the run in the folder, --fresh replaces it"
        )
    options = RunOptions.of(given, config, resume=resume)
    folder = Path(options.out)
    if not fresh and _is_finished(options, folder, resume):
        typer.echo(
            (folder / folders.METRICS).read_text(encoding="utf-8")
            if json
            else f"The run in {folder} is finished: there is nothing to resume."
        )
        return
    require_jinja()
    if figures:
        from thalweg.report import style

        style.require_matplotlib()
    began = time.monotonic()
    view: _View | _JsonLines | None = None
    if not (quiet or json):
        view = _JsonLines() if progress == "json" else _View()
    if view is None or isinstance(view, _JsonLines):
        begun = Run(options) if view is None else Run(options, say=view.say, say_alert=view.say)
    else:
        begun = Run(options, say=lambda sentence: typer.echo(sentence, err=True), say_alert=view.say)
        if not fresh and what_is_in(folder) == "a finished run":
            typer.echo(f"{folder} holds a finished run with the same options: its results are replaced.", err=True)
        if files := begun.source.describe():
            typer.echo(files, err=True)
    existed = folder.exists()
    model_file = Path(options.model_out) if options.model_out else folder / folders.MODEL
    with _warnings_in_words():
        try:
            writable_folder(folder)
            writable_file(model_file)
            resumed = resume and begun.resume()
            if view is not None:
                view.begin(begun.counts.processed)
            begun.go(view or _say_nothing, checkpoint_seconds)
        except (Exception, Stopped) as error:
            begun.leave_nothing_half_done(existed)
            if not isinstance(error, Stopped):
                raise
            _say_stopped(begun, view)
            sys.exit(error.exit_code)
        if view is not None:
            view.close()
        try:
            metrics = metrics_of(begun, curve=_label_curve(begun, options))
            begun.save_model(model_file)
            _write_report(metrics, folder, figures)
            begun.write_alerts()
            if begun.task.budget is not None:
                begun.task.budget.write(folder / folders.TO_LABEL)
            begun.write_metrics(metrics)  # last: a folder that has them holds a finished run
        except Exception:
            begun.leave_nothing_half_done(existed)
            raise
        begun.forget_checkpoint()
    for warning in metrics.get("warnings", ()):
        if warning not in begun.notices.said:
            typer.echo(f"thalweg: {warning}", err=True)
    timing: dict[str, Any] = {
        "seconds": time.monotonic() - began,
        "checkpoint_seconds": begun.checkpoint_seconds,
        "processor_seconds": begun.processor_seconds(),
    }
    if isinstance(view, _JsonLines):
        view.finish(metrics)
    if json:
        import json as json_module

        typer.echo(json_module.dumps(metrics | {"timing": timing}, ensure_ascii=False))
    else:
        _print_summary(metrics, timing, folder, resumed)
    if begun.alerts.fired:
        sys.exit(ALERT_FIRED)


def _is_finished(options: RunOptions, folder: Path, resume: bool) -> bool:
    """Whether there is nothing to resume; an error where a run in the folder must not be overwritten."""
    from thalweg.catalogue import MODELS
    from thalweg.errors import DataUnavailable, InvalidParameter
    from thalweg.run.options import read_options, what_is_in

    holds = what_is_in(folder)
    elsewhere = "start over with --fresh, or choose another folder with --out"
    if holds == "a run that was cut off" and not resume:
        raise InvalidParameter(f"{folder} holds {holds}: continue it with --resume, {elsewhere}")
    if holds == "a finished run" and (other := options.first_other(read_options(folder))):
        if options.source != "-" and not Path(options.source).exists():
            raise DataUnavailable(f"there is no file {options.source}")
        if not any(options.model in known for known in MODELS.values()):
            options.make_model()  # which says what models there are
        raise InvalidParameter(f"{folder} holds {holds}, started with {other}: {elsewhere}")
    return resume and holds == "a finished run"


def _say_stopped(begun: Run, view: _View | _JsonLines | None) -> None:
    from thalweg.report.page.formats import counted
    from thalweg.run.options import CHECKPOINT

    if view is not None:
        view.close()
    if (begun.folder / CHECKPOINT).exists():
        rows = counted(begun.counts.processed, "row")
        said = f"stopped after {rows}; the same command with --resume continues from there"
    else:
        said = "stopped before the first row"
    typer.echo(f"thalweg: {said}", err=True)


def _label_curve(begun: Run, options: RunOptions) -> list[list[float | None]] | None:
    """The error with several label budgets, where it is asked for: a run over the source with each."""
    if not options.label_curve:
        return None
    from thalweg.run.engine import RunEngine
    from thalweg.run.label_budget import curve
    from thalweg.run.runner import source_of

    def score(asked: RunOptions) -> float | None:
        engine = RunEngine(asked, source_of(asked))
        for chunk in engine.chunks():
            engine.take(chunk)
        scores = engine.task.scores()
        return scores["model"][begun.task.shown[0]]

    task: Any = begun.task.name  # as the first rows or later ones settled it
    return curve(replace(options, task=task), score)


def _write_report(metrics: dict[str, Any], folder: Path, with_figures: bool) -> None:
    from thalweg.files import write_atomically
    from thalweg.report.page import build
    from thalweg.run_metrics import as_metrics

    write_atomically(folder / "report.html", build(as_metrics(metrics)).encode())
    if with_figures:
        from thalweg.report.run_figures import figures

        figures(as_metrics(metrics), folder / "figures")


def _print_summary(metrics: dict[str, Any], timing: dict[str, Any], folder: Path, resumed: bool) -> None:
    from rich.console import Console

    from thalweg.explain.over_time import sentence
    from thalweg.report import tables
    from thalweg.report.page.against import against_findings
    from thalweg.report.page.change_lines import changes_sentence
    from thalweg.report.page.formats import count, counted, percent
    from thalweg.report.page.importance import features_to_keep, top_columns
    from thalweg.report.page.input_parts import MOST_FINDINGS, findings
    from thalweg.report.page.label_budget import label_budget_findings
    from thalweg.report.page.row_axis import RowAxis
    from thalweg.report.score_table import KAPPAS, score_table, verdict_of
    from thalweg.run.alert_log import alert_words
    from thalweg.run_metrics import target_word
    from thalweg.tables.plan import grouped

    console = Console(markup=False, highlight=False)
    axis = RowAxis(metrics)
    rows = metrics["rows"]
    thing = target_word(metrics)
    if resumed:
        console.print("Resumed from the last checkpoint.")
    verdict = verdict_of(metrics)
    console.print(verdict.headline, style="bold", soft_wrap=True)
    for finding in (*verdict.findings, *against_findings(metrics), *label_budget_findings(metrics)):
        console.print(finding)
    console.print()
    console.print(_scores(metrics))
    if "κ" in score_table(metrics).measures and metrics["scores"]["model"]["kappa"] is not None:
        console.print(KAPPAS)
    console.print(
        f"\n{counted(rows['predicted'], 'row')} predicted, {rows['learned']:,} learned, "
        f"{rows['unlabelled']:,} without a {thing}, {rows['pending']:,} still waiting for one, "
        f"{rows['skipped']:,} skipped.",
        soft_wrap=True,
    )
    for complaint in rows["bad"][:_MOST_COMPLAINTS]:
        console.print(f"  {complaint}", soft_wrap=True)
    if rows["skipped"] > _MOST_COMPLAINTS:
        console.print(f"  and {count(rows['skipped'] - _MOST_COMPLAINTS)} more; the report lists the first of them")
    if rows["unpredicted"]:
        early = counted(rows["unpredicted"], "row")
        console.print(f"{early} came before any {thing} was known: not predicted, not scored.", soft_wrap=True)
    if changes := changes_sentence(metrics["changes"], axis):
        console.print(changes, soft_wrap=True)
    if sentences := findings(metrics):
        others = min(len(sentences), MOST_FINDINGS) - 1
        more = f" The report has {counted(others, 'more finding')} about inputs." if others else ""
        console.print(f"{sentences[0].sentence}{more}", soft_wrap=True)
    if "alerts_fired" in metrics:
        fired = metrics["alerts_fired"]["fired"]
        for alert in fired[-_MOST_COMPLAINTS:]:
            console.print(f"{alert_words(alert)}.", soft_wrap=True)
        more = len(fired) + metrics["alerts_fired"]["left_out"] - _MOST_COMPLAINTS
        if more > 0:
            console.print(f"  and {counted(more, 'alert')} before: alerts.ndjson lists them")
        if not fired:
            console.print("No alert fired.")
    for change in metrics.get("class_changes", ())[:_MOST_COMPLAINTS]:
        features = ", ".join(change["features"][:4]) + (" …" if len(change["features"]) > 4 else "")
        console.print(
            f"The features of class {change['label']} changed {axis.at(change['row'])}: {features}.", soft_wrap=True
        )
    if (further := len(metrics.get("class_changes", ())) - _MOST_COMPLAINTS) > 0:
        console.print(f"  and {counted(further, 'more change')} of rare classes, in the report")
    if columns := top_columns(metrics):
        joined = " Columns with a + stand for each other." if any(" + " in name for name in columns) else ""
        console.print(f"Most important columns over the last rows: {', '.join(columns)}.{joined}", soft_wrap=True)
    if kept := features_to_keep(metrics):
        console.print("Features from earlier rows that earned a place; to keep them:", soft_wrap=True)
        for line in kept:
            console.print(f"  --feature {shlex.quote(line)}", soft_wrap=True, highlight=False)
    about = metrics.get("importance", {}).get("label")
    for cause in metrics.get("importance", {}).get("causes", ())[:_MOST_COMPLAINTS]:
        effect = "the prediction" if about is None else f"P({about})"
        console.print(sentence(cause, axis.at(cause["row"]), effect), soft_wrap=True)
    if "words" in metrics:
        carrying = [
            f"{label['label']} “{label['words'][0][0]}”" for label in metrics["words"]["labels"] if label["words"]
        ]
        more = " …" if len(carrying) > _MOST_LABELS else ""
        console.print(f"Words with the largest weights: {', '.join(carrying[:_MOST_LABELS])}{more}.", soft_wrap=True)
    console.print("\nColumns")
    lines = grouped(metrics["columns"])
    console.print(tables.words(("column", "kind", "what is done"), lines[:_MOST_COLUMNS]))
    if len(lines) > _MOST_COLUMNS:
        console.print(f"and {counted(len(lines) - _MOST_COLUMNS, 'line')} more: the report lists them all")
    share = timing["checkpoint_seconds"] / timing["seconds"]
    saving = f", {percent(share)} of them to write what --resume continues from" if share >= 0.01 else ""
    console.print(f"\n{timing['seconds']:,.1f} s{saving}.")
    if "against" in metrics:
        spent = ", ".join(f"{name} {seconds:,.1f} s" for name, seconds in timing["processor_seconds"].items())
        console.print(f"Processor time{' since the last checkpoint' if resumed else ''}: {spent}.", soft_wrap=True)
    console.print(f"Report: {folder / 'report.html'}", soft_wrap=True)


def _scores(metrics: dict[str, Any]) -> Table:
    from thalweg.report import tables
    from thalweg.report.score_table import score_table

    scores = score_table(metrics)
    return tables.scores(scores.measures, scores.lines, scores.forms)


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """A warning of a model is a line for the user: without the file and the line of code that it came from."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        typer.echo(f"thalweg: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        yield


def _say_nothing(status: RunStatus) -> None:
    """No live view."""


class _JsonLines:
    """How far and how well, as lines of JSON on standard error. Errors stay lines of text."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._last: RunStatus | None = None

    def begin(self, rows: int) -> None:
        """So many rows were predicted before."""
        self._write({"rows": rows, "share": None})

    def __call__(self, status: RunStatus) -> None:
        self._last = status
        if time.monotonic() - self._shown >= _LIVE_SECONDS:
            self.close()

    def say(self, sentence: str) -> None:
        self._write({"note": sentence})

    def close(self) -> None:
        """Where the run is, if that was not yet written."""
        from thalweg.evaluate.metrics import METRICS

        if self._last is None:
            return
        line: dict[str, Any] = {"rows": self._last.rows, "share": self._last.share}
        task = self._last.task
        if task.board.rows:
            metric = METRICS[task.shown[0]]
            recent = {name: scores[f"recent_{metric.name}"] for name, scores in task.scores().items()}
            line |= {"metric": metric.title_in_full, "form": metric.form, "recent": recent}
        self._write(line)
        self._shown, self._last = time.monotonic(), None

    def finish(self, metrics: dict[str, Any]) -> None:
        """The run is complete, and its results are written."""
        from thalweg.report.score_table import verdict_of

        verdict = verdict_of(metrics)
        self._write({"headline": verdict.headline, "findings": list(verdict.findings)})

    def _write(self, line: dict[str, Any]) -> None:
        import json

        sys.stderr.write(json.dumps(line, ensure_ascii=False) + "\n")
        sys.stderr.flush()


class _View:
    """How far, how fast and how well, on one line that is redrawn; lines of their own where it cannot be."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self.begin(0)

    def begin(self, rows: int) -> None:
        """The clock starts; so many rows were predicted before."""
        self._began = self._shown = time.monotonic()
        self._before = rows

    def __call__(self, status: RunStatus) -> None:
        from thalweg.evaluate.model_history import rate_of

        now = time.monotonic()
        if now - self._shown < (_LIVE_SECONDS if self._terminal else _PLAIN_SECONDS):
            return
        self._shown = now
        speed = (status.rows - self._before) / (now - self._began)
        text = f"{status.rows:,} rows, {speed:,.0f} a second"
        if status.share and speed:
            left = status.rows * (1 / status.share - 1) / speed
            text += f", {100 * status.share:.0f} %, {left:,.0f} s left"
        if said := status.task.progress():
            text += f"  {said}"
        if (rate := rate_of(status.task.model)) is not None:
            text += f"  rate {rate:.4g}"
        if self._terminal:
            # A line that is broken could not be drawn anew.
            sys.stderr.write(f"\r\x1b[2K{text[: shutil.get_terminal_size().columns - 1]}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def say(self, sentence: str) -> None:
        """A line of its own, above the one that is redrawn."""
        self.close()
        sys.stderr.write(f"thalweg: {sentence}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Leave the line."""
        if self._terminal:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
