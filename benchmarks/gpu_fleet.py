"""Rows a second of a fleet on a GPU, test-then-train, grouping by key included: `python -m benchmarks.gpu_fleet`.

Every key is past its start; keys are drawn evenly. "Kernel" is what `Fleet` does once its rows are checked and its
labels are codes. Bytes are those that must move, records read and written and rows, beside those of a device copy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg import OnlineLDC, OnlineLinearRegression, OnlineLogistic, Perceptron
from thalweg.fleet import Fleet

LDC = OnlineLDC(0.05, counts="soft", warmup=1)
#: Model, features, keys, rows of a batch.
SIZES = (
    (LDC, 3, 10**7, 10**7),
    (LDC, 10, 10**5, 10**7),
    (LDC, 10, 10**7, 10**7),
    (LDC, 20, 5 * 10**6, 5 * 10**6),
    (LDC, 40, 10**6, 2 * 10**6),
    (LDC, 10, 10**8, 10**7),
    (Perceptron(0.1), 10, 10**7, 10**7),
    (OnlineLogistic(0.1), 10, 10**7, 10**7),
    (OnlineLinearRegression(solver="rls", forgetting=0.05), 10, 10**7, 10**7),
)
BATCHES = 5
#: What the core writes for no model yet and for each of two classes.
PLACES = np.arange(-1, 2)


def main() -> None:
    """Print a line for each size."""
    try:
        import cupy
    except ImportError:
        print("left out: there is no CuPy (pip install 'thalweg[gpu]')")
        return
    measured = [_copy(cupy)]
    print(f"device copy {measured[0] / 1e12:.2f} TB/s")
    for size in SIZES:
        print(_line(cupy, *size, measured[0]), flush=True)
        cupy.get_default_memory_pool().free_all_blocks()
    for kind, locked in ((np.float64, False), (np.float32, False), (np.float64, True)):
        print(_from_host(cupy, kind, locked), flush=True)
    for rows in (10**3, 10**4, 10**5, 10**6):
        print(_batch(cupy, rows), flush=True)
    for share in (0.0, 0.01, 0.5):
        print(_with_capacity(cupy, share), flush=True)


def _seconds(cupy: Any, act: Callable[[], object]) -> float:
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    act()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - begin


def _copy(cupy: Any) -> float:
    source = cupy.zeros(10**9)
    to = cupy.empty_like(source)
    return 2 * source.nbytes / min(_seconds(cupy, lambda: cupy.copyto(to, source)) for _ in range(3))


def _fleet(cupy: Any, model: Any, features: int, keys: int, capacity: int | None = None) -> Any:
    """A fleet that has learned a row of each key."""
    fleet, rng = Fleet(model, device="cuda", capacity=capacity), cupy.random.default_rng(0)
    for begin in range(0, keys, 5 * 10**6):
        own = cupy.arange(begin, min(begin + 5 * 10**6, keys))
        fleet.partial_fit(rng.standard_normal((len(own), features)), rng.integers(0, 2, len(own)), own)
    return fleet


def _line(cupy: Any, model: Any, features: int, keys: int, rows: int, copy: float) -> str:
    fleet, rng = _fleet(cupy, model, features, keys), cupy.random.default_rng(1)
    cupy.get_default_memory_pool().free_all_blocks()
    whole, kernel, moved = [], [], 0.0
    for _ in range(BATCHES):
        owners, y = rng.integers(0, keys, rows), rng.integers(0, 2, rows)
        X = rng.standard_normal((rows, features)) + y[:, None]
        codes = y.astype(cupy.float64 if isinstance(model, OnlineLinearRegression) else cupy.int32)
        whole.append(_seconds(cupy, lambda X=X, y=y, owners=owners: fleet.predict_then_learn(X, y, owners)))
        kernel.append(_seconds(cupy, lambda X=X, c=codes, owners=owners: fleet._core.take(X, owners, c, PLACES)))
        used = keys * (1 - (1 - 1 / keys) ** rows)
        moved = used * 16 * fleet._core._layout.stored + rows * (8 * features + 24)
        del X
    share = moved / min(kernel) / copy
    rates = [rows / min(seconds) / 1e9 for seconds in (whole, kernel)]
    return (
        f"{type(model).__name__}, p = {features}, {keys:,} keys: {rates[0]:.2f} billion rows/s, kernel {rates[1]:.2f} "
        f"({share:.2f} of a device copy); {fleet.n_bytes_ / 1e9:.1f} GB"
    )


def _from_host(cupy: Any, kind: type, is_locked: bool, rows: int = 2 * 10**7) -> str:
    """Rows of NumPy, to be copied: learned, and predicted first."""
    rng = np.random.default_rng(0)
    X, y, keys = rng.standard_normal((rows, 10), dtype=kind), rng.integers(0, 2, rows), rng.integers(0, 10**6, rows)
    if is_locked:
        X, y, keys = (_page_locked(cupy, each) for each in (X, y, keys))
    fleet = Fleet(LDC, device="cuda").partial_fit(X, y, keys)
    learned = min(_seconds(cupy, lambda: fleet.partial_fit(X, y, keys)) for _ in range(3))
    predicted = min(_seconds(cupy, lambda: fleet.predict_then_learn(X, y, keys)) for _ in range(3))
    locked, to = _page_locked(cupy, np.zeros(1 << 27)), cupy.empty(1 << 27)
    link = locked.nbytes / min(_seconds(cupy, lambda: to.set(locked)) for _ in range(3))
    share = (X.nbytes + y.nbytes + keys.nbytes) / learned / link
    rates = [f"{rows / seconds / 1e6:.0f} million rows/s" for seconds in (learned, predicted)]
    name = f"{np.dtype(kind)}, page-locked" if is_locked else str(np.dtype(kind))
    return (
        f"NumPy, {name}, p = 10: learned {rates[0]}, {share:.2f} of the link ({link / 1e9:.0f} GB/s); "
        f"test-then-train {rates[1]}"
    )


def _page_locked(cupy: Any, array: Any) -> Any:
    memory = cupy.cuda.alloc_pinned_memory(array.nbytes)
    found = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
    found[...] = array
    return found


def _batch(cupy: Any, rows: int, keys: int = 10**6, repeats: int = 5) -> str:
    """One batch on the GPU, and on one core of the host."""
    rng = np.random.default_rng(0)
    X, y, owners = rng.standard_normal((rows, 10)), rng.integers(0, 2, rows), rng.integers(0, keys, rows)
    seconds = []
    for device, given in (("cuda", [cupy.asarray(each) for each in (X, y, owners)]), ("cpu", [X, y, owners])):
        fleet = Fleet(LDC, device=device).partial_fit(*given)
        seconds.append(min(_seconds(cupy, lambda f=fleet, g=given: f.predict_then_learn(*g)) for _ in range(repeats)))
    return (
        f"a batch of {rows:,} rows, p = 10: {1e3 * seconds[0]:.2f} ms; on the host {1e3 * seconds[1]:.2f} ms, "
        f"{rows / seconds[1] / 1e6:.1f} million rows/s"
    )


def _with_capacity(cupy: Any, share: float, keys: int = 4 * 10**6, rows: int = 10**6) -> str:
    """Half the keys in the host's memory, of which batches have this share; the rest of a batch stays on the GPU."""
    seconds = []
    for capacity in (None, keys // 2):
        fleet, rng = _fleet(cupy, LDC, 10, keys, capacity), cupy.random.default_rng(1)
        taken = []
        for at in range(BATCHES):
            cold, y = int(share * rows), rng.integers(0, 2, rows)
            owners = rng.integers(keys - rows, keys, rows)  # those learned last
            owners[:cold] = rng.integers(0, keys // 4, cold) + at % 2 * (keys // 4)  # half of them by turns
            X = rng.standard_normal((rows, 10))
            taken.append(_seconds(cupy, lambda f=fleet, X=X, y=y, o=owners: f.predict_then_learn(X, y, o)))
        seconds.append(min(taken))
        del fleet
        cupy.get_default_memory_pool().free_all_blocks()
    return (
        f"capacity {keys // 2:,} of {keys:,} keys, p = 10, {share:.0%} of the rows of keys that may be on the host: "
        f"{rows / seconds[1] / 1e6:.1f} million rows/s, without a capacity {rows / seconds[0] / 1e6:.1f}"
    )


if __name__ == "__main__":
    main()
