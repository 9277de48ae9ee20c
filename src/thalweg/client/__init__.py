"""CLIENT OF A SERVICE: send rows, get predictions, send labels when they arrive. Blocking and async."""

from __future__ import annotations

import lazy_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.client.answers import Answer as Answer
    from thalweg.client.answers import Answers as Answers
    from thalweg.client.clients import AsyncClient as AsyncClient
    from thalweg.client.clients import Client as Client
    from thalweg.client.protocol import AlikeRows as AlikeRows
    from thalweg.client.protocol import Change as Change
    from thalweg.client.protocol import ColumnImportance as ColumnImportance
    from thalweg.client.protocol import Comparison as Comparison
    from thalweg.client.protocol import Course as Course
    from thalweg.client.protocol import Decision as Decision
    from thalweg.client.protocol import EraseReceipt as EraseReceipt
    from thalweg.client.protocol import ErrorCause as ErrorCause
    from thalweg.client.protocol import ImportanceChange as ImportanceChange
    from thalweg.client.protocol import ImportanceOverTime as ImportanceOverTime
    from thalweg.client.protocol import InputChange as InputChange
    from thalweg.client.protocol import InputColumn as InputColumn
    from thalweg.client.protocol import Inputs as Inputs
    from thalweg.client.protocol import Model as Model
    from thalweg.client.protocol import Point as Point
    from thalweg.client.protocol import Points as Points
    from thalweg.client.protocol import Receipt as Receipt
    from thalweg.client.protocol import RecentPredictions as RecentPredictions
    from thalweg.client.protocol import Version as Version
    from thalweg.client.protocol import VoidReceipt as VoidReceipt

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "answers": ["Answer", "Answers"],
        "clients": ["AsyncClient", "Client"],
        "protocol": [
            "AlikeRows",
            "Change",
            "ColumnImportance",
            "Comparison",
            "Course",
            "Decision",
            "ErrorCause",
            "ImportanceChange",
            "ImportanceOverTime",
            "InputChange",
            "InputColumn",
            "Inputs",
            "EraseReceipt",
            "Model",
            "Point",
            "Points",
            "Receipt",
            "RecentPredictions",
            "Version",
            "VoidReceipt",
        ],
    },
)
