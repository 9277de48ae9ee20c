"""A bare endpoint of Starlette: it reads a body of JSON or Arrow, and answers something of the same kind.

What a service on this stack cannot beat. Run as ``python -m benchmarks.load.bare_endpoint PORT``.
"""

from __future__ import annotations

import io
import sys

import orjson
import pyarrow as pa
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ARROW = "application/vnd.apache.arrow.stream"
#: As long as the answer to one row.
ANSWER = {
    "model": "default",
    "version": 1,
    "predictions": [{"id": "1-0", "prediction": "a", "probabilities": {"a": 0.5, "b": 0.5}}],
}


async def answer(request: Request) -> Response:
    """Read the body, and answer."""
    body = await request.body()
    if request.headers.get("content-type") != ARROW:
        orjson.loads(body)
        return Response(orjson.dumps(ANSWER), media_type="application/json")
    table = pa.ipc.open_stream(body).read_all()
    written = io.BytesIO()
    column = table.select(table.column_names[:1])
    with pa.ipc.new_stream(written, column.schema) as stream:
        stream.write_table(column)
    return Response(written.getvalue(), media_type=ARROW)


if __name__ == "__main__":
    application = Starlette(routes=[Route("/v1/predict", answer, methods=["POST"])])
    uvicorn.run(application, port=int(sys.argv[1]), log_level="warning", access_log=False)
