"""Older states of a model: found by the name of a version or by a record, and listed.

A state is rebuilt from the last snapshot before it and the records after that. Cost: O(labels between the two).
"""

from __future__ import annotations

from collections.abc import Callable

from thalweg.client.model_responses import Version
from thalweg.errors import InvalidParameter, JournalDamaged, ModelFileError
from thalweg.service.commands import Refused
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.model_state import ModelState
from thalweg.service.learning.rebuild import decision, learned_rows, rebuild
from thalweg.tables.column_changes import ColumnChange

#: Opens a connection to the journal for the thread that calls it.
Reader = Callable[[], SqlJournal]


def record_named(state: ModelState, version: str | None, seq: int | None) -> int:
    """The record of a state that is named by a version or by the record itself."""
    if (version is None) == (seq is None):
        raise Refused(422, "there must be either a version or a seq, the number of a record")
    if seq is not None:
        return seq
    assert version is not None
    if version not in state.versions:
        raise Refused(404, f"{state.name!r} has no version {version!r}")
    return state.versions[version]


def state_at(reader: Reader, model: str, seq: int) -> LiveModel:
    """A model as it was after a record; `Refused` where the journal cannot say."""
    journal = reader()
    try:
        last, _ = journal.last()
        if seq > last:
            raise Refused(404, f"the journal ends at record {last}: there is no record {seq}")
        return rebuild(journal, model, seq).model
    except (InvalidParameter, ModelFileError) as error:
        raise Refused(404, str(error)) from error
    except JournalDamaged as error:
        if seq >= (begins := journal.cuts().get(model, 0)):
            raise
        raise Refused(404, f"the journal of {model!r} has just been cut: it begins at record {begins}") from error
    finally:
        journal.close()


def rollback_body(reader: Reader, model: str, name: str, seq: int) -> dict[str, object]:
    """The record by which a learner of a model returns to its state after a record, with the columns of today.

    Where columns were added since, the learner learns the rows that the journal keeps from before that record again,
    with the defaults.
    """
    found = state_at(reader, model, seq)
    if name not in found.learners:
        raise Refused(404, f"there was no model {name!r} at record {seq} yet")
    journal = reader()
    try:
        settled = next(journal.records(model, after=found.seq, kind="schema"), None)
        if settled is not None:
            raise Refused(
                409, f"the columns of {model!r} are those of record {settled.seq}: no state before it fits them"
            )
        changes = [(decision(each).body, each.seq) for each in journal.records(model, after=found.seq, kind="columns")]
        for body, at in changes:
            found.change_columns(ColumnChange.from_json(body), at)
        if any(body["learners"] for body, _ in changes):
            if found.labels and found.seq <= journal.cuts().get(model, 0):
                raise Refused(
                    409,
                    f"columns were added since record {seq}, and the rows from before it are erased: "
                    "download the model at that record, and upload it as a model of its own",
                )
            found.learn_wider(learned_rows(journal, model, found.seq))
    finally:
        journal.close()
    return found.rollback_to_this(name)


def listed(reader: Reader, state: ModelState) -> list[Version]:
    """Named versions and snapshots, in order: states that are quickly found."""
    names = {seq: name for name, seq in state.versions.items()}
    journal = reader()
    try:
        seqs = sorted({*journal.snapshots(state.name), *names})
        return [Version(names.get(record.seq), record.seq, record.time / 1e6) for record in journal.fetch(seqs)]
    finally:
        journal.close()
