"""Every exception thalweg raises on purpose, and its one warning.

::

    ThalwegError
    ├── InvalidParameter   a constructor or function argument breaks its rule   (a ValueError)
    ├── InvalidInput       rows or labels that cannot be learned or answered    (a ValueError)
    │   └── UnknownFeature     a row has a feature that the model does not know
    ├── DataUnavailable    a data set is neither on disk nor to be had          (a FileNotFoundError)
    ├── ModelFileError     a file that is not a model, or a damaged one         (a ValueError)
    └── MissingExtra       an optional library is not installed                 (an ImportError)

And one warning, `Diverging` (a UserWarning): a step too large for its row was cut.

A message is one sentence of one form: what, whose, the rule, what was received.
"""

from __future__ import annotations


class ThalwegError(Exception):
    """The root: catch it to catch all of ours."""


class InvalidParameter(ThalwegError, ValueError):
    """An argument breaks its rule."""

    @classmethod
    def of(cls, owner: str, name: str, rule: str, got: object) -> InvalidParameter:
        """Compose the sentence.

        >>> print(InvalidParameter.of("OnlineLDC", "rate", "lie in (0, 1)", 1.5))
        The 'rate' parameter of OnlineLDC must lie in (0, 1), got 1.5.
        """
        return cls(f"The {name!r} parameter of {owner} must {rule}, got {got!r}.")


class InvalidInput(ThalwegError, ValueError):
    """Rows or labels that cannot be used; nothing was learned from the call."""


class UnknownFeature(InvalidInput):
    """A row has a feature that the model does not know; whoever learns may make room for it."""


class DataUnavailable(ThalwegError, FileNotFoundError):
    """A data set is neither on disk nor to be had."""


class ModelFileError(ThalwegError, ValueError):
    """A file that is not one of our models, or is damaged."""


class MissingExtra(ThalwegError, ImportError):
    """An optional library is not installed."""

    @classmethod
    def of(cls, library: str, extra: str, purpose: str) -> MissingExtra:
        """Compose the sentence.

        >>> print(MissingExtra.of("matplotlib", "plot", "drawing"))
        drawing needs matplotlib: pip install 'thalweg[plot]'
        """
        return cls(f"{purpose} needs {library}: pip install 'thalweg[{extra}]'")


class Diverging(UserWarning):
    """A gradient step would have thrown the model far off; it was cut and the model stays finite."""
