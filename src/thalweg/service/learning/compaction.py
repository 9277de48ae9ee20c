"""Where the journal of each model may be cut: at a snapshot before all that is to be kept.

Cost: O(snapshots), and O(records) where a number of rows or bytes is to be kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from thalweg.errors import ModelFileError
from thalweg.service.journal.erasing import FIRST, begin_cut, bytes_after, erase_page, rows_after
from thalweg.service.journal.records import Part
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.live_model import number_in
from thalweg.service.learning.rebuild import rebuild, true_snapshots
from thalweg.service.options import Amount

#: Records that are erased at a time.
PAGE = 2000
#: Share of the database that must be free for it to be worth shrinking at a start.
_WORTH_SHRINKING = 0.25


@dataclass
class Compacted:
    records: int = 0
    snapshots: int = 0
    replies: int = 0


def compact(journal: SqlJournal, cuts: Mapping[str, int], *, shrink: bool = True) -> Compacted:
    """Cut the journal of each model at its snapshot, all at once; nobody else may write it.

    Earlier cuts that were interrupted are finished. Named versions from before the cut stay, as snapshots. Without
    ``shrink`` the space is given back only where it is much; otherwise later records take it.
    """
    compacted = Compacted()
    before = journal.cuts()
    cuts = {name: max(cuts.get(name, 0), before.get(name, 0)) for name in {*cuts, *before}}
    models = {name: rebuild(journal, name).model for name in cuts}
    with journal.transaction():
        for name, model in models.items():
            cut = cuts[name]
            if cut > before.get(name, 0):
                versions = list(model.versions.values())
                journal.write([], parts=snapshots_of_versions(journal, name, versions, cut))
                compacted.snapshots += begin_cut(journal, name, cut, versions)
            page: tuple[int, int] | None = FIRST
            while page is not None:
                done = erase_page(journal, name, cut, model.expired_through, page, PAGE)
                compacted.records, page = compacted.records + done.erased, done.next
        through = max(journal.cuts().values(), default=0)
        while dropped := journal.drop_replies(through, PAGE):
            compacted.replies += dropped
    worth = bool(compacted.records or compacted.replies)
    if not shrink:
        worth = journal.used() < (1 - _WORTH_SHRINKING) * journal.size()
    if worth:
        journal.shrink()
    return compacted


def snapshots_of_versions(journal: SqlJournal, model: str, versions: Collection[int], cut: int) -> list[Part]:
    """Snapshots of named versions before a cut that have none yet."""
    missing = {seq for seq in versions if seq < cut} - set(journal.snapshots(model))
    kept_from = journal.cuts().get(model, 0)
    return [
        part for seq in sorted(missing) if seq > kept_from for part in rebuild(journal, model, seq).model.snapshot()
    ]


def cut_points(journal: SqlJournal, keep: Amount) -> dict[str, int]:
    """By model, the snapshot at which its journal may begin; models without one are left out."""
    snapshots = {name: true_snapshots(journal, name) for name in journal.models()}
    try:
        cuts = _among(journal, snapshots, keep)
        for name, seq in cuts.items():
            number_in(journal.snapshot(name, seq), "rows")  # the model could not be built from a damaged one
    except ModelFileError:
        whole = {name: [seq for seq in seqs if _is_whole(journal, name, seq)] for name, seqs in snapshots.items()}
        return _among(journal, whole, keep)
    return cuts


def _is_whole(journal: SqlJournal, name: str, seq: int) -> bool:
    try:
        number_in(journal.snapshot(name, seq), "rows")
    except ModelFileError:
        return False
    return True


def _among(journal: SqlJournal, snapshots: dict[str, list[int]], keep: Amount) -> dict[str, int]:
    if keep.bytes is not None:
        return _within(journal, snapshots, keep.bytes)
    cuts = {}
    for name, seqs in snapshots.items():
        if keep.seconds is not None:
            _, now = journal.last()
            early = {record.seq for record in journal.fetch(seqs) if record.time <= now - 1_000_000 * keep.seconds}
        else:
            rows = partial(_rows_until, journal, name)
            asked = rows(seqs[-1]) + rows_after(journal, name, seqs[-1]) if seqs else 0
            early = set(seqs[: bisect_right(seqs, asked - (keep.rows or 0), key=rows)])
        if early:
            cuts[name] = max(early)
    return cuts


def _rows_until(journal: SqlJournal, model: str, seq: int) -> int:
    return number_in(journal.snapshot(model, seq), "rows")


def _within(journal: SqlJournal, snapshots: dict[str, list[int]], most: int) -> dict[str, int]:
    """The first snapshots that leave no more than so many bytes; the last ones where none does."""
    used = journal.used()
    if used <= most:
        return {}
    weight = used / max(bytes_after(journal, 0), 1)  # what a byte takes in the database
    candidates = sorted({seq for seqs in snapshots.values() for seq in seqs})
    if not candidates:
        return {}
    enough = bisect_left(candidates, True, key=lambda seq: weight * bytes_after(journal, seq - 1) <= most)
    least = candidates[min(enough, len(candidates) - 1)]
    return {name: seqs[min(bisect_left(seqs, least), len(seqs) - 1)] for name, seqs in snapshots.items() if seqs}
