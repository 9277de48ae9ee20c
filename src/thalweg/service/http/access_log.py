"""Logs as lines of JSON: one for each request, with an id that the response and all lines about the request have."""

from __future__ import annotations

import logging
import re
import secrets
import sys
import time
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import orjson

from thalweg.service.http.endpoint import WRITE_WHOLE

_LOG = logging.getLogger("thalweg.service")
_REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
#: What a client may choose as an id.
_ID = re.compile(rb"[\w.:/+=-]{1,128}", re.ASCII)


class JsonFormatter(logging.Formatter):
    """A record as a line.

    Examples
    --------
    >>> record = logging.makeLogRecord({"name": "a", "levelname": "ERROR", "msg": "late", "created": 1.8e9})
    >>> JsonFormatter().format(record)
    '{"time":"2027-01-15T08:00:00.000000+00:00","level":"error","logger":"a","message":"late"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")
        line = {"time": when, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if (request := _REQUEST.get()) is not None:
            line["request_id"] = request
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def log_as_json() -> None:
    """Write the log of this process to standard error, as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    _LOG.setLevel(logging.INFO)


class AccessLog:
    """An application of ASGI that logs the responses of another one.

    A client that sends ``X-Request-Id`` chooses the id, for instance a proxy whose log has the same.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"x-request-id", b"")
        request = given.decode() if _ID.fullmatch(given) else secrets.token_hex(8)
        _REQUEST.set(request)
        began, status = time.perf_counter(), 0
        scope.pop(WRITE_WHOLE, None)

        async def with_id(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request.encode())]
            await send(message)

        try:
            await self._application(scope, receive, with_id)
        finally:
            fields = {
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "seconds": round(time.perf_counter() - began, 6),
                "client": scope["client"][0] if scope["client"] else None,
            }
            _LOG.info("request", extra={"fields": fields})
