"""Many models at once: one for each key of a stream, or one for each setting of a sweep."""

from thalweg.fleet.keyed import Fleet, RegressorFleet
from thalweg.fleet.keyed_classifier import KeyedClassifier, KeySummary
from thalweg.fleet.sweep import Sweep, sweep

__all__ = ["Fleet", "KeySummary", "KeyedClassifier", "RegressorFleet", "Sweep", "sweep"]
