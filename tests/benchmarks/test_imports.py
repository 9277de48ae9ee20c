"""Every peer and every suite finds the names that it takes from the library."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

from benchmarks import peers, suites

MODULES = [
    each.name for package in (peers, suites) for each in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
]


@pytest.mark.real
@pytest.mark.parametrize("module", MODULES)
def test_a_module_can_be_imported(module: str) -> None:
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("benchmarks", "thalweg"):
            raise
        pytest.skip(f"{error.name} is not installed")
