"""The rows of a data set or generator of River's, as a stream of ours."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from thalweg.errors import InvalidInput
from thalweg.parameters import whole_number
from thalweg.streams.table import Table


def river_stream(dataset: Iterable[tuple[dict[Any, Any], Any]], *, limit: int | None = None) -> Table:
    """The rows of anything that yields pairs of a dict and a label, as River's data sets do.

    Parameters
    ----------
    dataset : iterable of pairs of a dict and a label or number
        A data set or generator of River's.
    limit : int, optional
        How many rows to take; River's generators need one, being endless.

    Returns
    -------
    Table
        Columns in the order in which features were first met; 0 where a row lacks one, as in River's linear models.

    Examples
    --------
    >>> from river.datasets import synth
    >>> from thalweg import OnlineLDC
    >>> from thalweg.evaluate import prequential, summarise
    >>> from thalweg.river import river_stream
    >>> stream = river_stream(synth.SEA(seed=1), limit=1000)
    >>> stream.feature_names, summarise(prequential(OnlineLDC(), stream)).model.error < 0.15
    (('0', '1', '2'), True)
    """
    most = None if limit is None else whole_number("river_stream", "limit", limit, least=1)
    rows, labels = [], []
    columns: dict[Any, int] = {}
    for x, y in islice(dataset, most):
        for name in x:
            columns.setdefault(name, len(columns))
        rows.append(x)
        labels.append(y)
    if not columns:
        raise InvalidInput("a stream needs rows with features, got none")
    X = np.zeros((len(rows), len(columns)))
    for i, row in enumerate(rows):
        for name, value in row.items():
            if not isinstance(value, Real | np.bool_):
                raise InvalidInput(f"a stream's features must be numbers, got {value!r} in column {name!r} of row {i}")
            X[i, columns[name]] = float(value)
    return Table(X, labels, list(columns))
