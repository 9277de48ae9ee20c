"""One model for each key: whether sharing helps new keys, what a row costs, and a million keys in the service.

    python -m benchmarks.keys first        # errors of new keys, 10 seeds; about two minutes on one core
    python -m benchmarks.keys cost         # microseconds a row, with and without keys
    python -m benchmarks.keys service      # memory of `thalweg serve --key` with a million keys; about five minutes
    python -m benchmarks.keys service --new oldc --key customer --key-memory 150MB    # other options of the service

Related keys: the log-odds of a row of key i are 2 (w_t'x + u_i'x + b_i). The shared w_t turns by 2 radians over the
stream. u_i and b_i are the key's own, with a fifth of the variance of w_t'x each. Keys appear all along the stream, as
each has its first row at a random place, and have 80 rows on the average. Seeds 0 to 9 were not used to
choose the defaults of `KeyedClassifier`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg import AutoClassifier, OnlineLDC
from thalweg.client import Client
from thalweg.fleet import Fleet, KeyedClassifier

FEATURES, SEEDS, FIRST = 5, 10, 50


def related_keys(
    seed: int, keys: int = 1000, rows: int = 80_000, difference: float = 1.0
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Keys, rows and labels in the order of time; with a difference of 0 all keys are alike."""
    rng = np.random.default_rng(seed)
    begin = rng.random(keys) * 0.9
    key = rng.integers(0, keys, rows)
    when = begin[key] + rng.random(rows) * (1 - begin[key])
    order = np.argsort(when)
    key, when = key[order], when[order]
    X = rng.normal(size=(rows, FEATURES))
    turning = rng.normal(size=(2, FEATURES))
    shared = np.outer(np.cos(2 * when), turning[0]) + np.outer(np.sin(2 * when), turning[1])
    own, constant = rng.normal(size=(keys, FEATURES)) / np.sqrt(FEATURES), rng.normal(size=keys)
    odds = 2 * ((shared * X).sum(axis=1) + difference * ((own[key] * X).sum(axis=1) + constant[key]))
    return key, X, (rng.random(rows) < 1 / (1 + np.exp(-odds))).astype(int)


def numbers_within_key(key: NDArray[Any]) -> NDArray[np.int64]:
    """For each row, how many rows of its key came before it."""
    order = np.argsort(key, kind="stable")
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    within = np.arange(len(key)) - np.repeat(begins, np.diff(np.append(begins, len(key))))
    found = np.empty(len(key), dtype=np.int64)
    found[order] = within
    return found


def base() -> OnlineLDC:
    return OnlineLDC("auto", counts="soft")


def first() -> None:
    """Errors on the first rows of keys that appear after the first tenth of the stream."""
    for difference in (1.0, 0.0):
        print("related keys" if difference else "keys that are all alike")
        _first(difference)


def _first(difference: float) -> None:
    found: dict[str, list[list[float]]] = {}
    for seed in range(SEEDS):
        key, X, y = related_keys(seed, difference=difference)
        number = numbers_within_key(key)
        born = np.empty(key.max() + 1, dtype=np.int64)
        born[key[number == 0]] = np.flatnonzero(number == 0)
        new = born[key] >= len(key) // 10
        answers = {
            "cold start: a model for each key": Fleet(base()).predict_then_learn(X, y, key),
            "one model of all keys": base().predict_then_learn(X, y),
            "KeyedClassifier": KeyedClassifier(base()).predict_then_learn(np.column_stack([key, X]), y),
        }
        for name, given in answers.items():
            wrong = given != y
            parts = [
                wrong[new & (low <= number) & (number < high)].mean() for low, high in ((0, 10), (0, 50), (50, 1000))
            ]
            found.setdefault(name, []).append(parts)
    print(f"{'':<34}{'rows 1-10':>18}{'rows 1-50':>18}{'rows 51 on':>18}   (error, mean of {SEEDS} seeds ± 95 %)")
    for name, values in found.items():
        mean, half = np.mean(values, axis=0), 2.262 * np.std(values, axis=0, ddof=1) / np.sqrt(SEEDS)
        print(f"{name:<34}" + "".join(f"{m:>10.4f} ± {h:.4f}" for m, h in zip(mean, half, strict=True)))
    keyed = np.array(found["KeyedClassifier"])
    for other in list(found)[:2]:
        gain = np.array(found[other]) - keyed
        mean, half = gain.mean(axis=0), 2.262 * gain.std(axis=0, ddof=1) / np.sqrt(SEEDS)
        print(f"less than {other}: " + ", ".join(f"{m:.4f} ± {h:.4f}" for m, h in zip(mean, half, strict=True)))


