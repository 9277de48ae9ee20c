"""Numbers as people write them: with a decimal comma, in groups of three digits, as percentages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa

Decimal = Literal[".", ","]

#: A number with a decimal comma; points may part its thousands.
_WITH_COMMA = r"^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d*)?(?:[eE][+-]?\d+)?$"
_GROUPED = r"^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$"
#: Patterns of numbers that are not read, what they seem to be, and what to do.
_UNREAD = (
    (_GROUPED, "numbers with commas between thousands", "write them without"),
    (r"^[+-]?[\d.,]+\s?%$", "percentages", "write them as numbers, without the sign"),
    (r"^[$€£¥]\s?[\d.,]+$|^[\d.,]+\s?[$€£¥]$", "amounts of money", "write them as numbers, without the sign"),
)


def with_point(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, Any]:
    """Numbers with a decimal comma as they are written with a point, and which cells are none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> with_point(pa.chunked_array([["1,5", "1.234,5", "1.5", None]]))[0].to_pylist()
    ['1.5', '1234.5', None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wrong = pc.invert(pc.match_substring_regex(column, _WITH_COMMA))
    column = pc.if_else(wrong, pa.scalar(None, column.type), column)
    points = pc.replace_substring(pc.replace_substring(column, ".", ""), ",", ".")
    return points, pc.fill_null(wrong, False)


def decimal_of(cells: Sequence[str]) -> Decimal | Literal["unclear"] | None:
    """How the numbers are written: "," for a decimal comma, "unclear" where it may part thousands, None for neither.

    Examples
    --------
    >>> decimal_of(["1,5", "2"]), decimal_of(["1,250", "2,375"]), decimal_of(["0,250", "2,375"]), decimal_of(["a,b"])
    (',', 'unclear', ',', None)
    """
    import re

    commas = [cell for cell in cells if "," in cell]
    if not commas or not all(re.match(_WITH_COMMA, cell) for cell in cells):
        return None
    return "unclear" if all(re.match(_GROUPED, cell) for cell in commas) else ","


def looks_like(cells: Sequence[str]) -> str | None:
    """What cells that are not read as numbers seem to be, and what to do about it.

    Examples
    --------
    >>> looks_like(["12.5%", "7%"])
    'percentages: write them as numbers, without the sign'
    """
    import re

    for pattern, what, advice in _UNREAD:
        if sum(re.match(pattern, cell) is not None for cell in cells) > len(cells) / 2:
            return f"{what}: {advice}"
    return None
