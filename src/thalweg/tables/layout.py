"""How a CSV file is laid out: the lines above its table, its delimiter, and the names of its columns.

All of it is decided by the first rows, and what is not plain is said in a sentence.

Below the header there may be further rows of it, such as units or a second level of names: words above numbers in two
columns or more, and no number. Their words count where the names of the first row are not enough to tell columns apart.

Above the table: blank lines, Excel's ``sep=;``, lines that begin with ``#``, titles (a single cell, or two cells fewer
than the rows have) and scikit-learn's line of counts. The last line with ``#`` is the header where it has as many words
as the rows have cells.

A file has a header unless its first row looks like the rows below it. A word, or a time, above a column of numbers is
a name. So are numbers that grow from cell to cell and do not come again below them, if they count (0, 1, 2), are years,
or are whole above columns with decimals, or the other way round. Otherwise cells that are of the kind of their column,
or come again in it, speak against a header; words that do not come again in a column of few different words speak for
it.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from thalweg.errors import InvalidInput
from thalweg.option_names import option
from thalweg.tables.cells import MISSING
from thalweg.tables.number_forms import unit_of
from thalweg.tables.rows import NAME_THE_ENCODING, Layout
from thalweg.tables.timestamps import is_time
from thalweg.tables.unread_formats import fixed_width

#: Cells are separated by runs of blanks and tabs.
BLANKS = " "
#: How many rows are looked at.
LINES = 20
OPEN = "a quotation mark is left open"
_DELIMITERS = ",;\t|"
_SEPARATOR = re.compile(rb"(?i)\"?sep=(.)\"?\s?")
#: Types and flags of Orange's three rows of header, and the letters that stand for them before a name.
_ORANGE_TYPES = frozenset({"c", "d", "s", "t", "continuous", "discrete", "string", "time", "basket", "n", "numeric"})
_ORANGE_FLAGS = frozenset({"class", "meta", "ignore", "i", "c", "m", "w", "weight"})
_ORANGE_ROLES = {"c": "class", "m": "meta", "i": "ignore", "w": "weight"}
_ORANGE_NAME = re.compile(r"([mciw]?)([CDSTN]?)#(.+)", re.DOTALL)
_YEARS = range(1500, 2200)
#: Rows of a header, at the most.
_MOST_LEVELS = 3
#: Columns that decide whether there is a header, and letters of a cell that may be a time, at the most.
_COLUMNS, _LONGEST_TIME = 500, 40


@dataclass(frozen=True)
class LayoutOptions:
    """What is known of the layout beforehand; None for what is to be detected."""

    delimiter: str | None = None
    header: bool | None = None
    #: Of files that were read before.
    like: Layout | None = None
    #: Names of the columns of a table without a header, where these are not 1, 2, 3 …
    names: tuple[str, ...] = ()


def layout_of(head: bytes, name: str, known: LayoutOptions = LayoutOptions()) -> Layout:  # noqa: B008 - immutable
    r"""The layout of a file that begins with these bytes of UTF-8.

    Examples
    --------
    >>> layout_of(b"# of 1936\n5.1;setosa\n4.9;setosa\n", "iris.csv").names
    ('1', '2')
    >>> layout_of(b"x;class\n1,5;a\n", "rows.csv").names
    ('x', 'class')
    """
    layout = _layout_of(head, name, known)
    if any("\udc80" <= sign <= "\udcff" for name in layout.names for sign in name):
        raise InvalidInput(f"{name}: a column name in the header is not UTF-8; {NAME_THE_ENCODING}")
    return layout


def _layout_of(head: bytes, name: str, known: LayoutOptions) -> Layout:
    rows = _head_rows(head)
    if not rows:
        raise InvalidInput(f"{name} is empty")
    notes: list[str] = []
    delimiter = known.delimiter
    at = 0
    if separator := _SEPARATOR.fullmatch(rows[0].text.rstrip(b"\r\n")):
        delimiter = delimiter or separator[1].decode(errors="replace")
        at = 1
    comments = list(itertools.takewhile(lambda row: row.text.startswith(b"#"), rows[at:]))
    comments = comments if len(comments) < len(rows) - at else []
    body = rows[at + len(comments) :] or rows[-1:]
    texts = [row.text for row in body]
    delimiter = delimiter or delimiter_of(texts)
    is_undivided = known.delimiter is None and not any(delimiter.encode() in text for text in texts)
    if is_undivided and (complaint := fixed_width(texts, name)):
        raise InvalidInput(complaint)
    cells = [cells_of(row.text, delimiter) for row in body]
    titles = 0 if known.header is False else _titles(cells)
    titles += _counts_rows(cells[titles:])
    above = [*comments, *body[:titles]]
    body, cells = body[titles:], cells[titles:]
    may_be = comments and not titles and known.header is not False
    if may_be and (names := _commented_header(comments, cells, delimiter)):
        return _named(names, delimiter, body[0].start, notes, above[:-1])
    if above:
        first = above[0].text.decode(errors="replace").strip()
        lines = "1 line" if len(above) == 1 else f"{len(above)} lines"
        notes.append(f"has {lines} above its table, which {_is(above)} skipped: {first[:60]!r}")
    if known.header is not False:
        orange = _three_rows(cells) if known.header is None else None
        if orange is not None:
            return _of_orange(*orange, delimiter, body[3].start if len(body) > 3 else body[2].end, notes)
        prefixed = [_ORANGE_NAME.fullmatch(cell.strip()) for cell in cells[0]]
        if any(match and match[1] and (match[2] or match[1] == "c") for match in prefixed):
            roles, types, called = zip(
                *(
                    ("", "", cell) if match is None else match.groups()
                    for match, cell in zip(prefixed, cells[0], strict=True)
                ),
                strict=True,
            )
            flags = [_ORANGE_ROLES.get(role, "") for role in roles]
            return _of_orange(called, [kind.lower() for kind in types], flags, delimiter, body[0].end, notes)
    if body[0].text.count(b'"') % 2 and leaves_open(body[0].text.splitlines()[0], delimiter):
        raise InvalidInput(f"{name}, header: {OPEN}")
    header, why = _decide_header(cells, known)
    if header:
        further = 0 if known.header else _further_rows(cells)
        named = cells[0] if known.header else _full_width([cells[0], *cells[1 + further :]])
        if further:
            named = _with_levels([named, *cells[1 : 1 + further]], notes)
        return _named(named, delimiter, body[further].end, notes)
    width = Counter(map(len, cells)).most_common(1)[0][0]
    names = [str(number) for number in range(1, width + 1)]
    if known.like is not None and len(known.like.names) == width:
        names = list(known.like.names)
        if known.like.header:
            notes.append("has no header: its columns are those of the first file")
    else:
        if len(known.names) == width:
            names = list(known.names)
        numbers = "its column is named 1" if width == 1 else f"its columns are named by their numbers, 1 to {width}"
        notes += [f"has no header: {numbers}{why}"] if why else []
    return Layout(delimiter, tuple(names), body[0].start, header=False, notes=tuple(notes))


@dataclass(frozen=True)
class _Row:
    text: bytes
    start: int
    end: int


def _head_rows(head: bytes) -> list[_Row]:
    """The first rows that are not blank, less one that may be cut."""
    rows: list[_Row] = []
    at = data = 0
    for row in rows_of(head):
        if at and at + len(row) == len(head) and not row.endswith((b"\n", b"\r")):
            break
        if row.strip() or len(rows) == 2:  # the flags of Orange may all be empty
            rows.append(_Row(row, at, at + len(row)))
            data += not row.startswith(b"#")
        at += len(row)
        if data == LINES:
            break
    return rows


def rows_of(content: bytes) -> Iterator[bytes]:
    """One row after the other, with its end; a line feed between quotes does not end one."""
    lines: list[bytes] = []
    quoted = False
    for line in content.splitlines(keepends=True):
        lines.append(line)
        quoted ^= line.count(b'"') % 2 == 1
        if not quoted:
            yield b"".join(lines)
            lines = []
    if lines:
        yield b"".join(lines)


def cells_of(row: bytes | str, delimiter: str) -> list[str]:
    text = row if isinstance(row, str) else row.decode(errors="surrogateescape")
    if delimiter == BLANKS:
        text, delimiter = with_tabs(text.encode(errors="surrogateescape")).decode(errors="surrogateescape"), "\t"
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error:  # a cell that is too long, or no CSV at all
        return text.rstrip("\r\n").split(delimiter)


def leaves_open(line: bytes, delimiter: str) -> bool:
    r"""Whether a cell that begins with a quote does not end in its line; a quote amid a cell means nothing.

    Examples
    --------
    >>> leaves_open(b'3,"dry', ","), leaves_open(b'3,5" pipe', ","), leaves_open(b'3,"a ""b"" c"', ",")
    (True, False, False)
    """
    cells = cells_of(f"{line.decode(errors='surrogateescape')}\n", "\t" if delimiter == BLANKS else delimiter)
    return bool(cells) and cells[-1].endswith("\n")


def with_tabs(content: bytes) -> bytes:
    r"""Rows of cells between blanks with one tab between two cells; blanks between quotes stay.

    Examples
    --------
    >>> with_tabs(b'  1   2.5 \t"a b"  \n 3\n')
    b'1\t2.5\t"a b"\n3\n'
    """
    if b'"' not in content:
        return b"\n".join(b"\t".join(line.split()) for line in content.split(b"\n"))
    parts = content.split(b'"')
    for at in range(0, len(parts), 2):
        lines = [re.sub(rb"[ \t\r\f\v]+", b"\t", line) for line in parts[at].split(b"\n")]
        for i, line in enumerate(lines):
            line = line.lstrip(b"\t") if i or not at else line
            lines[i] = line.rstrip(b"\t") if i < len(lines) - 1 or at == len(parts) - 1 else line
        parts[at] = b"\n".join(lines)
    return b'"'.join(parts)


def delimiter_of(rows: Sequence[bytes]) -> str:
    r"""The delimiter that splits the rows into the same number of cells, and into the most of them.

    Rows above the table may have fewer. Blanks are the delimiter where they alone split all rows alike, or into more
    cells, of which most are numbers.

    Examples
    --------
    >>> delimiter_of([b"when;price", b"3;4,5", b"4;4,7"]), delimiter_of([b"18.0  8  307.0", b"15.0  8  350.0"])
    (';', ' ')
    """
    bare = [b"".join(row.split(b'"')[::2]) for row in rows]
    ranked: list[tuple[int, int, str]] = []
    for sign in _DELIMITERS:
        counts = [line.count(sign.encode()) for line in bare]
        alike = len(list(itertools.takewhile(counts[-1].__eq__, reversed(counts))))
        before = len(counts) - alike
        if counts[-1] and (not before or alike > len(counts) / 2):
            ranked.append((-before, counts[-1], sign))
    best = max(ranked, default=None)
    split = [cells_of(row, BLANKS) for row in rows]
    if len(width := {len(cells) for cells in split[-max(1, len(split) - 1) :]}) == 1 and (cells := width.pop()) > 1:
        columns = list(zip(*split[1:], strict=True)) if len(split) > 1 else [(cell,) for cell in split[0]]
        numeric = sum(all(map(_is_number, column)) for column in columns)
        fits = len(split[0]) in (cells, cells - 1)
        if fits and numeric and (best is None or (cells > best[1] + 1 and numeric >= cells / 2)):
            return BLANKS
    if best is not None:
        return best[2]
    return max(_DELIMITERS, key=lambda sign: bare[0].count(sign.encode()))  # ragged rows: then the header decides


def _is(rows: Sequence[object]) -> str:
    return "is" if len(rows) == 1 else "are"


def _width(cells: Sequence[Sequence[str]]) -> int:
    counts = Counter(map(len, cells))
    return max(counts, key=lambda count: (counts[count], count))


def _titles(cells: Sequence[Sequence[str]]) -> int:
    """How many of the first rows stand above the table."""
    for at, row in enumerate(cells[:-1]):
        below = cells[at + 1 :]
        width = _width(below)
        filled = sum(bool(cell.strip()) for cell in row)
        alone = filled <= 1 < sum(bool(cell.strip()) for cell in below[0]) and (width > 2 or len(row) == 1)
        short = len(row) < width - 1
        if alone and width == 2 and len(below) > 1:  # or it names all columns but that of the row names
            alone = _has_header(below)
        if width < 2 or not (alone or short):
            return at
    return 0


def _counts_rows(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is scikit-learn's: how many rows and features there are, then the names of the classes."""
    if len(cells) < 2 or len(cells[0]) < 3:
        return False
    rows, features, *classes = cells[0]
    return rows.isdigit() and features == str(len(cells[1]) - 1) and not any(map(_is_number, classes))


