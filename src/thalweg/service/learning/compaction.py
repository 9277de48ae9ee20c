"""A journal that is cut: rows and labels before a snapshot are erased, except for those that later records need.

Cost: O(records before the cut).
"""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.live_model import rows_in
from thalweg.service.learning.rebuild import rebuild, true_snapshots
from thalweg.service.options import Expiry


@dataclass
class Compacted:
    records: int = 0
    snapshots: int = 0
    replies: int = 0


def compact(journal: SqlJournal, keep: Expiry) -> Compacted:
    """Cut the journal of each model at its last snapshot before all that is to be kept; nobody else may write it.

    Named versions from before the cut stay, as snapshots.
    ``keep`` is how much stays at least: the time before the last record, or rows of each model.
    """
    found = Compacted()
    before = journal.cuts()
    models = {name: rebuild(journal, name).model for name in journal.models()}
    with journal.transaction():
        for name, model in models.items():
            cut = _cut(journal, name, keep)
            if cut > before.get(name, 0):
                versions = [seq for seq in model.versions.values() if seq < cut]
                for seq in set(versions) - set(journal.snapshots(name)):
                    journal.write([], parts=rebuild(journal, name, seq).model.snapshot())
                records, snapshots = journal.cut(name, cut, model.expired_through, versions)
                found.records += records
                found.snapshots += snapshots
        found.replies = journal.drop_replies(max(journal.cuts().values(), default=0))
    if found.records or found.replies:
        journal.shrink()
    return found


def _cut(journal: SqlJournal, model: str, keep: Expiry) -> int:
    """The last snapshot of a model before all that is to be kept; 0 for none."""
    seqs = true_snapshots(journal, model)
    if keep.seconds is not None:
        _, now = journal.last()
        early = {record.seq for record in journal.fetch(seqs) if record.time <= now - 1_000_000 * keep.seconds}
    else:
        rows = {seq: rows_in(journal.snapshot(model, seq)) for seq in seqs}
        last = max(rows.values(), default=0)
        early = {seq for seq in seqs if rows[seq] <= last - (keep.rows or 0)}
    return max(early, default=0)
