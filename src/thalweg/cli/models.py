"""``thalweg models`` and ``thalweg inspect``: the list of models, and the content of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thalweg.tables.plan import Plan

#: Labels of a model, and features made of a column, that are listed.
_MOST_LABELS, _MOST_DERIVED = 20, 20
_TARGETS = {"classification": "labels", "regression": "numbers"}


def models() -> None:
    """List the models of `thalweg run` and `thalweg serve`, and when to use which."""
    from rich.console import Console

    from thalweg.cli.terminal import load_scikit_learn

    load_scikit_learn()
    from thalweg.catalogue import MODELS
    from thalweg.report import tables

    console = Console(markup=False, highlight=False)
    for task, entries in MODELS.items():
        lines = [
            (
                name,
                entry.about + (", rows scaled on line" if entry.scaled else ""),
                entry.when,
                "yes" if entry.has_rate else "",
            )
            for name, entry in entries.items()
        ]
        console.print(f"{'' if task == 'classification' else chr(10)}For {_TARGETS[task]} ({task})", style="bold")
        console.print(tables.words(("model", "what it is", "when to use it", "--rate"), lines))


def inspect(model: Annotated[Path, typer.Argument(help="Model file.")]) -> None:
    """Describe a model file: parameters, features, classes, rates, scores and columns."""
    from rich.console import Console

    from thalweg.cli.terminal import load_scikit_learn

    load_scikit_learn()
    from thalweg.evaluate.model_history import trace_of
    from thalweg.label_budget import LabelBudget
    from thalweg.part import Part
    from thalweg.pipeline.pipeline import learner_name
    from thalweg.report import tables
    from thalweg.report.page.formats import in_words
    from thalweg.store import load, plain_parameters, read_notes
    from thalweg.table_model import TableModel
    from thalweg.tables.opening import natural_order
    from thalweg.tables.plan import grouped

    notes = read_notes(model)
    saved = load(model)
    loaded = saved.learner_ if isinstance(saved, TableModel) else saved
    console = Console(markup=False, highlight=False)
    is_part = isinstance(loaded, Part)
    whole = loaded.model if is_part else loaded
    title = f"Part of {whole._in_a_sentence()}" if is_part else learner_name(whole)
    console.print(f"{title}, {model.stat().st_size:,} bytes", style="bold")
    for name, value in plain_parameters(whole).items():
        console.print(f"  {name} = {in_words(value)}", soft_wrap=True)
    if not loaded.__sklearn_is_fitted__():
        console.print("It has learned nothing yet.")
        return
    if isinstance(loaded, LabelBudget):
        console.print(f"asked for the labels of {loaded.asked_:,} of {loaded.rows_:,} rows")
        loaded = loaded.learner_
    if is_part:
        console.print(f"the sums of {loaded.rows_:,} rows, {'later ones' if loaded.later else 'to begin with'}")
    if isinstance(saved, TableModel):
        for line in _features_of(saved.encoder_.plan, loaded._features_seen()):
            console.print(line, soft_wrap=True)
    else:
        console.print(f"{loaded.n_features_in_:,} features" if is_part else loaded._features_in_words())
    if is_part and hasattr(loaded, "feature_names_in_"):
        console.print(f"columns: {', '.join(loaded.feature_names_in_[:20])}", soft_wrap=True)
    if hasattr(loaded, "classes_"):
        labels = sorted(map(str, loaded.classes_), key=natural_order)
        shown = ", ".join(labels[:_MOST_LABELS]) + (", …" if len(labels) > _MOST_LABELS else "")
        console.print(f"{len(labels)} classes: {shown}", soft_wrap=True)
    if is_part:
        return
    trace = trace_of(loaded)
    if "rate" in trace:
        console.print(f"rate {trace['rate']:.4g}")
    for label, rows in sorted(trace.get("effective_rows", {}).items(), key=lambda of_label: natural_order(of_label[0])):
        console.print(f"remembers about {rows:,.1f} rows of {label}")
    if hasattr(loaded, "explain"):
        console.print(loaded.explain())
    if "run" in notes:
        from thalweg.evaluate.metrics import METRICS

        scores = {METRICS[name].title_in_full: value for name, value in notes["run"].items() if name in METRICS}
        over_them = ", ".join(
            f"{name} {value:.4{'f' if name == 'error' else 'g'}}" for name, value in scores.items() if value is not None
        )
        over_them = over_them and f", {over_them} over them"
        console.print(f"Predicted {notes['run']['rows']:,} rows, learned {notes['run']['learned']:,}{over_them}.")
    if isinstance(saved, TableModel):
        console.print("\nColumns")
        console.print(tables.words(("column", "kind", "what is done"), grouped(saved.encoder_.plan.describe())))


def _features_of(plan: Plan, seen: int | None) -> Iterator[str]:
    """How many features a table gives, and which of them are no columns of it."""
    columns = len(plan.columns)
    features = f"{plan.width:,} features" if seen is None else f"{seen:,} features seen"
    yield f"{features} from {columns:,} column{'s' * (columns > 1)}"
    derived = [feature for column in plan.columns for feature in column.features if feature != column.name]
    if derived:
        yield f"  made from columns: {', '.join(derived[:_MOST_DERIVED])}{', …' * (len(derived) > _MOST_DERIVED)}"
    for mark in plan.marks:
        yield f"  {mark}: 1 where a value is missing that no feature of its own marks"
