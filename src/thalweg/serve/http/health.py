"""``/healthz`` and ``/readyz``: for those who watch over the process."""

from __future__ import annotations

from thalweg.serve.http.exchange import Request, as_json
from thalweg.serve.service import Service
from thalweg.serve.work import Answer


async def alive(service: Service, request: Request) -> Answer:
    """The process answers."""
    return as_json({"status": "alive"})


async def ready(service: Service, request: Request) -> Answer:
    """The journal can be written."""
    return as_json({"status": "ready"}) if service.ready else as_json({"error": "the journal cannot be written"}, 503)
