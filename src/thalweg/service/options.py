"""How a service is run: its options, each declared once, and what they are made of."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_origin, get_type_hints

from thalweg.errors import InvalidParameter
from thalweg.option_fields import check_declared, declared, option_field

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
            rule = "be a time such as 30d or 12h, or a number of rows such as 1000000rows"
            raise InvalidParameter.of_option("expire", rule, text)
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


class Address(NamedTuple):
    """Where a service listens.

    Examples
    --------
    >>> Address.of("[::1]:8080"), str(Address("::1", 80)), str(Address("localhost", 8080))
    (Address(host='::1', port=8080), '[::1]:80', 'localhost:8080')
    """

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Address:
        host, _, port = text.lower().rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not host or not port.isdigit() or int(port) > 65_535:
            raise InvalidParameter.of_option("listen", "be a host and a port, such as 127.0.0.1:8080", text)
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


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
    """All options of a service, declared once; values may be given as they are typed."""

    model: Path | None = option_field(
        None, metavar="FILE", help="Model file of `thalweg run` to start with.", of_writers=True
    )
    new: str | None = option_field(
        None,
        metavar="KIND",
        help="New model to start with, one of `thalweg models` (default: auto).",
        of_writers=True,
    )
    task: str | None = option_field(
        None,
        metavar="TASK",
        help="Task of the new model: classification (the default) or regression.",
        of_writers=True,
    )
    coverage: float | None = option_field(
        None,
        metavar="SHARE",
        help="Coverage of the prediction intervals of regression (default: 0.9).",
        of_writers=True,
    )
    schema: Path | None = option_field(
        None,
        metavar="FILE",
        help="JSON file with the columns of the new model (default: taken from the first rows).",
        of_writers=True,
    )
    positive: str | None = option_field(
        None, metavar="LABEL", help="Label of interest, for ROC AUC, PR AUC, recall and precision.", of_writers=True
    )
    costs: str | None = option_field(
        None,
        metavar="COSTS",
        help="Costs of a false positive and a false negative, such as fp=1,fn=50. Needs --positive.",
        of_writers=True,
    )
    data: Path = option_field(
        Path("thalweg-serve"), metavar="DIR", help="Folder of the journal; a service in it resumes."
    )
    new_journal: bool = option_field(
        False, help="Start a new journal where the old one is empty or gone.", of_writers=True
    )
    keep: Retention | None = option_field(
        None,
        read=Retention.of,
        metavar="AMOUNT",
        help="Records to keep: 90d, 1000000rows or 20GB; older ones are erased as the service runs (default: all).",
        of_writers=True,
    )
    #: In seconds.
    keep_replies: int = option_field(
        "30d",
        read=lambda text: seconds_of(text, "keep_replies"),
        metavar="TIME",
        help="How long replies to requests with an Idempotency-Key are kept.",
    )
    predict_when_full: bool = option_field(
        False,
        help="Predict without recording while the journal cannot be written (default: refuse requests).",
        of_writers=True,
    )
    database: str | None = option_field(
        None,
        metavar="URL",
        help="PostgreSQL database for the journal, such as postgresql://host/db (default: --data).",
        of_writers=True,
    )
    follow: str | None = option_field(
        None,
        metavar="JOURNAL",
        help="Journal of a service to follow, a folder or postgresql://…: predict with its models, learn nothing.",
    )
    key: str | None = option_field(
        None, metavar="COL", help="Column of keys: each key gets a model of its own beside the shared one."
    )
    #: In bytes.
    key_memory: int | None = option_field(
        None,
        read=lambda text: bytes_of(text, "key_memory"),
        metavar="SIZE",
        help="Memory for the models of keys, such as 2GB; others go to a temporary file (default: no limit).",
    )
    database_timeout: float = option_field(
        10.0, least=0.1, metavar="SECONDS", help="Time limit of a call to PostgreSQL, in seconds."
    )
    listen: Address = option_field("127.0.0.1:8080", read=Address.of, metavar="HOST:PORT", help="Address to listen on.")
    token_file: Path | None = option_field(
        None, metavar="FILE", help="File of access tokens, as --make-token writes it."
    )
    insecure: bool = option_field(False, help="Allow other machines to connect without tokens.")
    expire: Expiry = option_field(
        "30d",
        read=Expiry.of,
        metavar="TIME",
        help="How long a row waits for its label: 30d, 12h, or until 1000000rows came after it.",
    )
    promote: bool = option_field(
        False, help="Promote a challenger as soon as it is significantly better.", of_writers=True
    )
    sources: tuple[str, ...] = option_field(
        (),
        typed="from",
        metavar="URL",
        help="Stream to read rows from: redis://HOST/STREAM or kafka://HOST:PORT/TOPIC; may be repeated.",
        of_writers=True,
    )
    alert: tuple[str, ...] = option_field(
        (), metavar="RULE", help="Alert rule, such as error>0.2 or input_drift; may be repeated."
    )
    alert_webhook: str | None = option_field(None, metavar="URL", help="URL to post each alert to, as signed JSON.")
    alert_secret_file: Path | None = option_field(
        None,
        metavar="FILE",
        help="File with the secret that signs alerts (default: the variable THALWEG_ALERT_SECRET).",
    )
    max_body: int = option_field(Limits.body, least=1, metavar="BYTES", help="Size limit of a request body, in bytes.")
    max_rows: int = option_field(Limits.rows, least=1, metavar="N", help="Limit of rows or labels in one request.")
    max_waiting: int = option_field(Limits.requests, least=1, metavar="N", help="Limit of requests in progress.")
    max_connections: int = option_field(
        ConnectionLimits.connections, least=1, metavar="N", help="Limit of open connections."
    )
    max_connections_per_address: int = option_field(
        ConnectionLimits.per_address,
        least=1,
        metavar="N",
        help="Limit of open connections from one address; trusted proxies have none.",
    )
    max_header: int = option_field(
        ConnectionLimits.head, least=256, metavar="BYTES", help="Size limit of the headers of a request, in bytes."
    )
    header_timeout: float = option_field(
        ConnectionLimits.head_seconds,
        least=0.1,
        metavar="SECONDS",
        help="Time limit for the headers of a request, in seconds.",
    )
    keep_alive: float = option_field(
        ConnectionLimits.idle_seconds,
        least=0.1,
        metavar="SECONDS",
        help="Time that a connection may be idle, in seconds.",
    )
    trusted_proxy: tuple[Network, ...] = option_field(
        PROXIES,
        read=network_of,
        metavar="ADDRESS",
        help="Address or network of a proxy in front of the service; may be repeated (default: 127.0.0.1 and ::1).",
    )
    log_format: Literal["text", "json"] = option_field(
        "text", metavar="FORMAT", help="Format of the log: text, or json with one line for each request."
    )
    otel_endpoint: str | None = option_field(
        None, metavar="URL", help="OpenTelemetry collector to send a span of each request to (OTLP over HTTP)."
    )

    def __post_init__(self) -> None:
        kinds = get_type_hints(type(self))
        for name, info in declared(type(self)).items():
            value, read = getattr(self, name), info.read
            if get_origin(kinds[name]) is tuple:
                value = tuple(read(each) if read and isinstance(each, str) else each for each in value)
            elif read is not None and isinstance(value, str):
                value = read(value)
            object.__setattr__(self, name, value)
        check_declared(self)

    @property
    def limits(self) -> Limits:
        return Limits(self.max_body, self.max_rows, self.max_waiting)

    @property
    def connections(self) -> ConnectionLimits:
        per_address, head = self.max_connections_per_address, self.max_header
        return ConnectionLimits(self.max_connections, per_address, head, self.header_timeout, self.keep_alive)

    @property
    def log_json(self) -> bool:
        """Whether the log is lines of JSON, with one for each request."""
        return self.log_format == "json"
