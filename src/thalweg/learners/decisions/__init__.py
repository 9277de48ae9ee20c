"""Learners that decide by the probabilities of another: calibrated, by cost, by a threshold, or as sets."""
