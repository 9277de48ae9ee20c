"""Transformers of a stream, one algorithm to a file; `base` is what they share."""

from thalweg.transforms.ccipca import CCIPCA
from thalweg.transforms.random_features import RandomFeatures
from thalweg.transforms.random_tilings import RandomTilings
from thalweg.transforms.standard_scaler import StandardScaler
from thalweg.transforms.text_hasher import TextHasher

__all__ = ["CCIPCA", "RandomFeatures", "RandomTilings", "StandardScaler", "TextHasher"]
