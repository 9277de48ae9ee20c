"""Whether a journal is as it was written: its records with their order, the links to them, the snapshots."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from thalweg.errors import JournalDamaged
from thalweg.service.journal.checksums import require_chained, require_unchanged
from thalweg.service.journal.records import LabelBody, PredictBody, Record, body_of
from thalweg.service.journal.sql import SqlJournal


@dataclass
class Verified:
    records: int = 0
    snapshots: int = 0
    #: Rows whose values and labels were erased.
    erased: int = 0


def verified(journal: SqlJournal, through: int | None = None) -> Verified:
    """Go through all of a journal; `JournalDamaged` says what is wrong first.

    Given ``through``, only the records up to this one and the links between them.
    """
    if through is None:
        if (fault := journal.fault()) is not None:
            raise JournalDamaged(f"the file of the journal is damaged: {fault}")
        journal.require_end()
    result = _verified_records(journal, journal.last()[0] if through is None else through)
    for model in () if through is not None else journal.models():
        for seq in journal.snapshots(model):
            for part in journal.snapshot(model, seq):
                if hashlib.sha256(part.body).digest() != part.sha256:
                    raise JournalDamaged(
                        f"the snapshot of {model} at record {seq} is damaged; a start passes it over and replays more"
                    )
            result.snapshots += 1
    return result


def _verified_records(journal: SqlJournal, through: int) -> Verified:
    result = Verified()
    links: dict[tuple[int, int], int] = {}
    before: dict[str, Record] = {}
    cuts = journal.cuts()
    erased_through, last, asked_before_cut = max(cuts.values(), default=0), 0, set()
    for record in journal.in_order(through):
        if record.seq != last + 1 and record.seq > erased_through + 1:
            raise JournalDamaged(f"record {last + 1} of the journal is gone: the next one is {record.seq}")
        if record.seq <= cuts.get(record.model, 0):
            before[record.model] = require_unchanged(record)
            if record.kind == "predict":
                asked_before_cut.add(record.seq)
        else:
            before[record.model] = require_chained(record, before.get(record.model))
        result.records, last = result.records + 1, record.seq
        if record.kind == "predict":
            result.erased += len(body_of(record, PredictBody).erased)
        if record.kind in ("label", "revise", "void"):
            for asked, rows in body_of(record, LabelBody).settled().items():
                if asked > cuts.get(record.model, 0) or asked in asked_before_cut:
                    links[asked, record.seq] = rows
    for asked, seq, rows in journal.all_links(through):
        if links.pop((asked, seq), None) != rows:
            raise JournalDamaged(f"the links of the journal are damaged: record {seq} has other labels of {asked}")
    if links:
        asked, seq = min(links)
        raise JournalDamaged(f"the links of the journal are damaged: record {seq} has labels of {asked}")
    return result
