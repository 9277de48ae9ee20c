"""A window of one column in a few numbers: mean, spread, quantiles and missing share, or shares of categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The quantiles of a summary.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Categories of a summary, at the most.
SHOWN = 8


def number_summary(values: Floats) -> dict[str, Any]:
    """Mean, standard deviation, missing share and quantiles of numbers, NaN for a missing one; None for unknown.

    Examples
    --------
    >>> number_summary(np.array([1.0, 2.0, 3.0, np.nan]))
    {'mean': 2.0, 'spread': 0.816497, 'missing': 0.25, 'quantiles': [1.1, 1.5, 2.0, 2.5, 2.9]}
    """
    present = values[~np.isnan(values)]
    missing = shortened(1.0 - len(present) / len(values)) if len(values) else None
    if not len(present):
        return {"mean": None, "spread": None, "missing": missing, "quantiles": None}
    quantiles = np.quantile(present, QUANTILES).tolist()
    return {
        "mean": shortened(float(present.mean())),
        "spread": shortened(float((present - present[0]).std())),  # exactly 0 where all are equal
        "missing": missing,
        "quantiles": [shortened(each) for each in quantiles],
    }


def category_summary(codes: Floats, names: Sequence[str]) -> dict[str, Any]:
    """Missing share, and the shares of the most frequent categories, NaN for a missing one.

    Examples
    --------
    >>> category_summary(np.array([0.0, 1.0, 1.0, np.nan]), ["Oslo", "Bergen"])
    {'missing': 0.25, 'shares': {'Bergen': 0.5, 'Oslo': 0.25}}
    """
    present = codes[~np.isnan(codes)].astype(np.int64)
    counts = np.bincount(present, minlength=len(names))[: len(names)]
    most = np.argsort(-counts, kind="stable")[:SHOWN]
    return {
        "missing": shortened(1.0 - len(present) / len(codes)) if len(codes) else None,
        "shares": {names[at]: shortened(int(counts[at]) / len(codes)) for at in most.tolist() if counts[at]},
    }


def shortened(value: float) -> float:
    """Six digits: enough for any reader.

    Examples
    --------
    >>> shortened(0.123456789)
    0.123457
    """
    return float(f"{value:.6g}") if math.isfinite(value) else value
