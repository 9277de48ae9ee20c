"""The same learners on Apache Spark: ``pip install 'thalweg[spark]'``, and Java 17 or newer.

`predict` answers a table by one model, `fit` trains one from all partitions at once, `learn_stream` keeps one model per
key over a stream, `learn_global` one model over a whole stream. Spark moves the rows; the compiled loop sees whole
groups of them, and what is kept is our own model file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.on_first_use import on_first_use

if TYPE_CHECKING:
    from thalweg.spark.exporting import export_models, models, write_batches
    from thalweg.spark.scoring import predict
    from thalweg.spark.session import session
    from thalweg.spark.streaming import learn_stream
    from thalweg.spark.training import fit
    from thalweg.spark.whole_stream import learn_global

__all__ = [
    "export_models",
    "fit",
    "learn_global",
    "learn_stream",
    "models",
    "predict",
    "session",
    "write_batches",
]

_HOMES = {
    "export_models": "exporting",
    "fit": "training",
    "learn_global": "whole_stream",
    "learn_stream": "streaming",
    "models": "exporting",
    "predict": "scoring",
    "session": "session",
    "write_batches": "exporting",
}

__getattr__ = on_first_use(__name__, {name: f"{__name__}.{home}" for name, home in _HOMES.items()})


def __dir__() -> list[str]:
    return list(__all__)
