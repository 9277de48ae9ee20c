"""What those who run a service ask of it: whether it lives and is ready, and what it counts."""

from __future__ import annotations

from thalweg.client.protocol import Status
from thalweg.service.commands import HttpResponse, Refused
from thalweg.service.http.routes import get
from thalweg.service.metrics import MEDIA, text
from thalweg.service.service import Service


@get("/healthz", None)
async def healthz(service: Service) -> Status:
    """Whether the process answers."""
    return Status("alive")


@get("/readyz", None, refused=(503,))
async def readyz(service: Service) -> Status:
    """Whether the journal can be written; of a replica, read."""
    return readiness(service)


def readiness(service: Service) -> Status:
    """`Refused` where the journal cannot be written, or of a replica read."""
    if not service.ready:
        raise Refused(503, f"the journal cannot be {'read' if service.read_only else 'written'}")
    if service.replica is None:
        return Status("predictions are not recorded" if service.unrecorded else "ready")
    seq, _, age = service.replica
    return Status("ready", seq, age)


@get("/metrics", "read", media=MEDIA)
async def metrics(service: Service) -> HttpResponse:
    """What is counted, for Prometheus."""
    return HttpResponse(200, MEDIA, text(service.counters()))
