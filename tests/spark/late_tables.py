"""Rows, and labels that come later, as files: enough for keys to wait, to learn late and to lose labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from tests.spark.tables import BEGIN, NAMES, rows, write_parts


def write_late_labels(folder: Path, count: int, keys: int, parts: int) -> pa.Table:
    """Events in order of time; some labels come too late, some never, some for rows that nobody has seen."""
    table = rows(count, keys)
    rng = np.random.default_rng(5)
    when = BEGIN + np.arange(count) * 1_000_000 + rng.integers(5, 150, count) * 1_000_000 + 500_000
    told = pa.array(rng.random(count) < 0.9)
    place = table.column_names.index("state")
    unlabelled = table.set_column(place, "state", pa.nulls(count, pa.string())).append_column(
        "told", pa.array(np.zeros(count, dtype=np.bool_))
    )
    names = [f"nobody {place}" if place % 20 == 7 else name for place, name in enumerate(table["row"].to_pylist())]
    labels = pa.table(
        {
            "pump": table.column("pump"),
            "at": pa.array(when).cast(pa.timestamp("us", "UTC")),
            "row": pa.array(names),
            **{name: pa.nulls(count, pa.float64()) for name in NAMES},
            "state": table.column("state"),
            "told": pa.array(np.ones(count, dtype=np.bool_)),
        }
    ).filter(told)
    events = pa.concat_tables([unlabelled, labels]).sort_by("at")
    write_parts(events, folder, parts)
    return events
