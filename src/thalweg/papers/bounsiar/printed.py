"""The numbers that Bounsiar, Beauseroy & Grall print in Table 1, and errors and times in the same form.

A line per data set, in the paper's order: mean test error and standard deviation over the splits, in per cent, of
regularised AdaBoost, a support vector machine, the kernel Fisher discriminant and the paper's own method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.papers.registry import Finding

METHODS = ("AB_R", "SVM", "KFD", "METH.")
OWN = "METH."

_TABLE_1 = """
banana        | 10.9 0.4 | 11.5 0.7 | 10.8 0.5 | 10.8 0.4
breast_cancer | 26.5 2.3 | 26.0 4.7 | 25.8 4.6 | 24.8 4.2
diabetis      | 23.8 1.8 | 23.5 1.7 | 23.2 1.6 | 26.2 2.4
german        | 24.3 2.1 | 23.6 2.1 | 23.7 2.2 | 23.9 2.4
heart         | 16.5 3.5 | 16.0 3.3 | 16.1 3.4 | 16.9 3.8
image         |  2.7 0.6 |  3.0 0.6 |  4.8 0.6 |  4.6 0.7
ringnorm      |  1.6 0.1 |  1.7 0.1 |  1.5 0.1 |  1.4 0.0
flare_solar   | 34.2 2.2 | 32.4 1.8 | 33.2 1.7 | 33.9 1.8
splice        |  9.5 0.7 | 10.9 0.7 | 10.5 0.6 | 12.8 1.0
thyroid       |  4.6 2.2 |  4.8 2.2 |  4.2 2.1 |  3.9 2.0
titanic       | 22.6 1.2 | 22.4 1.0 | 23.2 2.0 | 21.8 1.1
twonorm       |  2.7 0.2 |  3.0 0.2 |  2.6 0.2 |  2.4 0.1
waveform      |  9.8 0.8 |  9.9 0.4 |  9.9 0.4 | 10.9 0.8
"""


class Spread(NamedTuple):
    """A mean error and its standard deviation over the splits, as shares of the test rows."""

    mean: float
    #: None for a single split.
    sd: float | None

    def __str__(self) -> str:
        """In per cent, as the paper prints it."""
        return f"{100.0 * self.mean:.1f}" + ("" if self.sd is None else f"±{100.0 * self.sd:.1f}")


def _read(text: str) -> Mapping[str, Mapping[str, Spread]]:
    table = {}
    for line in text.strip().splitlines():
        name, *cells = (part.split() for part in line.split("|"))
        numbers = [Spread(float(mean) / 100.0, float(sd) / 100.0) for mean, sd in cells]
        table[name[0]] = dict(zip(METHODS, numbers, strict=True))
    return table


#: By data set and method; errors are shares of the test rows.
TABLE_1 = _read(_TABLE_1)


def split_error(
    data: str,
    model: str,
    errors: NDArray[np.float64],
    printed: Spread | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Finding:
    """The mean error over splits; ``parameters`` are those of the model, where all splits share them."""
    return Finding.of_runs(
        data,
        model,
        errors,
        printed=None if printed is None else printed.mean,
        more={
            "sd": float(errors.std(ddof=1)) if len(errors) > 1 else None,
            "paper_sd": None if printed is None else printed.sd,
            "parameters": dict(parameters or {}),
        },
    )


def per_cent(error: Finding) -> str:
    """A split error as the paper prints it.

    Examples
    --------
    >>> per_cent(split_error("heart", "METH.", np.array([0.16, 0.18])))
    '17.0±1.4'
    """
    return str(Spread(error.measured, error.more["sd"]))


def duration(data: str, model: str, operation: str, rows: int, seconds: float) -> Finding:
    """Processor seconds that a model took for an operation after learning so many rows."""
    more = {"operation": operation, "rows_learned": rows}
    return Finding(data, model, seconds, more=more, is_time=True)


def readable(seconds: float) -> str:
    """Three digits and the unit that fits.

    Examples
    --------
    >>> readable(0.000321), readable(0.0456), readable(12.3)
    ('321 µs', '45.6 ms', '12.3 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
