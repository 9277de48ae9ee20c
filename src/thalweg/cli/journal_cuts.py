"""Where `thalweg compact` cuts a journal: at snapshots that it makes for it; and why it erases nothing."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.compaction import cut_points
from thalweg.service.learning.rebuild import Reach, reaches, rebuild
from thalweg.service.options import Amount

#: Predict records that are read at a time.
_FETCH = 10_000
#: Records that a new snapshot lets a cut erase beyond what older ones do, as a share of those that stay: fewer are not
#: worth a replay.
_WORTH_A_REPLAY = 0.1


def make_cut_snapshots(journal: SqlJournal, keep: Amount) -> None:
    """Make the snapshots at which a cut erases all but what is to be kept, where older ones leave much more.

    A size is a limit, which any later snapshot keeps. So none is made for it.
    """
    if keep.bytes is not None:
        return
    before, near, (last, _) = journal.cuts(), cut_points(journal, keep), journal.last()
    for name in journal.models():
        place = _last_to_erase(journal, name, keep, reaches(journal, name))
        record = journal.last_of(name, through=place)
        gain = place - max(before.get(name, 0), near.get(name, 0))
        if record is not None and gain > 0 and gain >= _WORTH_A_REPLAY * (last - place):
            parts = rebuild(journal, name, place).model.snapshot()
            with journal.transaction():
                journal.write([], parts=parts)


def why_nothing_is_cut(journal: SqlJournal, keep: Amount) -> str:
    """The reason, as the end of a sentence."""
    if keep.bytes is not None:
        if journal.used() <= keep.bytes:
            return "the journal is not larger than --keep"
        return "the last snapshot, what came after it and rows without a label take more than --keep"
    before, reason = journal.cuts(), "--keep asks for all of its records"
    for name in journal.models():
        revisions = reaches(journal, name)
        wanted = _last_to_erase(journal, name, keep, ())
        if reached := [(at, first) for at, first in revisions if first <= wanted < at]:
            at, first = min(reached, key=lambda reach: reach[1])
            return f"record {at} revises labels of record {first}, and all from there on is kept with it"
        if wanted > before.get(name, 0):
            reason = "few of its records are older than --keep, or their rows got labels later"
    return reason


def _last_to_erase(journal: SqlJournal, name: str, keep: Amount, revisions: Sequence[Reach]) -> int:
    """The last record of a journal that need not be kept; 0 for none.

    A cut never comes between a label and its revision, since the model could not be learned again without the label.
    """
    if keep.seconds is not None:
        _, now = journal.last()
        seq = journal.last_before(now - 1_000_000 * keep.seconds)
    else:
        seq = _record_before_rows(journal, name, keep.rows or 0)
    while reached := [first for at, first in revisions if first <= seq < at]:
        seq = min(reached) - 1
    return seq


def _record_before_rows(journal: SqlJournal, model: str, rows: int) -> int:
    """The last record after which a model has predicted at least so many rows; 0 where it has not predicted as many."""
    statement = (
        "SELECT seq, rows FROM journal WHERE model = ? AND kind = 'predict' AND seq < ? "
        f"ORDER BY seq DESC LIMIT {_FETCH}"
    )
    before, counted = journal.last()[0] + 1, 0
    while counted < rows:
        batch = journal.rows(statement, [model, before])
        if not batch:
            return 0
        for seq, asked in batch:
            before, counted = seq, counted + asked
            if counted >= rows:
                break
    return before - 1
