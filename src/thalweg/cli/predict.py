"""``thalweg predict``: predictions of the rows of a table, by a model that `thalweg run` saved."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from thalweg.run.predict import PredictedChunk
    from thalweg.table_model import TableClassifier, TableRegressor
    from thalweg.tables import BadRow

#: Skipped rows that are listed one by one.
_MOST_LISTED = 5
#: Columns that --explain adds.
_EXPLAINED = ("base", "contributions")


def predict(
    model: Annotated[Path, typer.Argument(help="Model file written by `thalweg run`.")],
    source: Annotated[
        str,
        typer.Argument(
            help="Table with the columns the model was trained on, or - for standard input. Absent columns count as "
            "missing values."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File for the predictions (default: standard output): lines of CSV, or objects of JSON where its name "
            "ends in .ndjson or .jsonl.",
        ),
    ] = None,
    bad_rows: Annotated[
        str, typer.Option(metavar="MODE", help="Treatment of rows that cannot be read: error (stop) or skip.")
    ] = "error",
    delimiter: Annotated[
        str | None, typer.Option(metavar="SIGN", help="Delimiter of CSV (default: as in the run, or detected).")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(help="Whether the first row of CSV has the column names (default: as in the run, or detected)."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of text files (default: as in the run).")
    ] = None,
    probabilities: Annotated[
        str,
        typer.Option(
            metavar="WHICH",
            help="Probabilities to write: top (of the predicted label), all (also of each label) or none.",
        ),
    ] = "top",
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Also write the base value and the contribution of each column (JSON), which add up to the "
            "probability of the predicted label, or to the predicted number. "
            "It takes about 20 ms a row with the default model.",
        ),
    ] = False,
    coverage: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Coverage of the prediction intervals of regression (default: that of the run, or 0.9).",
        ),
    ] = None,
) -> None:
    """Predict each row of a table with a saved model, as CSV; the model does not change.

    Columns of a classifier: row, prediction, probability, and prediction_set (labels joined by "|") if it has sets.
    Columns of a regressor: row, prediction, lower, upper. --explain adds base and contributions.
    """
    from thalweg.cli.terminal import load_scikit_learn

    load_scikit_learn()
    from thalweg.cli.terminal import writable_file
    from thalweg.errors import InvalidParameter
    from thalweg.files import replacement
    from thalweg.run.predict import model_for_tables, predict_table, require_background
    from thalweg.table_model import TableRegressor

    if bad_rows not in ("error", "skip"):
        raise InvalidParameter.of_option("bad_rows", "be error or skip", bad_rows)
    if probabilities not in ("top", "all", "none"):
        raise InvalidParameter.of_option("probabilities", "be top, all or none", probabilities)
    how: Literal["error", "skip"] = "skip" if bad_rows == "skip" else "error"
    learned = model_for_tables(model)
    of_numbers = isinstance(learned, TableRegressor)
    if of_numbers and probabilities != "top":
        raise InvalidParameter.of_option("probabilities", "be left out: the model predicts numbers", probabilities)
    if coverage is not None and not of_numbers:
        raise InvalidParameter.of_option("coverage", "be left out: the model predicts labels", coverage)
    if of_numbers and coverage is None:
        coverage = learned.notes["table"].get("coverage")
    if explain:
        require_background(learned)
    chunks = predict_table(
        learned,
        source,
        bad_rows=how,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        coverage=coverage,
        explain=explain,
        warn=lambda warning: typer.echo(f"thalweg: {warning}", err=True),
    )
    write: Any = _write_numbers if of_numbers else _write_labels
    first = next(chunks, None)  # nothing is written before something could be predicted
    parts = iter(()) if first is None else chain([first], chunks)
    if out is None:
        bad = write(parts, learned, probabilities, explain, None, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        with replacement(writable_file(out)) as file:
            bad = write(parts, learned, probabilities, explain, out, file)
    if bad:
        for row in bad[:_MOST_LISTED]:
            typer.echo(str(row), err=True)
        typer.echo("1 row was skipped" if len(bad) == 1 else f"{len(bad):,} rows were skipped", err=True)


def _explained(part: PredictedChunk) -> list[Any]:
    """The columns that --explain adds, of no rows where none was explained."""
    import pyarrow as pa

    base, words = part.explained or ([], [])
    return [pa.array(base, pa.float64()), pa.array(words, pa.string())]


def _write_labels(
    parts: Iterator[PredictedChunk],
    model: TableClassifier,
    probabilities: str,
    explain: bool,
    out: Path | None,
    file: IO[bytes],
) -> list[BadRow]:
    """Write all predictions by the rule of a run's own file; the rows that were skipped."""
    import numpy as np
    import pyarrow as pa

    from thalweg.labels import probability_of_predictions
    from thalweg.run.predictions import as_decimals, is_ndjson, joined_labels, lines_for
    from thalweg.tables.opening import natural_order
    from thalweg.tables.rows import as_text

    labels = as_text(pa.array(model.learner_.classes_)).to_pylist()
    by_label = sorted(range(len(labels)), key=lambda at: natural_order(labels[at])) if probabilities == "all" else []
    with_sets = hasattr(model.learner_, "predict_set")
    names = ["row", "prediction", *(["probability"] if probabilities != "none" else [])]
    names += [
        *(f"P({labels[at]})" for at in by_label),
        *(["prediction_set"] if with_sets else []),
        *(_EXPLAINED if explain else ()),
    ]
    write = lines_for(out, names, file)
    bad: list[BadRow] = []
    for part in parts:
        rows, proba = len(part.predictions), part.proba
        columns = [part.number, as_text(pa.array(part.predictions))]
        if probabilities != "none":
            classes = model.learner_.classes_
            top = None if proba is None else probability_of_predictions(proba, classes, part.predictions)
            columns.append(as_decimals(top, rows))
        columns += [as_decimals(None if proba is None else proba[:, at], rows) for at in by_label]
        if with_sets:
            sets = np.empty((0, len(labels)), dtype=np.bool_) if part.sets is None else part.sets
            joined = pa.array(joined_labels(labels, sets), pa.string())
            columns.append(_listed(labels, sets) if is_ndjson(out) else joined)
        columns += _explained(part) if explain else []
        write(columns)
        bad += part.bad
    return bad


def _listed(labels: list[str], sets: Any) -> list[list[str]]:
    return [[label for label, held in zip(labels, row, strict=True) if held] for row in sets.tolist()]


def _write_numbers(
    parts: Iterator[PredictedChunk], model: TableRegressor, _: str, explain: bool, out: Path | None, file: IO[bytes]
) -> list[BadRow]:
    """The same of numbers, with the ends of their intervals where the model has any."""
    from thalweg.run.predictions import lines_for

    ends_of = ["lower", "upper"] if hasattr(model.learner_, "predict_interval") else []
    names = ["row", "prediction", *ends_of, *(_EXPLAINED if explain else ())]
    write = lines_for(out, names, file)
    bad: list[BadRow] = []
    for part in parts:
        ends = part.interval or (part.predictions[:0],) * len(ends_of)
        write([part.number, part.predictions, *ends, *(_explained(part) if explain else ())])
        bad += part.bad
    return bad
