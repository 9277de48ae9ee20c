"""Karnick, Muhlbaier & Polikar (2008), Incremental learning in non-stationary environments with concept drift."""
