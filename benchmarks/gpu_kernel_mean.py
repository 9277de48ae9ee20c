"""The exact kernel mean machine on the host and on a GPU: `python -m benchmarks.gpu_kernel_mean`.

Rows of ten features in two classes, a curved border. The host has all its cores. Tuning is what `fit` does, over 39
widths and 101 weights; a prediction compares each row with all that were kept. Both are best of two, the first unseen
by the clock on the GPU, but for times above a minute. ``--host-rows`` bounds the tables that the host is given: its
time grows with the square of the rows.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

FEATURES = 10
#: Rows of a table.
SIZES = (10**4, 10**5, 3 * 10**5, 10**6)


def main() -> None:
    """Print a line for each size, type of number and library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**5, help="rows of the largest table to tune on")
    parser.add_argument("--predicted", type=int, default=10**6, help="rows of the largest table to predict with")
    parser.add_argument("--host-rows", type=int, default=10**4, help="rows of the largest table for the host")
    options = parser.parse_args()
    os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported, for scikit-learn's dispatch
    libraries = _libraries()
    if not libraries:
        print("left out: neither CuPy (pip install 'thalweg[gpu]') nor PyTorch finds a GPU")
        return
    from thalweg.parameters import processors

    print(f"host: {processors()} cores")
    for rows in SIZES:
        for dtype in ("float64", "float32"):
            if rows <= options.predicted:
                _predicting(libraries, rows, dtype, rows <= options.host_rows * 10)
        if rows <= options.rows:
            _tuning(libraries, rows, rows <= options.host_rows)


def _libraries() -> dict[str, tuple[Callable[[Any], Any], Callable[[], object]]]:
    """Of each library how arrays come to its GPU, and how it waits for that."""
    found: dict[str, tuple[Callable[[Any], Any], Callable[[], object]]] = {}
    try:
        import cupy

        cupy.zeros(1)
        found["CuPy"] = cupy.asarray, lambda: cupy.cuda.Device().synchronize()
    except Exception:  # not there, or without a GPU: each version says so by another error
        pass
    try:
        import torch

        if torch.cuda.is_available():
            found["PyTorch"] = lambda array: torch.asarray(array, device="cuda"), torch.cuda.synchronize
    except ImportError:
        pass
    return found


def _table(rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, FEATURES))
    return X, (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(np.int64)


def _seconds(act: Callable[[], object], wait: Callable[[], object] = lambda: None) -> float:
    taken = []
    for _ in range(2):
        wait()
        begin = time.perf_counter()
        act()
        wait()
        taken.append(time.perf_counter() - begin)
        if taken[0] > 60:
            break
    return min(taken)


def _compare(name: str, pairs: float, host: float | None, devices: dict[str, float]) -> None:
    parts = [
        f"{label} {seconds:.3g} s ({pairs / seconds / 1e9:.3g} billion pairs/s)" for label, seconds in devices.items()
    ]
    if host is not None:
        ratios = ", ".join(f"{host / seconds:.0f}" for seconds in devices.values())
        parts.append(f"host {host:.3g} s ({pairs / host / 1e9:.3g}): {ratios} times as long")
    print(f"{name}: {'; '.join(parts)}", flush=True)


def _predicting(libraries: Any, rows: int, dtype: str, on_host: bool) -> None:
    import sklearn

    from thalweg import KernelMeanClassifier

    X, y = _table(rows)
    asked = X[: min(rows, 10**5)] + 0.01
    few = asked[: min(len(asked), max(1, 10**9 // rows))]  # a second or so of the host, scaled up
    model = KernelMeanClassifier(sigma=1.0, rho=0.5, bias=0.0, dtype=dtype).fit(X, y)
    host = _seconds(lambda: model.predict(few)) * len(asked) / len(few) if on_host else None
    truth, devices = model.decision_function(few[:1000]), {}
    for label, (there, wait) in libraries.items():
        with sklearn.config_context(array_api_dispatch=True):
            given = there(asked)
            devices[label] = _seconds(lambda given=given: model.predict(given), wait)
            found = model.decision_function(given[:1000])
        far = np.abs(np.asarray(found.get() if hasattr(found, "get") else found.cpu()) - truth).max()
        assert far < (1e-8 if dtype == "float64" else 1e-2), far
    name = f"{len(asked):,} rows predicted with {rows:,} kept, {dtype}"
    _compare(name, len(asked) * rows, host, devices)


def _tuning(libraries: Any, rows: int, on_host: bool) -> None:
    import sklearn

    from thalweg import KernelMeanClassifier

    X, y = _table(rows)
    host = _seconds(lambda: KernelMeanClassifier(progress=False).fit(X, y)) if on_host else None
    devices = {}
    for label, (there, wait) in libraries.items():
        given, labels = there(X), there(y)
        with sklearn.config_context(array_api_dispatch=True):
            devices[label] = _seconds(lambda a=given, b=labels: KernelMeanClassifier(progress=False).fit(a, b), wait)
    _compare(f"{rows:,} rows tuned on", float(rows) ** 2, host, devices)


if __name__ == "__main__":
    main()
