"""The bytes of a text, piece by piece, in UTF-8: large pieces of a file, or whatever a pipe has to give."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from thalweg.errors import InvalidInput

PIECE_BYTES = 1 << 22


def utf8_pieces(stream: io.RawIOBase, name: str, encoding: str, *, as_it_comes: bool) -> Iterator[bytes]:
    """Pieces without a byte order mark; only what was UTF-8 to begin with may hold bytes that are not."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError as error:
        raise InvalidInput(f"there is no encoding {encoding!r}") from error
    plain = codecs.lookup(encoding).name == "utf-8"
    reader = io.BufferedReader(stream, PIECE_BYTES)
    start = True
    while content := (reader.read1 if as_it_comes else reader.read)(PIECE_BYTES):
        if plain and start and content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise InvalidInput(f"{name} begins as UTF-16 does and not as UTF-8: name the encoding, --encoding utf-16")
        if not plain:
            try:
                content = decoder.decode(content).encode()
            except UnicodeDecodeError as error:
                raise InvalidInput(f"{name} is not {encoding.upper()} throughout: {error}") from error
        yield content.removeprefix(codecs.BOM_UTF8) if start else content
        start = False
