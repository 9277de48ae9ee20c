"""Changes to the journal of a stopped service, by the same writer as in a running one."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.errors import InvalidParameter, JournalError
from thalweg.service.commands import Command, Erase, Refused
from thalweg.service.journal.records import LabelOutcome
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.rebuild import rebuild
from thalweg.service.writer import Writer
from thalweg.service.writer_state import WriterState


def erase_rows(journal: SqlJournal, model: str, ids: Sequence[str]) -> LabelOutcome:
    """Erase rows of a model by their ids, in freed space too; the journal is claimed by this process."""
    if model not in journal.models():
        raise InvalidParameter(
            f"the journal knows no model {model!r}; it knows {', '.join(journal.models()) or 'none'}"
        )
    failures: list[Refused] = []

    def failed(commands: Sequence[Command], refusal: Refused) -> None:
        failures.append(refusal)

    writer = Writer(journal, lambda done, events: None, failed, lambda: None)
    writer.states = {model: WriterState.of(rebuild(journal, model).model)}
    command = Erase(model, None, list(ids))
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
