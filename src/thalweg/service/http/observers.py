"""What is said of each request to those who run the service: a line of the log, and a span of OpenTelemetry.

Logs are lines of JSON, with an id that the response and all lines about the request have. A request that comes with a
``traceparent`` belongs to the trace of its sender. Spans (extra ``otel``) have its route, status and rows. They are
sent in the background, many at a time. Those that cannot be sent are dropped, and no request waits.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import sys
import time
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import orjson

from thalweg import __version__
from thalweg.errors import InvalidParameter, MissingExtra
from thalweg.service.http.endpoint import WRITE_WHOLE

_LOG = logging.getLogger("thalweg.service")
_REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
#: What a client may choose as an id.
_ID = re.compile(rb"[\w.:/+=-]{1,128}", re.ASCII)


class JsonFormatter(logging.Formatter):
    """A record as a line.

    Examples
    --------
    >>> record = logging.makeLogRecord({"name": "a", "levelname": "ERROR", "msg": "late", "created": 1.8e9})
    >>> JsonFormatter().format(record)
    '{"time":"2027-01-15T08:00:00.000000+00:00","level":"error","logger":"a","message":"late"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")
        line = {"time": when, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if (request := _REQUEST.get()) is not None:
            line["request_id"] = request
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def log_as_json() -> None:
    """Write the log of this process to standard error, as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    _LOG.setLevel(logging.INFO)


class AccessLog:
    """An application of ASGI that logs the responses of another one.

    A client that sends ``X-Request-Id`` chooses the id, for instance a proxy whose log has the same.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"x-request-id", b"")
        request = given.decode() if _ID.fullmatch(given) else secrets.token_hex(8)
        _REQUEST.set(request)
        began, status = time.perf_counter(), 0
        scope.pop(WRITE_WHOLE, None)

        async def with_id(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request.encode())]
            await send(message)

        try:
            await self._application(scope, receive, with_id)
        finally:
            fields = {
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "seconds": round(time.perf_counter() - began, 6),
                "client": scope["client"][0] if scope["client"] else None,
            }
            _LOG.info("request", extra={"fields": fields})


_PURPOSE = "--otel-endpoint"
#: Seconds after which an attempt to send spans is given up.
_SEND_SECONDS = 5.0


def traces_address(endpoint: str) -> str:
    """Where spans are posted, by the address of a collector; an `InvalidParameter` where that is none.

    Examples
    --------
    >>> traces_address("http://localhost:4318"), traces_address("https://collector/custom")
    ('http://localhost:4318/v1/traces', 'https://collector/custom')
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InvalidParameter.of_option("otel_endpoint", "be an address as in http://localhost:4318", endpoint)
    return endpoint.rstrip("/") + "/v1/traces" if parts.path in ("", "/") else endpoint


def provider_for(endpoint: str) -> Any:
    """A provider of tracers whose spans are sent to a collector, in OTLP over HTTP."""
    address = traces_address(endpoint)
    sdk = _imported("opentelemetry.sdk.trace")
    export = _imported("opentelemetry.sdk.trace.export")
    resources = _imported("opentelemetry.sdk.resources")
    otlp = _imported("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    about = resources.Resource.create({"service.name": "thalweg", "service.version": __version__})
    provider = sdk.TracerProvider(resource=about)
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter(address, timeout=_SEND_SECONDS)))
    return provider


def _imported(module: str) -> Any:
    library = "opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http"
    return MissingExtra.import_module(module, "otel", _PURPOSE, library)


class Tracing:
    """An application of ASGI with a span for each request to another one; the last spans are sent when it ends."""

    def __init__(self, application: Any, provider: Any) -> None:
        self._application, self._provider = application, provider
        self._tracer = provider.get_tracer("thalweg.service", __version__)
        trace = _imported("opentelemetry.trace")
        self._server, self._error = trace.SpanKind.SERVER, trace.StatusCode.ERROR
        self._context = _imported("opentelemetry.trace.propagation.tracecontext").TraceContextTextMapPropagator()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            try:
                await self._application(scope, receive, send)
            finally:
                await asyncio.to_thread(self._provider.shutdown)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        span = self._tracer.start_span(scope["method"], self._context.extract(headers), kind=self._server)
        status = 500
        scope.pop(WRITE_WHOLE, None)

        async def with_status(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._application(scope, receive, with_status)
        finally:
            self._describe(span, scope, status)
            span.end()

    def _describe(self, span: Any, scope: Any, status: int) -> None:
        """By what the endpoint has left in the scope; a path that is not served has no route."""
        span.set_attribute("http.request.method", scope["method"])
        span.set_attribute("http.response.status_code", status)
        if route := scope.get("thalweg.route"):
            span.update_name(f"{scope['method']} {route}")
            span.set_attribute("http.route", route)
        if (rows := scope.get("thalweg.rows")) is not None:
            span.set_attribute("thalweg.rows", rows)
        if status >= 500:
            span.set_status(self._error)