def _commented_header(comments: Sequence[_Row], cells: Sequence[Sequence[str]], delimiter: str) -> list[str] | None:
    """The names in the last line with ``#``, where it has them and the row below has not."""
    names = [name.strip() for name in cells_of(comments[-1].text.lstrip(b"# \t"), delimiter)]
    if len(names) < 2 or len(names) != _width(cells) or any(map(_is_number, names)) or len(set(names)) < len(names):
        return None
    return None if len(cells) > 1 and _word_above_numbers(cells) else names


def _three_rows(cells: Sequence[Sequence[str]]) -> tuple[Sequence[str], Sequence[str], Sequence[str]] | None:
    """Names, types and flags of Orange's header."""
    if len(cells) < 3:
        return None
    names, types, flags = ([cell.strip() for cell in row] for row in cells[:3])
    flags = flags + [""] * (len(names) - len(flags))
    plain = sum(kind in _ORANGE_TYPES for kind in types)
    lists = sum(" " in kind for kind in types)  # the values of a category
    if len(types) != len(names) or not plain or plain + lists + types.count("") < len(types):
        return None
    known = all(not flag or flag.split()[0] in _ORANGE_FLAGS or "=" in flag for flag in flags)
    return (names, types, flags) if known and len(flags) == len(names) else None


