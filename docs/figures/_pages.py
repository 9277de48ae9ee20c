"""What a page's own code leaves behind, so that its picture shows the numbers that it prints."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[1]
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def names_of(page: str, until: str) -> dict[str, Any]:
    """The names that a page's Python blocks define, up to the block that defines ``until``."""
    namespace: dict[str, Any] = {}
    with redirect_stdout(StringIO()):
        for block in PYTHON.findall((PAGES / page).read_text(encoding="utf-8")):
            exec(block, namespace)
            if until in namespace:
                return namespace
    raise LookupError(f"{page} does not define {until}")
