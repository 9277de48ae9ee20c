"""State declared once: the attributes that a class names are written by `state` and taken back by `restore`.

A fresh object shows what each attribute may be beside None: a value of another type is refused. Leaves of a state are
what JSON holds, arrays, bytes and sparse rows of SciPy; `thalweg.container` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from thalweg.kernels import compiled


class Saved:
    """An object whose state is some of its attributes.

    Examples
    --------
    >>> class Counter(Saved):
    ...     _saved = ("rows", "_sums")
    ...
    ...     def __init__(self, rows=0, sums=(0.0, 0.0)):
    ...         self.rows, self._sums = rows, np.array(sums)
    >>> state = Counter(3, (1.0, 2.0)).state()
    >>> state
    {'rows': 3, '_sums': array([1., 2.])}
    >>> restored = Counter()
    >>> restored.restore(state)
    >>> restored.rows, restored._sums.tolist()
    (3, [1.0, 2.0])
    >>> restored.restore({"rows": "3", "_sums": [1.0, 2.0]})
    Traceback (most recent call last):
    ValueError: rows of Counter must be of type int, got '3'
    """

    #: The attributes that are the state.
    _saved: ClassVar[tuple[str, ...]] = ()
    #: By attribute that is None at first, or holds several, what makes an object whose state it holds.
    _made: ClassVar[tuple[tuple[str, Callable[[], Any]], ...]] = ()

    def state(self) -> dict[str, Any]:
        """What `restore` continues from. It shares what it holds with the object, and is not to be changed."""
        return {name: _written(getattr(self, name)) for name in self._saved}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` gave; a `ValueError` where it is not that of such an object."""
        for name in self._saved:
            where = f"{name} of {type(self).__name__}"
            if name not in state:
                raise ValueError(f"{where} is missing")
            setattr(self, name, _taken(getattr(self, name), state[name], dict(self._made).get(name), where))


def _written(value: Any) -> Any:
    if hasattr(value, "restore"):
        return value.state()
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: _written(item) for key, item in value.items()}
        return [[key, _written(item)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_written(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _taken(fresh: Any, value: Any, make: Callable[[], Any] | None, where: str) -> Any:
    """A saved value as an attribute that is still ``fresh`` takes it."""
    if value is None:
        return None
    if isinstance(fresh, compiled.Adwin):
        fresh.restore({name: _array(array, value[name], where) for name, array in fresh.state().items()})
        return fresh
    if hasattr(fresh, "restore"):
        fresh.restore(value)
        return fresh
    if isinstance(fresh, np.ndarray):
        return _array(fresh, value, where)
    if fresh is None:
        return value if make is None else _taken(make(), value, None, where)
    _require_like(fresh, value, where)
    if isinstance(fresh, dict):
        pairs = (
            value.items()
            if isinstance(value, dict)
            else ((tuple(key) if isinstance(key, list) else key, item) for key, item in value)
        )
        return {key: _taken(fresh.get(key), item, make, where) for key, item in pairs}
    if isinstance(fresh, list | tuple):
        if not fresh and make is None:  # long ones, such as histories, need no look at each
            return type(fresh)(value)
        likes = fresh if len(fresh) == len(value) else [None] * len(value)
        return type(fresh)(_taken(like, item, make, where) for like, item in zip(likes, value, strict=True))
    return value


def _require_like(fresh: Any, value: Any, where: str) -> None:
    kind = type(fresh)
    allowed: Any = {int: (int, float), float: (int, float), dict: (dict, list), tuple: (list, tuple)}.get(kind, kind)
    if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{where} must be of type {kind.__name__}, got {value!r}")


def _array(fresh: np.ndarray, value: Any, where: str) -> np.ndarray:
    """An array with as many dimensions; of the same type where it comes as lists, as JSON holds it."""
    array = value.copy() if isinstance(value, np.ndarray) else np.array(value, dtype=fresh.dtype)
    if array.size == 0 and array.ndim < fresh.ndim:
        array = array.reshape(0, *fresh.shape[1:])
    if array.ndim != fresh.ndim:
        raise ValueError(f"{where} must have {fresh.ndim} dimensions, got {array.ndim}")
    return array
