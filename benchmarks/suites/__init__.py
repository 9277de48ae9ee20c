"""The suites, one module each, which declares its ``SUITE``."""

from __future__ import annotations

import importlib

from benchmarks.suite import Suite

#: The fleet comes first: what it holds is read off this process's memory, which must not have any to spare from others.
NAMES = (
    "fleet",
    "first_look",
    "limit",
    "river_loop",
    "latency",
    "untuned",
    "text",
    "sparse_rows",
    "wide_rows",
    "growth",
    "kernel_mean",
    "forest",
    "regression",
    "features",
    "table_rows",
    "pca",
    "auc",
    "command_line",
    "memory",
    "serve",
    "soak",
    "revision",
    "start",
    "installed",
    "spark_keys",
    "spark_fit",
)


def suite_of(name: str) -> Suite:
    """The suite of that name; its module is imported only now."""
    suite: Suite = importlib.import_module(f"benchmarks.suites.{name}").SUITE
    return suite
