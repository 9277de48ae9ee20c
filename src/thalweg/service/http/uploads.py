"""The requests of the page for tables, and the reports that it shows."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from thalweg.client import model_responses
from thalweg.service.commands import Refused
from thalweg.service.http.exchange import Once
from thalweg.service.http.routes import get, post, put
from thalweg.service.service import Service
from thalweg.service.uploads.protocol import Discarded, KeepRequest, NewUpload, RunRequest, UploadedTable, Uploads
from thalweg.service.uploads.runs import TableRuns
from thalweg.service.uploads.tables import REPORT, UploadedTables

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

UploadId = Annotated[str, Meta(description="The id of an uploaded table.", examples=["q3XyU0c6m0Sxw1Jt9q2mZA"])]
#: Of one piece of a table: larger ones would be unpacked one after another.
_PIECE = 4 << 20
#: A report holds what a stranger's table holds: it is a page without rights, which may only draw itself.
_REPORT_HEADERS = {
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "unsafe-none",
    "Cache-Control": "no-store",
}


def _of(service: Service) -> tuple[UploadedTables, TableRuns]:
    """`Refused` where the service takes no tables."""
    if service.tables is None or service.table_runs is None:
        raise Refused(403, "this service takes no tables: start it with --uploads, as in --uploads 200MB")
    return service.tables, service.table_runs


@get("/uploads", "learn")
async def uploads(service: Service) -> Uploads:
    """All tables that were uploaded."""
    tables, _ = _of(service)
    return Uploads(tuple(tables.all()), tables.most_bytes, min(_PIECE, service.options.max_body))


@post("/uploads", "learn", status=201, example={"name": "payments.csv", "size": 1_048_576})
async def begin_upload(service: Service, body: NewUpload) -> UploadedTable:
    """Begin to upload a table."""
    return await _of(service)[0].begin(body)


class PieceQuery(Struct, frozen=True):
    offset: Annotated[int, Meta(ge=0, description="Bytes of the table before this piece.")] = 0


@put("/uploads/{upload}/content", "learn")
async def continue_upload(service: Service, upload: UploadId, query: PieceQuery, body: bytes) -> UploadedTable:
    """Send a piece of a table."""
    tables, runs = _of(service)
    table = await tables.append(upload, query.offset, body)
    runs.notice()
    return table


@get("/uploads/{upload}", "learn")
async def uploaded(service: Service, upload: UploadId) -> UploadedTable:
    """One table, and how far its run is."""
    return _of(service)[0].get(upload)


@post("/uploads/{upload}/run", "learn", example={"target": "fraud", "time": "paid_at", "delay": 100})
async def run_upload(service: Service, upload: UploadId, body: RunRequest) -> UploadedTable:
    """Run a table: each row is predicted before its label is learned."""
    tables, runs = _of(service)
    table = tables.asks(upload, body)
    runs.notice()
    return table


@post("/uploads/{upload}/discard", "learn")
async def discard_upload(service: Service, upload: UploadId) -> Discarded:
    """Delete a table and the results of its run, which is stopped."""
    await _of(service)[1].discard(upload)
    return Discarded(upload)


@post("/uploads/{upload}/keep", "admin", status=201, example={"name": "payments"})
async def keep_upload(service: Service, upload: UploadId, body: KeepRequest) -> Once[model_responses.Decision]:
    """Make the model of a finished run a live model of the service."""
    content = await _of(service)[0].model_file(upload)
    act = partial(service.decisions.create_from_file, body.name, content)
    return Once(act, lambda command: model_responses.Decision(body.name, command.seq))


def report_routes(service: Service) -> list[Route]:
    """Where browsers read reports: whoever knows the id of a table, which cannot be guessed, may do so."""
    from starlette.responses import HTMLResponse, PlainTextResponse
    from starlette.routing import Route

    async def report(request: Request) -> Response:
        try:
            tables, _ = _of(service)
            table = tables.get(request.path_params["upload"])
            if table.state != "finished":
                raise Refused(409, "the run is not finished")
            content = await asyncio.to_thread((tables.results(table.id) / REPORT).read_bytes)
        except Refused as refused:
            return PlainTextResponse(refused.sentence, refused.status)
        except OSError:
            return PlainTextResponse("the report cannot be read", 503)
        return HTMLResponse(content, headers=_REPORT_HEADERS)

    return [Route("/uploads/{upload}/report", report)]
