"""Models as bytes and back; the last ones stay alive in each worker, since a key's bytes are often its own of before.

Whose bytes they are does not matter: two models with the same bytes are the same model, and the state that Spark keeps
is the only truth. A model that is taken is no longer kept, so that nobody else learns with it.
"""

from __future__ import annotations

from typing import Any

#: Models that a worker keeps alive, some ten kilobytes each.
_MOST = 4096
_alive: dict[bytes, Any] = {}


def taken(content: bytes) -> Any:
    """The model of these bytes, to learn with."""
    found = _alive.pop(content, None)
    if found is None:
        from thalweg.store import loads  # Spark starts a process for each query that sees no row: it must start soon

        found = loads(content)
    return found


def kept(model: Any) -> bytes:
    """The bytes of a model that has learned."""
    from thalweg.store import dumps

    content = dumps(model)
    if len(_alive) >= _MOST:
        del _alive[next(iter(_alive))]  # the oldest
    _alive[content] = model
    return content
