"""Whether what was begun before is gone on with by the same model: another one would be ignored without a word."""

from __future__ import annotations

import json
from typing import Any

from thalweg.errors import InvalidParameter
from thalweg.store import plain_parameters


def require_same_model(given: Any, begun: Any, owner: str, where: str) -> None:
    """Refuse a model of another class or with other parameters than the one that is kept.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> require_same_model(OnlineLDC(0.5), OnlineLDC(0.1), "learn_global", "the folder")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: learn_global: the folder holds an OnlineLDC begun with rate = 0.1 and not 0.5: ...
    """
    name = type(begun).__name__
    if type(given) is not type(begun):
        difference = f"{_a(name)} and not {_a(type(given).__name__)}"
    else:
        now, was = plain_parameters(given), plain_parameters(begun)
        other = next((each for each in was if json.dumps(was[each]) != json.dumps(now[each])), None)
        if other is None:
            return
        difference = f"{_a(name)} begun with {other} = {was[other]!r} and not {now[other]!r}"
    raise InvalidParameter(f"{owner}: {where} holds {difference}: go on with the same model, or begin elsewhere")


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
