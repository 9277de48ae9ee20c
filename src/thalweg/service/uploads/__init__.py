"""TABLES FROM A BROWSER: uploaded in pieces, run by `thalweg run` in a process of their own, kept as live models."""
