"""Every exception thalweg raises on purpose, and its one warning.

::

    ThalwegError
    ├── InvalidParameter   an argument of a constructor or function is invalid  (a ValueError)
    ├── InvalidInput       rows or labels that cannot be learned or predicted   (a ValueError)
    │   ├── UnknownFeature     a row has a feature that the model does not have
    │   └── NotNumbers         a cell does not hold a number                    (a TypeError, too)
    ├── DataUnavailable    a data set or file is not available                  (a FileNotFoundError)
    ├── NotAdditive        models that cannot be added, by name and reason      (a TypeError)
    ├── ModelFileError     a file that is not a model, or a damaged one         (a ValueError)
    ├── JournalError       a service's journal cannot be read or written        (an OSError)
    │   └── JournalDamaged     a record of it is damaged
    ├── ServiceRefused     a running service refused a request
    ├── ServiceUnreachable a service did not respond after several attempts     (a ConnectionError)
    └── MissingExtra       an optional library is not installed                 (an ImportError)

And one warning, `Diverging` (a UserWarning): a step too large for its row was cut.

A message is one sentence: what is wrong, where, what was received, what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from thalweg.option_names import option, owner_of_parameters, parameter

__all__ = [
    "DataUnavailable",
    "Diverging",
    "InvalidInput",
    "InvalidParameter",
    "JournalDamaged",
    "JournalError",
    "MissingExtra",
    "ModelFileError",
    "NotAdditive",
    "ServiceRefused",
    "ServiceUnreachable",
    "ThalwegError",
]

#: Columns that a message names, and how alike two names are, from 0 to 1, where one may be meant by the other.
_MOST_NAMED, _LIKENESS = 20, 0.7


class ThalwegError(Exception):
    """Base class of all exceptions of thalweg.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> try:
    ...     OnlineLDC(rate=2.0).fit([[0.0], [1.0]], [0, 1])
    ... except ThalwegError as error:
    ...     print(type(error).__name__)
    InvalidParameter
    """


class InvalidParameter(ThalwegError, ValueError):
    """An argument is invalid.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> OnlineLDC(counts="some").fit([[0.0], [1.0]], [0, 1])
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: The 'counts' parameter of OnlineLDC must be "hard" or "soft", got 'some'.
    """

    @classmethod
    def of(cls, owner: str, name: str, rule: str, got: object) -> InvalidParameter:
        """Compose the sentence.

        Examples
        --------
        >>> print(InvalidParameter.of("OnlineLDC", "rate", "lie in (0, 1)", 1.5))
        The 'rate' parameter of OnlineLDC must lie in (0, 1), got 1.5.
        """
        return cls(f"The {name!r} parameter of {owner} must {rule}, got {got!r}.")

    @classmethod
    def of_option(cls, name: str, rule: str, got: object) -> InvalidParameter:
        """Compose the sentence about an option of the command line, as it is typed there, or about its parameter.

        Examples
        --------
        >>> print(InvalidParameter.of_option("bad_rows", "be error or skip", "drop"))
        --bad-rows must be error or skip, got 'drop'
        """
        owner = owner_of_parameters()
        if owner is not None:
            return cls.of(owner, parameter(name), rule, got)
        return cls(f"{option(name)} must {rule}, got {got!r}")


class InvalidInput(ThalwegError, ValueError):
    """Rows or labels that cannot be used; nothing was learned from the call.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> OnlineLDC().fit([[0.0], [float("nan")]], [0, 1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidInput: X must hold finite numbers within ±1e+50, got NaN at row 1, column 0: impute or drop...
    """

    @classmethod
    def of_column(cls, where: object, name: str, present: Sequence[str]) -> InvalidInput:
        """Compose the sentence about a column that a table does not have, with the one that may be meant.

        Examples
        --------
        >>> print(InvalidInput.of_column("rows.csv", "Prise", ["price", "demand"]))
        rows.csv has no column 'Prise'; it has 'price', 'demand': did you mean 'price'?
        """
        known = ", ".join(map(repr, present[:_MOST_NAMED])) + (", …" if len(present) > _MOST_NAMED else "")
        by_letters = {known.casefold(): known for known in reversed(present)}
        close = [by_letters[letters] for letters in get_close_matches(name.casefold(), by_letters, 1, _LIKENESS)]
        meant = f": did you mean {close[0]!r}?" if close else ""
        return cls(f"{where} has no column {name!r}; it has {known}{meant}")


class UnknownFeature(InvalidInput):
    """A row has a feature that the model does not know; whoever learns may make room for it."""


class NotNumbers(InvalidInput, TypeError):
    """A cell holds an object that is no number; a TypeError, too, since scikit-learn has it so."""


class DataUnavailable(ThalwegError, FileNotFoundError):
    """A data set or file is not available.

    Examples
    --------
    >>> from thalweg.frames import chunks
    >>> list(chunks("nowhere.parquet", "label"))
    Traceback (most recent call last):
        ...
    thalweg.errors.DataUnavailable: there is no file nowhere.parquet
    """


class NotAdditive(ThalwegError, TypeError):
    """Models or parts of models cannot be added.

    Examples
    --------
    >>> from thalweg import Perceptron
    >>> one = Perceptron().fit([[0.0], [1.0]], [0, 1])
    >>> try:
    ...     one + one
    ... except NotAdditive as error:
    ...     print(type(error).__name__)
    NotAdditive
    """

    @classmethod
    def of(cls, owner: str, reason: str) -> NotAdditive:
        """Compose the sentence.

        Examples
        --------
        >>> print(NotAdditive.of("a Perceptron", "each of its steps depends on the prediction before it"))
        A Perceptron does not add up: each of its steps depends on the prediction before it.
        """
        return cls(f"{owner[:1].upper()}{owner[1:]} does not add up: {reason}.")


class ModelFileError(ThalwegError, ValueError):
    """A file is not a thalweg model, or is damaged.

    Examples
    --------
    >>> from thalweg.store import loads
    >>> try:
    ...     loads(b"not a model")
    ... except ModelFileError:
    ...     print("refused")
    refused
    """


class JournalError(ThalwegError, OSError):
    """The journal of a service cannot be read or written; nothing of what was asked has been acknowledged.

    Examples
    --------
    >>> issubclass(JournalError, OSError)
    True
    """


class JournalDamaged(JournalError):
    """A record of a service's journal is damaged: restore a backup, as a retry cannot help.

    Examples
    --------
    >>> issubclass(JournalDamaged, JournalError)
    True
    """


class ServiceRefused(ThalwegError):
    """A running service refused a request, with its message; `status` is that of the reply.

    Examples
    --------
    >>> error = ServiceRefused("there is no model 'rain'", 404)
    >>> print(error, error.status)
    there is no model 'rain' 404
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ServiceUnreachable(ThalwegError, ConnectionError):
    """A service did not respond after several attempts.

    Examples
    --------
    >>> from thalweg.client import Client
    >>> with Client("http://127.0.0.1:1", patience=0.0) as client:
    ...     client.models()
    Traceback (most recent call last):
        ...
    thalweg.errors.ServiceUnreachable: the service did not answer: [Errno 111] Connection refused
    """


class MissingExtra(ThalwegError, ImportError):
    """An optional library is not installed.

    Examples
    --------
    >>> issubclass(MissingExtra, ImportError)
    True
    """

    @classmethod
    def of(cls, library: str, extra: str, purpose: str) -> MissingExtra:
        """Compose the sentence.

        Examples
        --------
        >>> print(MissingExtra.of("matplotlib", "plot", "drawing"))
        drawing needs matplotlib: pip install 'thalweg[plot]', or '.[plot]' in a checkout
        """
        return cls(f"{purpose} needs {library}: pip install 'thalweg[{extra}]', or '.[{extra}]' in a checkout")

    @classmethod
    def import_module(cls, module: str, extra: str, purpose: str, library: str | None = None) -> Any:
        """The module of an extra; this error where it cannot be imported.

        Examples
        --------
        >>> MissingExtra.import_module("numpy.linalg", "plot", "drawing").__name__
        'numpy.linalg'
        """
        try:
            return import_module(module)
        except ImportError as error:
            raise cls.of(library or module.partition(".")[0], extra, purpose) from error


class Diverging(UserWarning):
    """Warning: a gradient step would have made the model diverge and was cut.

    Examples
    --------
    >>> import warnings
    >>> from thalweg import OnlineLinearRegression
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = OnlineLinearRegression(rate=10.0).partial_fit([[9.0], [9.0], [9.0]], [1.0, 2.0, 3.0])
    >>> caught[0].category.__name__
    'Diverging'
    """
