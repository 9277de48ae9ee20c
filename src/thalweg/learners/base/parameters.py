"""Checks of constructor parameters that several estimators share."""

from __future__ import annotations

import numpy as np

from thalweg.errors import InvalidParameter


def as_seed(value: object, owner: str) -> int:
    """A whole number from 0 to 2**63 - 1, or an error that names its owner.

    Examples
    --------
    >>> as_seed(7, "Perceptron")
    7
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= int(value) < 2**63:  # type: ignore[call-overload]
        raise InvalidParameter.of(owner, "random_state", "be an integer from 0 to 2**63 - 1", value)
    return int(value)  # type: ignore[call-overload, no-any-return]
