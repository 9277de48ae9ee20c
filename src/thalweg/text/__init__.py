"""Text as sparse rows: strings of any library, hashed n-grams, and names for hashed features."""

from __future__ import annotations

from thalweg.text.hashing import FeatureNames, NGrams

__all__ = ["FeatureNames", "NGrams"]