def _of_orange(
    names: Sequence[str], types: Sequence[str], flags: Sequence[str], delimiter: str, above: int, notes: list[str]
) -> Layout:
    unique = _unique(names, notes)
    nominal = {name for name, kind in zip(unique, types, strict=True) if kind in ("d", "discrete") or " " in kind}
    roles = {name: flag.split()[0] if flag else "" for name, flag in zip(unique, flags, strict=True)}
    target = next((name for name, role in roles.items() if role in ("class", "c")), None)
    left_out = {name: f"left out: its header says {role}" for name, role in roles.items() if role[:1] in "miw" and role}
    notes.append("has the header of Orange, with the types of its columns")
    return Layout(delimiter, unique, above, True, frozenset(nominal), target, left_out, tuple(notes))


def _named(names: Sequence[str], delimiter: str, above: int, notes: list[str], lines: Sequence[object] = ()) -> Layout:
    if lines:
        notes.append(f"has {len(lines)} line{'s' * (len(lines) > 1)} above its header, which {_is(lines)} skipped")
    names = [name.strip() if delimiter == BLANKS else name for name in names]
    if len(names) > 1 and all(len(name) > 2 and name[0] == name[-1] == "'" for name in names):
        names = [name[1:-1] for name in names]
    return Layout(delimiter, _unique(names, notes), above, notes=tuple(notes))


