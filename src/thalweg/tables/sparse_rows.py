"""Sparse rows as text: the format of svmlight and libsvm, and that of Vowpal Wabbit.

Blocks have two columns: the label as text, and the features as a map from indices or names to values.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from thalweg.errors import InvalidInput
from thalweg.kernels import compiled
from thalweg.tables.cells import brief
from thalweg.tables.rows import NAME_THE_ENCODING, BadRow, Block, is_utf8, utf8_pieces

if TYPE_CHECKING:
    import pyarrow as pa

SparseFormat = Literal["svmlight", "vowpal-wabbit"]
LABEL, FEATURES = "label", "features"

_LONGEST_LINE = 1 << 26
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
#: A label, then indices of features with their values. Some lines may have none.
_SVMLIGHT = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*(?:\s+qid:\d+)?(\s+\d+:{_NUMBER})*\s*(?:#.*)?")
#: A label, perhaps an importance and a tag, then a bar, a namespace and names with or without values.
_VOWPAL = re.compile(rf"({_NUMBER}(?:\s+{_NUMBER})*)?\s*(?:'\S*)?\s*\|[^\s|:]*(?::{_NUMBER})?(?:\s+[^\s|]+)+.*")
_VOWPAL_MARK = re.compile(rf"\|[A-Za-z]\S*\s|[^\s|:]:{_NUMBER}(?:\s|$)")

_LABELLED_WORDS = re.compile(rf"{_NUMBER}\s+\|\s+[^\s|]+(?:\s+[^\s|]+)+")


def sparse_format(head: bytes) -> SparseFormat | None:
    r"""Whether the first lines are those of svmlight or Vowpal Wabbit.

    Most of them must be, and the first: it is the header of a CSV file, which begins with no number.

    Examples
    --------
    >>> sparse_format(b"1 3:0.5 7:1\n-1 3:0.25\n"), sparse_format(b"1 |weather rain:0.5\n-1 |weather sun\n")
    ('svmlight', 'vowpal-wabbit')
    >>> sparse_format(b"id\tduration\n1\t02:35\n2\t03:10\n") is None
    True
    """
    lines = [line.strip() for line in head.decode(errors="replace").removeprefix("\ufeff").split("\n")[:20]]
    if len(lines) > 1 and not head.endswith(b"\n"):
        lines = lines[:-1]  # it may be cut
    lines = [line if len(line) < 4096 else line[:4096].rsplit(None, 1)[0] for line in lines if line]
    rows = [line for line in lines if not line.startswith("#")]
    if not rows:
        return None
    svmlight = [_SVMLIGHT.fullmatch(line) for line in rows]
    if svmlight[0] and sum(bool(match and match[1]) for match in svmlight) > len(rows) / 2:
        return "svmlight"
    vowpal = [_VOWPAL.fullmatch(line) for line in lines]
    first = vowpal[0]
    # A header of CSV begins with no number, so that numbers before one bar and words behind it are labels.
    words = all(_LABELLED_WORDS.fullmatch(line) for line in lines)
    marked = words or any(map(_VOWPAL_MARK.search, lines))
    if first is None or sum(map(bool, vowpal)) <= len(lines) / 2 or not marked:
        return None
    # An index without a name makes a header that begins with a bar, but then the rows have what looks like labels.
    has_header = first[1] is None and any(match and match[1] for match in vowpal)
    return None if has_header else "vowpal-wabbit"


def read(
    stream: io.RawIOBase, name: str, encoding: str, kind: SparseFormat, *, as_it_comes: bool = False
) -> Iterator[Block]:
    """The rows of a file, block by block: large ones, or whatever a pipe has to give."""
    first = line = 1
    for content in _whole_lines(utf8_pieces(stream, name, encoding, as_it_comes=as_it_comes), name):
        for part, wrong in [(content, None)] if is_utf8(content) else _parts(content, kind):
            if wrong is None:
                block, rows = _parse(part, kind, name, first, line)
                yield block
                first += rows
            elif part.strip():
                bad = BadRow(name, first, None, wrong, line)
                yield Block(_parse(b"", kind, name, first, line)[0].table, name, first, [bad])
                first += 1
            line += part.count(b"\n")


def _whole_lines(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    rest: list[bytes] = []
    for piece in pieces:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, piece[:cut]])
            rest = []
        rest.append(piece[cut:])
        if sum(map(len, rest)) > _LONGEST_LINE:
            raise InvalidInput(f"{name} has a line of more than {_LONGEST_LINE:,} bytes")
    if any(rest):
        yield b"".join(rest)


def _parts(content: bytes, kind: SparseFormat) -> Iterator[tuple[bytes, str | None]]:
    """Each line of a piece with what is wrong with its encoding; comments may have any."""
    for line in content.removesuffix(b"\n").split(b"\n"):
        text = (line.partition(b"#")[0] if kind == "svmlight" else line) + b"\n"
        try:
            text.decode()
            yield text, None
        except UnicodeDecodeError as error:
            yield text, f"the byte {text[error.start]:#x} is not UTF-8; {NAME_THE_ENCODING}"


def _parse(content: bytes, kind: SparseFormat, name: str, first: int, line: int) -> tuple[Block, int]:
    """The rows of whole lines, and how many there are with the bad ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lines = compiled.read_svmlight(content) if kind == "svmlight" else compiled.read_vowpal_wabbit(content)
    labels = _texts(lines.label_offsets, lines.labels, ~lines.has_label)
    if (lines.labels == ord("+")).any():
        labels = pc.replace_substring_regex(labels, r"^\+([0-9.])", r"\1")  # +1 and 1 are one class
    keys = pa.array(lines.indices) if kind == "svmlight" else _texts(lines.name_offsets, lines.names)
    features = pa.MapArray.from_arrays(lines.offsets.astype("int32"), keys, pa.array(lines.values))
    bad, seen = [], 0
    for row, reason, begin, end in lines.bad:
        line += content.count(b"\n", seen, begin)
        seen = begin
        bad.append(BadRow(name, first + row, None, reason.format(brief(content[begin:end].decode())), line))
    return Block(pa.table({LABEL: labels, FEATURES: features}), name, first, bad, typed=True), lines.rows


def _texts(offsets: Any, letters: Any, missing: Any = None) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(letters))
    if missing is None or not missing.any():
        return found
    return pc.if_else(pa.array(missing), pa.scalar(None, pa.string()), found)
