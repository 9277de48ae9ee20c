"""Models that add up, by the moments of their rows: what `thalweg.part` and the learners are merged by."""
