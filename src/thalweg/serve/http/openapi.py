"""``/openapi.json``: the protocol, described for programs."""

from __future__ import annotations

from thalweg.serve.http.exchange import Request, as_json
from thalweg.serve.service import Service
from thalweg.serve.work import Answer


async def show(service: Service, request: Request) -> Answer:
    """The description."""
    return as_json({"openapi": "3.1.0"})
