"""A slow, obvious twin of a keyed stream: events one by one, each by the methods for a single row."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from sklearn.base import clone


class Event(NamedTuple):
    """A row (with or without its label), or a label by itself."""

    time: int
    is_label: bool
    id: str | None
    target: Any
    row: tuple[float, ...]


class Oracle:
    """One key."""

    def __init__(self, model: Any, names: list[str], wait: int | None = None) -> None:
        self.model = clone(model)
        self.names, self.wait = names, wait
        self.waiting: list[Event] = []
        self.early: list[Event] = []
        #: (event, id, answer, label), in no order.
        self.told: Counter[tuple[str, str | None, Any, Any]] = Counter()
        self.answers: dict[int, Any] = {}

    def learn(self, event: Event, label: Any) -> None:
        self.model.learn_one(dict(zip(self.names, event.row, strict=True)), label)

    def ask(self, event: Event) -> Any:
        answer = self.model.predict_one(dict(zip(self.names, event.row, strict=True)))
        return "" if answer is None else answer

    def batch(self, events: list[Event], watermark: int) -> None:
        if self.wait is not None:
            for event in [each for each in self.waiting if each.time + self.wait < watermark]:
                self.waiting.remove(event)
                self.told["expired", event.id, self.answers[event.id], None] += 1
            for event in [each for each in self.early if each.time + self.wait < watermark]:
                self.early.remove(event)
                self.told["dropped", event.id, None, event.target] += 1
        # A label that is known when a row comes is learned before the row is answered.
        pending = sorted(events + self.early, key=lambda each: (each.time, not each.is_label, each.id or ""))
        self.early = []
        for event in pending:
            if event.is_label:
                match = [each for each in self.waiting if each.id == event.id]
                if match and event.time > match[0].time + self.wait:
                    self.told["dropped", event.id, None, event.target] += 1
                elif match:
                    self.waiting.remove(match[0])
                    self.learn(match[0], event.target)
                    self.told["learned", event.id, self.answers[event.id], event.target] += 1
                else:
                    self.early.append(event)
                continue
            answer = self.ask(event)
            self.answers[event.id] = answer
            self.told["predicted", event.id, answer, event.target] += 1
            if event.target is not None:
                self.learn(event, event.target)
                continue
            match = [each for each in self.early if each.id == event.id]
            if match and match[0].time > event.time + self.wait:
                self.early.remove(match[0])
                self.told["dropped", event.id, None, match[0].target] += 1
                self.waiting.append(event)
            elif match:
                self.early.remove(match[0])
                self.learn(event, match[0].target)
                self.told["learned", event.id, answer, match[0].target] += 1
            elif event.id is not None:
                self.waiting.append(event)
