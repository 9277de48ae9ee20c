"""The limit: the same O-LDC loop in plain C, compiled here and now for this processor and one width of rows."""

from __future__ import annotations

import copy
import ctypes
import os
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Contestant, Run, Unavailable
from benchmarks.operations import PREDICT_THEN_LEARN
from benchmarks.ours import Started
from thalweg import OnlineLDC

SOURCE = Path(__file__).parent / "limit" / "discriminant_limit.c"
FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
#: The limit computes what we compute, or it is none: only ties that round differently may be answered differently.
MOST_DIFFERENT_ANSWERS = 1e-3


class Known(NamedTuple):
    """What a discriminant knows when the clock starts."""

    means: NDArray[np.float64]
    precision: NDArray[np.float64]
    counts: NDArray[np.float64]
    rate: float

    @classmethod
    def of(cls, model: OnlineLDC) -> Known:
        """What this model knows."""
        return cls(model.means_, model.precision_, model.counts_, model.rate_)


class Limit:
    """The C loop for rows of one width.

    Parameters
    ----------
    features : int
        The width.
    folder : Path
        Where the compiled library goes.
    """

    def __init__(self, features: int, folder: Path) -> None:
        self.features = features
        self._run = ctypes.CDLL(str(_compiled(features, folder))).answer_then_learn
        numbers = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
        codes = np.ctypeslib.ndpointer(np.int64, flags="C_CONTIGUOUS")
        self._run.argtypes = [numbers, numbers, numbers, ctypes.c_double, numbers, codes, ctypes.c_int64, codes]
        self._run.restype = None

    def predict_then_learn(self, known: Known, X: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        """The answers of a model that goes on from there."""
        answers = np.empty(len(y), dtype=np.int64)
        self._run(*known, X, y, len(y), answers)
        return answers


def _compiled(features: int, folder: Path) -> Path:
    compiler = shlex.split(os.environ.get("CC") or "cc")
    library = folder / f"limit_{features}.so"
    command = [*compiler, *FLAGS, f"-DFEATURES={features}", str(SOURCE), "-o", str(library), "-lm"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Unavailable(f"the limit in C: there is no C compiler {compiler[0]!r}; CC names another") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().splitlines() or ["no message"]
        raise Unavailable(f"the limit in C: {compiler[0]!r} could not compile it: {reason[0]}") from error
    return library


def the_limit(start: Started, folder: Path) -> Contestant:
    """The C loop on what comes after the start; it has to answer as ours does."""
    features = start.X.shape[1]
    limit, known = Limit(features, folder), Known.of(start.model)
    answers = copy.deepcopy(start.model).predict_then_learn(start.X, start.y)
    differ = np.mean(answers != limit.predict_then_learn(known, start.X, start.y))
    if differ > MOST_DIFFERENT_ANSWERS:
        raise Unavailable(f"the limit in C: at {features} features {differ:.1%} of its answers differ from ours")

    def prepare(count: int) -> Run:
        return lambda: limit.predict_then_learn(known, start.X[:count], start.y[:count])

    return Contestant(PREDICT_THEN_LEARN, "C, the same loop", prepare, len(start.y), "limit")
