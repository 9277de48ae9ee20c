"""All models of a service: as requests see them, and as threads learn them from what the journal holds.

A thread commits to the journal. A thread for each model learns what is committed and publishes new copies. All of them
begin anew from the journal at the start and after a failure.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, TypeVar

from thalweg.service.batcher import PublishedModel
from thalweg.service.commands import Command, KeepSnapshot, Predict, Refused
from thalweg.service.following import JournalFollower
from thalweg.service.journal.records import Event
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.learner import LearnerCalls, LearningThread
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.model_state import ModelState
from thalweg.service.learning.rebuild import Rebuilt, rebuild, rebuild_for_start
from thalweg.service.writer import Writer
from thalweg.service.writer_state import WriterState

T = TypeVar("T")
C = TypeVar("C", bound=Command)
#: Labels learned again at a start after which a snapshot is due.
_MANY_REPLAYED = 1000


class LiveModels:
    """Models by name, where requests find them; ``do`` changes them.

    ``noted`` gets each idempotency key before it is committed, ``published`` each new state, in the thread that
    learned it.
    """

    def __init__(
        self,
        journal: SqlJournal,
        read_only: bool,
        noted: Callable[[str], None],
        published: Callable[[ModelState], None],
    ) -> None:
        self.journal = journal
        #: Whether they are a replica's, which follow the journal of another service.
        self.read_only = read_only
        self._published = published
        rebuilt = {name: rebuild_for_start(journal, name) for name in journal.models()}
        self._replayed = {name for name, built in rebuilt.items() if built.replayed > _MANY_REPLAYED}
        self._calls = LearnerCalls(
            journal.another,
            self._publish,
            self._acknowledge,
            self._failed,
            lambda name, parts: self.writer.put([KeepSnapshot(name, None, parts)]),
        )
        #: By the name of their model; records are put by one thread, the writer.
        self.threads = {
            name: LearningThread(name, built.model, self._calls, built.revised_at) for name, built in rebuilt.items()
        }
        self.writer: Writer | JournalFollower
        if read_only:
            seqs = {name: built.model.seq for name, built in rebuilt.items()}
            self.writer = JournalFollower(journal, seqs, self._committed, self._failed, self._recover)
        else:
            self.writer = Writer(journal, self._committed, self._failed, self._recover, noted)
        self._show(rebuilt)
        self._loop: asyncio.AbstractEventLoop | None = None

    def _show(self, rebuilt: dict[str, Rebuilt]) -> None:
        """Let the writer and requests see these models, and no others."""
        self.writer.states = {name: WriterState.of(built.model, built.withdrawn) for name, built in rebuilt.items()}
        self.by_name = {
            name: PublishedModel.of(built.model, self.writer.epoch, not self.read_only)
            for name, built in rebuilt.items()
        }

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.writer.start()
        for name in self._replayed:  # the next start is to be quicker
            self.threads[name].keep()
        for thread in self.threads.values():
            thread.start()

    def stop(self) -> None:
        """Finish what waits, keep a last snapshot of each model, and let the journal go."""
        self.drain()
        for thread in self.threads.values():
            thread.keep()
        self._wait()
        self.writer.stop()
        self.writer.join()
        for thread in self.threads.values():
            thread.stop()
        for thread in self.threads.values():
            thread.join()
        self.journal.close()

    def let_go(self) -> None:
        """Acknowledge revisions without learning them from now on: the next start does that."""
        for thread in self.threads.values():
            thread.let_go()

    @property
    def broken(self) -> bool:
        """Whether a model is no longer what the journal says."""
        return any(thread.broken for thread in self.threads.values())

    def _wait(self) -> None:
        """Until all that was put is learned, except for revisions."""
        for thread in self.threads.values():
            thread.wait()

    def drain(self) -> None:
        """Until the writer has done all that waits, with the snapshots of the learners, and these what it committed."""
        self._wait()
        done = threading.Event()
        self.writer.after(done.set)
        done.wait()
        self._wait()

    def model(self, name: str) -> PublishedModel:
        """A model that may be asked; `Refused` where there is none."""
        model = self.by_name.get(name)
        if model is None:
            champion = self.champion_of(name)
            if champion is not None:
                raise Refused(409, f"{name!r} is a challenger of {champion!r}: send rows and labels to {champion!r}")
            raise Refused(404, f"there is no model {name!r}")
        return model

    def champion_of(self, name: str) -> str | None:
        return next((state.name for state in self.states() if name in state.learners), None)

    def states(self) -> list[ModelState]:
        """The published states of all models, in the order of their creation."""
        return [model.state for model in list(self.by_name.values())]

    def state(self, name: str) -> ModelState:
        """The published state of the model that has a learner of this name; `Refused` where there is none."""
        champion = self.champion_of(name)
        if champion is None:
            raise Refused(404, f"there is no model {name!r}")
        return self.by_name[champion].state

    async def do(self, command: C) -> C:
        """Have a command written and learned; a client that goes away does not undo what has begun."""
        command.future = future = asyncio.get_running_loop().create_future()
        self.writer.put([command])
        done: C = await future
        return done

    async def read(self, read: Callable[..., T], *arguments: Any) -> T:
        """Call something with the journal, in a thread."""

        def with_journal() -> T:
            with closing(self.journal.another()) as journal:
                return read(journal, *arguments)

        return await asyncio.to_thread(with_journal)

    async def renew(self, shown: PublishedModel) -> None:
        """Let rows be encoded as the journal says, with all that were predicted; none is predicted meanwhile."""

        def renewed() -> None:
            written, learned = threading.Event(), threading.Event()
            self.writer.after(written.set)
            written.wait()
            shown.is_outdated = False
            self.threads[shown.name].show(shown.begin_anew, learned)
            learned.wait()

        await asyncio.to_thread(renewed)

    def call_soon(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Call something in the event loop, from another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(call, *arguments)

    def _committed(self, done: list[Command], events: list[tuple[str, Event]]) -> None:
        """In the writer's thread: predictions are acknowledged at once, the rest when it is learned."""
        self._acknowledge([command for command in done if isinstance(command, Predict)])
        by_model: defaultdict[str, tuple[list[Event], list[Command]]] = defaultdict(lambda: ([], []))
        for name, event in events:
            by_model[name][0].append(event)
        for command in done:
            if not isinstance(command, Predict) and command.future is not None:
                by_model[command.model][1].append(command)
        for name, own in by_model.items():
            self._thread(name).put(*own)

    def _thread(self, name: str) -> LearningThread:
        """The thread of a model; a new one where the model has just been made."""
        if name not in self.threads:
            thread = LearningThread(name, None, self._calls)
            thread.start()
            self.threads = self.threads | {name: thread}  # others may be going through it
        return self.threads[name]

    def _acknowledge(self, commands: Sequence[Command]) -> None:
        if commands:
            self.call_soon(_set_results, commands)

    def _failed(self, commands: Sequence[Command], refusal: Refused) -> None:
        self.call_soon(_set_refusals, commands, refusal)

    def _publish(self, model: LiveModel, state: ModelState) -> None:
        """In the thread that learns the model."""
        shown = self.by_name.get(model.name)
        if shown is None:
            self.writer.states[model.name] = WriterState.of(model)
            self.by_name[model.name] = PublishedModel.of(model, self.writer.epoch, not self.read_only)
        else:
            shown.replace(model, state)
        self._published(state)

    def _recover(self) -> dict[str, int]:
        """In the writer's thread, after a failure: everything as the journal says, which may hold more than we know.

        By model, the last record that it has.
        """
        self._wait()
        rebuilt = {name: rebuild(self.journal, name) for name in self.journal.models()}
        self._show(rebuilt)
        seqs = {name: built.model.seq for name, built in rebuilt.items()}
        for name, built in rebuilt.items():
            self._thread(name).replace(built.model)
        self._wait()
        return seqs


def _set_results(commands: Sequence[Command]) -> None:
    for command in commands:
        future, command.future = command.future, None  # else a reference cycle, freed only by the garbage collector
        if future is not None and not future.done():
            future.set_result(command)


def _set_refusals(commands: Sequence[Command], refusal: Refused) -> None:
    for command in commands:
        if command.future is not None and not command.future.done():
            command.future.set_exception(Refused(refusal.status, refusal.sentence, retry_after=refusal.retry_after))
