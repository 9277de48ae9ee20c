"""The service, whatever protocol it speaks: models by name, rows predicted, labels learned, and nothing lost.

The event loop predicts rows by copies of the models. A thread commits to the journal. A thread for each model learns
what is committed and publishes new copies. Whatever is acknowledged is in the journal, and all of them begin anew from
it at the start and after a failure.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from thalweg.client.model_responses import Version
from thalweg.client.protocol import ColumnsRequest, CreateRequest
from thalweg.service.alerts import ServiceAlerts, service_rules
from thalweg.service.auth import Authorizer
from thalweg.service.batcher import Batcher, PublishedModel, Question, unrecorded
from thalweg.service.column_changes import change_columns
from thalweg.service.commands import Command, Decide, Erase, Expire, KeepSnapshot, Key, Label, Predict, Refused, Void
from thalweg.service.explaining import Explanation, explain, require_explainable
from thalweg.service.following import JournalFollower
from thalweg.service.idempotency import IdempotencyKeys
from thalweg.service.intake import Intake
from thalweg.service.journal.records import Decision, Event, Kind, LabelValue
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.creation import record_of, sent_as_file, version_record
from thalweg.service.learning.learner import LearnerCalls
from thalweg.service.learning.learners import Learners
from thalweg.service.learning.live_model import LiveModel, model_file
from thalweg.service.learning.model_state import ModelState
from thalweg.service.learning.rebuild import rebuild, rebuild_for_start
from thalweg.service.listeners import Listeners
from thalweg.service.metrics import Counters
from thalweg.service.options import ServeOptions
from thalweg.service.retention import JournalRetention
from thalweg.service.versions import listed, record_named, rollback_body, state_at
from thalweg.service.webhook import Webhook, read_secret
from thalweg.service.writer import Writer
from thalweg.service.writer_state import WriterState

_LOG = logging.getLogger("thalweg.service")
#: Labels learned again at a start after which a snapshot is due.
_MANY_REPLAYED = 1000
#: Seconds between looks for rows that have expired.
_EXPIRY_SECONDS = 20.0


class Service:
    """Models that predict and learn."""

    def __init__(self, journal: SqlJournal, options: ServeOptions) -> None:
        self.options = options
        self.limits = options.limits
        self.counts = Counters()
        self.listeners = Listeners()
        self.started = time.time()
        #: Set by whoever builds the application.
        self.authorizer = Authorizer([])
        self._journal = journal
        #: Requests with idempotency keys.
        self.keys = IdempotencyKeys(journal.another())
        found = {name: rebuild_for_start(journal, name) for name in journal.models()}
        rebuilt = {name: each for name, (each, _) in found.items()}
        self._replayed = {name for name, each in rebuilt.items() if each.replayed > _MANY_REPLAYED}
        self._learners = Learners(
            {name: each.model for name, each in rebuilt.items()},
            {name: revised_at for name, (_, revised_at) in found.items()},
            LearnerCalls(
                journal.another,
                self._publish,
                self._acknowledge,
                self._failed,
                lambda name, parts: self._writer.put([KeepSnapshot(name, None, parts)]),
            ),
        )
        self._writer: Writer | JournalFollower
        if self.read_only:
            seqs = {name: each.model.seq for name, each in rebuilt.items()}
            self._writer = JournalFollower(journal, seqs, self._committed, self._failed, self._recover)
        else:
            self._writer = Writer(journal, self._committed, self._failed, self._recover, self.keys.filter.add)
        self._writer.states = {name: WriterState.of(each.model) for name, each in rebuilt.items()}
        self.models = {name: PublishedModel.of(each.model, 0, not self.read_only) for name, each in rebuilt.items()}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._webhook = None
        if options.alert_webhook is not None:
            self._webhook = Webhook(options.alert_webhook, read_secret(options.alert_secret_file))
        states = [each.state for each in self.models.values()]
        self._alerts = ServiceAlerts(service_rules(options.alert), self._alert, states)
        self.retention = JournalRetention(
            journal.another,
            options.keep,
            options.keep_replies,
            lambda name: list(self.models[name].state.versions.values()) if name in self.models else [],
            lambda: self._writer.seq,
            lambda commands: self._writer.put(commands),
        )
        self._reserved: set[str] = set()
        self._promoting: set[str] = set()
        self._explaining = asyncio.Lock()
        #: Requests in progress. Labels, which may wait to be learned, take no place from predictions.
        self.intake, self.label_intake = Intake(options.limits), Intake(options.limits)
        self.stopping = False

    # ------------------------------------------------------------------ begin and end

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.batcher = Batcher(self._writer)
        self._writer.start()
        for name in self._replayed:  # the next start is to be quicker
            self._learners.keep(name)
        self._learners.start()
        if self._webhook is not None:
            self._webhook.start()
        self._tasks = [asyncio.create_task(self.batcher.run())]
        if not self.read_only:
            self._tasks.append(asyncio.create_task(self._expire()))
            self._tasks.append(asyncio.create_task(self.retention.run()))
            self._tasks.append(asyncio.create_task(asyncio.to_thread(self.keys.load, self._journal.another())))

    def stop_soon(self) -> None:
        """From a signal: live views end, and nobody waits for bodies that have not come."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.listeners.close)
            self._loop.call_soon_threadsafe(self.intake.close)
            self._loop.call_soon_threadsafe(self.label_intake.close)
            self._loop.call_soon_threadsafe(self._learners.let_go)

    async def stop(self) -> None:
        """Finish what waits, keep a last snapshot of each model, and let the journal go."""
        self.stopping = True
        self.listeners.close()
        self._learners.let_go()
        while self.in_work:
            await asyncio.sleep(0.01)
        for task in self._tasks:
            task.cancel()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._drain()
        for name in self.models:
            self._learners.keep(name)
        self._writer.stop()
        self._writer.join()
        self._learners.stop()
        if self._webhook is not None:
            self._webhook.stop()
        self.keys.close()
        self._journal.close()

    def _drain(self) -> None:
        """Until the writer and then the learner have done all that waits."""
        done = threading.Event()
        self._writer.after(done.set)
        done.wait()
        self._learners.wait()

    @property
    def in_work(self) -> int:
        return self.intake.requests + self.label_intake.requests

    @property
    def ready(self) -> bool:
        return (self.writable or self.unrecorded) and not (self.stopping or self._learners.broken)

    @property
    def unrecorded(self) -> bool:
        """Whether rows are predicted at the moment without being recorded, since the journal cannot be written."""
        return self.options.predict_when_full and not (self.writable or self.read_only)

    @property
    def writable(self) -> bool:
        """Whether the journal could be written a moment ago; of a replica, whether it could be read."""
        return self._writer.usable

    @property
    def read_only(self) -> bool:
        """Whether it is a replica, which follows the journal of another service."""
        return self.options.follow is not None

    @property
    def replica(self) -> tuple[int, float, float] | None:
        """Of a replica, the last record read, its time since 1970, and seconds since the journal was read."""
        if not isinstance(self._writer, JournalFollower):
            return None
        return self._writer.seq, self._writer.record_time / 1e6, self._writer.read_age

    # ------------------------------------------------------------------ predicting and learning

    async def predict(
        self,
        name: str,
        rows: Any,
        key: Key | None = None,
        state: ModelState | None = None,
        *,
        must_record: bool = True,
    ) -> Predict:
        """Predict rows, a list of JSON objects or a table of Arrow; by a certain state of the model, if one is given.

        Rows that need not be recorded are predicted while the journal cannot be written, if the options say so.
        """
        model = self.model(name)
        if self.unrecorded and not must_record:
            return await self._predict_unrecorded(model, rows, state)
        try:
            done = await self._ask(model, rows, key, state)
        except Refused as refused:
            if refused.status == 503 and self.unrecorded and not must_record:  # the journal failed meanwhile
                return await self._predict_unrecorded(model, rows, state)
            if refused.status != 422 or not model.is_outvoted_by(rows):
                raise
            await self._change_columns(model, rows)
            done = await self._ask(model, rows, key, state)
        model.vote.fitting += len(rows)
        self.counts.predicted(len(rows))
        return done

    async def _predict_unrecorded(self, model: PublishedModel, rows: Any, state: ModelState | None) -> Predict:
        async with self.batcher.order:  # the encoder is read while nobody changes it
            done = await asyncio.to_thread(unrecorded, model, rows, state)
        self.counts.predicted(len(rows))
        self.counts.unrecorded += len(rows)
        return done

    async def explain(self, name: str, rows: list[dict[str, Any]]) -> tuple[ModelState, list[Explanation]]:
        """What contributes to the predictions for rows, and the state that it is true of. Nothing is recorded."""
        model = self.model(name)
        state = model.state
        require_explainable(state, len(rows))
        X = model.features(rows)
        async with self._explaining:  # one at a time: it takes as long as thousands of predictions
            return state, await asyncio.to_thread(explain, self._journal.another, state, X)

    async def _change_columns(self, model: PublishedModel, rows: Any) -> None:
        """To those of rows that are more than the rows before; unless somebody else has just done so."""
        encoder, columns = model.encoder_of(rows), model.columns
        async with model.vote.changing:
            if model.columns == columns:
                await self._do(Decide(model.name, None, "schema", encoder.to_json(), model.epoch))
                model.encoder, model.columns = encoder, columns + 1
                model.vote.fitting, model.vote.rows = 0, {}

    def read_label(self, name: str, value: Any, at: int = 0) -> LabelValue:
        """A label of this model as it was sent, one of several; `Refused` names it by its place."""
        model = self.model(name)
        label = model.state.task.read_label(value, at)
        if model.allowed is not None and label not in model.allowed:
            raise Refused(422, f"the label {label!r} is not one of the model's: {', '.join(sorted(model.allowed))}")
        return label

    async def label(
        self, name: str, labels: list[tuple[str, LabelValue]], revise: bool = False, key: Key | None = None
    ) -> Label:
        done: Label = await self._do(Label(name, None, labels, revise, key=key))
        assert done.outcome is not None
        self.counts.labels += len(done.outcome.learned)
        self.counts.revisions += len(done.outcome.revised)
        return done

    async def void(self, name: str, ids: list[str], key: Key | None = None) -> Void:
        """Withdraw rows: the model ends as if their labels had never come."""
        self.model(name)
        done: Void = await self._do(Void(name, None, ids, key=key))
        return done

    async def erase(self, name: str, ids: list[str], key: Key | None = None) -> Erase:
        """Erase the values and labels of rows from the journal; the model stays as it is."""
        self.model(name)
        done: Erase = await self._do(Erase(name, None, ids, key=key))
        return done

    def model(self, name: str) -> PublishedModel:
        """A model that may be asked; `Refused` where there is none."""
        found = self.models.get(name)
        if found is None:
            champion = self.champion_of(name)
            if champion is not None:
                raise Refused(409, f"{name!r} is a challenger of {champion!r}: send rows and labels to {champion!r}")
            raise Refused(404, f"there is no model {name!r}")
        return found

    def champion_of(self, name: str) -> str | None:
        return next((each.name for each in self.states() if name in each.learners), None)

    def states(self) -> list[ModelState]:
        """The published states of all models, in the order of their creation."""
        return [model.state for model in list(self.models.values())]

    def state(self, name: str) -> ModelState:
        """The published state of the model that has a learner of this name; `Refused` where there is none."""
        champion = self.champion_of(name)
        if champion is None:
            raise Refused(404, f"there is no model {name!r}")
        return self.models[champion].state

    # ------------------------------------------------------------------ models

    async def create(self, given: CreateRequest, key: Key | None = None) -> Decide:
        """Make a model, or a challenger of one."""
        name, champion = given.name, None if given.challenger_of is None else self.model(given.challenger_of)
        if champion is None:
            command = Decide(name, None, "create", record_of(given, None), key=key)
        else:
            columns = None if champion.encoder is None else champion.encoder.plan
            body = record_of(given, champion.state.task, columns)
            command = Decide(champion.name, None, "challenge", body, key=key)
        if champion is None:
            return await self._make(name, command)
        champion.coming.append(given.kind)
        try:
            return await self._make(name, command)
        finally:
            champion.coming.remove(given.kind)

    async def create_from_file(self, name: str, content: bytes, key: Key | None = None) -> Decide:
        """Make a model from the file of one."""

        def body() -> dict[str, Any]:
            made = sent_as_file(name, content)
            LiveModel(name, Decision(0, "create", 0, made)).publish()  # what fails does so before it is recorded
            return made

        return await self._make(name, Decide(name, None, "create", await asyncio.to_thread(body), key=key))

    async def _make(self, name: str, command: Decide) -> Decide:
        """Create what has a name of its own."""
        if name in self._reserved or self.champion_of(name) is not None:
            raise Refused(409, f"there is a model {name!r} already")
        self._reserved.add(name)
        try:
            done: Decide = await self._do(command)
        finally:
            self._reserved.discard(name)
        return done

    async def decide(self, name: str, kind: Kind, key: Key | None = None) -> Decide:
        model = self.state(name)
        archived = model.learners[name].archived
        if archived == (kind == "archive"):
            raise Refused(409, f"the model {name!r} is {'archived' if archived else 'not archived'} already")
        done: Decide = await self._do(Decide(model.name, None, kind, {"name": name}, key=key))
        return done

    async def promote(
        self, name: str, expected: str | None = None, force: bool = False, key: Key | None = None
    ) -> Decide:
        """Let a challenger and its champion change places, unless that would undo what was decided before."""
        model = self.state(name)
        challenger = model.learners[name]
        compared = challenger.comparison
        if compared is None:
            raise Refused(409, f"{name!r} is no challenger: there is nothing to promote")
        if challenger.archived:
            raise Refused(409, f"the model {name!r} is archived: restore it first")
        if expected not in (None, challenger.kind):
            raise Refused(409, f"the model {name!r} is of kind {challenger.kind!r} and not {expected!r}")
        if not force and compared.labels == 0:
            raise Refused(
                409, f"{name!r} and {model.name!r} have not been compared since the last change: wait for more labels"
            )
        if not force and compared.winner() == "champion":
            raise Refused(409, f"{name!r} has a significantly higher error than {model.name!r}")
        command = Decide(model.name, None, "promote", {"name": name}, since=compared.since, key=key)
        done: Decide = await self._do(command)
        return done

    async def change_columns(self, name: str, asked: ColumnsRequest, key: Key | None = None) -> Decide:
        """Add, retire or rename columns of a model."""
        model = self.model(name)
        return await change_columns(model, asked, key, self._journal.another, self.batcher, self._do)

    # ------------------------------------------------------------------ versions

    async def file(self, name: str, version: str | None = None, seq: int | None = None) -> bytes:
        """A model as `thalweg.load` reads it: as it is, or as it was."""
        state = self.state(name)
        if version is None and seq is None:
            if name not in state.models:
                raise Refused(409, f"the model {name!r} is archived: restore it first")
            encoder = self.models[state.name].encoder
            columns = None if encoder is None else encoder.to_json()
            return await asyncio.to_thread(
                model_file, state.models[name], state.rows, state.learners[name].view, columns
            )
        at = record_named(state, version, seq)
        found = await asyncio.to_thread(state_at, self._journal.another, state.name, at)
        if name not in found.learners:
            raise Refused(404, f"there was no model {name!r} at record {at} yet")
        return await asyncio.to_thread(found.file, name)

    async def versions(self, name: str) -> list[Version]:
        return await asyncio.to_thread(listed, self._journal.another, self.state(name))

    async def name_version(self, name: str, version: str, key: Key | None = None) -> Decide:
        """Give a name to the state of a model after this record."""
        done: Decide = await self._do(Decide(self.state(name).name, None, "version", version_record(version), key=key))
        return done

    async def roll_back(self, name: str, version: str | None, seq: int | None, key: Key | None = None) -> Decide:
        """Let a model be what it was: it predicts and learns from that state on."""
        state = self.state(name)
        at = record_named(state, version, seq)
        async with self.model(state.name).vote.changing:  # the learner must fit the columns when it comes back
            body = await asyncio.to_thread(rollback_body, self._journal.another, state.name, name, at)
            done: Decide = await self._do(Decide(state.name, None, "rollback", body, key=key))
        return done

    # ------------------------------------------------------------------ what is counted

    def counters(self) -> dict[str, Any]:
        """All that `/metrics` reports, as plain numbers."""
        return self.counts.as_numbers() | {
            "commits": self._writer.commits,
            "in_work": self.in_work,
            "queue": {"writer": len(self._writer), "learner": len(self._learners)},
            "journal_bytes": self.retention.size,
            "journal_free": self.retention.free,
            "ready": self.ready,
            "writable": self.writable,
            "started": self.started,
            "replica": self.replica,
            "alerts": self._alerts.fired,
            "posts": {} if self._webhook is None else self._webhook.counts(),
            "models": {each.name: each.counters(self._learners.snapshot_age(each.name)) for each in self.states()},
        }

    # ------------------------------------------------------------------ between threads

    # A client that goes away does not undo what has begun.

    async def _ask(self, model: PublishedModel, rows: Any, key: Key | None, state: ModelState | None) -> Predict:
        future: asyncio.Future[Predict] = asyncio.get_running_loop().create_future()
        self.batcher.ask(Question(model, rows, future, key, state))
        return await future

    async def _do(self, command: Any) -> Any:
        command.future = asyncio.get_running_loop().create_future()
        self._writer.put([command])
        return await command.future

    def _committed(self, done: list[Command], events: list[tuple[str, Event]]) -> None:
        """In the writer's thread: predictions are acknowledged at once, the rest when it is learned."""
        at_once = [each for each in done if isinstance(each, Predict)]
        self._acknowledge(at_once)
        later = [each for each in done if not isinstance(each, Predict) and each.future is not None]
        if events or later:
            self._learners.put(events, later)

    def _acknowledge(self, commands: Sequence[Command]) -> None:
        if commands and self._loop is not None:
            self._loop.call_soon_threadsafe(_set_results, commands)

    def _failed(self, commands: Sequence[Command], refusal: Refused) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(_set_refusals, commands, refusal)

    def _publish(self, model: LiveModel, state: ModelState) -> None:
        """In the thread that learns the model."""
        shown = self.models.get(model.name)
        if shown is None:
            self._writer.states[model.name] = WriterState.of(model)
            self.models[model.name] = PublishedModel.of(model, self._writer.epoch, not self.read_only)
        else:
            shown.replace(model, state)
        self._alerts.check(state)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.listeners.tell, model.name)
            if self.options.promote:
                self._loop.call_soon_threadsafe(self._promote_winners, state)

    def _alert(self, alert: dict[str, Any]) -> None:
        """In the thread that learns the model, which does not wait for what becomes of it."""
        told = f"{alert['value']:.4g}" if "value" in alert else f"row {alert['row']}"
        if "column" in alert:
            told = f"{alert['column']}, {alert['what']}, {told}"
        _LOG.warning("alert %s of model %s: %s", alert["rule"], alert["model"], told)
        if self._webhook is not None:
            self._webhook.put(alert)

    def _recover(self) -> dict[str, int]:
        """In the writer's thread, after a failure: everything as the journal says, which may hold more than we know.

        By model, the last record that it has.
        """
        self._learners.wait()
        models = {name: rebuild(self._journal, name).model for name in self._journal.models()}
        self._writer.states = {name: WriterState.of(model) for name, model in models.items()}
        epoch, records = self._writer.epoch, not self.read_only
        self.models = {name: PublishedModel.of(model, epoch, records) for name, model in models.items()}
        seqs = {name: model.seq for name, model in models.items()}
        self._learners.replace(models)
        return seqs

    def _promote_winners(self, state: ModelState) -> None:
        for name, each in state.learners.items():
            if each.comparison is None or each.archived or name in self._promoting:
                continue
            if each.comparison.winner() == "challenger":
                self._promoting.add(name)
                task = asyncio.ensure_future(self.promote(name))
                task.add_done_callback(partial(self._promoted, name))

    def _promoted(self, name: str, done: asyncio.Future[Any]) -> None:
        self._promoting.discard(name)
        done.exception()  # the next label tries again

    async def _expire(self) -> None:
        """From time to time, look for rows whose label will not come."""
        policy = self.options.expire
        every = 1.0 if policy.seconds is None else min(_EXPIRY_SECONDS, max(policy.seconds / 10, 0.2))
        while True:
            await asyncio.sleep(every)
            for each in self.states():
                if each.waiting > (policy.rows or 0):
                    self._writer.put([Expire(each.name, None, policy.seconds, policy.rows)])


def _set_results(commands: Sequence[Command]) -> None:
    for each in commands:
        future, each.future = each.future, None  # else a reference cycle, freed only by the garbage collector
        if future is not None and not future.done():
            future.set_result(each)


def _set_refusals(commands: Sequence[Command], refusal: Refused) -> None:
    for each in commands:
        if each.future is not None and not each.future.done():
            each.future.set_exception(Refused(refusal.status, refusal.sentence, retry_after=refusal.retry_after))
