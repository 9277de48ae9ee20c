"""Files that are no table of ours: what they are, by their content, and how to make a table of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PANDAS = "python -c \"import pandas; pandas.{read}({file!r}).to_csv('rows.csv', index=False)\""
_EXPORT = "write it as CSV or Parquet with the program it is from"
#: First bytes, what the file is, and what to do; the file's name goes into the braces.
_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (
        b"\x93NUMPY",
        "an array of NumPy (.npy)",
        "python -c \"import numpy, pandas; pandas.DataFrame(numpy.load({file!r})).to_csv('rows.csv', index=False)\"",
    ),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a workbook of Excel (.xls)", _PANDAS.replace("{read}", "read_excel")),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _PANDAS.replace("{read}", "read_hdf")),
    (b"ORC", "an ORC file", _PANDAS.replace("{read}", "read_orc")),
    (b"FEA1", "a Feather file of version 1", _PANDAS.replace("{read}", "read_feather")),
    (b"Obj\x01", "an Avro file", _EXPORT),
    (b"SQLite format 3\x00", "a database of SQLite", "sqlite3 -header -csv {file} 'SELECT * FROM …' > rows.csv"),
    (b"%PDF-", "a PDF document", _EXPORT),
)
_ZIP = b"PK\x03\x04"
#: Lines that may show columns of fixed width, if all are of one length, and if not.
_LEAST_LINES, _LEAST_UNEQUAL = 3, 8


def unread_format(head: bytes, file: str) -> str | None:
    r"""What a file is and what to do about it, in a sentence; None for what may be a table.

    Parameters
    ----------
    head : bytes
        The first bytes, unpacked.
    file : str
        Its name, for the command.

    Examples
    --------
    >>> unread_format(b"[[3, 4], [5, 6]]", "rows.json").partition(":")[0]
    'rows.json is an array of arrays of JSON, which is not read'
    >>> unread_format(b"price,class\n1,a\n", "rows.csv") is None
    True
    """
    for signature, what, advice in _SIGNATURES:
        if head.startswith(signature) and (not signature.isalnum() or b"\x00" in head):  # or it names a column
            return _sentence(file, what, advice)
    if head.startswith(_ZIP) and (archive := _archive(head)):
        return _sentence(file, *archive)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return _sentence(file, "a pickle of Python (.pkl)", _PANDAS.replace("{read}", "read_pickle"))
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:100].lower()
    if re.match(rb"\[\s*\[", start):
        return _sentence(file, "an array of arrays of JSON", _PANDAS.replace("{read}", "read_json"))
    if re.match(rb'\{"[^"]{1,80}":(?:\{"0":|\[)', start) and b"\n{" not in head:
        return _sentence(file, "an object of columns of JSON", _PANDAS.replace("{read}", "read_json"))
    if start.startswith((b"<!doctype html", b"<html", b"<?xml")):
        return _sentence(file, "a page of HTML or XML", _EXPORT)
    return None


def fixed_width(rows: Sequence[bytes], file: str) -> str | None:
    r"""The same for lines without a delimiter whose cells are found by their places; None for other lines.

    Their blanks stand below one another. So do those of a few texts, but not of eight, nor of texts of one length.

    Examples
    --------
    >>> fixed_width([b"Ann Smith  31 a\n", b"Bob         7 b\n", b"Cy Doe     42 a\n"], "rows.txt").partition(":")[0]
    'rows.txt is a table of columns of fixed width, which is not read'
    """
    lines = [row.rstrip(b"\r\n").decode(errors="replace") for row in rows]
    if len(lines) < _LEAST_LINES or (len({len(line) for line in lines}) > 1 and len(lines) < _LEAST_UNEQUAL):
        return None
    begin = max(len(line) - len(line.lstrip()) for line in lines)
    end = min(len(line.rstrip()) for line in lines)
    if not any(all(line[at] == " " for line in lines) for at in range(begin, end)):
        return None
    return _sentence(file, "a table of columns of fixed width", _PANDAS.replace("{read}", "read_fwf"))


def _archive(head: bytes) -> tuple[str, str] | None:
    """What a ZIP archive holds that is no table, by the name of its first file."""
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")].decode(errors="replace")
    if first.endswith(".npy"):
        keys = "print(numpy.load({file!r}).files)"
        return "an archive of NumPy arrays (.npz)", f'python -c "import numpy; {keys}" lists them: write them as CSV'
    if first == "[Content_Types].xml" or first.startswith(("xl/", "_rels/", "docProps/")):
        return "a workbook of Excel (.xlsx)", _PANDAS.replace("{read}", "read_excel")
    return None


def _sentence(file: str, what: str, advice: str) -> str:
    return f"{file} is {what}, which is not read: {advice.format(file=file)}"
