"""What `write_fixtures` and the tests share: where the fixtures are, and the rows that a loaded model learns next."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from thalweg import Part, kernels
from thalweg.store import dumps

FIXTURES = Path(__file__).parent / "fixtures"
RECORD = FIXTURES / "recorded.json"
#: Seeds and numbers of the rows a model had learned when it was saved, and of those it learns after it is loaded.
BEFORE, AFTER = (1, 240), (2, 60)
NAMES = ("level", "rain", "wind", "load")

_LABELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "integers": lambda codes: 2 * codes - 1,
    "strings": lambda codes: np.array(["dry", "wet", "flood"])[codes],
    "booleans": lambda codes: codes > 0,
    "floats": lambda codes: codes + 1.0,
    "two classes": lambda codes: np.minimum(codes, 1),
}


def here() -> dict[str, str]:
    """What the bits of a result depend on besides the rows: the processor, and the libraries that compute."""
    libraries = {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"machine": platform.machine(), "kernels": kernels.level, **libraries}


def sha256(content: bytes) -> str:
    """A digest in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def rows(kind: str, seed: int, count: int) -> dict[str, np.ndarray]:
    """Rows of a drifting stream as arguments of `predict_then_learn`.

    Parameters
    ----------
    kind : str
        One of the kinds of labels, or "unlabelled", "weighted", "named", "target", "targets", "keys", "string keys",
        "sparse", "sparse target".
    """
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, count)
    drift = np.linspace(0.0, 1.5, count)
    X = np.round(rng.normal(size=(count, 4)) + np.outer(codes, [1.0, -1.0, 0.5, 0.0]) + drift[:, None], 4)
    targets = np.round(X @ [[1.0, 1.0], [0.5, 0.0], [-0.5, 0.0], [2.0, -1.0]] + rng.normal(size=(count, 2)), 4)
    keys = rng.integers(0, 7, count)
    weights = np.round(rng.uniform(0.0, 3.0, count), 2)
    if kind == "unlabelled":
        return {"X": X}
    if kind in ("target", "targets"):
        return {"X": X, "y": targets if kind == "targets" else targets[:, 0]}
    if kind.startswith("sparse"):
        words = 4 + np.sort(rng.integers(0, 60, (count, 3)) + 100 * codes[:, None], axis=1)
        wide = csr_array((np.ones(3 * count), words.ravel(), np.arange(0, 3 * count + 1, 3)), shape=(count, 10**6))
        wide = csr_array(hstack([csr_array(X), wide[:, 4:]]))
        wide.sum_duplicates()
        return {"X": wide, "y": targets[:, 0] + codes if kind == "sparse target" else _LABELS["strings"](codes)}
    found = {"X": X, "y": _LABELS.get(kind, _LABELS["strings"])(codes)}
    if kind in ("keys", "string keys"):
        found["keys"] = keys if kind == "keys" else np.array([f"pump {key}" for key in keys])
    if kind == "weighted":
        found["sample_weight"] = weights
    return found


def learn(model: Any, kind: str, seed: int, count: int) -> list[Any]:
    """Learn rows, the first half in one call and the others one by one; return all predictions made on the way."""
    given = rows(kind, seed, count)
    half = 0 if kind == "named" else count // 2
    block = {name: column[:half] for name, column in given.items()}
    if isinstance(model, Part):
        model.learn(**block).learn(**{name: column[half:] for name, column in given.items()})
        return []
    found: list[Any] = []
    if half:
        made = (model.transform_then_learn if kind == "unlabelled" else model.predict_then_learn)(**block)
        found += getattr(made, "predictions", made).tolist()
    answer = model.transform_one if kind == "unlabelled" else model.predict_one
    others = [given[name][half:].tolist() for name in ("y", "keys") if name in given]
    if kind.startswith("sparse"):
        wide = given["X"][half:]
        single = [dict(zip(*part, strict=True)) for part in _entries(wide)]
    else:
        single = [dict(zip(NAMES, x.tolist(), strict=True)) if kind == "named" else x for x in given["X"][half:]]
    for row, *rest in zip(single, *others, strict=True):
        predicted = answer(row, *rest[1:])
        found.append(predicted.tolist() if isinstance(predicted, np.ndarray) else predicted)
        model.learn_one(row, *rest)
    for method in ("decision_function", "predict_proba"):
        if half and hasattr(model, method):
            found += getattr(model, method)(given["X"][:10]).tolist()
    return found


def _entries(rows: Any) -> list[tuple[list[int], list[float]]]:
    """The columns and the values of each sparse row."""
    cuts = rows.indptr[1:-1]
    parts = zip(np.split(rows.indices, cuts), np.split(rows.data, cuts), strict=True)
    return [(columns.tolist(), values.tolist()) for columns, values in parts]


def continued(model: Any, kind: str) -> dict[str, str]:
    """Learn the further rows; digests of the predictions and of the file of the model after them."""
    predictions = learn(model, kind, *AFTER)
    return {"predictions": sha256(json.dumps(predictions).encode()), "model": sha256(dumps(model))}


def read_record() -> dict[str, Any]:
    """What was recorded when the fixtures were written."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found
