"""Sending until there is an answer: what is lost or refused for the moment is sent again, with the same key."""

from __future__ import annotations

import json
import random
from typing import Any

from thalweg.client.wire import Lost, Reply, Request, Wire
from thalweg.errors import ServiceRefused, ServiceUnreachable

#: Too many requests, and what a service or the proxy before it says while it starts or stops.
FOR_THE_MOMENT = frozenset({429, 502, 503, 504})
#: Seconds before the first repetition; doubled each time, up to the longest.
FIRST_WAIT, LONGEST_WAIT = 0.1, 10.0


async def answered(wire: Wire, request: Request, patience: float) -> Reply:
    """A good reply; `ServiceRefused` or `ServiceUnreachable` otherwise.

    Parameters
    ----------
    wire : Wire
        How it is sent.
    request : Request
        What is sent; it must be such that the service does it once, however often it comes.
    patience : float
        Seconds to go on waiting, all waits together.
    """
    waited, attempt = 0.0, 0
    while True:
        reply = await wire.send(request)
        if isinstance(reply, Reply) and reply.status not in FOR_THE_MOMENT:
            return good(reply)
        wait = wait_before(attempt, reply)
        waited += wait
        if waited > patience:
            raise refusal(reply)
        await wire.pause(wait)
        attempt += 1


def wait_before(attempt: int, reply: Reply | Lost) -> float:
    """Seconds: as long as the service asks for; else doubling, drawn at random lest all clients return at once."""
    asked = reply.headers.get("retry-after", "") if isinstance(reply, Reply) else ""
    drawn = random.uniform(0.5, 1.0) * min(FIRST_WAIT * 2.0**attempt, LONGEST_WAIT)
    return max(drawn, float(asked)) if asked.isdigit() else drawn


def good(reply: Reply) -> Reply:
    """The reply itself, unless the service says no."""
    if reply.status >= 300:
        raise refusal(reply)
    return reply


def refusal(reply: Reply | Lost) -> ServiceRefused | ServiceUnreachable:
    """The error that a caller sees: in the service's own words where it has any."""
    if isinstance(reply, Lost):
        return ServiceUnreachable(f"the service did not answer: {reply.reason}")
    try:
        said = json.loads(reply.body)["error"]
    except (ValueError, TypeError, KeyError):
        said = f"the service answered with status {reply.status}"
    return ServiceRefused(str(said), reply.status)


def as_json(reply: Reply) -> Any:
    """The body, which must be JSON."""
    try:
        return json.loads(reply.body)
    except ValueError:
        raise ServiceRefused("what answered is not the service: its reply is not JSON", reply.status) from None
