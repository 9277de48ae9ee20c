"""River's own checks, on our estimators as its objects."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from thalweg.conformance.tally import Finding, Suite, Tally

_RUNNER = "thalweg.interop.river_checks"


def _absent() -> str:
    if importlib.util.find_spec("river") is None:
        return "river is not installed: pip install river"
    package, _ = _RUNNER.rsplit(".", 1)
    if importlib.util.find_spec(package) is None or importlib.util.find_spec(_RUNNER) is None:
        return f"{_RUNNER} is not there"
    return ""


def _check(name: str, estimator: Any) -> Tally:
    outcomes = importlib.import_module(_RUNNER).run_checks(estimator)
    failed = tuple(Finding(each.check, each.reason) for each in outcomes if not each.passed)
    return Tally(RIVER.name, name, passed=len(outcomes) - len(failed), failed=failed)


RIVER = Suite("River", "river", absent=_absent, check=_check)
