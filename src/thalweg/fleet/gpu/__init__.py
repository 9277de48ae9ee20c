"""Fleets on a GPU: one small model per key, all in its memory."""
