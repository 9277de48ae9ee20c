"""What a stream of bytes holds, by its first ones: names of files lie, and a pipe has none."""

from __future__ import annotations

import codecs
import io
from typing import IO, Literal

Format = Literal["csv", "ndjson", "parquet", "arrow-file", "arrow-stream"]

_GZIP, _ZSTD, _BZ2 = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh"
_DELIMITERS = b",;\t|"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: How many lines, of how many bytes at the most, are looked at.
_LINES, _HEAD_BYTES = 20, 1 << 16


def compression_of(head: bytes) -> str | None:
    """How the bytes are compressed.

    Examples
    --------
    >>> compression_of(b"a,b"), compression_of(bytes([0x1F, 0x8B, 8]))
    (None, 'gzip')
    """
    for magic, name in ((_GZIP, "gzip"), (_ZSTD, "zstd"), (_BZ2, "bz2")):
        if head.startswith(magic):
            return name
    return None


def as_utf8(head: bytes, encoding: str) -> bytes:
    """The first bytes as they are in UTF-8; as they are where they are no such text.

    Examples
    --------
    >>> as_utf8("{ä".encode("utf-16"), "utf-16").decode()
    '{ä'
    """
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head).encode()
    except (LookupError, UnicodeDecodeError):
        return head


def format_of(head: bytes) -> Format:
    """What kind of file begins with these bytes.

    Examples
    --------
    >>> format_of(b'{"price": 3}'), format_of(b"price,class")
    ('ndjson', 'csv')
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow-file"
    if head.startswith(b"\xff\xff\xff\xff"):
        return "arrow-stream"
    if head.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] == b"{":
        return "ndjson"
    return "csv"


def delimiter_of(head: bytes) -> str:
    r"""The delimiter that splits the first lines into the same number of cells, and into the most of them.

    Examples
    --------
    >>> delimiter_of(b"when;price\n3;4,5\n4;4,7\n")
    ';'
    """
    lines = [line for line in head.splitlines()[:_LINES] if line.strip()]
    if len(head.splitlines()) > 1 and not head.endswith((b"\n", b"\r")):
        lines = lines[:-1] or lines  # the last one may be cut
    best, cells = ",", 0
    for byte in _DELIMITERS:
        counts = [_outside_quotes(line).count(byte) for line in lines]
        if counts and min(counts) == max(counts) and counts[0] > cells:
            best, cells = chr(byte), counts[0]
    if cells == 0 and lines:  # ragged rows: then the header decides
        best = chr(max(_DELIMITERS, key=_outside_quotes(lines[0]).count))
    return best


def _outside_quotes(line: bytes) -> bytes:
    return b"".join(line.split(b'"')[::2])


class Peeked(io.RawIOBase):
    """A stream whose first bytes were looked at and are there still."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._read = getattr(stream, "read1", stream.read)  # what is there, without waiting for more
        self.head = self._first_lines()
        self._left = memoryview(self.head)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """The head first, then the rest."""
        if len(self._left):
            count = min(len(buffer), len(self._left))
            buffer[:count] = self._left[:count]
            self._left = self._left[count:]
            return count
        content = self._read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def _first_lines(self) -> bytes:
        """As many lines as are looked at, however slowly they come; less where they are long or the stream is short."""
        head = b""
        while len(head) < _HEAD_BYTES and head.count(b"\n") <= _LINES and (part := self._read(_HEAD_BYTES - len(head))):
            head += part
        return head
