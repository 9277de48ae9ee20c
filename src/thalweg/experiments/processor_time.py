"""How long a call takes, in processor time.

Processor time counts all cores that a call keeps busy, and not what other programs do meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: A call is repeated at least so often, and for so many seconds in all.
CALLS, SECONDS = 5, 0.3


def processor_seconds(call: Callable[[], object]) -> float:
    """The least of several calls; one call suffices if it takes long enough by itself."""
    least, total, made = float("inf"), 0.0, 0
    while total < SECONDS or (made < CALLS and least < SECONDS):
        before = time.process_time()
        call()
        taken = time.process_time() - before
        least, total, made = min(least, taken), total + taken, made + 1
    return least
