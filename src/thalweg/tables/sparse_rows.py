"""Sparse rows as text: the format of svmlight and libsvm, and that of Vowpal Wabbit.

Blocks have two columns: the label as text, and the features as a map from indices or names to values.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from thalweg.errors import InvalidInput
from thalweg.kernels import compiled
from thalweg.tables.cells import brief
from thalweg.tables.number_forms import NUMBER
from thalweg.tables.rows import NAME_THE_ENCODING, BadRow, Block, is_utf8, utf8_pieces

if TYPE_CHECKING:
    import pyarrow as pa

SparseFormat = Literal["svmlight", "vowpal-wabbit"]
LABEL, FEATURES = "label", "features"

_LONGEST_LINE = 1 << 26


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
    if _svmlight_entries(rows[0]) is not None and sum(map(bool, map(_svmlight_entries, rows))) > len(rows) / 2:
        return "svmlight"
    labels = [_vowpal_label(line) for line in lines]
    marked = all(map(_is_labelled_words, lines)) or any(map(_has_vowpal_mark, lines))
    if labels[0] is None or sum(label is not None for label in labels) <= len(lines) / 2 or not marked:
        return None
    # An index without a name makes a header that begins with a bar, but then the rows have what looks like labels.
    has_header = not labels[0] and any(labels)
    return None if has_header else "vowpal-wabbit"


def _are_numbers(texts: Iterable[str]) -> bool:
    return all(map(NUMBER.fullmatch, texts))


def _svmlight_entries(line: str) -> int | None:
    """How many indices with values follow the label of a line of svmlight; None where it is none."""
    label, *entries = line.partition("#")[0].split() or [""]
    if entries and entries[0].startswith("qid:") and entries[0][4:].isdecimal():
        del entries[0]
    pairs = [entry.partition(":") for entry in entries]
    fits = all(index.isdecimal() for index, _, _ in pairs) and _are_numbers(value for _, _, value in pairs)
    return len(pairs) if fits and _are_numbers(label.split(",")) else None


def _vowpal_label(line: str) -> str | None:
    """The label, importance and base of a line of Vowpal Wabbit, empty where it has none; None for another line."""
    before, bar, behind = line.partition("|")
    label, _, tag = before.partition("'")
    namespace, *words = behind.split() if behind[:1].strip() else ["", *behind.split()]
    name, colon, weight = namespace.partition(":")
    fits = bar and _are_numbers(label.split()) and len(tag.split()) < 2 and (not colon or _are_numbers([weight]))
    return label.strip() if fits and "|" not in name and words and not words[0].startswith("|") else None


def _has_vowpal_mark(line: str) -> bool:
    """Whether a line has a namespace with a name, or a name with a value."""
    words = line.split()
    if any(bar and name[:1].isalpha() for _, bar, name in (word.partition("|") for word in words[:-1])):
        return True
    pairs = (word.rpartition(":") for word in words)
    return any(name and not name.endswith(("|", ":")) and NUMBER.fullmatch(value) for name, _, value in pairs)


def _is_labelled_words(line: str) -> bool:
    """Whether a line has a number, a bar and words. It is then no header of CSV, which begins with no number."""
    label, *words = line.split()
    return words[:1] == ["|"] and len(words) > 2 and "|" not in line[line.index("|") + 1 :] and _are_numbers([label])


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

    texts = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(letters))
    if missing is None or not missing.any():
        return texts
    return pc.if_else(pa.array(missing), pa.scalar(None, pa.string()), texts)
