"""Text as sparse rows: strings of any library, hashed n-grams, and names for hashed features."""

from __future__ import annotations

from thalweg.text.feature_names import FeatureNames
from thalweg.text.ngrams import NGrams

__all__ = ["FeatureNames", "NGrams"]
