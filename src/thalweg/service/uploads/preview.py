"""``python -m thalweg.service.uploads.preview FILE``: the columns of a table, with their first values, as JSON.

A process of its own reads the file: whatever is in it does not harm the service.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

from thalweg.errors import InvalidInput, ThalwegError
from thalweg.tables.opening import open_source
from thalweg.tables.rows import as_text

_EXAMPLES, _LETTERS = 4, 40


def preview(path: Path) -> dict[str, Any]:
    """The columns in their order, and the one that is likely to be predicted: as the file declares it, or the last."""
    blocks = list(itertools.islice((block for block in open_source(path).blocks() if len(block.table)), 1))
    if not blocks:
        raise InvalidInput(f"{path} has no rows")
    [block] = blocks
    columns = []
    for name, column in zip(block.table.column_names, block.table.columns, strict=True):
        values = as_text(column.slice(0, 50)).to_pylist() if _is_plain(column.type) else []
        known = dict.fromkeys(value[:_LETTERS] for value in values if value)
        columns.append({"name": name, "examples": list(known)[:_EXAMPLES]})
    declared = None if block.layout is None else block.layout.target
    return {"columns": columns, "target": declared or columns[-1]["name"]}


def _is_plain(kind: Any) -> bool:
    import pyarrow as pa

    return not pa.types.is_nested(kind)


if __name__ == "__main__":
    try:
        print(json.dumps(preview(Path(sys.argv[1]))))
    except (ThalwegError, OSError) as error:
        sys.exit(" ".join(str(error).split()))