def _unique(names: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """The names, those that come again with a number, as pandas writes them."""
    unique: dict[str, None] = {}
    renamed: list[tuple[str, str]] = []
    given = set(names)
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))
    for at, name in enumerate(names):
        free = name
        if name in unique:
            stem = free = name or f"Unnamed: {at}"
            while free in unique or free in given:
                free = f"{stem}.{next(numbers[stem])}"
            renamed.append((name, free))
        unique[free] = None
    if renamed:
        again = f"has the column name {renamed[0][0]!r} more than once"
        notes.append(f"{again}: those after the first are numbered, such as {renamed[0][1]!r}")
    return tuple(unique)


def _full_width(cells: Sequence[Sequence[str]]) -> list[str]:
    """The names of the header; one more, or one less, where rows have names or only rows, or the header, end empty."""
    names = list(cells[0])
    if len(cells) > 1 and not names[-1].strip() and all(len(row) == len(names) - 1 for row in cells[1:]):
        return names[:-1]
    below = [row for row in cells[1:] if len(row) == len(names) + 1]
    if not below or len(below) < len(cells) - 1:
        return names
    if all(not row[-1].strip() for row in below):
        return [*names, ""]
    rows = {row[0].strip() for row in below if row[0].strip()}
    return ["", *names] if len(below) > 2 and len(rows) == len(below) else names


def _further_rows(cells: Sequence[Sequence[str]]) -> int:
    """How many rows below the first belong to the header."""
    count = 0
    while count < _MOST_LEVELS - 1 and len(cells) > count + 3:
        row, below = cells[1 + count], cells[2 + count :]
        columns = zip(*(row_below[:_COLUMNS] for row_below in below if len(row_below) == len(row)), strict=True)
        kinds = (
            _kind_of([cell for cell in map(str.strip, column) if cell.lower() not in MISSING]) for column in columns
        )
        above = [cell.strip() for cell, kind in zip(row, kinds, strict=False) if kind != "word"]
        words = [cell for cell in above if cell.lower() not in MISSING]
        if len(words) < (1 if count else 2) or any(_kind(cell) != "word" for cell in words):
            break
        count += 1
    return count


def _with_levels(levels: Sequence[Sequence[str]], notes: list[str]) -> list[str]:
    """The names of a header of several rows: those of the first where they differ, else with those below them."""
    first = [name.strip() for name in levels[0]]
    rows = "a second row" if len(levels) == 2 else f"{len(levels) - 1} further rows"
    words = next(cell.strip() for cell in levels[1] if cell.strip())
    if all(first) and len(set(first)) == len(first):
        notes.append(f"has {rows} below its names, such as units, which {_is(levels[1:])} skipped: {words[:60]!r}")
        return first
    for at in range(1, len(first)):  # a name above several columns may stand above the first of them alone
        if not first[at] and any(level[at].strip() for level in levels[1:] if at < len(level)):
            first[at] = first[at - 1]
    below = [[level[at].strip() if at < len(level) else "" for at in range(len(first))] for level in levels[1:]]
    named = [" ".join(filter(None, parts)) for parts in zip(first, *below, strict=True)]
    notes.append(f"has names in its first {len(levels)} rows, which are joined, as in {max(named, key=len)[:60]!r}")
    return named


