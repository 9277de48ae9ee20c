"""``/healthz``, ``/readyz`` and ``/metrics``: for those who watch over the process."""

from __future__ import annotations

from thalweg.serve.http.exchange import Request, as_json
from thalweg.serve.metrics import MEDIA, text
from thalweg.serve.service import Service
from thalweg.serve.work import Answer


async def alive(service: Service, request: Request) -> Answer:
    """The process answers."""
    return as_json({"status": "alive"})


async def ready(service: Service, request: Request) -> Answer:
    """The journal can be written."""
    return as_json({"status": "ready"}) if service.ready else as_json({"error": "the journal cannot be written"}, 503)


async def metrics(service: Service, request: Request) -> Answer:
    """What is counted, as Prometheus reads it."""
    return Answer(200, MEDIA, text(service.counters()).encode())
