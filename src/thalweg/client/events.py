"""Server-sent events: lines to events, and events across lost connections."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

from thalweg.client.protocol import Point
from thalweg.client.transport import (
    FOR_THE_MOMENT,
    Lost,
    OpenReply,
    Reply,
    Request,
    Wire,
    decoded,
    good,
    refusal,
    wait_before,
)


class EventReader:
    """Lines in, an event whenever one is complete.

    Examples
    --------
    >>> reader = EventReader()
    >>> [reader.take(line) for line in (": still here", "id: 7", "event: point", 'data: {"labels": 7}', "")]
    [None, None, None, None, '{"labels": 7}']
    >>> reader.last_id
    '7'
    """

    def __init__(self) -> None:
        #: Of the last event, for the service to go on from.
        self.last_id = ""
        self._data: list[str] = []
        self._kind = "message"

    def take(self, line: str, wanted: str = "point") -> str | None:
        """The data of an event of the wanted kind, where this line ends one; else None."""
        if not line:
            data, kind = "\n".join(self._data), self._kind
            self._data, self._kind = [], "message"
            return data if data and kind == wanted else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._kind = value
        elif name == "id":
            self.last_id = value
        return None


async def followed(wire: Wire, request: Request, patience: float) -> AsyncGenerator[Point, None]:
    """The points of all events, without end; a lost connection is taken up where it broke.

    Raises as `thalweg.client.transport.answered` does, when there was no event for as long as patience reaches.
    """
    reader, waited, attempt = EventReader(), 0.0, 0
    while True:
        resumed = replace(request, headers={**request.headers, "Last-Event-ID": reader.last_id})
        opened = await wire.listen(resumed if reader.last_id else request)
        if isinstance(opened, OpenReply):
            try:
                while (line := await opened.line()) is not None:
                    data = reader.take(line)
                    if data is not None:
                        waited, attempt = 0.0, 0
                        yield decoded(Reply(200, {}, data.encode()), Point)
            finally:
                await opened.close()
            opened = Lost("the stream of events ended")
        elif isinstance(opened, Reply) and opened.status not in FOR_THE_MOMENT:
            good(opened)
        wait = wait_before(attempt, opened)
        waited += wait
        if waited > patience:
            raise refusal(opened)
        await wire.pause(wait)
        attempt += 1
