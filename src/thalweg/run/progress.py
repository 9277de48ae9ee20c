"""How much of a source is done, by the bytes and rows that were read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from thalweg.tables import Block


class Progress:
    """Watches blocks as they are read, which may be ahead of what is taken.

    Examples
    --------
    >>> progress = Progress(lambda: None)
    >>> progress.share(taken=100) is None  # nothing is known of a pipe until its end
    True
    >>> list(progress.watch(iter([])))
    []
    """

    def __init__(self, share_read: Callable[[], float | None], most: int | None = None) -> None:
        self._share_read = share_read
        self._most = most
        self._rows = 0
        self._share: float | None = None  # of the bytes, after the last block
        self._total: float | None = None  # rows, as far as it is known
        self._told = 0.0

    def watch(self, blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            self._rows += len(block.table)
            before, self._share = self._share, self._share_read()
            if self._share is None or self._share == before:  # others read the file: its bytes say nothing
                self._total = None
            elif 0.0 < self._share < 1.0:  # packed bytes may all be read long before their rows
                self._total = self._rows / self._share
            yield block
        self._total = self._rows

    def share(self, taken: int) -> float | None:
        """How much is done when so many rows are taken; None where it is not known. It does not go back."""
        total = self._total
        if self._most is not None and (self._rows >= self._most or (total is not None and total > self._most)):
            total = self._most
        if not total:
            return None
        self._told = max(self._told, min(taken / total, 1.0))
        return self._told
