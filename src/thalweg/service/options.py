"""How a service is run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from thalweg.errors import InvalidParameter

_POLICY = re.compile(r"([1-9][0-9]{0,14})\s*(s|m|h|d|rows?)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True)
class Expiry:
    """When a row without a label is given up.

    Examples
    --------
    >>> Expiry.of("30d"), Expiry.of("1000000rows")
    (Expiry(seconds=2592000, rows=None), Expiry(seconds=None, rows=1000000))
    """

    seconds: int | None = None
    #: All but the last so many.
    rows: int | None = None

    @classmethod
    def of(cls, text: str) -> Expiry:
        """As it is typed: a time such as 30d, 12h, 45m or 90s, or a number of rows such as 1000000rows."""
        found = _POLICY.fullmatch(text.strip())
        if found is None:
            raise InvalidParameter.of_option("expire", "be a time such as 30d or 12h, or as in 1000000rows", text)
        number, unit = int(found[1]), found[2]
        return cls(rows=number) if unit.startswith("row") else cls(seconds=number * _SECONDS[unit])


@dataclass(frozen=True)
class Limits:
    """What a request may ask, and how much may wait."""

    #: Bytes of a body.
    body: int = 16 << 20
    #: Rows or labels in a request.
    rows: int = 100_000
    #: Requests that may be in work at the same time, and their bytes.
    requests: int = 2048
    bytes: int = 256 << 20


@dataclass(frozen=True)
class ServeOptions:
    data: Path = Path("thalweg-serve")
    database: str | None = None
    model: Path | None = None
    #: The kind of a new model; "auto" where nothing is said.
    new: str | None = None
    host: str = "127.0.0.1"
    port: int = 8080
    token_file: Path | None = None
    insecure: bool = False
    expire: Expiry = field(default_factory=lambda: Expiry(seconds=30 * 86_400))
    promote: bool = False
    limits: Limits = field(default_factory=Limits)
    #: Addresses of streams that are read besides.
    sources: tuple[str, ...] = ()
    #: A file with the columns of a new model.
    schema: Path | None = None
    #: The label of interest of the first model, and what mistakes about it cost.
    positive: str | None = None
    costs: str | None = None
    #: The task of the first model; classification where nothing is said.
    task: str | None = None
    #: Of the intervals of a regression model.
    coverage: float | None = None
