"""Spans of OpenTelemetry: one for each request, with its route, status and rows (extra ``otel``).

A request that comes with a ``traceparent`` belongs to the trace of its sender. Spans are sent in the background, many
at a time. Those that cannot be sent are dropped, and no request waits.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from thalweg import __version__
from thalweg.errors import InvalidParameter, MissingExtra
from thalweg.service.http.endpoint import WRITE_WHOLE

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