def cost() -> None:
    """Microseconds a row, test-then-train, the least of three runs, alternating."""
    for keys in (1000, 10**6):
        rng = np.random.default_rng(0)
        key, X = rng.integers(0, keys, 10**6), rng.normal(size=(10**6, 10))
        y = (X[:, 0] + rng.normal(size=10**6) > 0).astype(int)
        Z = np.column_stack([key, X])
        for name, plain in (("OnlineLDC", base()), ("AutoClassifier", AutoClassifier())):
            rows = 10**6 if name == "OnlineLDC" else 10**5
            spent: dict[str, list[float]] = {"alone": [], "with keys": []}
            for _ in range(3):
                for which, model, data in (("alone", plain, X), ("with keys", KeyedClassifier(plain), Z)):
                    began = time.perf_counter()
                    type(model)(**model.get_params(deep=False)).predict_then_learn(data[:rows], y[:rows])
                    spent[which].append((time.perf_counter() - began) / rows * 1e6)
            alone, own = min(spent["alone"]), min(spent["with keys"])
            print(
                f"{name}, {keys:,} keys, 10 features: {alone:.2f} µs alone, {own:.2f} µs with keys ({own / alone:.1f}x)"
            )


def service(keys: int, features: int, options: list[str]) -> None:
    """A row of each key, then as many of random ones, by Arrow bodies of 20,000 rows; labels follow each body."""
    import pyarrow as pa

    with tempfile.TemporaryDirectory() as folder:
        server, address = _started(folder, options)
        try:
            rng = np.random.default_rng(0)
            own = rng.normal(size=keys)
            order = np.concatenate([rng.permutation(keys), rng.integers(0, keys, keys)])
            spent: dict[str, list[float]] = {"predict": [], "label": []}
            with Client(address, batch_rows=20_000, timeout=600) as client:
                for begin in range(0, len(order), 20_000):
                    key = order[begin : begin + 20_000]
                    X = rng.normal(size=(len(key), features))
                    rows = {f"x{j}": X[:, j] for j in range(features)}
                    if "--key" in options:
                        rows["customer"] = np.array([f"customer {each}" for each in key])
                    table = pa.table(rows)
                    labels = np.where(X[:, 0] + own[key] > 0, "yes", "no").tolist()
                    start = time.perf_counter()
                    answers = client.predict(table)
                    between = time.perf_counter()
                    client.label([each.id for each in answers], labels)
                    spent["predict"].append(between - start)
                    spent["label"].append(time.perf_counter() - between)
                    if begin % 200_000 == 0:
                        print(f"{begin + len(key):>9,} rows: {_memory(server.pid)}", flush=True)
            print(f"{len(order):,} rows of {keys:,} keys, {features} features, {' '.join(options)}")
            for name, seconds in spent.items():
                each = f"{sum(seconds) / len(order) * 1e6:.1f} µs a row"
                print(f"{name}: {each}, the slowest of {len(seconds)} requests {max(seconds):.2f} s")
            print(_memory(server.pid))
            with urllib.request.urlopen(f"{address}/metrics") as metrics:
                print(*re.findall(r"^thalweg_model_key.*", metrics.read().decode(), re.MULTILINE), sep="\n")
            server.terminate()
            server.wait()
            print(f"journal {sum(each.stat().st_size for each in Path(folder).iterdir()) / 1e9:.2f} GB")
            began = time.perf_counter()
            server, address = _started(folder, [])
            print(f"started again in {time.perf_counter() - began:.1f} s: {_memory(server.pid)}")
        finally:
            server.terminate()
            server.wait()


def _started(folder: str, options: list[str]) -> tuple[subprocess.Popen[bytes], str]:
    """A service that listens, and its address."""
    command = [sys.executable, "-m", "thalweg", "serve", *options, "--data", folder, "--listen", "127.0.0.1:0"]
    log = Path(folder) / "log"
    with log.open("w") as errors:
        server = subprocess.Popen(command, stderr=errors)
    while not (found := re.search(r"serves at (http://\S+:\d+)", log.read_text())):
        if server.poll() is not None:
            raise SystemExit(log.read_text())
        time.sleep(0.1)
    return server, found[1]


def _memory(process: int) -> str:
    status = Path(f"/proc/{process}/status").read_text()
    found = dict(re.findall(r"(VmRSS|VmHWM):\s+(\d+) kB", status))
    return f"resident {int(found['VmRSS']) / 1e6:.2f} GB, at most {int(found['VmHWM']) / 1e6:.2f} GB"


def main() -> None:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("part", choices=["first", "cost", "service"])
    parser.add_argument("--keys", type=int, default=10**6)
    parser.add_argument("--features", type=int, default=10)
    given, options = parser.parse_known_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if given.part == "service":
        service(given.keys, given.features, options or ["--new", "oldc", "--key", "customer"])
    else:
        {"first": first, "cost": cost}[given.part]()


if __name__ == "__main__":
    main()
