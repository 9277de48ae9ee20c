"""A STRANGER'S TABLE, learned test-then-train: what `thalweg run` does, as functions."""
