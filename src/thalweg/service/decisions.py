"""What is decided about models: they are made, challenged, promoted, put away, and returned to older states."""

from __future__ import annotations

import asyncio
import base64
from functools import partial
from typing import Any

from thalweg.client.model_responses import Version
from thalweg.client.protocol import MOST_COLUMNS, ColumnsRequest, CreateRequest
from thalweg.errors import InvalidInput, InvalidParameter, JournalDamaged, ModelFileError
from thalweg.service.batcher import Batcher, PublishedModel
from thalweg.service.commands import Decide, Key, Refused, require_active
from thalweg.service.journal.records import Decision
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.creation import from_content, record_of, require_name
from thalweg.service.learning.encoding import copied
from thalweg.service.learning.live_model import LiveModel, model_file
from thalweg.service.learning.model_state import ModelState
from thalweg.service.learning.rebuild import decision, learned_rows, rebuild
from thalweg.service.learning.schema import added_column
from thalweg.service.live_models import LiveModels
from thalweg.tables.column_changes import ColumnChange, changed
from thalweg.tables.encoder import Encoder

#: How often learners are brought to the last label before labels are said to come too fast.
_ATTEMPTS = 5


class Decisions:
    """For requests; each is a record of the journal."""

    def __init__(self, models: LiveModels, batcher: Batcher) -> None:
        self._models, self._batcher = models, batcher
        #: Names of models that are being made, and of challengers that are being promoted.
        self._reserved: set[str] = set()
        self._promoting: set[str] = set()

    async def create(self, given: CreateRequest, key: Key | None = None) -> Decide:
        """Make a model, or a challenger of one."""
        name = given.name
        if given.challenger_of is None:
            return await self._make(name, Decide(name, None, "create", record_of(given, None), key=key))
        champion = self._models.model(given.challenger_of)
        columns = None if champion.encoder is None else champion.encoder.plan
        body = record_of(given, champion.state.task, columns)
        champion.coming.append(given.kind)
        try:
            return await self._make(name, Decide(champion.name, None, "challenge", body, key=key))
        finally:
            champion.coming.remove(given.kind)

    async def create_from_file(self, name: str, content: bytes, key: Key | None = None) -> Decide:
        """Make a model from the file of one."""

        def body() -> dict[str, Any]:
            require_name(name)
            try:
                made = from_content(content, "the file")
            except ModelFileError as error:
                raise Refused(422, str(error)) from error
            LiveModel(name, Decision(0, "create", 0, made)).publish()  # what fails does so before it is recorded
            return made

        return await self._make(name, Decide(name, None, "create", await asyncio.to_thread(body), key=key))

    async def _make(self, name: str, command: Decide) -> Decide:
        """Create what has a name of its own."""
        if name in self._reserved or self._models.champion_of(name) is not None:
            raise Refused(409, f"there is a model {name!r} already")
        self._reserved.add(name)
        try:
            return await self._models.do(command)
        finally:
            self._reserved.discard(name)

    async def set_archived(self, name: str, archived: bool, key: Key | None = None) -> Decide:
        """Put a model away, or bring it back."""
        model = self._models.state(name)
        if model.learners[name].archived == archived:
            raise Refused(409, f"the model {name!r} is {'archived' if archived else 'not archived'} already")
        return await self._models.do(
            Decide(model.name, None, "archive" if archived else "restore", {"name": name}, key=key)
        )

    async def promote(
        self, name: str, expected: str | None = None, force: bool = False, key: Key | None = None
    ) -> Decide:
        """Let a challenger and its champion change places, unless that would undo what was decided before."""
        model = self._models.state(name)
        challenger = model.learners[name]
        compared = challenger.comparison
        if compared is None:
            raise Refused(409, f"{name!r} is no challenger: there is nothing to promote")
        require_active(name, challenger.archived)
        if expected not in (None, challenger.kind):
            raise Refused(409, f"the model {name!r} is of kind {challenger.kind!r} and not {expected!r}")
        if not force and compared.labels == 0:
            raise Refused(
                409, f"{name!r} and {model.name!r} have not been compared since the last change: wait for more labels"
            )
        if not force and compared.winner() == "champion":
            raise Refused(409, f"{name!r} has a significantly higher error than {model.name!r}")
        return await self._models.do(Decide(model.name, None, "promote", {"name": name}, since=compared.since, key=key))

    def promote_winners(self, state: ModelState) -> None:
        """Begin to promote the challengers that are significantly better."""
        for name, learner in state.learners.items():
            if learner.comparison is None or learner.archived or name in self._promoting:
                continue
            if learner.comparison.winner() == "challenger":
                self._promoting.add(name)
                task = asyncio.ensure_future(self.promote(name))
                task.add_done_callback(partial(self._promoted, name))

    def _promoted(self, name: str, done: asyncio.Future[Any]) -> None:
        self._promoting.discard(name)
        done.exception()  # the next label tries again

    async def change_columns(self, name: str, asked: ColumnsRequest, key: Key | None = None) -> Decide:
        """Add, retire or rename columns of a model; `Refused` where they cannot be changed so.

        Predictions wait while the record is written and learned, since rows are encoded otherwise from then on. What
        takes long happens before: where columns are added, all learners learn the rows that the journal keeps again,
        with the defaults. The record holds the learners, so that it can be replayed whatever becomes of those rows.
        """
        model, added = self._models.model(name), [added_column(name, given) for name, given in asked.add.items()]
        change = ColumnChange(added, asked.retire, dict(asked.rename))
        if not (change.add or change.retire or change.rename):
            raise Refused(422, "there must be a column to add, to retire or to rename")
        async with model.vote.changing:
            for attempt in range(_ATTEMPTS):
                _changed(model, change)  # what cannot be is refused before it takes long
                learners: dict[str, str] = {}
                through: int | None = None
                if change.add:
                    learners, through = await self._models.read(_learned_again, model.name, change)
                body = change.to_json() | {"learners": learners}
                async with self._batcher.order:
                    encoder = _changed(model, change)
                    try:
                        done = await self._models.do(
                            Decide(model.name, None, "columns", body, model.epoch, since=through, key=key)
                        )
                    except Refused as refused:
                        if refused.status == 409 and attempt < _ATTEMPTS - 1:
                            continue
                        raise
                    model.encoder = encoder
                    return done
        raise AssertionError("the last attempt returns or raises")

    async def file(self, name: str, version: str | None = None, seq: int | None = None) -> bytes:
        """A model as `thalweg.load` reads it: as it is, or as it was."""
        state = self._models.state(name)
        if version is None and seq is None:
            require_active(name, name not in state.models)
            async with self._batcher.order:  # the encoder is read while nobody changes it
                own = self._models.by_name[state.name].encoder
                encoder = None if own is None else await asyncio.to_thread(copied, own, state.known_labels)
            return await asyncio.to_thread(
                model_file, state.models[name], state.rows, state.learners[name].view, encoder
            )
        at = record_named(state, version, seq)
        as_of = await self._models.read(state_at, state.name, at)
        if name not in as_of.learners:
            raise Refused(404, f"there was no model {name!r} at record {at} yet")
        return await asyncio.to_thread(as_of.file, name)

    async def versions(self, name: str) -> list[Version]:
        return await self._models.read(listed, self._models.state(name))

    async def name_version(self, name: str, version: str, key: Key | None = None) -> Decide:
        """Give a name to the state of a model after this record."""
        require_name(version)
        return await self._models.do(
            Decide(self._models.state(name).name, None, "version", {"version": version}, key=key)
        )

    async def roll_back(self, name: str, version: str | None, seq: int | None, key: Key | None = None) -> Decide:
        """Let a model be what it was: it predicts and learns from that state on."""
        state = self._models.state(name)
        at = record_named(state, version, seq)
        async with self._models.model(state.name).vote.changing:  # the learner must fit the columns when it comes back
            body = await self._models.read(rollback_body, state.name, name, at)
            return await self._models.do(Decide(state.name, None, "rollback", body, key=key))


