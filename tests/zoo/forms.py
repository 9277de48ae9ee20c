"""The forms in which a table is written: how its cells, its columns and its file look to those who have it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.zoo.tables import Table

Kinds = frozenset[str]
NUMBER, TIME, CATEGORY, NOTHING = (frozenset({kind}) for kind in ("number", "time", "category", "nothing"))


@dataclass(frozen=True)
class Sheet:
    """A table as it is to be written, with what is expected of it."""

    frame: Any
    target: str
    task: str
    #: By place of a column, the kinds that a person would accept; None for the target.
    kinds: list[Kinds | None]
    #: Further arguments of `thalweg run`.
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Table, *, raw: bool = False) -> Sheet:
        frame = table.frame(raw=raw)
        kinds = [None if name == table.target else table.kinds_of(name) for name in frame.columns]
        return cls(frame, table.target, table.task, kinds, tuple(table.options.split()))

    @property
    def place(self) -> int:
        """That of the target."""
        return self.kinds.index(None)

    def of_kind(self, kind: Kinds) -> list[str]:
        return [name for name, kinds in zip(self.frame.columns, self.kinds, strict=True) if kinds == kind]

    def renamed(self, names: list[str]) -> Sheet:
        return replace(self, frame=self.frame.set_axis(names, axis=1), target=names[self.place])

    def written(self, columns: list[str], cell: Callable[[Any], str], kinds: Kinds | None = None) -> Sheet:
        """Cells of these columns as other texts, and perhaps columns of other kinds."""
        frame = self.frame.copy()
        for name in columns:
            frame[name] = [None if _missing(value) else cell(value) for value in frame[name]]
        changed = [kinds if kinds and name in columns else known for name, known in zip(frame, self.kinds, strict=True)]
        return replace(self, frame=frame, kinds=changed)


def _missing(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _csv(sheet: Sheet, **how: Any) -> bytes:
    encoding = how.pop("encoding", "utf-8")
    before = how.pop("before", "")
    return (before + sheet.frame.to_csv(**{"index": False} | how)).encode(encoding)


def _records(sheet: Sheet) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sheet.frame.astype(object).where(sheet.frame.notna(), None).to_dict("records")
    return found


def _ndjson(sheet: Sheet) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in _records(sheet)).encode()


def _json(sheet: Sheet) -> bytes:
    return json.dumps(_records(sheet), indent=1).encode()


def _arrow(sheet: Sheet) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(sheet.frame, preserve_index=False)


def _parquet(table: Any) -> bytes:
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


def _ipc(sheet: Sheet, *, stream: bool) -> bytes:
    import pyarrow as pa

    table, sink = _arrow(sheet), io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _retyped(sheet: Sheet, columns: list[str], kind: Any) -> bytes:
    """Parquet, with columns cast to another type of Arrow."""
    table = _arrow(sheet)
    for name in columns:
        at = table.column_names.index(name)
        table = table.set_column(at, name, table.column(name).cast(kind, safe=False))
    return _parquet(table)


def _categories(sheet: Sheet) -> bytes:
    import pyarrow as pa

    return _retyped(sheet, sheet.of_kind(CATEGORY), pa.dictionary(pa.int32(), pa.string()))


def _decimals(sheet: Sheet) -> bytes:
    import pyarrow as pa

    return _retyped(sheet, _floats(sheet), pa.decimal128(38, 12))


def _timestamps(sheet: Sheet, zone: str | None = None) -> bytes:
    import pandas as pd
    import pyarrow as pa

    frame = sheet.frame.copy()
    for name in sheet.of_kind(TIME):
        frame[name] = pd.to_datetime(frame[name])
    return _retyped(replace(sheet, frame=frame), sheet.of_kind(TIME), pa.timestamp("us", zone))


def _arff(sheet: Sheet, number: str = "numeric") -> bytes:
    kinds = []
    for name, expected in zip(sheet.frame, sheet.kinds, strict=True):
        column = sheet.frame[name]
        if column.dtype.kind in "if" and (expected is not None or sheet.task == "regression"):
            kinds.append(number.format(column.min(), column.max()))
        elif expected is None or expected == CATEGORY:
            kinds.append("{" + ",".join(_arff_cell(cell) for cell in column.dropna().unique()) + "}")
        else:
            kinds.append("string")
    head = [f"@attribute {_arff_cell(name)} {kind}" for name, kind in zip(sheet.frame, kinds, strict=True)]
    rows = [",".join(map(_arff_cell, row)) for row in sheet.frame.itertuples(index=False)]
    return "\n".join(["% from the zoo", "@relation zoo", "", *head, "", "@data", *rows, ""]).encode()


def _arff_cell(cell: Any) -> str:
    if _missing(cell):
        return "?"
    text = str(cell)
    return text if text.replace(".", "").replace("-", "").isalnum() else "'" + text.replace("'", r"\'") + "'"


def _orange(sheet: Sheet) -> bytes:
    """Three lines on top: names, types and parts."""
    types, parts = [], []
    for name, expected in zip(sheet.frame, sheet.kinds, strict=True):
        number = sheet.frame[name].dtype.kind in "if" and (expected is not None or sheet.task == "regression")
        types.append("continuous" if number else "discrete" if expected in (None, CATEGORY) else "string")
        parts.append("class" if expected is None else "meta" if types[-1] == "string" else "")
    head = "\n".join("\t".join(line) for line in (list(sheet.frame), types, parts))
    return _csv(sheet, sep="\t", header=False, before=head + "\n")


def _zip(content: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("table.csv"), content)
    return sink.getvalue()


def _zstd(content: bytes) -> bytes:
    import pyarrow as pa

    return bytes(pa.compress(content, "zstd", asbytes=True))


def _floats(sheet: Sheet) -> list[str]:
    return [name for name in sheet.of_kind(NUMBER) if sheet.frame[name].dtype.kind == "f"]


def _numbers(sheet: Sheet) -> list[str]:
    return [name for name in sheet.of_kind(NUMBER) if sheet.frame[name].dtype.kind in "if"]


def _dates(form: str) -> Callable[[Sheet], Sheet]:
    def change(sheet: Sheet) -> Sheet:
        import pandas as pd

        return sheet.written(sheet.of_kind(TIME), lambda cell: pd.Timestamp(cell).strftime(form))

    return change


def _epoch(scale: int) -> Callable[[Sheet], Sheet]:
    """What is written in digits is a number, or a time."""

    def change(sheet: Sheet) -> Sheet:
        import pandas as pd

        def cell(value: Any) -> str:
            return str(int(pd.Timestamp(value).timestamp()) * scale)

        return sheet.written(sheet.of_kind(TIME), cell, TIME | NUMBER)

    return change


def _figures(cell: Callable[[float], str], *, whole: bool = False) -> Callable[[Sheet], Sheet]:
    """Numbers as other texts: all, or those that are whole."""

    def change(sheet: Sheet) -> Sheet:
        return sheet.written(_integers(sheet) if whole else _numbers(sheet), lambda value: cell(float(value)))

    return change


def _integers(sheet: Sheet) -> list[str]:
    """Columns of whole numbers, some of them above ten thousand: nobody parts the thousands of a year."""
    found = (name for name in _numbers(sheet) if sheet.frame[name].dtype.kind == "i")
    return [name for name in found if sheet.frame[name].max() >= 10_000]


def _with_nested(sheet: Sheet) -> Sheet:
    """Two more columns, of objects and of lists."""
    frame = sheet.frame.copy()
    frame["things"] = [{"shape": "round", "sizes": [row % 3, 1]} for row in range(len(frame))]
    frame["lists"] = [["a", "b"][: row % 3] for row in range(len(frame))]
    return replace(sheet, frame=frame, kinds=[*sheet.kinds, NOTHING, NOTHING])


def _with_index(sheet: Sheet) -> Sheet:
    """As pandas writes a frame, unless it is told not to write its index."""
    frame = sheet.frame.copy()
    frame.insert(0, "", range(len(frame)))
    return replace(sheet, frame=frame, kinds=[NOTHING, *sheet.kinds])


def _option(*options: str) -> Callable[[Sheet], Sheet]:
    return lambda sheet: replace(sheet, options=(*sheet.options, *options))


def _numbered(sheet: Sheet) -> Sheet:
    return sheet.renamed([str(place) for place in range(len(sheet.kinds))])


def _numbered_features(sheet: Sheet) -> Sheet:
    return sheet.renamed(["target" if kinds is None else str(place) for place, kinds in enumerate(sheet.kinds)])


def _years(sheet: Sheet) -> Sheet:
    return sheet.renamed([str(2024 - len(sheet.kinds) + place) for place in range(len(sheet.kinds))])


def _same(sheet: Sheet) -> Sheet:
    return sheet


@dataclass(frozen=True)
class Form:
    """How a table is written."""

    name: str
    write: Callable[[Sheet], bytes]
    suffix: str = ".csv"
    change: Callable[[Sheet], Sheet] = _same
    #: Whether the scores are those of the plain form.
    lossless: bool = True
    #: Whether the names of columns are lost, and the reader's own must be asked for.
    nameless: bool = False


def _text(name: str, **how: Any) -> Form:
    """CSV, by the options of pandas and those of `Form`."""
    own = {key: how.pop(key) for key in list(how) if key in Form.__dataclass_fields__}
    return Form(name, lambda sheet: _csv(sheet, **how), **own)


def _packed(name: str, pack: Callable[[bytes], bytes], suffix: str) -> Form:
    return Form(name, lambda sheet: pack(_csv(sheet)), suffix=suffix)


_COMMENTS = "# Collected for the zoo\n# see the README, or ask\n"
_ALL: tuple[Form, ...] = (
    # columns
    _text("header-of-numbers", change=_numbered),
    _text("numbers-and-target", change=_numbered_features),
    _text("header-of-years", change=_years),
    _text("no-header", header=False, nameless=True),
    _text("no-header-tab", header=False, sep="\t", nameless=True, suffix=".tsv"),
    _text("index", change=_with_index),
    # lines and cells
    _text("semicolons", sep=";"),
    _text("decimal-commas", sep=";", decimal=","),
    _text("decimal-commas-tab", sep="\t", decimal=",", suffix=".tsv"),
    _text("tabs", sep="\t", suffix=".tsv"),
    _text("spaces", sep=" ", suffix=".txt"),
    _text("bars", sep="|", suffix=".txt"),
    _text("no-header-bars", header=False, sep="|", nameless=True),
    _text("all-quoted", quoting=csv.QUOTE_ALL),
    _text("words-quoted", quoting=csv.QUOTE_NONNUMERIC),
    _text("crlf", lineterminator="\r\n"),
    _text("cr", lineterminator="\r"),
    _text("sep-line", sep=";", before="sep=;\n"),
    _text("comments", before=_COMMENTS),
    _text("title", before="Table 1: what was measured\n\n"),
    Form("blank-lines-at-end", lambda sheet: _csv(sheet) + b"\n\n"),
    # encodings
    _text("latin-1", encoding="latin-1", change=_option("--encoding", "latin-1")),
    _text("windows-1252", encoding="cp1252", change=_option("--encoding", "cp1252")),
    _text("not-ascii"),
    _text("bom", encoding="utf-8-sig"),
    _text("bom-semicolons", encoding="utf-8-sig", sep=";"),
    _text("utf-16", encoding="utf-16", change=_option("--encoding", "utf-16")),
    _text("utf-16-tabs", encoding="utf-16", sep="\t", change=_option("--encoding", "utf-16"), suffix=".txt"),
    # numbers
    _text("money", change=_figures(lambda x: f"${x:,.2f}" if x >= 0 else f"-${-x:,.2f}"), lossless=False),
    _text("accounting", change=_figures(lambda x: f"{x:.4f}" if x >= 0 else f"({-x:.4f})"), lossless=False),
    _text("percent", change=_figures(lambda x: f"{x:.4f} %"), lossless=False),
    _text("thousands", change=_figures("{:,.0f}".format, whole=True)),
    _text("exponents", change=_figures("{:.12E}".format), lossless=False),
    _text("long-digits", change=_figures("{:.60f}".format)),
    _text("missing-na", na_rep="NA", lossless=False),
    _text("missing-question", na_rep="?", lossless=False),
    _text("missing-null", na_rep="NULL", lossless=False),
    # times
    _text("excel-dates", change=_dates("%m/%d/%y %I:%M %p"), lossless=False),
    _text("us-dates", change=_dates("%m/%d/%Y"), lossless=False),
    _text("german-dates", change=_dates("%d.%m.%Y"), lossless=False),
    _text("day-first", change=_dates("%d/%m/%Y %H:%M"), lossless=False),
    _text("day-first-dashes", change=_dates("%d-%m-%Y"), lossless=False),
    _text("month-names", change=_dates("%b %d, %Y"), lossless=False),
    _text("long-dates", change=_dates("%A, %d %B %Y"), lossless=False),
    _text("oracle-dates", change=_dates("%d-%b-%y"), lossless=False),
    _text("months", change=_dates("%Y-%m"), lossless=False),
    _text("zoned-dates", change=_dates("%Y-%m-%dT%H:%M:%S+00:00"), lossless=False),
    _text("epoch-seconds", change=_epoch(1), lossless=False),
    _text("epoch-milliseconds", change=_epoch(1000), lossless=False),
    # other formats
    Form("ndjson", _ndjson, ".ndjson"),
    Form("json-array", _json, ".json"),
    Form("parquet", lambda sheet: _parquet(_arrow(sheet)), ".parquet"),
    Form("parquet-categories", _categories, ".parquet"),
    Form("parquet-decimals", _decimals, ".parquet", lossless=False),
    Form("parquet-timestamps", _timestamps, ".parquet"),
    Form("parquet-zoned-timestamps", lambda sheet: _timestamps(sheet, "UTC"), ".parquet"),
    Form("parquet-nested", lambda sheet: _parquet(_arrow(sheet)), ".parquet", change=_with_nested),
    Form("arrow", lambda sheet: _ipc(sheet, stream=False), ".arrow"),
    Form("arrow-stream", lambda sheet: _ipc(sheet, stream=True), ".arrows"),
    Form("arff", _arff, ".arff", lossless=False),
    Form("arff-ranges", lambda sheet: _arff(sheet, "real[{:.6f},{:.6f}]"), ".arff", lossless=False),
    Form("orange-tab", _orange, ".tab"),
    _packed("gzip", lambda content: gzip.compress(content, mtime=0), ".csv.gz"),
    _packed("zstd", _zstd, ".csv.zst"),
    _packed("xz", lzma.compress, ".csv.xz"),
    _packed("zip", _zip, ".csv.zip"),
)
PLAIN = _text("csv")
FORMS = {form.name: form for form in (PLAIN, *_ALL)}
#: The file of the package itself, as its authors wrote it.
RAW = "raw"
