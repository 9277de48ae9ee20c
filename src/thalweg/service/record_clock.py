"""The times of records, and how much of them rows have waited.

Times follow the clock of the machine, which may jump, and runs while the service is stopped. Rows are not given up for
that: an hour at most counts of what the service has not seen pass.
"""

from __future__ import annotations

import time

#: Microseconds that may pass unseen, as at a restart.
_UNSEEN = 3_600_000_000


class RecordClock:
    """Times of records in microseconds since 1970, which never go back.

    Examples
    --------
    >>> clock = RecordClock(time.time_ns() // 1000 - 2 * _UNSEEN)  # the last record is two hours old
    >>> recorded, gap = clock.tick()
    >>> round(gap / _UNSEEN), clock.now() >= recorded
    (2, True)
    """

    def __init__(self, last: int) -> None:
        #: Of the last record.
        self.last = last
        self._seen = time.monotonic_ns() // 1000

    def tick(self) -> tuple[int, int]:
        """The time of a new record, and the time since the last one in which rows did not wait."""
        seen, now = time.monotonic_ns() // 1000, time.time_ns() // 1000
        unseen = now - self.last - (seen - self._seen)
        self.last, self._seen = max(self.last, now), seen
        return self.last, unseen if unseen > _UNSEEN else 0

    def now(self) -> int:
        """The time, as far as it was seen to pass since the last record."""
        seen = self.last + time.monotonic_ns() // 1000 - self._seen
        now = time.time_ns() // 1000
        return seen if now - seen > _UNSEEN else now
