"""The least that a service can do: an endpoint of Starlette that reads a row of JSON and answers something."""

from __future__ import annotations

import sys
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ANSWER: dict[str, Any] = {
    "model": "default",
    "version": 1,
    "answers": [{"id": "1-0", "answer": "down", "probabilities": {"down": 0.75, "up": 0.25}}],
}


async def predict(request: Request) -> Response:
    """Parse and answer, and nothing between."""
    orjson.loads(await request.body())
    return Response(orjson.dumps(ANSWER), media_type="application/json")


if __name__ == "__main__":
    uvicorn.run(
        Starlette(routes=[Route("/v1/predict", predict, methods=["POST"])]),
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
    )
