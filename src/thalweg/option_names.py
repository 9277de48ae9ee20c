"""How messages name an option of a run: as it is typed at the command line, or as the parameter that it is in Python.

`thalweg run` and `thalweg.evaluate.run` share their checks and warnings. Whoever reads one should be able to act on it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: The function whose parameters are named; None at the command line.
_OWNER: ContextVar[str | None] = ContextVar("owner", default=None)
#: Options whose parameters have other names.
_PARAMETERS = {"limit": "rows", "target": "y"}


@contextmanager
def parameters_of(owner: str) -> Iterator[None]:
    """Name parameters of this function in messages, and not options."""
    token = _OWNER.set(owner)
    try:
        yield
    finally:
        _OWNER.reset(token)


def owner_of_parameters() -> str | None:
    """The function whose parameters are to be named; None for options of the command line."""
    return _OWNER.get()


def parameter(name: str) -> str:
    return _PARAMETERS.get(name, name)


def option(name: str, value: object = None) -> str:
    """An option by its name, with its value where one is given; a flag has the value True.

    Examples
    --------
    >>> option("label_time"), option("head", 5000), option("drop", "a b"), option("na", "-999"), option("sort", True)
    ('--label-time', '--head 5000', "--drop 'a b'", '--na=-999', '--sort')
    >>> with parameters_of("run"):
    ...     option("label_time"), option("head", 5000), option("drop", "a b"), option("sort", True)
    ('label_time', 'head=5000', "drop='a b'", 'sort=True')
    """
    if owner_of_parameters() is not None:
        return parameter(name) if value is None else f"{parameter(name)}={value!r}"
    typed = f"--{name.replace('_', '-')}"
    if value is None or value is True:
        return typed
    written = shlex.quote(str(value))
    return f"{typed}={written}" if written.startswith("-") else f"{typed} {written}"


def options(**given: object) -> str:
    """Several options with their values, to be given together.

    Examples
    --------
    >>> options(time="when", sort=True)
    '--time when --sort'
    >>> with parameters_of("run"):
    ...     options(time="when", sort=True)
    "time='when', sort=True"
    """
    between = " " if owner_of_parameters() is None else ", "
    return between.join(option(name, value) for name, value in given.items())


def remedy(more: str = "") -> str:
    """What to do about a row that cannot be read, behind its description; and ``more`` that may be done.

    Examples
    --------
    >>> remedy()
    '; --bad-rows skip leaves such rows out'
    """
    return f"; {option('bad_rows', 'skip')} leaves such rows out{more}"
