"""PARTS OF A MODEL: what rows add to one, summed up anywhere, and models that add up."""

from thalweg.parts.merging import merge
from thalweg.parts.part import Part

__all__ = ["Part", "merge"]
