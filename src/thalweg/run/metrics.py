"""What a run found out, as plain data: the content of ``metrics.json``, which the page and comparisons read."""

from __future__ import annotations

from typing import Any

from thalweg import __version__
from thalweg.catalogue import MODELS
from thalweg.errors import InvalidParameter
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.pipeline.over_columns import learner_of
from thalweg.pipeline.pipeline import learner_name
from thalweg.run.decision_words import decision_words
from thalweg.run.engine import RunEngine
from thalweg.run.importance import loss_name
from thalweg.run.options import RunOptions
from thalweg.run.pending_rows import as_ranges
from thalweg.run_metrics import SCHEMA
from thalweg.store import plain_parameters
from thalweg.tables import Plan

#: Labels whose words are listed: the most frequent.
_MOST_LABELS = 12


def metrics_of(run: RunEngine, command: str | None = None) -> dict[str, Any]:
    """All of it; ``command`` is what began the run, where that was not `thalweg run`."""
    assert run.encoder is not None
    run.watch.flush()
    task, options, model = run.task, run.options, run.task.model
    entry = MODELS[task.name].get(options.model)
    names = run.encoder.feature_names()
    warnings = run.warnings()
    watched = [names[at] for at in run.observer.history.watch.features]
    course = run.observer.history.series(model, run.counts.learned, watched, getattr(model, "horizon", None))
    found = task.metrics(course, names)
    words = _words(run, found)
    importance = (
        None if run.observer.importance is None else run.observer.importance.metrics(found["changes"], loss_name(model))
    )
    times, column = None, options.time
    if run.row_times is not None and column is not None:
        times = run.row_times.metrics(column, run.first_rows.clocks[column])
    seen = model._features_seen() if run.counts.learned and hasattr(model, "_features_seen") else None
    return {
        "schema": SCHEMA,
        "task": task.name,
        "run": {
            "command": command or options.command(),
            "version": __version__,
            "source": options.source,
            "target": options.target,
            "options": options.resolved(),
        },
        "rows": {
            "read": run.counts.read,
            "predicted": run.counts.processed - run.counts.unpredicted,
            "unpredicted": run.counts.unpredicted,
            "scored": task.board.rows,
            "learned": run.counts.learned,
            "unlabelled": run.counts.unlabelled,
            "pending": run.pending,
            "pending_rows": as_ranges(run.pending_rows),
            "skipped": run.counts.skipped,
            "bad": run.notices.complaints,
        },
        **found,
        **({} if times is None else {"times": times}),
        **({} if run.against is None else {"against": run.against.metrics()}),
        **({} if words is None else {"words": words}),
        **({} if importance is None else {"importance": importance}),
        **({"alerts_fired": run.alerts.found()} if run.alerts.rules else {}),
        "inputs": run.watch.metrics(run.encoder.plan),
        **({"warnings": warnings} if warnings else {}),
        "columns": [list(line) for line in run.encoder.plan.describe()],
        "model": {
            "name": options.model,
            "title": learner_name(model),
            "about": _summary_line(model) if entry is None else _about(entry, options, run.encoder.plan),
            "parameters": _parameters(learner_of(model)),
            "features": run.encoder.plan.width if seen is None else seen,
            "explain": model.explain() if hasattr(model, "explain") and run.counts.learned else None,
        },
    }


def _about(entry: CatalogueEntry, options: RunOptions, plan: Plan) -> str:
    """What the model is, with these options over these columns."""
    if options.costs and entry.with_costs:
        return entry.with_costs
    if not plan.sparse_columns or entry.about_sparse is None:
        return entry.about
    return f"{entry.about}, and {entry.about_sparse}" if plan.dense_beside_sparse else entry.about_sparse


def _parameters(learner: Any) -> dict[str, Any]:
    """As a model file holds them; as they are written where a file could not, for a model of another library."""
    try:
        return plain_parameters(learner)
    except InvalidParameter:
        return {name: " ".join(repr(value).split()) for name, value in learner.get_params(deep=False).items()}


def _summary_line(model: Any) -> str:
    """The first line of what the class says of itself, for a model that the catalogue does not have."""
    return (learner_of(model).__doc__ or "").strip().partition("\n")[0]


def _words(run: RunEngine, found: dict[str, Any]) -> dict[str, Any] | None:
    """The words that carry the decision, for the labels of the confusion matrix in its order."""
    if run.encoder is None or not run.encoder.plan.sparse_columns or "confusion" not in found or not run.counts.learned:
        return None
    labels, counts = found["confusion"]["classes"], found["confusion"]["counts"]
    frequent = sorted(range(len(labels)), key=lambda at: -sum(counts[at]))[:_MOST_LABELS]
    return decision_words(run.task.model, run.encoder.plan, [labels[at] for at in sorted(frequent)])
