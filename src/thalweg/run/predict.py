"""A saved model applied to a table like the one it learned, without learning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, ModelFileError
from thalweg.merging import Part
from thalweg.store import load, read_notes
from thalweg.tables import Encoder, Plan, Source, chunks, open_source
from thalweg.tables.encoder import BadRows
from thalweg.tables.rows import BadRow, Block

_ROWS = 8192
#: Columns that a message names.
_MOST_NAMED = 5


@dataclass(frozen=True)
class Answered:
    """Some rows: their numbers, from 1, the answers, and how probable each seemed."""

    number: NDArray[np.int64]
    answers: NDArray[np.str_]
    probability: NDArray[np.float64] | None
    bad: list[BadRow]


def answer(
    model_path: Path,
    given: str,
    *,
    bad_rows: BadRows = "error",
    delimiter: str | None = None,
    encoding: str | None = None,
    tell: Callable[[str], None] = lambda warning: None,
) -> Iterator[Answered]:
    """Answer the rows of a source by the model of a run, chunk by chunk.

    ``bad_rows`` says whether a row that cannot be read ends it. ``delimiter`` and ``encoding`` are needed where they
    are not those of the table that was learned. The values of columns that the source lacks count as missing, as in
    the service; ``tell`` is given a sentence that names them. A source with none of the columns is refused.
    """
    notes = read_notes(model_path).get("table")
    model: Any = load(model_path)
    if isinstance(model, Part):
        raise ModelFileError(f"{model_path} is a Part, the sums of some rows: only the model made of it has answers")
    if notes is None:
        raise ModelFileError(f"{model_path} was not written by `thalweg run`: it does not say what its columns are")
    plan = Plan.from_json(notes["plan"])
    encoder = Encoder(plan, bad_rows=bad_rows, missing=notes["missing"])
    encoder.restore(notes["encoder"])
    if not len(getattr(model, "classes_", ())):
        raise ModelFileError(f"{model_path} has no answers: it never learned a label")
    source: Source = open_source(
        given, delimiter=delimiter or notes["delimiter"], encoding=encoding or notes["encoding"]
    )
    source = replace(source, json_columns=tuple(column.name for column in plan.columns))
    done = 0
    for chunk in chunks(_with_all_columns(source.blocks(), plan, given, tell), _ROWS):
        if chunk.bad and bad_rows == "error":
            raise InvalidInput(str(chunk.bad[0]))
        if not chunk.pieces:
            nobody = np.empty(0, dtype=np.int64)
            yield Answered(nobody, np.empty(0, dtype=np.str_), None, chunk.bad)
            continue
        encoded = encoder.encode(chunk, learn=False)
        number = np.array(chunk.positions(), dtype=np.int64)[encoded.kept] + 1 + done
        done += len(chunk) + len(chunk.bad)
        answers = model.predict(encoded.X) if len(encoded.X) else np.empty(0, dtype=np.str_)
        has_proba = hasattr(model, "predict_proba") and len(encoded.X)
        proba = model.predict_proba(encoded.X).max(axis=1) if has_proba else None
        yield Answered(number, answers, proba, encoded.bad)


def _with_all_columns(blocks: Iterator[Block], plan: Plan, given: str, tell: Callable[[str], None]) -> Iterator[Block]:
    """The blocks with an empty column for each that they lack."""
    import pyarrow as pa

    names = [column.name for column in plan.columns]
    told = False
    for block in blocks:
        present = [name for name in names if name in block.table.column_names]
        others = block.ignored and all(block.table.column(name).null_count == len(block.table) for name in present)
        if not present or others:
            raise InvalidInput(f"{given} has none of the columns that the model learned from: {_listed(names)}")
        absent = [name for name in names if name not in present]
        if absent and not told:
            tell(f"{given} lacks {_listed(absent)}: {'their' if absent[1:] else 'its'} values count as missing")
            told = True
        table = block.table
        for name in absent:
            table = table.append_column(name, pa.nulls(len(table), pa.string()))
        yield replace(block, table=table)


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:_MOST_NAMED])) + (" …" if len(names) > _MOST_NAMED else "")
