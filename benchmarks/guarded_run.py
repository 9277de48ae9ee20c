"""Some rows through one compiled core, with nothing around it: what `guard.py` counts the instructions of.

Run by `guard.py`, in an interpreter without site packages: the module of kernels is loaded from its file, and the rows
are memory views, so that hardly anything but the kernel is executed.
"""

import random
import sys
from array import array
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

RATE = (0, 0.5, 0)  # constant


def kernels(file):
    """The compiled module in this file."""
    name = Path(file).name.split(".")[0]
    spec = spec_from_loader(name, ExtensionFileLoader(name, file))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(count, features):
    """Rows of two classes, their labels as numbers, and as codes."""
    rng = random.Random(0)
    codes = array("q", (rng.getrandbits(1) for _ in range(count)))
    X = array("d", (rng.random() + codes[i] for i in range(count) for _ in range(features)))
    return matrix(X, features), matrix(array("d", codes), 1), codes


def matrix(values, columns):
    return memoryview(values).cast("B").cast("d", (len(values) // columns, columns))


def main():
    """Learn the same rows as many times as asked for: that much longer is the longer of two runs, and nothing else."""
    file, kernel, count, features, passes = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    X, Y, codes = rows(count, features)
    answers = array("q", bytes(8 * count))
    module = kernels(file)
    if kernel == "recursive least squares":
        core = module.least_squares(features, True, 1e-3, 0.01)
        core.widen(1)
        for _ in range(passes):
            core.run(X, Y)
        return
    if kernel == "discriminant":
        core = module.discriminant(features, RATE, False, False, 10, 0.0)
    else:
        core = module.perceptron(features, RATE, 0.0, False, 0.0, 0)
    for code in (0, 1):
        core.announce(code)
    for _ in range(passes):
        core.run(X, codes, answers)


main()
