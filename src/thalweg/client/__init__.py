"""ASK A RUNNING SERVICE: rows out, answers back, labels when they come. Blocking and awaited, from one source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.on_first_use import on_first_use

if TYPE_CHECKING:
    from thalweg.client.answers import Answer, Answers
    from thalweg.client.clients import AsyncClient, Client
    from thalweg.client.protocol import (
        Change,
        Comparison,
        Course,
        Decision,
        Model,
        Point,
        Points,
        Receipt,
    )

__all__ = [
    "Answer",
    "Answers",
    "AsyncClient",
    "Change",
    "Client",
    "Comparison",
    "Course",
    "Decision",
    "Model",
    "Point",
    "Points",
    "Receipt",
]

_HOMES = {"Answer": "answers", "Answers": "answers", "AsyncClient": "clients", "Client": "clients"}

__getattr__ = on_first_use(__name__, {name: f"thalweg.client.{_HOMES.get(name, 'protocol')}" for name in __all__})


def __dir__() -> list[str]:
    return list(__all__)
