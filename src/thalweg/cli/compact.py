"""``thalweg compact``: a service's journal without its old records."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.cli.journals import JournalDatabase, JournalFolder, opened


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
        from thalweg.service.journal.verification import verified
        from thalweg.service.learning.compaction import compact as run
        from thalweg.service.learning.compaction import cut_points
        from thalweg.service.learning.cut_snapshots import make_cut_snapshots, why_nothing_is_cut
        from thalweg.service.options import Retention

        policy = Retention.of(keep)
        if verify:
            verified(journal)
        make_cut_snapshots(journal, policy)
        before = journal.cuts()
        cuts = {name: cut for name, cut in cut_points(journal, policy).items() if cut > before.get(name, 0)}
        if cuts and not verify:
            verified(journal, through=max(cuts.values()))
        found = run(journal, cuts)
        if not (found.records or found.snapshots or found.replies):
            typer.echo(f"erased nothing: {why_nothing_is_cut(journal, policy)}")
            return
    typer.echo(f"erased {found.records:,} records, {found.snapshots:,} snapshots and {found.replies:,} replies")
