"""A thread for each model: models do not wait for each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thalweg.service.commands import Command
from thalweg.service.journal.records import Event
from thalweg.service.learning.learner import LearnerCalls, LearningThread
from thalweg.service.learning.live_model import LiveModel


class Learners:
    """Learning threads by the name of their model; records are put by one thread, the writer.

    ``revised`` has the last record with a revision of those models that have not learned all of them.
    """

    def __init__(self, models: Mapping[str, LiveModel], revised: Mapping[str, int], calls: LearnerCalls) -> None:
        self._calls = calls
        self._threads = {
            name: LearningThread(name, model, calls, revised.get(name, 0)) for name, model in models.items()
        }

    def start(self) -> None:
        for thread in self._threads.values():
            thread.start()

    def put(self, events: Sequence[tuple[str, Event]], waiting: Sequence[Command]) -> None:
        """Committed records with the names of their models, in order, and the commands that wait for them."""
        by_model: dict[str, tuple[list[Event], list[Command]]] = {}
        for name, event in events:
            by_model.setdefault(name, ([], []))[0].append(event)
        for command in waiting:
            by_model.setdefault(command.model, ([], []))[1].append(command)
        for name, own in by_model.items():
            self._thread(name).put(*own)

    def replace(self, models: Mapping[str, LiveModel]) -> None:
        """Begin anew with these models, which are what the journal says."""
        for name, model in models.items():
            self._thread(name).replace(model)
        self.wait()

    def _thread(self, name: str) -> LearningThread:
        if name not in self._threads:
            thread = LearningThread(name, None, self._calls)
            thread.start()
            self._threads = self._threads | {name: thread}  # others may be going through it
        return self._threads[name]

    def wait(self) -> None:
        """Until all that was put is learned, except for revisions."""
        for thread in self._threads.values():
            thread.wait()

    def let_go(self) -> None:
        """Acknowledge revisions without learning them from now on: the next start does that."""
        for thread in self._threads.values():
            thread.let_go()

    def stop(self) -> None:
        """Finish what waits, then end."""
        for thread in self._threads.values():
            thread.stop()
        for thread in self._threads.values():
            thread.join()

    @property
    def broken(self) -> bool:
        return any(thread.broken for thread in self._threads.values())

    def keep(self, name: str) -> None:
        """Make a snapshot of a model now, unless it is not what the journal says."""
        self._threads[name].keep()

    def snapshot_age(self, name: str) -> float | None:
        """Seconds since the last snapshot of a model; None where this process made none yet."""
        return self._threads[name].snapshot_age()

    def __len__(self) -> int:
        return sum(len(thread) for thread in self._threads.values())
