"""The same learners on Apache Spark: ``pip install 'thalweg[spark]'``, and Java 17 or newer.

`predict` predicts a table with one model, `fit` trains one from all partitions at once, `learn_stream` keeps one model
per key over a stream, `learn_global` one model over a whole stream. Spark moves the rows; the compiled loop sees whole
groups of them, and what is kept is our own model file.
"""

from __future__ import annotations

import lazy_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.spark.exporting import export_models as export_models
    from thalweg.spark.exporting import models as models
    from thalweg.spark.exporting import write_batches as write_batches
    from thalweg.spark.scoring import predict as predict
    from thalweg.spark.sessions import session as session
    from thalweg.spark.streaming import learn_stream as learn_stream
    from thalweg.spark.training import fit as fit
    from thalweg.spark.whole_stream import learn_global as learn_global

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "exporting": ["export_models", "models", "write_batches"],
        "scoring": ["predict"],
        "sessions": ["session"],
        "streaming": ["learn_stream"],
        "training": ["fit"],
        "whole_stream": ["learn_global"],
    },
)
