"""Why a model predicts what it does: importance of columns over time, and contributions to one prediction."""

from thalweg.explain.contributions import Contributions, contributions
from thalweg.explain.importance import Importance, importance

__all__ = ["Contributions", "Importance", "contributions", "importance"]