def _changed(model: PublishedModel, change: ColumnChange) -> Encoder:
    if model.encoder is None:
        raise Refused(409, f"{model.name!r} does not know its columns yet: its first rows say what they are")
    try:
        encoder = changed(model.encoder, change)
    except InvalidInput as error:
        raise Refused(422, str(error)) from error
    if len(encoder.plan.names) > MOST_COLUMNS:
        raise Refused(422, f"a model may have at most {MOST_COLUMNS} columns, with those that are retired")
    return encoder


def _learned_again(journal: SqlJournal, name: str, change: ColumnChange) -> tuple[dict[str, str], int]:
    """Learners of the wider rows as files, and the last record whose labels they have learned."""
    model = rebuild(journal, name).model
    through = model.seq
    model.change_columns(change, through + 1)
    files = model.learn_wider(learned_rows(journal, name, through))
    return {name: base64.b64encode(file).decode() for name, file in files.items()}, through


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


def state_at(journal: SqlJournal, model: str, seq: int) -> LiveModel:
    """A model as it was after a record; `Refused` where the journal cannot say."""
    last, _ = journal.last()
    if seq > last:
        raise Refused(404, f"the journal ends at record {last}: there is no record {seq}")
    try:
        return rebuild(journal, model, seq).model
    except (InvalidParameter, ModelFileError) as error:
        raise Refused(404, str(error)) from error
    except JournalDamaged as error:
        if seq >= (begins := journal.cuts().get(model, 0)):
            raise
        raise Refused(404, f"the journal of {model!r} has just been cut: it begins at record {begins}") from error


def rollback_body(journal: SqlJournal, model: str, name: str, seq: int) -> dict[str, object]:
    """The record by which a learner of a model returns to its state after a record, with the columns of today.

    Where columns were added since, the learner learns the rows that the journal keeps from before that record again,
    with the defaults.
    """
    as_of = state_at(journal, model, seq)
    if name not in as_of.learners:
        raise Refused(404, f"there was no model {name!r} at record {seq} yet")
    settled = next(journal.records(model, after=as_of.seq, kind="schema"), None)
    if settled is not None:
        raise Refused(409, f"the columns of {model!r} are those of record {settled.seq}: no state before it fits them")
    changes = [
        (decision(record).body, record.seq) for record in journal.records(model, after=as_of.seq, kind="columns")
    ]
    for body, at in changes:
        as_of.change_columns(ColumnChange.from_json(body), at)
    if any(body["learners"] for body, _ in changes):
        if as_of.labels and as_of.seq <= journal.cuts().get(model, 0):
            raise Refused(
                409,
                f"columns were added since record {seq}, and the rows from before it are erased: "
                "download the model at that record, and upload it as a model of its own",
            )
        as_of.learn_wider(learned_rows(journal, model, as_of.seq))
    return as_of.rollback_to_this(name)


def listed(journal: SqlJournal, state: ModelState) -> list[Version]:
    """Named versions and snapshots, in order: states that are quickly found."""
    names = {seq: name for name, seq in state.versions.items()}
    seqs = sorted({*journal.snapshots(state.name), *names})
    return [Version(names.get(record.seq), record.seq, record.time / 1e6) for record in journal.fetch(seqs)]
