"""The service, whatever protocol it speaks: rows predicted, labels learned, and nothing lost.

The event loop predicts rows by copies of the models. Whatever is acknowledged is in the journal.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

from thalweg import __version__
from thalweg.service.alerts import ServiceAlerts, service_rules
from thalweg.service.auth import Authorizer
from thalweg.service.batcher import Batcher, PublishedModel, unrecorded
from thalweg.service.commands import Decide, Expire, Key, Label, Predict, Refused, Withdraw
from thalweg.service.counters import Counters
from thalweg.service.decisions import Decisions
from thalweg.service.explaining import explain, require_explainable
from thalweg.service.following import JournalFollower
from thalweg.service.idempotency import IdempotencyKeys
from thalweg.service.intake import Intake
from thalweg.service.journal.compressed_rows import as_learned
from thalweg.service.journal.records import LabelValue
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.model_state import ModelState
from thalweg.service.live_models import LiveModels
from thalweg.service.options import ServeOptions
from thalweg.service.retention import JournalRetention
from thalweg.service.uploads.runs import TableRuns
from thalweg.service.uploads.tables import UploadedTables

if TYPE_CHECKING:
    from thalweg.service.webhook import Webhook

_LOG = logging.getLogger("thalweg.service")
#: Seconds between looks for rows that have expired.
_EXPIRY_SECONDS = 20.0


class Listeners:
    """Live views of a model, which wait for news of it on the event loop."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Event] = {}
        self.closed = False

    def notify(self, name: str) -> None:
        """There is something new to see of a model."""
        event = self._waiting.pop(name, None)
        if event is not None:
            event.set()

    async def wait(self, name: str, seconds: float) -> bool:
        """Whether there was news within so many seconds."""
        if self.closed:
            return False
        event = self._waiting.setdefault(name, asyncio.Event())
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        self.closed = True
        for name in list(self._waiting):
            self.notify(name)


