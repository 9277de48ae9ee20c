"""CLIENT OF A SERVICE: send rows, get predictions, send labels when they arrive. Blocking and async."""

from __future__ import annotations

from typing import Any

import lazy_loader

from thalweg.errors import MissingExtra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.client.clients import AsyncClient as AsyncClient
    from thalweg.client.clients import Client as Client
    from thalweg.client.column_responses import AlikeRows as AlikeRows
    from thalweg.client.column_responses import ColumnImportance as ColumnImportance
    from thalweg.client.column_responses import ErrorCause as ErrorCause
    from thalweg.client.column_responses import ImportanceChange as ImportanceChange
    from thalweg.client.column_responses import ImportanceOverTime as ImportanceOverTime
    from thalweg.client.column_responses import InputChange as InputChange
    from thalweg.client.column_responses import InputColumn as InputColumn
    from thalweg.client.column_responses import Inputs as Inputs
    from thalweg.client.column_responses import NearChange as NearChange
    from thalweg.client.column_responses import WatchedOutcome as WatchedOutcome
    from thalweg.client.history_responses import Change as Change
    from thalweg.client.history_responses import Course as Course
    from thalweg.client.history_responses import Point as Point
    from thalweg.client.history_responses import Points as Points
    from thalweg.client.history_responses import RecentPredictions as RecentPredictions
    from thalweg.client.model_responses import Comparison as Comparison
    from thalweg.client.model_responses import Decision as Decision
    from thalweg.client.model_responses import Model as Model
    from thalweg.client.model_responses import Version as Version
    from thalweg.client.predictions import Prediction as Prediction
    from thalweg.client.predictions import Predictions as Predictions
    from thalweg.client.protocol import EraseReceipt as EraseReceipt
    from thalweg.client.protocol import Receipt as Receipt
    from thalweg.client.protocol import VoidReceipt as VoidReceipt

_NAMES = {
    "clients": "AsyncClient Client",
    "column_responses": (
        "AlikeRows ColumnImportance ErrorCause ImportanceChange ImportanceOverTime InputChange InputColumn Inputs "
        "NearChange WatchedOutcome"
    ),
    "history_responses": "Change Course Point Points RecentPredictions",
    "model_responses": "Comparison Decision Model Version",
    "predictions": "Prediction Predictions",
    "protocol": "EraseReceipt Receipt VoidReceipt",
}
_attached, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={module: names.split() for module, names in _NAMES.items()}
)


def __getattr__(name: str) -> Any:
    try:
        return _attached(name)
    except ModuleNotFoundError as error:
        if error.name not in ("httpx", "msgspec"):
            raise
        raise MissingExtra.of(error.name, "client", "thalweg.client") from None
