"""Model files of every kind with extreme numbers, or arrays of other shapes, types and names, under a checksum that is
right, each loaded and used in a process that may die of it.

    python -m tests.kernels.forged_models 10000

The cases are numbered: first every array and every number of the header of every file with one change, in an order
that depends on the seed, then several changes at once. Whatever ends a process, takes half a minute of the processor or
more memory than a gigabyte, or raises anything but an error of thalweg is printed, and fails.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import os
import random
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import clone, is_regressor

from tests.laws import LEARNERS
from tests.regressor_laws import REGRESSORS
from tests.test_store import forged, header_and_arrays
from tests.transformer_laws import TRANSFORMERS
from thalweg import Part, evaluate
from thalweg.catalogue import MODELS, make_model
from thalweg.errors import ThalwegError
from thalweg.fleet import Fleet, KeyedClassifier
from thalweg.learners import AutoClassifier, OnlineLDC
from thalweg.store import dumps, loads
from thalweg.table_model import TableModel

FEATURES, ROWS, USED = 3, 300, 48
REALS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e50, 5e-324, 0.0, -1.0, 1.0]
WHOLE = [0, -1, 1, 7, 2**31, 2**53, 2**62, -(2**63), 2**63 - 1]
PLACES = ["first", "any", "last", "all"]
#: What becomes of the shape, the type or the name of an array.
FORMS: dict[str, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = {
    "flat": np.ravel,
    "deeper": lambda values: values[..., None],
    "turned": lambda values: values.T,
    "empty": lambda values: values[:0],
    "longer": lambda values: np.resize(values, [n + 1 for n in values.shape]),
    "shorter": lambda values: np.resize(values, [max(0, n - 1) for n in values.shape]),
    "float32": lambda values: values.astype(np.float32),
    "float64": lambda values: values.astype(np.float64),
    "int64": lambda values: values.astype(np.int64),
    "uint8": lambda values: values.astype(np.uint8),
}
NAMES = ["gone", "renamed", "exchanged"]
SECONDS, BYTES, BATCH = 30, 2**30, 250


class Change(NamedTuple):
    """An entry of an array or all of them, its form or its name, or a number at a place of the header."""

    place: str | tuple[Any, ...]
    which: str
    value: float = 0.0


@cache
def table() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Columns of every kind."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=ROWS),
            "gaps": [None if i % 7 == 0 else float(rng.normal()) for i in range(ROWS)],
            "kind": rng.choice(list("abc"), ROWS),
            "when": pd.date_range("2024-01-01", periods=ROWS, freq="h"),
            "flag": rng.random(ROWS) < 0.3,
            "many": [f"user {i}" for i in rng.integers(0, 200, ROWS)],
            "words": [" ".join(rng.choice(["red", "green", "blue", "grey", "pale"], 6)) + f" {i}" for i in range(ROWS)],
        }
    )
    return frame, np.where(frame.number + (frame.kind == "a") > 0, "up", "down")


def models() -> Iterator[tuple[str, Any]]:
    """One of every kind: those of the catalogue, of sparse rows and of tables, and every mode that the laws know."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, ROWS)
    X = rng.normal(size=(ROWS, FEATURES)) + y[:, None]
    small = X / 10  # within the reach of every learning rate
    sparse = csr_array(np.where(rng.random((ROWS, 40)) < 0.1, 1.0, 0.0))
    for task, entries in MODELS.items():
        numbers = task == "regression"
        for name in entries:
            model = make_model(name, task=task)
            of_auto = [key for key, value in model.get_params(deep=False).items() if isinstance(value, AutoClassifier)]
            model.set_params(**dict.fromkeys(of_auto, AutoClassifier(curved=False)))  # once is enough for its arrays
            yield f"{task} {name}", model.partial_fit(X, X.sum(axis=1) if numbers else y)
    for name in ("auto", "logistic"):
        yield f"sparse {name}", make_model(name, sparse=True).partial_fit(sparse, y)
    yield "sparse numbers", make_model("auto", task="regression", sparse=True).partial_fit(sparse, X.sum(axis=1))
    others = {name: model for name, model in LEARNERS.items() if not isinstance(model, AutoClassifier)}
    yield from ((name, clone(model).partial_fit(X, y)) for name, model in others.items())
    yield from ((name, clone(model).partial_fit(small, small.sum(axis=1))) for name, model in REGRESSORS.items())
    yield from ((name, clone(model).partial_fit(X)) for name, model in TRANSFORMERS.items())
    wide = rng.normal(size=(ROWS, 20))
    yield "wide", OnlineLDC(0.1, counts="soft").partial_fit(wide, y)
    yield "wide numbers", make_model("auto", task="regression").partial_fit(wide, wide.sum(axis=1))
    yield "Fleet", Fleet(OnlineLDC(0.1, counts="soft")).partial_fit(X, y, y)
    yield "Fleet of words", Fleet(OnlineLDC()).partial_fit(X, y, [f"key {k}" for k in y])
    yield "keys", KeyedClassifier(AutoClassifier(curved=False), key=0).partial_fit(np.column_stack([y % 2, X]), y)
    yield "Part", Part(OnlineLDC(0.5)).learn(X, y)
    frame, labels = table()
    yield "table", evaluate.run("oldc", frame.drop(columns="words"), labels).model
    yield "table of text", evaluate.run("logistic", frame, labels).model
    yield "table of numbers", evaluate.run("auto", frame.drop(columns="words"), frame.number * 2).model


