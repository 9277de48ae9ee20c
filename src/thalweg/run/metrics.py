"""What a run found out, as plain data: the content of ``metrics.json``, which the page and comparisons read."""

from __future__ import annotations

from typing import Any

from thalweg import __version__
from thalweg.catalogue import MODELS
from thalweg.pipeline.pipeline import learner_name
from thalweg.pipeline.target_encoding import learner_of
from thalweg.report.page.content import SCHEMA
from thalweg.run.decision_words import decision_words
from thalweg.run.runner import Run
from thalweg.store import plain_parameters

#: Labels whose words are listed: the most frequent.
_MOST_LABELS = 12


def metrics_of(run: Run) -> dict[str, Any]:
    assert run.encoder is not None
    task, options, model = run.task, run.options, run.task.model
    entry = MODELS[task.name][options.model]
    names = run.encoder.feature_names()
    warnings = run.warnings()
    watched = [names[at] for at in run.history.watch.features]
    course = run.history.series(model, run.learned, watched, getattr(model, "horizon", None))
    found = task.metrics(course, names)
    words = _words(run, found)
    return {
        "schema": SCHEMA,
        **({} if task.name == "classification" else {"task": task.name}),
        "run": {
            "command": options.command(),
            "version": __version__,
            "source": options.source,
            "target": options.target,
            "options": options.resolved(),
        },
        "rows": {
            "read": run.read,
            "answered": run.answered - run.unpredicted,
            "unpredicted": run.unpredicted,
            "scored": task.board.rows,
            "learned": run.learned,
            "unlabelled": run.unlabelled,
            "pending": run.pending,
            "skipped": run.skipped,
            "bad": run.notices.complaints,
        },
        **found,
        **({} if words is None else {"words": words}),
        **({"warnings": warnings} if warnings else {}),
        "columns": [list(line) for line in run.encoder.plan.describe()],
        "model": {
            "name": options.model,
            "title": learner_name(model),
            "about": (options.costs and entry.with_costs) or entry.about,
            "parameters": plain_parameters(learner_of(model)),
            "features": run.encoder.plan.width,
            "explain": model.explain() if hasattr(model, "explain") and run.learned else None,
        },
    }


def _words(run: Run, found: dict[str, Any]) -> dict[str, Any] | None:
    """The words that carry the decision, for the labels of the confusion matrix in its order."""
    if run.encoder is None or not run.encoder.plan.sparse_columns or "confusion" not in found or not run.learned:
        return None
    labels, counts = found["confusion"]["classes"], found["confusion"]["counts"]
    frequent = sorted(range(len(labels)), key=lambda at: -sum(counts[at]))[:_MOST_LABELS]
    return decision_words(run.task.model, run.encoder.plan, [labels[at] for at in sorted(frequent)])
