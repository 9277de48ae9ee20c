"""What a run found out, as plain data: the content of ``metrics.json``, which the page and comparisons read."""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg import __version__
from thalweg.catalogue import MODELS
from thalweg.pipeline.pipeline import learner_name
from thalweg.pipeline.target_encoding import learner_of
from thalweg.report.page.content import SCHEMA
from thalweg.run.runner import Run
from thalweg.store import plain_parameters
from thalweg.tables.opening import natural_order


def metrics_of(run: Run) -> dict[str, Any]:
    assert run.encoder is not None
    board, options = run.board, run.options
    counts = board.confusion[0]
    labels = ["", *run.names.known]
    order = sorted(np.flatnonzero(counts.any(axis=1)).tolist(), key=lambda at: natural_order(labels[at]))
    places = [at - 1 for at in order]
    names = run.encoder.feature_names()
    warnings = run.warnings()
    watched = [names[at] for at in run.history.watch.features]
    return {
        "schema": SCHEMA,
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
            "scored": board.rows,
            "learned": run.learned,
            "unlabelled": run.unlabelled,
            "pending": run.pending,
            "skipped": run.skipped,
            "bad": run.notices.complaints,
        },
        "verdict": {name: blocks.interval() for name, blocks in board.blocks.items()},
        "scores": {name: board.score(name) for name in ("model", "no_change", "majority")},
        "curve": board.curve(),
        "course": run.history.series(run.model, run.learned, watched, getattr(run.model, "horizon", None)),
        "confusion": {
            "classes": [run.names.known[i - 1] for i in order],
            "counts": [[int(counts[i, j]) for j in order] for i in order],
            "unanswered": int(counts[:, 0].sum()) + board.unpredicted,
        },
        "calibration": board.calibration(),
        **({} if run.rare is None else {"rare": run.rare.metrics(board.confusion, run.names.known, places)}),
        **({} if run.sets is None else {"sets": run.sets.metrics()}),
        "changes": run.detector.changes(),
        "changes_left_out": run.detector.left_out,
        "class_changes": [
            {
                "label": run.names.known[change["label"] - 1],
                "row": change["row"],
                "found": change["found"],
                "features": [names[at] for at in change["features"]],
            }
            for change in run.class_detector.changes
        ],
        **({"warnings": warnings} if warnings else {}),
        "columns": [list(line) for line in run.encoder.plan.describe()],
        "model": {
            "name": options.model,
            "title": learner_name(run.model),
            "about": MODELS["classification"][options.model].about,
            "parameters": plain_parameters(learner_of(run.model)),
            "features": len(run.encoder.plan.feature_names),
            "explain": run.model.explain() if hasattr(run.model, "explain") and run.learned else None,
        },
    }
