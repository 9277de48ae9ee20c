"""A comparison of runs as plain data, for programs: what ``thalweg compare --json`` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from thalweg.run.comparing import Pair, Ranking
from thalweg.run.recorded import DataSet


def comparison(
    sets: Sequence[DataSet], *, pairs: Sequence[Pair] | None = None, ranking: Ranking | None = None
) -> dict[str, Any]:
    """The runs by data set, and the tests: of pairs over one data set, of ranks over several; null where not made.

    Parameters
    ----------
    sets : sequence of DataSet
        What was compared.
    pairs : sequence of Pair, optional
        Every two runs, where there is one data set; each p is corrected for their number by Holm's method.
    ranking : Ranking, optional
        Where there are several.
    """
    return {
        "data_sets": [_data_set(data) for data in sets],
        "pairs": None if pairs is None else [_pair(pair) for pair in pairs],
        "ranking": None if ranking is None else _ranking(ranking),
    }


def _data_set(data: DataSet) -> dict[str, Any]:
    runs = {name: {"path": str(run.path), "scores": run.metrics["scores"]} for name, run in data.runs.items()}
    return {"source": data.source, "target": data.target, "rows": data.rows, "runs": runs}


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": pair.difference,
        "mcnemar": None if pair.rows is None else _known(pair.rows._asdict()),
        "wilcoxon": None if pair.windows is None else _known(pair.windows._asdict()),
    }


def _ranking(ranking: Ranking) -> dict[str, Any]:
    test = ranking.test
    return {
        "models": list(ranking.names),
        "errors": ranking.errors.tolist(),
        "mean_ranks": test.mean_ranks.tolist(),
        "friedman": _known({"statistic": test.statistic, "p_value": test.p_value, "f_p_value": test.f_p_value}),
        "nemenyi_difference": ranking.difference,
    }


def _known(values: dict[str, Any]) -> dict[str, Any]:
    """With null for what a test could not tell; strict JSON has no NaN."""
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
