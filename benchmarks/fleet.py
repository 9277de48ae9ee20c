"""Many models at once: a model per key beside a dict of models, and a sweep beside separate runs.

Run it by ``python benchmarks/fleet.py``, with ``--keys 100000`` where memory is short. Rounds are interleaved and timed
by the processor seconds of this process, so that other work on the machine disturbs the ratios least; the best round
counts, and the spread is how much longer the median took.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from mmap import PAGESIZE
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from thalweg import OnlineLDC
from thalweg.fleet import Fleet, sweep

ROUNDS = 7
STREAMS, ROWS_A_STREAM = 100, 4_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="One model per key, and sweeps.")
    parser.add_argument("--keys", type=int, default=1_000_000, metavar="N", help="models of the fleet")
    parser.add_argument("--json", action="store_true", help="the figures as JSON lines")
    given = parser.parse_args()
    for found in (keyed(given.keys), *map(swept, (OnlineLDC(0.5), OnlineLDC(0.1), OnlineLDC(0.1, counts="soft")))):
        print(json.dumps(found) if given.json else "\n".join(f"{name:<44}{value}" for name, value in found.items()))
        print(flush=True)


def keyed(keys: int, features: int = 5) -> dict[str, Any]:
    """A fleet of many keys, and a dict of fewer: Python could not hold so many."""
    rng = np.random.default_rng(0)
    model, few = OnlineLDC(0.05, counts="soft"), min(keys, 10_000)
    fleet, models = Fleet(model), {key: OnlineLDC(0.05, counts="soft") for key in range(few)}
    X, y, _ = rows_of(rng, keys, features, keys)
    held = resident_bytes()
    start = process_time()
    for _ in range(10):  # the start of every model, whose rows cost more: alone as in a fleet
        fleet.partial_fit(X, y, rng.permutation(keys))
    starting = 10 * keys / (process_time() - start)
    held = resident_bytes() - held
    for key, lone in models.items():
        lone.partial_fit(X[key : key + 11], y[key : key + 11], classes=[0, 1])
    lone = OnlineLDC(0.05, counts="soft").partial_fit(X, y)

    X, y, owners = rows_of(rng, 500_000, features, keys)
    few_X, few_y, few_owners = rows_of(rng, 50_000, features, few)

    def one_by_one() -> None:
        for x, label, key in zip(few_X, few_y.tolist(), few_owners.tolist(), strict=True):
            models[key].learn_one(x, label)

    times = rounds(
        [
            lambda: fleet.partial_fit(X, y, owners),
            lambda: fleet.predict_then_learn(X, y, owners),
            lambda: lone.partial_fit(X, y),
            one_by_one,
        ]
    )
    learning, answering, alone, by_dict = (
        count / min(taken) for count, taken in zip([len(y)] * 3 + [len(few_y)], times, strict=True)
    )
    state = sum(array.nbytes for array in fleet.model_of(0)._core.state().values())
    return {
        "keys, features": f"{keys:,}, {features}",
        "rows of random keys learned a second": f"{learning:,.0f}",
        "  spread": f"{median(times[0]) / min(times[0]) - 1:.0%}",
        "  answered, then learned": f"{answering:,.0f}",
        "  the first ten rows of every key": f"{starting:,.0f}",
        "times the time of one model alone": f"{alone / learning:.1f}",
        f"times a dict of {few:,} models, learn_one": f"{learning / by_dict:.1f}",
        "bytes a key, resident": f"{held / keys:.0f}",
        "  of the fleet's own count": f"{fleet.n_bytes_ / keys:.0f}",
        "  over the state as a model file holds it": f"{held / keys / state:.2f} ({state} bytes)",
    }


def swept(model: OnlineLDC) -> dict[str, Any]:
    """Streams of two features in one sweep on one core, and one after the other."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (STREAMS, ROWS_A_STREAM))
    X = rng.normal(size=(*y.shape, 2)) + y[..., None]

    def separate() -> None:
        for stream in range(STREAMS):
            OnlineLDC(model.rate, counts=model.counts).predict_then_learn(X[stream], y[stream])

    times = rounds([lambda: sweep(model, None, X, y, threads=1), separate], 3 * ROUNDS)
    together, apart = (1e9 * min(taken) / y.size for taken in times)
    return {
        "sweep": f"{STREAMS} streams of {ROWS_A_STREAM:,} rows, 2 features, {model}",
        "ns a row a core": f"{together:.1f}",
        "  spread": f"{median(times[0]) / min(times[0]) - 1:.0%}",
        "  separate runs": f"{apart:.1f}",
        "times as fast": f"{apart / together:.1f}",
    }


def rounds(contestants: list[Callable[[], object]], count: int = ROUNDS) -> list[list[float]]:
    taken: list[list[float]] = [[] for _ in contestants]
    for _ in range(count):
        for run, seconds in zip(contestants, taken, strict=True):
            start = process_time()
            run()
            seconds.append(process_time() - start)
    return taken


def rows_of(rng: np.random.Generator, rows: int, features: int, keys: int) -> tuple[Any, Any, Any]:
    y = rng.integers(0, 2, rows)
    return rng.normal(size=(rows, features)) + y[:, None], y, rng.integers(0, keys, rows)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGESIZE


if __name__ == "__main__":
    main()
