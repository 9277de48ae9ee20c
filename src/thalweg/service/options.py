"""How a service is run."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from thalweg.errors import InvalidParameter
from thalweg.service.journal.databases import SILENCE_SECONDS

_POLICY = re.compile(r"([1-9][0-9]{0,14})\s*(s|m|h|d|rows?)")
_SIZE = re.compile(r"([1-9][0-9]{0,14})\s*([kmgt])(i?)b", re.IGNORECASE)
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
            raise InvalidParameter.of_option(
                "expire", "be a time such as 30d or 12h, or a number of rows such as 1000000rows", text
            )
        number, unit = int(found[1]), found[2]
        return cls(rows=number) if unit.startswith("row") else cls(seconds=number * _SECONDS[unit])


def bytes_of(text: str, option: str) -> int:
    """A size as it is typed.

    Examples
    --------
    >>> bytes_of("2GB", "key_memory"), bytes_of("512 MiB", "key_memory")
    (2000000000, 536870912)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise InvalidParameter.of_option(option, "be a size such as 2GB, 500MB or 512MiB", text)
    unit: int = (1024 if found[3] else 1000) ** " kmgt".index(found[2].lower())
    return int(found[1]) * unit


@dataclass(frozen=True)
class Retention:
    """How much of a journal is kept: at least so many seconds or rows of each model, or at most so many bytes.

    Examples
    --------
    >>> Retention.of("90d"), Retention.of("20GB")
    (Retention(seconds=7776000, rows=None, bytes=None), Retention(seconds=None, rows=None, bytes=20000000000))
    """

    seconds: int | None = None
    rows: int | None = None
    bytes: int | None = None

    @classmethod
    def of(cls, text: str) -> Retention:
        """As it is typed: a time such as 90d, a number of rows such as 1000000rows, or a size such as 20GB."""
        if _SIZE.fullmatch(text.strip()):
            return cls(bytes=bytes_of(text, "keep"))
        try:
            found = Expiry.of(text)
        except InvalidParameter as error:
            rule = "be a time such as 90d or 12h, a size such as 20GB, or as in 1000000rows"
            raise InvalidParameter.of_option("keep", rule, text) from error
        return cls(found.seconds, found.rows)


def seconds_of(text: str, option: str) -> int:
    """A time as it is typed, such as 30d, 12h, 45m or 90s.

    Examples
    --------
    >>> seconds_of("12h", "keep_replies")
    43200
    """
    found = _POLICY.fullmatch(text.strip())
    if found is None or found[2].startswith("row"):
        raise InvalidParameter.of_option(option, "be a time such as 30d or 12h", text)
    return int(found[1]) * _SECONDS[found[2]]


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
    #: Bytes of large bodies that are unpacked at the same time, which takes many times as much memory.
    unpacked: int = 8 << 20

    @property
    def objects(self) -> int:
        """Objects and lists in a large body of JSON: those of the rows, and of maps in them."""
        return max(4 * self.rows, 100_000)


Network = ipaddress.IPv4Network | ipaddress.IPv6Network


#: Trusted by default: a proxy on this machine.
PROXIES: tuple[Network, ...] = (ipaddress.ip_network("127.0.0.1"), ipaddress.ip_network("::1"))


def network_of(text: str) -> Network:
    """An address or a network as it is typed.

    Examples
    --------
    >>> network_of("10.0.0.0/8"), network_of("::1")
    (IPv4Network('10.0.0.0/8'), IPv6Network('::1/128'))
    """
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        rule = "be an address or a network, as in 10.0.0.5 or 10.0.0.0/8"
        raise InvalidParameter.of_option("trusted_proxy", rule, text) from error


def is_among(address: str, networks: Sequence[Network]) -> bool:
    """Whether an address belongs to one of the networks.

    Examples
    --------
    >>> is_among("10.1.2.3", [ipaddress.ip_network("10.0.0.0/8")]), is_among("", [])
    (True, False)
    """
    if not networks:
        return False
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in each for each in networks)


@dataclass(frozen=True)
class ConnectionLimits:
    """What a client may do before it has sent a request."""

    #: Connections, of all and of one address.
    connections: int = 4096
    per_address: int = 512
    #: Bytes of a request's line and headers, and seconds in which they must come.
    head: int = 32 << 10
    head_seconds: float = 10.0
    #: Seconds that a connection may be idle between requests.
    idle_seconds: float = 75.0


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
    #: Rules of alerts, where they are posted to, and the file with the secret that signs them.
    alert: tuple[str, ...] = ()
    alert_webhook: str | None = None
    alert_secret_file: Path | None = None
    #: Seconds that a database may be silent.
    database_timeout: float = SILENCE_SECONDS
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)
    #: Addresses of proxies in front of the service.
    proxies: tuple[Network, ...] = PROXIES
    #: Whether the log is lines of JSON, with one for each request.
    log_json: bool = False
    #: Whether to begin a new journal where there was one that is empty or gone.
    new_journal: bool = False
    #: How much of the journal is kept; None for all of it.
    keep: Retention | None = None
    #: The journal of another service that is followed: a folder, or an address of PostgreSQL.
    follow: str | None = None
    #: Seconds for which replies to requests with an idempotency key are kept.
    keep_replies: int = 30 * 86_400
    #: Whether rows are predicted, without being recorded, while the journal cannot be written.
    predict_when_full: bool = False
    #: The address of a collector of OpenTelemetry.
    otel_endpoint: str | None = None
    #: The column of keys of the first model, and bytes of memory for them.
    key: str | None = None
    key_memory: int | None = None
