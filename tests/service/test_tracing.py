"""Spans of requests: their route, status and rows, within the trace of the sender."""

from __future__ import annotations

import sys

import httpx
import pytest

from tests.service.in_process import with_service
from thalweg.errors import InvalidParameter, MissingExtra
from thalweg.service.auth import Authorizer
from thalweg.service.http.app import build
from thalweg.service.http.observers import Tracing, provider_for, traces_address
from thalweg.service.service import Service


def test_each_request_has_a_span(tmp_path):
    trace = pytest.importorskip("opentelemetry.sdk.trace", reason="spans need opentelemetry-sdk")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider, kept = trace.TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))

    async def scenario(service: Service) -> None:
        transport = httpx.ASGITransport(Tracing(build(service, Authorizer([])), provider))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            sender = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
            await client.post("/v1/predict", json={"rows": [{"x": 1.0}, {"x": 2.0}]}, headers=sender)
            await client.post("/v1/models/default/void", json={"ids": ["99-0"]})
            await client.post("/v1/predict", json={})
            await client.get("/nowhere")

    with_service(tmp_path, scenario)
    found = [(span.name, dict(span.attributes)) for span in kept.get_finished_spans()]
    of_post = {"http.request.method": "POST"}
    assert found == [
        (
            "POST /v1/predict",
            of_post | {"http.response.status_code": 200, "http.route": "/v1/predict", "thalweg.rows": 2},
        ),
        (
            "POST /v1/models/{name}/void",
            of_post | {"http.response.status_code": 200, "http.route": "/v1/models/{name}/void", "thalweg.rows": 1},
        ),
        ("POST /v1/predict", of_post | {"http.response.status_code": 422, "http.route": "/v1/predict"}),
        ("GET", {"http.request.method": "GET", "http.response.status_code": 404}),
    ]
    first = kept.get_finished_spans()[0]
    assert f"{first.context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"


def test_what_is_missing_is_said_before_anything_is_opened(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(MissingExtra, match=r"thalweg\[otel\]"):
        provider_for("http://localhost:4318")
    with pytest.raises(InvalidParameter, match="otel-endpoint must"):
        traces_address("localhost:4318")
