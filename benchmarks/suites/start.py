"""How long until the first prediction: a fresh process imports a library and makes its first call."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec

from benchmarks.contest import Effort, Side
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite

WORK = "import and first call in a fresh process"
OVER = "thalweg, over NumPy and scikit-learn's base"
MOST_OVER = 60.0
#: Imported before the clock starts, then what is timed: who uses a library has NumPy anyway.
BASE = "import numpy as np, sklearn.base\n"
#: The lesser of two times, as in every contest.
BEGIN = "from time import perf_counter, process_time\nbegun = perf_counter(), process_time()\n"
END = "print(min(perf_counter() - begun[0], process_time() - begun[1]))\n"
DATA = "import numpy as np\nX, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])\n"
OURS = "import thalweg\nthalweg.OnlineLDC(0.5).predict_then_learn(X, y)\n"
PROGRAMS: dict[str, tuple[Side, str, str, str]] = {
    OVER: ("ours", "thalweg", BASE + DATA, OURS),
    "thalweg": ("ours", "thalweg", "", DATA + OURS),
    "NumPy and scikit-learn's base": ("limit", "sklearn", "", BASE),
    "scikit-learn SGDClassifier": (
        "peer",
        "sklearn",
        "",
        DATA + "from sklearn.linear_model import SGDClassifier\nSGDClassifier().partial_fit(X, y, classes=[0, 1])\n",
    ),
    "River LogisticRegression": (
        "peer",
        "river",
        "",
        "from river import linear_model\nm = linear_model.LogisticRegression()\nm.predict_one({'a': 1.0})\n"
        "m.learn_one({'a': 1.0}, True)\n",
    ),
}


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Each program in a process of its own, which times itself; rounds interleaved."""
    present = {}
    for name, (side, package, before, timed) in PROGRAMS.items():
        if find_spec(package):
            present[name] = side, before + BEGIN + timed + END
        else:
            bench.leave_out(f"{name}: {package} is not installed")
    found: dict[str, list[float]] = {name: [] for name in present}
    for number in range(-1, bench.effort.rounds):  # the first round fills the caches of the disk
        for name, (_, program) in present.items():
            bench.progress(f"round {number + 1} of {bench.effort.rounds}: {name}")
            done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
            if number >= 0:
                found[name].append(float(done.stdout))
    yield [Record(WORK, name, {}, present[name][0], tuple(costs), per="start") for name, costs in found.items()]


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """What we add to what is imported anyway."""
    for record in records:
        if record.model == OVER:
            yield Finding(f"import and first call of {OVER}", 1e3 * record.best, at_most=MOST_OVER, unit="ms")


SUITE = Suite(
    name="start",
    asks="How long does a fresh process take until the first prediction?",
    measure=measure,
    plot=dots("start", "Import and first call"),
    full=Effort(rounds=15),
    quick=Effort(rounds=3),
    findings=findings,
)
