"""What a stream holds, as messages; JSON is read as over HTTP. What cannot be read is a message that says so.

One such message must not hold up those behind it, so nothing here fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from thalweg.serve.feeds.source import Message


def of_object(place: str, value: bytes) -> Message:
    """A message that is one object of JSON.

    Examples
    --------
    >>> of_object("0:7", b'{"label": "high"}').fields, of_object("0:8", b"3").fault
    ({'label': 'high'}, 'a message must be an object of JSON')
    """
    try:
        fields = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        return Message(place, {}, f"the message is not JSON: {error}")
    if not isinstance(fields, dict):
        return Message(place, {}, "a message must be an object of JSON")
    for name, each in fields.items():
        if name != "row" and isinstance(each, list | dict):
            return Message(place, {}, f"the field {name!r} must be a text, a number, true, false or null")
    return Message(place, fields)


def of_fields(place: str, values: Mapping[bytes, bytes]) -> Message:
    """A message of texts, whose row alone is JSON.

    Examples
    --------
    >>> of_fields("7-0", {b"row": b'{"x": 1}', b"label": b"high"}).fields
    {'label': 'high', 'row': {'x': 1}}
    """
    try:
        fields: dict[str, Any] = {name.decode(): value.decode() for name, value in values.items() if name != b"row"}
    except UnicodeDecodeError as error:
        return Message(place, {}, f"the message is not in UTF-8: {error}")
    if b"row" in values:
        try:
            fields["row"] = orjson.loads(values[b"row"])
        except orjson.JSONDecodeError as error:
            return Message(place, {}, f"the row is not JSON: {error}")
    return Message(place, fields)
