"""ASK A RUNNING SERVICE: rows out, answers back, labels when they come. Blocking and awaited, from one source."""

from __future__ import annotations

import lazy_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.client.clients import AsyncClient as AsyncClient
    from thalweg.client.clients import Client as Client
    from thalweg.client.responses import Answer as Answer
    from thalweg.client.responses import Answers as Answers
    from thalweg.client.responses import Change as Change
    from thalweg.client.responses import Comparison as Comparison
    from thalweg.client.responses import Course as Course
    from thalweg.client.responses import Decision as Decision
    from thalweg.client.responses import Model as Model
    from thalweg.client.responses import Point as Point
    from thalweg.client.responses import Points as Points
    from thalweg.client.responses import Receipt as Receipt

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "clients": ["AsyncClient", "Client"],
        "responses": [
            "Answer",
            "Answers",
            "Change",
            "Comparison",
            "Course",
            "Decision",
            "Model",
            "Point",
            "Points",
            "Receipt",
        ],
    },
)
