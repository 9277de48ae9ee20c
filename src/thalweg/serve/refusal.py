"""A request that is not done, and why: one sentence for the client, before anything has changed."""

from __future__ import annotations


class Refused(Exception):
    """An answer other than success.

    Parameters
    ----------
    status : int
        Of HTTP, 4xx or 503.
    sentence : str
        What is wrong, and what to do about it.
    retry_after : int, optional
        Seconds after which to try again.
    """

    def __init__(self, status: int, sentence: str, *, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.retry_after = retry_after
