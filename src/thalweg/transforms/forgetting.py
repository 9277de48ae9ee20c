"""What a share of forgetting may be."""

from __future__ import annotations

import numpy as np

from thalweg.errors import InvalidParameter


def as_forgetting(value: object, owner: str) -> float:
    """A number in [0, 1), or an error that names its owner.

    Examples
    --------
    >>> as_forgetting(0.01, "StandardScaler")
    0.01
    """
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 <= value < 1:  # type: ignore[operator]
        raise InvalidParameter.of(owner, "forgetting", "lie in [0, 1)", value)
    return float(value)  # type: ignore[arg-type]
