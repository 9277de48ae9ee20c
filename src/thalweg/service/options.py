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

_AMOUNT = re.compile(r"([1-9][0-9]{0,14})\s*(s|m|h|d|rows?|(?i:[kmgt]i?b))")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True)
class Amount:
    """How much is kept, or how long something waits: seconds, rows or bytes.

    Examples
    --------
    >>> Amount.of("12h", "expire", "seconds", "rows"), Amount.of("1000000rows", "keep", "rows")
    (Amount(seconds=43200, rows=None, bytes=None), Amount(seconds=None, rows=1000000, bytes=None))
    >>> Amount.of("2GB", "key_memory", "bytes").bytes, Amount.of("512 MiB", "key_memory", "bytes").bytes
    (2000000000, 536870912)
    """

    seconds: int | None = None
    rows: int | None = None
    bytes: int | None = None

    @classmethod
    def of(cls, text: str, option: str, *kinds: str) -> Amount:
        """As it is typed for an option that takes these kinds of amounts."""
        match = _AMOUNT.fullmatch(text.strip())
        if match is not None:
            number, unit = int(match[1]), match[2]
            if unit.startswith("row"):
                amount = cls(rows=number)
            elif unit in _SECONDS:
                amount = cls(seconds=number * _SECONDS[unit])
            else:
                amount = cls(bytes=number * (1024 if len(unit) == 3 else 1000) ** " kmgt".index(unit[0].lower()))
            if any(getattr(amount, kind) is not None for kind in kinds):
                return amount
        known = {"seconds": "a time such as 30d or 12h", "rows": "a number of rows such as 1000000rows"}
        known["bytes"] = "a size such as 2GB, 500MB or 512MiB"
        raise InvalidParameter.of_option(option, f"be {' or '.join(known[kind] for kind in kinds)}", text)


Network = ipaddress.IPv4Network | ipaddress.IPv6Network


#: Addresses that only this machine has.
LOOPBACK: tuple[Network, ...] = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1"))
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
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)


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


#: Options that a replica is not given: it learns nothing, and its journal is that of another service.
OF_WRITERS = (
    *("model", "new", "task", "coverage", "schema", "positive", "costs", "new_journal", "keep"),
    *("feature", "features", "time"),
    *("predict_when_full", "database", "promote", "sources", "uploads"),
)


@dataclass(frozen=True)
class ServeOptions:
    """All options of a service, declared once; values may be given as they are typed."""

    model: Path | None = option_field(None, metavar="FILE", help="Model file of `thalweg run` to start with.")
    new: str | None = option_field(
        None, metavar="KIND", help="New model to start with, one of `thalweg models` (default: auto)."
    )
    task: str | None = option_field(
        None, metavar="TASK", help="Task of the new model: classification (the default) or regression."
    )
    coverage: float | None = option_field(
        None, metavar="SHARE", help="Coverage of the prediction intervals of regression (default: 0.9)."
    )
    schema: Path | None = option_field(
        None, metavar="FILE", help="JSON file with the columns of the new model (default: taken from the first rows)."
    )
    positive: str | None = option_field(
        None, metavar="LABEL", help="Label of interest, for ROC AUC, PR AUC, recall and precision."
    )
    feature: tuple[str, ...] = option_field(
        (),
        metavar="LINE",
        help="Feature of the new model from earlier rows, such as 'recent = count() by card over 1h'; may be repeated.",
    )
    features: Path | None = option_field(
        None, metavar="FILE", help="File with features of the new model from earlier rows, one a line."
    )
    time: str | None = option_field(None, metavar="COL", help="Column of times that windows of --feature go by.")
    costs: str | None = option_field(
        None,
        metavar="COSTS",
        help="Costs of a false positive and a false negative, such as fp=1,fn=50. Needs --positive.",
    )
    data: Path = option_field(
        Path("thalweg-serve"), metavar="DIR", help="Folder of the journal; a service in it resumes."
    )
    new_journal: bool = option_field(False, help="Start a new journal where the old one is empty or gone.")
    keep: Amount | None = option_field(
        None,
        read=lambda text: Amount.of(text, "keep", "seconds", "rows", "bytes"),
        metavar="AMOUNT",
        help="Records to keep: 90d, 1000000rows or 20GB; older ones are erased as the service runs (default: all).",
    )
    #: In seconds.
    keep_replies: int = option_field(
        "30d",
        read=lambda text: Amount.of(text, "keep_replies", "seconds").seconds,
        metavar="TIME",
        help="How long replies to requests with an Idempotency-Key are kept.",
    )
    predict_when_full: bool = option_field(
        False, help="Predict without recording while the journal cannot be written (default: refuse requests)."
    )
    database: str | None = option_field(
        None, metavar="URL", help="PostgreSQL database for the journal, such as postgresql://host/db (default: --data)."
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
        read=lambda text: Amount.of(text, "key_memory", "bytes").bytes,
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
    expire: Amount = option_field(
        "30d",
        read=lambda text: Amount.of(text, "expire", "seconds", "rows"),
        metavar="TIME",
        help="How long a row waits for its label: 30d, 12h, or until 1000000rows came after it.",
    )
    promote: bool = option_field(False, help="Promote a challenger once it is significantly better.")
    sources: tuple[str, ...] = option_field(
        (),
        typed="from",
        metavar="URL",
        help="Stream to read rows from: redis://HOST/STREAM or kafka://HOST:PORT/TOPIC; may be repeated.",
    )
    #: In bytes.
    uploads: int | None = option_field(
        None,
        read=lambda text: Amount.of(text, "uploads", "bytes").bytes,
        metavar="SIZE",
        help="Let browsers upload and run tables of up to SIZE (200MB).",
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
    max_body: int = option_field(16 << 20, least=1, metavar="BYTES", help="Size limit of a request body, in bytes.")
    max_rows: int = option_field(100_000, least=1, metavar="N", help="Limit of rows or labels in one request.")
    max_waiting: int = option_field(2048, least=1, metavar="N", help="Limit of requests in progress.")
    max_connections: int = option_field(4096, least=1, metavar="N", help="Limit of open connections.")
    max_connections_per_address: int = option_field(
        512, least=1, metavar="N", help="Limit of open connections from one address; trusted proxies have none."
    )
    max_header: int = option_field(
        32 << 10, least=256, metavar="BYTES", help="Size limit of the headers of a request, in bytes."
    )
    header_timeout: float = option_field(
        10.0, least=0.1, metavar="SECONDS", help="Time limit for the headers of a request, in seconds."
    )
    keep_alive: float = option_field(
        75.0, least=0.1, metavar="SECONDS", help="Time that a connection may be idle, in seconds."
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
                value = tuple(read(item) if read and isinstance(item, str) else item for item in value)
            elif read is not None and isinstance(value, str):
                value = read(value)
            object.__setattr__(self, name, value)
        check_declared(self)

    @property
    def log_json(self) -> bool:
        """Whether the log is lines of JSON, with one for each request."""
        return self.log_format == "json"