def _decide_header(cells: Sequence[Sequence[str]], known: LayoutOptions) -> tuple[bool, str]:
    """Whether the first row has names; and what to do if that is wrong."""
    if known.header is not None:
        return known.header, ""
    if known.like is not None and sorted(cells[0]) == sorted(known.like.names):
        return True, ""
    if known.like is not None and not known.like.header:
        return False, ""
    return _has_header(cells), f"; {option('header', True)} takes its first row for names"


def _has_header(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has names; the rule is that of this module."""
    first = [cell.strip() for cell in cells[0][:_COLUMNS]]
    rows = [[cell.strip() for cell in row[:_COLUMNS]] for row in cells[1:] if len(row) == len(cells[0])]
    if not rows or _word_above_numbers(cells):
        return True
    columns = [[cell for cell in column if cell.lower() not in MISSING] for column in zip(*rows, strict=True)]
    alike = again = names = 0
    for cell, column in zip(first, columns, strict=True):
        if not column or cell.lower() in MISSING:
            continue
        if _kind(cell) == _kind_of(column) != "word":
            alike += 1
        elif cell in column:
            again += 1
        elif _kind(cell) == "word" and len(set(column)) <= len(column) / 2:
            names += 1
    if not alike:
        return again < 2 or again < len(first) / 2
    if not first[0] and len(first) > 1 and _counts_up([row[0] for row in rows]):
        return True
    return _are_numbers_that_name(first, columns) or names >= alike + again


def _word_above_numbers(cells: Sequence[Sequence[str]]) -> bool:
    """Whether a cell of the first row is no number, or no time, where all cells below are."""
    first = [cell.strip() for cell in cells[0][:_COLUMNS]]
    rows = [[cell.strip() for cell in row[:_COLUMNS]] for row in cells[1:] if len(row) == len(cells[0])]
    for cell, column in zip(first, zip(*rows, strict=True), strict=False):
        below = [cell for cell in column if cell.lower() not in MISSING]
        kind = _kind_of(below) if below and cell.lower() not in MISSING else "word"
        if kind != "word" and _kind(cell) != kind and not (kind == "time" and _kind(cell) == "number"):
            return True
    return False


def _are_numbers_that_name(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether the numbers of the first row are names, such as 0, 1, 2 or years."""
    pairs = [(cell, column) for cell, column in zip(first, columns, strict=True) if _kind(cell) == "number"]
    try:
        values = [float(cell) for cell, _ in pairs]
    except ValueError:
        return False
    places = [at for at, cell in enumerate(first) if _kind(cell) == "number"]
    if len(values) > 2 and {value - at for value, at in zip(values, places, strict=True)} in ({0.0}, {1.0}, {-1.0}):
        return True
    steps = {after - before for before, after in itertools.pairwise(values)}
    if (steps and min(steps) <= 0) or any(cell in column for cell, column in pairs):
        return False
    whole = all(cell.isdigit() for cell, _ in pairs)
    years = whole and all(value in _YEARS for value in values)
    if len(values) == 1:
        return years and not any(cell.isdigit() and int(cell) in _YEARS for cell in pairs[0][1])
    if whole and steps == {1} and (len(values) > 2 or values[0] in (0, 1)):
        return True
    unlike = sum(("." in cell) != any("." in below for below in column) for cell, column in pairs)
    return years or (len(values) > 2 and unlike > len(pairs) / 2)


def _counts_up(cells: Sequence[str]) -> bool:
    return all(cell.isdigit() for cell in cells) and all(
        int(after) == int(before) + 1 for before, after in itertools.pairwise(cells)
    )


def _kind_of(column: Collection[str]) -> str:
    kinds = {_kind(cell) for cell in column}
    return kinds.pop() if len(kinds) == 1 else "word"


def _kind(cell: str) -> str:
    if _is_number(cell):
        return "number"
    may_be = len(cell) <= _LONGEST_TIME and cell.isprintable() and any(sign.isdigit() for sign in cell)
    return "time" if may_be and is_time(cell) else "word"


def _is_number(cell: str) -> bool:
    return unit_of(cell) is not None
