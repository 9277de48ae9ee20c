"""Metrics of an invented run, of any size and with any names, for what reads ``metrics.json``."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = {
    "source": "data/river.csv.gz",
    "target": "state",
    "title": "AutoClassifier",
    "column": "level",
    "labels": ["low", "high", "flood"],
    "members": ["O-LDC 0.1", "O-LDC 0.01", "logistic 0.1"],
    "features": ["level", "rain"],
    "text": "as it is",
}


def sample_metrics(points: int = 60, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Everything a run can have: rate, memory, members, class means with a forecast, changes, skipped rows."""
    named = {**NAMES, **(names or {})}
    labels, text = named["labels"], named["text"]
    rng = np.random.default_rng(7)
    rows = [100 * (at + 1) for at in range(points)]
    scored = rows[-1] if rows else 0

    looks = rows[:: -(-points // 128) or 1]

    def wave(base: float, size: int = points) -> list[float]:
        return np.clip(base + 0.03 * rng.normal(size=size), 0.0, 1.0).tolist()

    def course(base: float) -> list[float]:
        return wave(base, len(looks))

    def errors() -> dict[str, list[float]]:
        return {"model": wave(0.1), "no_change": wave(0.2), "majority": wave(0.4)}

    weights = rng.dirichlet(np.ones(len(named["members"])), size=len(looks))
    difference = {"low": -0.12, "high": -0.08, "level": 0.95, "blocks": 46, "block_rows": 128}
    skill = {"skill": 0.5, "skill_low": 0.4, "skill_high": 0.6}
    counts = [[900 if truth == answer else 50 for answer in range(len(labels))] for truth in range(len(labels))]
    return {
        "schema": 1,
        "task": "classification",
        "run": {
            "command": f"thalweg run {named['source']} --target {named['target']}",
            "version": "0.2.0",
            "source": named["source"],
            "target": named["target"],
            "options": {"delay": 10, "label_time": None, "drop": [named["column"], "x"], "seed": 0, "resume": False},
        },
        "rows": {
            "read": scored + 15,
            "predicted": scored + 13,
            "unpredicted": 0,
            "scored": scored,
            "learned": scored,
            "unlabelled": 3,
            "pending": 10,
            "pending_rows": [[scored + 4, scored + 13]],
            "skipped": 2,
            "bad": [f"row 7, column {named['column']}: {text}", f"row 9: {text}"],
        },
        "verdict": {
            "no_change": {"error": {"difference": -0.1, **difference, **skill}},
            "majority": {"error": {"difference": -0.3, **difference, **skill, "low": -0.33, "high": -0.27}},
        },
        "scores": {
            "model": {
                "error": 0.1,
                "recent_error": 0.11,
                "kappa": 0.8,
                "kappa_temporal": 0.5,
                "log_loss": 0.3,
                "brier": 0.2,
            },
            "no_change": {"error": 0.2, "recent_error": 0.21, "kappa": 0.6, "kappa_temporal": 0.0},
            "majority": {"error": 0.4, "recent_error": 0.41, "kappa": 0.0, "kappa_temporal": -1.0},
        },
        "curve": {
            "rows": rows,
            "window": 1000,
            "error": errors(),
            "fade": 0.999,
            "fading": {"error": errors()},
        },
        "course": {
            "rows": looks,
            "rate": course(0.5),
            "effective_rows": {label: [None, *course(50.0)[1:]] if points else [] for label in labels},
            "weights": {member: weights[:, at].tolist() for at, member in enumerate(named["members"])},
            "means": {
                "features": named["features"],
                "classes": {label: [course(0.5) for _ in named["features"]] for label in labels},
                "ahead": 1,
                "forecast": {label: [course(0.5) for _ in named["features"]] for label in labels},
            },
        },
        "confusion": {"classes": labels, "counts": counts, "unpredicted": 1},
        "calibration": {
            "edges": [0.0, 0.5, 1.0],
            "rows": [0, scored],
            "confidence": [None, 0.9],
            "accuracy": [None, 0.88],
        },
        "rare": {
            "positive": None,
            "named": False,
            "share": None,
            "classes": {key: [] for key in ("labels", "rows", "predicted", "precision", "recall", "f1")},
            **dict.fromkeys(("curve", "reliability", "costs", "alerts")),
        },
        "inputs": {
            "changes_left_out": 0,
            **{key: [] for key in ("columns", "changes", "not_watched", "predictions", "targets", "causes")},
        },
        "changes": [
            {"row": rows[at], "found": rows[at] + 90, "before": 0.1, "seen": 0.3, "after": 0.2}
            for at in (points // 3, points // 2)
            if points
        ],
        "columns": [[named["column"], "number", text], [named["target"], "–", "the label"]],
        "model": {
            "name": "auto",
            "title": named["title"],
            "about": "A committee.",
            "parameters": {"persistence": False},
            "features": 2,
            "explain": text,
        },
    }
