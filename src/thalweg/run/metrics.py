"""What a run found out, as plain data: the content of ``metrics.json``, which the page and comparisons read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg import __version__
from thalweg.catalogue import MODELS
from thalweg.errors import InvalidParameter
from thalweg.explain.importance_sampler import loss_name
from thalweg.history.automatic import AUTO
from thalweg.kernels import compiled
from thalweg.learners.auto import SPARSE_MEMBERS
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.pipeline.over_columns import learner_of
from thalweg.pipeline.pipeline import learner_name
from thalweg.run.engine import RunEngine
from thalweg.run.options import RunOptions
from thalweg.run_metrics import SCHEMA
from thalweg.store import plain_parameters
from thalweg.tables import Plan
from thalweg.text.strings import strings_of

#: Labels whose words are listed: the most frequent.
_MOST_LABELS = 12
#: Words of a label, at the most.
_MOST_WORDS = 15
_WEIGHTS = re.compile(r"(?:member(\d++)_)*+weights")


def metrics_of(
    run: RunEngine, command: str | None = None, curve: list[list[float | None]] | None = None
) -> dict[str, Any]:
    """All of it; ``command`` is what began the run, where that was not `thalweg run`.

    ``curve`` has label budgets and the error with each.
    """
    assert run.encoder is not None
    run.watch.flush()
    task, options, model = run.task, run.options, run.task.model
    entry = MODELS[task.name].get(options.model)
    names = run.encoder.feature_names()
    warnings = run.warnings()
    watched = [names[at] for at in run.observer.history.watch.features]
    course = run.observer.history.series(model, run.counts.learned, watched, getattr(model, "horizon", None))
    results = task.metrics(course, names)
    words = _words(run, results)
    importance = (
        None
        if run.observer.importance is None
        else run.observer.importance.metrics(results["changes"], loss_name(model))
    )
    times, column = None, options.time
    if run.row_times is not None and column is not None:
        times = run.row_times.metrics(column, run.first_rows.clocks[column])
    made = run.earlier_rows if options.features == AUTO else None
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
            "learned": run.counts.learned if task.budget is None else task.budget.came,
            "unlabelled": run.counts.unlabelled,
            "pending": run.pending,
            "pending_rows": _as_ranges(run.pending_rows),
            "skipped": run.counts.skipped,
            "bad": run.notices.complaints,
        },
        **results,
        **({} if times is None else {"times": times}),
        **({} if run.against is None else {"against": run.against.metrics()}),
        **({} if task.budget is None else {"label_budget": task.budget.metrics(results["scores"]["model"], curve)}),
        **({} if words is None else {"words": words}),
        **({} if importance is None else {"importance": importance}),
        **({} if made is None else {"features": {feature.name: str(feature) for feature in made.features}}),
        **({"alerts_fired": run.alerts.recorded()} if run.alerts.rules else {}),
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


def _words(run: RunEngine, results: dict[str, Any]) -> dict[str, Any] | None:
    """The words that carry the decision, for the labels of the confusion matrix in its order."""
    if (
        run.encoder is None
        or not run.encoder.plan.sparse_columns
        or "confusion" not in results
        or not run.counts.learned
    ):
        return None
    labels, counts = results["confusion"]["classes"], results["confusion"]["counts"]
    frequent = sorted(range(len(labels)), key=lambda at: -sum(counts[at]))[:_MOST_LABELS]
    return _decision_words(run.task.model, run.encoder.plan, [labels[at] for at in sorted(frequent)])


def _as_ranges(numbers: NDArray[np.int64]) -> list[list[int]]:
    """Row numbers as their first and last ones, for ``metrics.json``.

    Examples
    --------
    >>> _as_ranges(np.array([9, 3, 4, 5]))
    [[3, 5], [9, 9]]
    """
    ordered = np.sort(numbers)
    parts = np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1) if len(ordered) else []
    return [[int(part[0]), int(part[-1])] for part in parts]


def _decision_words(model: Any, plan: Plan, labels: Sequence[str]) -> dict[str, Any] | None:
    """For each label its words with the largest weights in the heaviest linear member; None where none has a name.

    A weight is that of the word itself: the sign by which its feature is hashed is undone.
    """
    names, places, signs = _known_words(plan)
    heaviest = _heaviest_member(model) if names else None
    if heaviest is None:
        return None
    share, features, weights = heaviest
    order = np.argsort(features)
    at = order[np.minimum(np.searchsorted(features, places, sorter=order), len(order) - 1)]
    seen = features[at] == places
    own = np.where(seen[:, None], weights[at] * signs[:, None], 0.0)
    classes = [str(label) for label in model.classes_]
    by_label = []
    for label in filter(classes.__contains__, labels):
        of_label = own[:, classes.index(label)]
        best = np.argsort(-of_label, kind="stable")[:_MOST_WORDS]
        words = [[names[i], float(of_label[i])] for i in best if of_label[i] > 0.0]
        by_label.append({"label": label, "words": words})
    return {"share": share, "labels": by_label} if any(label["words"] for label in by_label) else None


def _known_words(plan: Plan) -> tuple[list[str], NDArray[np.int64], NDArray[np.float64]]:
    """The known names of hashed features, where those are among all features, and the signs of the names."""
    names: list[str] = []
    places: list[NDArray[np.int64]] = []
    signs: list[NDArray[np.float64]] = []
    columns = plan.sparse_columns
    several = sum(column.words is not None for column in columns) > 1
    start = len(plan.feature_names)
    for column in columns:
        if column.words is not None and len(column.words):
            known = [column.words[index] for index in column.words]
            indices, of_column = compiled.hash_strings(*strings_of(known), column.words.hash_bits)
            prefix = f"{column.name}: " if several and column.declared_as != "categories" else ""
            names += [prefix + name for name in known]
            places.append(start + indices.astype(np.int64))
            signs.append(of_column.astype(np.float64))
        start += column.width
    if not names:
        return [], np.empty(0, np.int64), np.empty(0)
    return names, np.concatenate(places), np.concatenate(signs)


def _heaviest_member(model: Any) -> tuple[float, NDArray[np.int64], NDArray[np.float64]] | None:
    """Of the linear member with the largest share in the prediction: that share, the features seen, their weights."""
    core = model._learned_core()
    if not core.is_sparse:
        return None
    state, shares = core.state(), core.shares().tolist() or [1.0]
    of_dense = "member0_"
    while hasattr(model, "learner"):
        model, of_dense = model.learner, f"member0_{of_dense}"
    if getattr(model, "dense_features", 0):  # its members over dense columns come first
        shares = shares[-len(SPARSE_MEMBERS) :]
        state = {name: values for name, values in state.items() if not name.startswith(of_dense)}
    features, classes, best = state["feature_ids"], core.n_classes, None
    if not len(features):  # no row that was learned had any
        return None
    for name, weights in state.items():
        match = _WEIGHTS.fullmatch(name)
        if match and weights.shape == (len(features), classes):
            share = shares[int(match[1] or 0)]
            if best is None or share > best[0]:
                best = share, features, weights
    return best
