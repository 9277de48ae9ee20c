"""TABLES AS PEOPLE HAVE THEM: a learner behind the encoder of a table, which reads frames, files and dicts.

It is what `thalweg run` leaves, what `thalweg.load` gives back, and what one makes by hand for a frame.
"""

from __future__ import annotations

from thalweg.table_model.classifier import TableClassifier
from thalweg.table_model.model import TableModel
from thalweg.table_model.regressor import TableRegressor

__all__ = ["TableClassifier", "TableModel", "TableRegressor"]
