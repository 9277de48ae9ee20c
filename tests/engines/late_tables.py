"""Rows and labels that come later, as files: enough for keys to wait, to learn late and to lose labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from tests.engines.tables import BEGIN, rows, write_parts


def write_late_labels(folder: Path, count: int, keys: int, parts: int) -> tuple[pa.Table, pa.Table]:
    """Rows without labels in ``rows``, labels in ``labels``: some too late, some never, some for rows never seen."""
    table = rows(count, keys)
    rng = np.random.default_rng(5)
    when = BEGIN + np.arange(count) * 1_000_000 + rng.integers(5, 150, count) * 1_000_000 + 500_000
    told = rng.random(count) < 0.9
    state = table.column_names.index("state")
    unlabelled = table.set_column(state, "state", pa.nulls(count, pa.string()))
    names = [f"nobody {place}" if place % 20 == 7 else name for place, name in enumerate(table["row"].to_pylist())]
    labels = pa.table(
        {
            "pump": table.column("pump"),
            "at": pa.array(when).cast(pa.timestamp("us", "UTC")),
            "row": pa.array(names),
            "state": table.column("state"),
        }
    ).filter(pa.array(told))
    labels = labels.take(pa.array(np.argsort(when[told], kind="stable")))
    write_parts(unlabelled, folder / "rows", parts)
    write_parts(labels, folder / "labels", parts)
    return table, labels
