"""``thalweg replay``, ``verify``, ``compact`` and ``erase``: a service's journal, read or made smaller."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg.errors import InvalidParameter, JournalError, MissingExtra

if TYPE_CHECKING:
    from thalweg.service.commands import Command, Refused
    from thalweg.service.journal.records import LabelOutcome
    from thalweg.service.journal.sql import SqlJournal

JournalFolder = Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder of `thalweg serve`.")]
JournalDatabase = Annotated[
    str | None,
    typer.Option(metavar="URL", help="PostgreSQL database of the journal, such as postgresql://host/db."),
]


@contextmanager
def opened(command: str, data: Path | None, database: str | None, *, to_write: bool = False) -> Iterator[SqlJournal]:
    """The journal that a command names; with ``to_write`` no service may use it meanwhile."""
    if (data is None) == (database is None):
        raise InvalidParameter("give the journal either as a folder, DIR, or as --database URL")
    try:
        from thalweg.service.journal.databases import open_journal
    except ImportError as error:
        raise MissingExtra.of(error.name or "orjson", "serve", f"thalweg {command}") from error

    journal = open_journal(data, database, read_only=True)
    if to_write:
        journal.close()  # there is one: none is made by opening it to write
        journal = open_journal(data, database)
    try:
        if to_write:
            journal.claim()
            journal.prepare()
        yield journal
    finally:
        journal.close()


def replay(
    data: JournalFolder = None,
    to: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of the last record to replay (default: the last of the journal)."),
    ] = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="Name of the model or challenger.")] = "default",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the model (default: none is written).")
    ] = None,
    database: JournalDatabase = None,
    whole: Annotated[bool, typer.Option("--whole", help="Replay from the first record and use no snapshot.")] = False,
) -> None:
    """Rebuild a served model as it was after a record of the journal, byte for byte."""
    from thalweg.files import write_atomically

    with opened("replay", data, database) as journal:
        from thalweg.service.learning.rebuild import rebuild

        last, _ = journal.last()
        replayed = rebuild(journal, _champion_of(journal, model), to, from_snapshots=not whole)
    if model not in replayed.model.learners:
        raise InvalidParameter(f"the journal has no model {model!r} at record {to}: choose a later record with --to")
    if to is not None and to > last:
        typer.echo(f"the journal ends at record {last:,}", err=True)
    content = replayed.model.file(model)
    if out is not None:
        write_atomically(out, content)
    began = f"from the snapshot at record {replayed.base:,}" if replayed.base else "from the beginning"
    typer.echo(
        f"{model} after record {replayed.model.seq:,}: {replayed.model.labels:,} labels learned, "
        f"{replayed.replayed:,} of them again, {began}"
    )


def _champion_of(journal: SqlJournal, name: str) -> str:
    """The model under whose name a learner is kept: its own, or the one that it challenges."""
    names = journal.models()
    if name in names:
        return name
    for model in names:
        for record in journal.records(model, kind="challenge"):
            if json.loads(record.body)["name"] == name:
                return model
    raise InvalidParameter(f"the journal knows no model {name!r}; it knows {', '.join(names) or 'none'}")


def verify(data: JournalFolder = None, database: JournalDatabase = None) -> None:
    """Check the records and snapshots of a service's journal for damage; stop with exit code 2 at the first."""
    with opened("verify", data, database) as journal:
        from thalweg.service.journal.verification import verified

        result = verified(journal)
    typer.echo(f"{result.records:,} records and {result.snapshots:,} snapshots are undamaged")
    if result.erased:
        typer.echo(f"the values and labels of {result.erased:,} rows were erased")


def compact(
    keep: Annotated[
        str,
        typer.Option(
            metavar="AMOUNT",
            help="Records to keep: at least 90d or 12h before the last one, at least 1000000rows, or at most 20GB.",
        ),
    ],
    data: JournalFolder = None,
    database: JournalDatabase = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check the whole journal for damage first (default: the records to erase)."),
    ] = False,
) -> None:
    """Erase old records from the journal of a stopped service; its models do not change.

    The journal of each model is cut at a snapshot. Where it has none near the first record to keep, one is made, which
    takes as long as learning the labels before it again.
    """
    with opened("compact", data, database, to_write=True) as journal:
        from thalweg.cli.journal_cuts import make_cut_snapshots, why_nothing_is_cut
        from thalweg.service.journal.verification import verified
        from thalweg.service.learning.compaction import compact as run
        from thalweg.service.learning.compaction import cut_points
        from thalweg.service.options import Amount

        policy = Amount.of(keep, "keep", "seconds", "rows", "bytes")
        if verify:
            verified(journal)
        make_cut_snapshots(journal, policy)
        before = journal.cuts()
        cuts = {name: cut for name, cut in cut_points(journal, policy).items() if cut > before.get(name, 0)}
        if cuts and not verify:
            verified(journal, through=max(cuts.values()))
        done = run(journal, cuts)
        if not (done.records or done.snapshots or done.replies):
            typer.echo(f"erased nothing: {why_nothing_is_cut(journal, policy)}")
            return
    typer.echo(f"erased {done.records:,} records, {done.snapshots:,} snapshots and {done.replies:,} replies")


def erase(
    ids: Annotated[
        list[str],
        typer.Option(
            "--id", metavar="ID", help="Id of a row, as its prediction had it, such as 12-0; may be repeated."
        ),
    ],
    data: JournalFolder = None,
    database: JournalDatabase = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="Name of the model that predicted the rows.")] = "default",
) -> None:
    """Erase the values, predictions and labels of rows from the journal of a stopped service, free disk space included.

    The next start learns again what came after the rows, without them.
    """
    with opened("erase", data, database, to_write=True) as journal:
        from thalweg.report.page.formats import counted
        from thalweg.service.journal.verification import verified

        verified(journal)
        erased = _erase_rows(journal, model, ids)
    typer.echo(f"erased {counted(len(erased.erased), 'row')}")
    if erased.repeated:
        typer.echo(f"{erased.repeated:,} had been erased before")
    if erased.expired:
        typer.echo(f"the journal no longer keeps {', '.join(erased.expired)}")
    if erased.unknown:
        raise InvalidParameter(f"{model!r} has no row {', '.join(erased.unknown)}")


def _erase_rows(journal: SqlJournal, model: str, ids: Sequence[str]) -> LabelOutcome:
    """Erase rows of a model by their ids, in freed space too, by the same writer as in a running service."""
    from thalweg.service.commands import Withdraw
    from thalweg.service.learning.rebuild import rebuild
    from thalweg.service.writer import Writer
    from thalweg.service.writer_state import WriterState

    if model not in journal.models():
        raise InvalidParameter(
            f"the journal knows no model {model!r}; it knows {', '.join(journal.models()) or 'none'}"
        )
    failures: list[Refused] = []

    def failed(commands: Sequence[Command], refusal: Refused) -> None:
        failures.append(refusal)

    writer = Writer(journal, lambda done, events: None, failed, lambda: None)
    writer.states = {model: WriterState.of(rebuild(journal, model).model)}
    command = Withdraw(model, None, list(ids), erase=True)
    writer.start()
    writer.put([command])
    writer.stop()
    writer.join()
    if failures:
        raise JournalError(failures[0].sentence)
    assert command.outcome is not None
    if command.outcome.erased:
        journal.scrub()
    return command.outcome
