"""Fleets on a GPU: one discriminant per key, all in its memory."""
