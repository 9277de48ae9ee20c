"""Many models at once: one for each key of a stream."""

from thalweg.fleet.one_per_key import Fleet

__all__ = ["Fleet"]