def numbers_in(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all numbers of a JSON tree."""
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree[:8]):
            yield from numbers_in(value, (*at, key))
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        yield at


class Forger:
    """Files and what can be changed in them."""

    def __init__(self, seed: int, only: str = "") -> None:
        self.seed = seed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.files = {name: header_and_arrays(dumps(model)) for name, model in models() if only in name}
        self.single = list(self._in_turn(random.Random(seed)))

    def _in_turn(self, chance: random.Random) -> Iterator[tuple[str, Change]]:
        """All single changes: one of every file, then the next of each, in an order by chance."""
        left = {name: [*self._changes(*file)] for name, file in self.files.items()}
        for changes in left.values():
            chance.shuffle(changes)
        while left:
            yield from ((name, changes.pop()) for name, changes in left.items())
            left = {name: changes for name, changes in left.items() if changes}

    def _changes(self, header: dict[str, Any], arrays: dict[str, Any]) -> Iterator[Change]:
        for name, values in arrays.items():
            for value in REALS if values.dtype.kind == "f" else WHOLE:
                yield from (Change(name, which, value) for which in PLACES[: min(values.size, 4)])
            yield from (Change(name, which) for which in (*FORMS, *NAMES))
        for place in numbers_in(header):
            yield from (Change(place, "all", value) for value in (*REALS[:5], *WHOLE))

    def case(self, number: int) -> tuple[str, list[Change]]:
        if number < len(self.single):
            name, change = self.single[number]
            return name, [change]
        chance = random.Random(f"{self.seed} {number}")
        name, change = chance.choice(self.single)
        of_same = [each for own, each in chance.choices(self.single, k=400) if own == name]
        return name, [change, *of_same[: chance.randint(1, 5)]]

    def content(self, number: int) -> bytes:
        name, changes = self.case(number)
        header, arrays = self.files[name]
        header, arrays = json.loads(json.dumps(header)), dict(arrays)
        for place, which, value in changes:
            if which in NAMES:
                renamed(arrays, place, which, number)
            elif isinstance(place, str) and place in arrays:  # its name may have been changed before
                arrays[place] = changed(arrays[place], which, value, number)
            elif isinstance(place, str):
                continue
            else:
                reduce(lambda tree, key: tree[key], place[:-1], header)[place[-1]] = value
        return forged(header, {name: np.ascontiguousarray(values) for name, values in arrays.items()})


def renamed(arrays: dict[str, Any], name: Any, which: str, seed: int) -> None:
    """Let an array be gone, have another name, or change places with another one."""
    if name not in arrays:
        return
    other = sorted(arrays)[seed % len(arrays)]
    if which == "exchanged":
        arrays[name], arrays[other] = arrays[other], arrays[name]
        return
    values = arrays.pop(name)
    if which == "renamed":
        arrays[f"{name}é" if seed % 2 else other] = values


def changed(values: np.ndarray[Any, Any], which: str, value: float, seed: int) -> np.ndarray[Any, Any]:
    if which in FORMS:
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(FORMS[which](values))
    if not values.size:
        return values
    values = values.copy()
    at = {"first": 0, "last": -1, "all": slice(None)}.get(which, seed % values.size)
    values.ravel()[at] = np.asarray(value).astype(values.dtype)
    return values


def use(model: Any) -> None:
    """Whatever a model that was taken can be asked to do, with ordinary rows and with the largest."""
    rng = np.random.default_rng(3)
    X: Any = rng.normal(size=(USED, max(1, min(getattr(model, "n_features_in_", FEATURES), 100)))) * 3
    X[20:24] *= 1e4
    X[30], X[31], X[32:34] = 1e30, -1e30, 0
    y: Any = np.arange(USED) % 3
    if getattr(getattr(model, "_core", None), "is_sparse", False):
        X = csr_array(X)
    if isinstance(model, TableModel):
        frame, labels = table()
        model.predict(frame[:50])
        model.predict_one(frame.iloc[0].to_dict())
        numbers = is_regressor(model.learner)
        model.partial_fit(frame[:50], frame.number[:50] if numbers else labels[:50])
    elif isinstance(model, Part):
        model.learn(X, y)
    elif isinstance(model, Fleet):
        keys = [*model][:2]
        model.partial_fit(X, y, [keys[i % len(keys)] for i in range(USED)])
        model.predict(X[:20], [keys[0]] * 20)
    elif hasattr(model, "transform"):
        model.transform(X)
        model.partial_fit(X)
    else:
        y = rng.normal(size=USED) if is_regressor(model) else y
        model.predict(X)
        if hasattr(model, "predict_proba"):
            model.predict_proba(X)
        one = {0: 1.0, 2: -3.0} if isinstance(X, csr_array) else X[1]
        model.predict_one(one)
        model.predict_then_learn(X[:20], y[:20])
        model.partial_fit(X[20:], y[20:])
        model.learn_one(one, y[0])
        model.predict(X)
    dumps(model)


def attempt(content: bytes) -> str:
    """Whether a file was refused, used, or refused when it was used."""
    try:
        model = loads(content)
    except ThalwegError:
        return "refused"
    try:
        use(model)
    except ThalwegError:
        return "refused when used"
    return "used"


def _limited() -> None:
    for ending in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(ending, signal.SIG_DFL)
    if not hasattr(ctypes.CDLL(None), "__asan_init"):  # which reserves terabytes
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + BYTES, now + BYTES))


def failures(forger: Forger, begin: int, count: int) -> Iterator[str]:
    """What went wrong, and where; batches of cases run in processes of their own."""
    shared = mmap.mmap(-1, 8)
    at, end = begin, begin + count
    while at < end:
        last = min(at + BATCH, end)
        if (child := os.fork()) == 0:
            _limited()
            wrong = 0
            for number in range(at, last):
                shared[:] = number.to_bytes(8, "little")
                signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of the processor: the machine may be busy
                signal.alarm(20 * SECONDS)
                try:
                    attempt(forger.content(number))
                except Exception:
                    wrong = 1
                    print(number, *forger.case(number), traceback.format_exc(limit=-2), flush=True)
            os._exit(wrong)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        number = int.from_bytes(shared[:], "little")
        if status:
            yield f"{number}: exit {status}, {forger.case(number)}" if status != 1 else f"an error before {last}"
        at = last if status in (0, 1) and number == last - 1 else number + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", help="how many cases; all with one change by default")
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="what the name of a file contains")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    forger = Forger(asked.seed, asked.only)
    count = asked.count or len(forger.single)
    print(f"{len(forger.files)} files, {len(forger.single)} single changes, {count} cases", flush=True)
    found = 0
    for failure in failures(forger, asked.begin, count):
        found += 1
        print(failure, flush=True)
    print(f"{found} failures")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
