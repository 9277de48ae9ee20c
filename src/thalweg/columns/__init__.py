"""FROM COLUMNS TO FEATURES: what each column of a stranger's table is, settled by its first rows and then kept."""

from thalweg.columns.encoder import Encoder
from thalweg.columns.plan import Plan, plan_columns
from thalweg.columns.target import Target

__all__ = ["Encoder", "Plan", "Target", "plan_columns"]