class Service:
    """Models that predict and learn."""

    def __init__(self, journal: SqlJournal, options: ServeOptions) -> None:
        self.options = options
        self.counts = Counters()
        self.listeners = Listeners()
        self.started = time.time()
        #: Set by whoever builds the application.
        self.authorizer = Authorizer([])
        #: Requests with idempotency keys.
        self.keys = IdempotencyKeys(journal.another())
        self.models = models = LiveModels(journal, options.follow is not None, self.keys.filter.add, self._published)
        self.batcher = Batcher(models.writer, models.renew)
        self.decisions = Decisions(models, self.batcher)
        self._tasks: list[asyncio.Task[None]] = []
        self._webhook: Webhook | None = None
        if options.alert_webhook is not None:
            from thalweg.service.webhook import Webhook, read_secret

            self._webhook = Webhook(options.alert_webhook, read_secret(options.alert_secret_file))
        self._alerts = ServiceAlerts(service_rules(options.alert), self._alert, models.states())
        self.retention = JournalRetention(models, options)
        self._explaining = asyncio.Lock()
        #: Requests in progress. Labels, which may wait to be learned, take no place from predictions.
        self.intake, self.label_intake = Intake(options), Intake(options)
        #: Tables that a browser uploads, and their runs; None where none are taken.
        self.tables = None if options.uploads is None else UploadedTables(options.data / "uploads", options.uploads)
        self.table_runs = None if self.tables is None else TableRuns(self.tables)
        self.stopping = False

    async def start(self) -> None:
        self.models.start()
        if self._webhook is not None:
            self._webhook.start()
        self._tasks = [asyncio.create_task(self.batcher.run())]
        if self.table_runs is not None:
            self._tasks.append(asyncio.create_task(self.table_runs.work()))
        if not self.read_only:
            self._tasks.append(asyncio.create_task(self._expire()))
            self._tasks.append(asyncio.create_task(self.retention.run()))
            self._tasks.append(asyncio.create_task(asyncio.to_thread(self.keys.load, self.models.journal.another())))

    def stop_soon(self) -> None:
        """From a signal: live views end, and nobody waits for bodies that have not come."""
        for call in (self.listeners.close, self.intake.close, self.label_intake.close, self.models.let_go):
            self.models.call_soon(call)

    async def stop(self) -> None:
        """Finish what waits, keep a last snapshot of each model, and let the journal go."""
        self.stopping = True
        self.listeners.close()
        self.models.let_go()
        if self.table_runs is not None:
            await self.table_runs.stop()
        while self.in_work:
            await asyncio.sleep(0.01)
        for task in self._tasks:
            task.cancel()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self.models.stop()
        if self._webhook is not None:
            self._webhook.stop()
        self.keys.close()

    @property
    def in_work(self) -> int:
        return self.intake.requests + self.label_intake.requests

    @property
    def ready(self) -> bool:
        return (self.writable or self.unrecorded) and not (self.stopping or self.models.broken)

    @property
    def unrecorded(self) -> bool:
        """Whether rows are predicted at the moment without being recorded, since the journal cannot be written."""
        return self.options.predict_when_full and not (self.writable or self.read_only)

    @property
    def writable(self) -> bool:
        """Whether the journal could be written a moment ago; of a replica, whether it could be read."""
        return self.models.writer.usable

    @property
    def read_only(self) -> bool:
        """Whether it is a replica, which follows the journal of another service."""
        return self.models.read_only

    @property
    def replica(self) -> tuple[int, float, float] | None:
        """Of a replica, the last record read, its time since 1970, and seconds since the journal was read."""
        writer = self.models.writer
        return (writer.seq, writer.record_time / 1e6, writer.read_age) if isinstance(writer, JournalFollower) else None

    async def predict(
        self, name: str, rows: Any, key: Key | None = None, state: ModelState | None = None, *, must_record: bool = True
    ) -> Predict:
        """Predict rows, a list of JSON objects or a table of Arrow; by a certain state of the model, if one is given.

        Rows that need not be recorded are predicted while the journal cannot be written, if the options say so.
        """
        model = self.models.model(name)
        if self.unrecorded and not must_record:
            return await self._predict_unrecorded(model, rows, state)
        try:
            done = await self.batcher.ask(model, rows, key, state)
        except Refused as refused:
            if refused.status == 503 and self.unrecorded and not must_record:  # the journal failed meanwhile
                return await self._predict_unrecorded(model, rows, state)
            if refused.status != 422 or not model.is_outvoted_by(rows):
                raise
            await self._change_columns(model, rows)
            done = await self.batcher.ask(model, rows, key, state)
        model.vote.fitting += len(rows)
        self.counts.predicted(len(rows))
        return done

    async def _predict_unrecorded(self, model: PublishedModel, rows: Any, state: ModelState | None) -> Predict:
        async with self.batcher.order:  # the encoder is read while nobody changes it
            done = await asyncio.to_thread(unrecorded, model, rows, state)
        self.counts.predicted(len(rows))
        self.counts.unrecorded += len(rows)
        return done

    async def explain(self, name: str, rows: list[dict[str, Any]]) -> tuple[ModelState, list[dict[str, Any]]]:
        """What contributes to the predictions for rows, and the state that it is true of. Nothing is recorded."""
        model = self.models.model(name)
        state = model.state
        require_explainable(state, len(rows))
        async with self.batcher.order:  # the encoder is read while nobody changes it
            X = as_learned(model.encode(rows, learn=False).X)
        async with self._explaining:  # one at a time: it takes as long as thousands of predictions
            return state, await self.models.read(explain, state, X)

    async def _change_columns(self, model: PublishedModel, rows: Any) -> None:
        """To those of rows that are more than the rows before; unless somebody else has just done so."""
        encoder, columns = model.encoder_of(rows), model.columns
        async with model.vote.changing:
            if model.columns == columns:
                await self.models.do(Decide(model.name, None, "schema", encoder.to_json(), model.epoch))
                model.encoder, model.columns = encoder, columns + 1
                model.vote.fitting, model.vote.rows = 0, {}

    def read_label(self, name: str, value: Any, at: int = 0) -> LabelValue:
        """A label of this model as it was sent, one of several; `Refused` names it by its place."""
        model = self.models.model(name)
        label = model.state.task.read_label(value, at)
        if model.allowed is not None and label not in model.allowed:
            raise Refused(422, f"the label {label!r} is not one of the model's: {', '.join(sorted(model.allowed))}")
        return label

    async def label(
        self, name: str, labels: list[tuple[str, LabelValue]], revise: bool = False, key: Key | None = None
    ) -> Label:
        done = await self.models.do(Label(name, None, labels, revise, key=key))
        assert done.outcome is not None
        self.counts.labels += len(done.outcome.learned)
        self.counts.revisions += len(done.outcome.revised)
        return done

    async def withdraw(self, name: str, ids: list[str], key: Key | None = None, *, erase: bool = False) -> Withdraw:
        """Withdraw rows, and perhaps erase their values and labels from the journal: the model ends as if they had
        never had a label.
        """
        self.models.model(name)
        return await self.models.do(Withdraw(name, None, ids, erase, key=key))

    def counters(self) -> dict[str, Any]:
        """All that `/metrics` reports, as plain numbers by the names of the metrics."""
        writer, threads = self.models.writer, self.models.threads
        return self.counts.as_numbers() | {
            "commits_total": writer.commits,
            "requests_in_work": self.in_work,
            "queue_length": {"writer": len(writer), "learner": sum(map(len, threads.values()))},
            "journal_size_bytes": self.retention.size,
            "journal_free_bytes": self.retention.free,
            "ready": self.ready,
            "journal_writable": self.writable,
            "start_time_seconds": self.started,
            "info": {__version__: 1},
            "replica_read_age_seconds": None if self.replica is None else self.replica[2],
            "replica_record_time_seconds": None if self.replica is None else self.replica[1],
            "alerts_total": self._alerts.fired,
            "alert_posts_total": {} if self._webhook is None else dict(self._webhook.counts),
            "models": {
                state.name: state.counters(threads[state.name].snapshot_age()) for state in self.models.states()
            },
        }

    def _published(self, state: ModelState) -> None:
        """In the thread that learns the model."""
        self._alerts.check(state)
        self.models.call_soon(self.listeners.notify, state.name)
        if self.options.promote:
            self.models.call_soon(self.decisions.promote_winners, state)

    def _alert(self, alert: dict[str, Any]) -> None:
        """In the thread that learns the model, which does not wait for what becomes of it."""
        detail = f"{alert['value']:.4g}" if "value" in alert else f"row {alert['row']}"
        if "column" in alert:
            detail = f"{alert['column']}, {alert['what']}, {detail}"
        _LOG.warning("alert %s of model %s: %s", alert["rule"], alert["model"], detail)
        if self._webhook is not None:
            self._webhook.put(alert)

    async def _expire(self) -> None:
        """From time to time, look for rows whose label will not come."""
        policy = self.options.expire
        every = 1.0 if policy.seconds is None else min(_EXPIRY_SECONDS, max(policy.seconds / 10, 0.2))
        while True:
            await asyncio.sleep(every)
            for state in self.models.states():
                if state.waiting > (policy.rows or 0):
                    self.models.writer.put([Expire(state.name, None, policy.seconds, policy.rows)])
