"""ARFF, the format of Weka, OpenML and KEEL: a header that declares each attribute, then rows of cells between commas.

Nominal attributes are categories whatever their values look like, with room for all that are declared. Dates are read
by the format they declare, and ``?`` is a missing value. Sparse rows and relational attributes are refused.
"""

from __future__ import annotations

import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from thalweg.errors import InvalidInput
from thalweg.tables.rows import NAME_THE_ENCODING, BadRow, Block, utf8_pieces, whole_lines

_LINES = 4096
#: A cell: between single or double quotes, with backslashes before signs that would end it, or as it stands.
_CELL = re.compile(r"""\s*+(?:'((?:[^'\\]|\\.)*+)'\s*+|"((?:[^"\\]|\\.)*+)"\s*+|(?!['"])([^,]*+))(?:,|$)""", re.DOTALL)
_NAME = re.compile(r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*(.*)""", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
#: Signs of Java's date formats, the longer before the shorter, as Python has them.
_DATE_SIGNS = (
    *(("yyyy", "%Y"), ("yy", "%y"), ("MMM", "%b"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M")),
    *(("ss", "%S"), ("SSS", "%f"), ("Z", "%z"), ("X", "%z"), ("''", "'")),
)
_DEFAULT_DATE = "yyyy-MM-dd'T'HH:mm:ss"


@dataclass(frozen=True)
class Attribute:
    """A column as the header declares it."""

    name: str
    #: The values of a nominal attribute; None for the others.
    values: tuple[str, ...] | None = None
    #: How its dates are written, as `datetime.strptime` has it.
    date: str | None = None
    #: Whether KEEL's header names it as the output.
    is_output: bool = False


def is_arff(head: bytes) -> bool:
    r"""Whether the first line that is no comment declares a relation or an attribute.

    Examples
    --------
    >>> is_arff(b"% Fisher, 1936\n\n@RELATION iris\n"), is_arff(b"@handle,followers\n")
    (True, False)
    """
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        if line.strip() and not line.lstrip().startswith(b"%"):
            return re.match(rb"@(relation|attribute)\b\s*[^,;]*$", line.strip(), re.IGNORECASE) is not None
    return False


def attributes_of(lines: Iterator[str], name: str) -> list[Attribute]:
    """The attributes of a header, of which the line with ``@data`` is the last that is read."""
    attributes: list[Attribute] = []
    outputs: list[str] = []
    for line in lines:
        word = line.split(maxsplit=1)[0].lower() if line.strip() else ""
        if word == "@data":
            break
        if word == "@attribute":
            attributes.append(_attribute(line.strip(), name))
        elif word in ("@output", "@outputs"):
            outputs = [name.strip() for name in line.split(maxsplit=1)[-1].split(",")]
    else:
        raise InvalidInput(f"{name} is an ARFF file without a line @data: it has no rows")
    if not attributes:
        raise InvalidInput(f"{name} is an ARFF file without an @attribute: it has no columns")
    for called, times in Counter(attribute.name for attribute in attributes).items():
        if times > 1:
            raise InvalidInput(f"{name}: the attribute {called!r} is declared more than once")
    return [replace(attribute, is_output=attribute.name in outputs) for attribute in attributes]


def read(stream: io.RawIOBase, name: str, encoding: str) -> Iterator[Block]:
    """The rows of an ARFF file, some thousand at a time."""
    lines = _lines(utf8_pieces(stream, name, encoding, as_it_comes=False), name)
    attributes = attributes_of(lines, name)
    rows = (line for line in lines if line.strip() and not line.lstrip().startswith("%"))
    first = 1
    while some := list(itertools.islice(rows, _LINES)):
        yield _block(some, attributes, name, first)
        first += len(some)


def _lines(pieces: Iterator[bytes], name: str) -> Iterator[str]:
    for line in itertools.chain.from_iterable(whole_lines(pieces)):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{name} is not UTF-8 throughout: {error}; {NAME_THE_ENCODING}") from error


def _attribute(line: str, name: str) -> Attribute:
    match = _NAME.match(line)
    if match is None or not match[4]:
        raise InvalidInput(f"{name}: {line[:80]!r} does not declare an attribute with a type")
    single, double, plain, declared = match.groups()
    called = plain if plain is not None else _unescaped(single if single is not None else double)
    kind = declared.partition("[")[0].split(maxsplit=1)[0].lower()  # KEEL writes the range of numbers behind it
    if declared.startswith("{"):
        inside = declared[1:].rpartition("}")[0]
        return Attribute(called, values=tuple(value for value in _cells(inside.strip()) if value))
    if kind in ("numeric", "real", "integer", "string"):
        return Attribute(called)
    if kind == "date":
        form = declared[4:].strip().strip("\"'") or _DEFAULT_DATE
        if not _can_be_parsed(_date_format(form)):
            raise InvalidInput(f"{name}: the date format {form!r} of the attribute {called!r} cannot be read")
        return Attribute(called, date=_date_format(form))
    raise InvalidInput(f"{name}: the attribute {called!r} is of type {kind[:40]}, which cannot be learned")


def _date_format(java: str) -> str:
    """A format of Java's as `datetime.strptime` has it.

    Examples
    --------
    >>> _date_format("dd/MM/yyyy HH:mm"), _date_format("yyyy-MM-dd'T'HH:mm:ss")
    ('%d/%m/%Y %H:%M', '%Y-%m-%dT%H:%M:%S')
    """
    form = ""
    while java:
        sign, python = next(((s, p) for s, p in _DATE_SIGNS if java.startswith(s)), (java[0], java[0]))
        if java[0] == "'" and (end := java.find("'", 1)) > 1:
            sign, python = java[: end + 1], java[1:end]
        form += python
        java = java[len(sign) :]
    return form


def _can_be_parsed(form: str) -> bool:
    try:
        datetime.strptime("", form)
    except ValueError as error:
        return "bad directive" not in str(error) and "stray %" not in str(error)
    except re.error:  # a directive that stands twice
        return False
    return True


def _block(lines: list[str], attributes: list[Attribute], name: str, first: int) -> Block:
    import pyarrow as pa

    rows: list[list[str | None]] = []
    bad: list[BadRow] = []
    for number, line in enumerate(lines, first):
        if line.lstrip().startswith("{"):
            raise InvalidInput(
                f"{name}, row {number:,}: it is sparse: write all values, as Weka's SparseToNonSparse does"
            )
        cells = _cells(line.rstrip("\r"))
        if len(cells) != len(attributes):
            counted = f"{len(cells)} cell{'s' if len(cells) != 1 else ''}"
            ragged = f"it has {counted}, the header {len(attributes)} attributes"
            bad.append(BadRow(name, number, None, ragged if cells else "a quotation mark is left open"))
            continue
        try:
            rows.append(
                [_date(cell, kind) if kind.date else cell for cell, kind in zip(cells, attributes, strict=True)]
            )
        except _NoDate as error:
            bad.append(BadRow(name, number, error.attribute, f"{error.cell!r} is not a date of its declared format"))
    columns = list(zip(*rows, strict=True)) or [()] * len(attributes)
    table = {attribute.name: pa.array(cells, pa.string()) for attribute, cells in zip(attributes, columns, strict=True)}
    values = {attribute.name: attribute.values for attribute in attributes if attribute.values is not None}
    return Block(pa.table(table), name, first, bad, nominal=frozenset(values), values=values)


def _cells(line: str) -> list[str | None]:
    if "'" not in line and '"' not in line:
        return [None if (cell := part.strip()) == "?" else cell for part in line.split(",")]
    cells: list[str | None] = []
    at = 0
    while at <= len(line):
        match = _CELL.match(line, at)
        if match is None:
            return []  # a quotation mark that is left open
        single, double, plain = match.groups()
        quoted = single if single is not None else double
        cells.append(_unescaped(quoted) if quoted is not None else None if plain.strip() == "?" else plain.strip())
        if match.end() == len(line) and not match[0].endswith(","):
            break
        at = match.end()
    return cells


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text) if "\\" in text else text


class _NoDate(ValueError):
    def __init__(self, cell: str, attribute: str) -> None:
        self.cell, self.attribute = cell, attribute


def _date(cell: str | None, attribute: Attribute) -> str | None:
    """A date in ISO 8601."""
    if cell is None or attribute.date is None:
        return None
    try:
        return datetime.strptime(cell, attribute.date).isoformat()
    except ValueError as error:
        raise _NoDate(cell, attribute.name) from error
