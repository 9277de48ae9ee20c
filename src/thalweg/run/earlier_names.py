"""Names in files of earlier versions: what was written as "answer" is read as "prediction"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from thalweg.tables import Block

T = TypeVar("T")

#: The schema of ``metrics.json`` with the earlier names.
EARLIER_SCHEMA = 2


def present_metrics(metrics: Mapping[str, Any], schema: int) -> Mapping[str, Any]:
    """The content of a ``metrics.json``, with the names and the number of the present ``schema``.

    Examples
    --------
    >>> present_metrics({"schema": 2, "rows": {"read": 9, "answered": 8}}, 3)
    {'schema': 3, 'rows': {'read': 9, 'predicted': 8}}
    """
    if metrics.get("schema") != EARLIER_SCHEMA:
        return metrics
    found = {**metrics, "schema": schema, "rows": _renamed(metrics["rows"], {"answered": "predicted"})}
    if "confusion" in metrics:
        found["confusion"] = _renamed(metrics["confusion"], {"unanswered": "unpredicted"})
    return found


def present_columns(block: Block) -> Block:
    """Rows of a ``predictions.csv``; a run that an earlier version began keeps the header of that version."""
    table = block.table
    if "answer" not in table.column_names:
        return block
    return replace(block, table=table.rename_columns([{"answer": "prediction"}.get(n, n) for n in table.column_names]))


def present_arrays(arrays: Mapping[str, T]) -> dict[str, T]:
    """The arrays of a checkpoint, by their present names.

    Examples
    --------
    >>> present_arrays({"due": 1, "answered of_answer": 2, "answered model": 3})
    {'due': 1, 'predicted of_prediction': 2, 'predicted model': 3}
    """
    earlier = {name: f"predicted {name.removeprefix('answered ')}" for name in arrays if name.startswith("answered ")}
    return _renamed(arrays, earlier | {"answered of_answer": "predicted of_prediction"})


def _renamed(given: Mapping[str, T], names: Mapping[str, str]) -> dict[str, T]:
    return {names.get(name, name): value for name, value in given.items()}
