"""Wu & Snell (2016), An introduction to incremental learning."""
