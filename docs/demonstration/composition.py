"""Prints, as C++, the calls by which Python makes the learners that the page shows, for the page to make the same."""

from __future__ import annotations

import re
from typing import Any

import thalweg.kernels
from thalweg.kernels import compiled

#: The learners of the page, in the order in which it numbers them.
LEARNERS = ("AutoClassifier", "WindowForest", "NoChange")
FEATURES = 2


class Recorded:
    """A compiled learner, and the call that made it."""

    def __init__(self, core: Any, call: str) -> None:
        self.core, self.call = core, call

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)


class Recorder:
    """The compiled module, whose factories also write down how they are called."""

    def __getattr__(self, name: str) -> Any:
        factory = getattr(compiled, name)
        return factory if isinstance(factory, type) else lambda *given, **named: recorded(factory, given, named)


def recorded(factory: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What the factory makes, and the call in C++, where arguments have no names."""
    made = factory(*unwrapped(given), **{name: unwrapped(value) for name, value in named.items()})
    if not isinstance(made, compiled.Core):
        return made
    places = re.findall(r"(\w+): ", factory.__nb_signature__[0][0])
    behind = places[len(given) : len(given) + len(named)]
    if sorted(behind) != sorted(named):
        raise TypeError(f"{factory.__name__}: a default stands before one of {', '.join(named)}")
    arguments = [*given, *(named[name] for name in behind)]
    return Recorded(made, f"{factory.__name__}({', '.join(map(in_cpp, arguments))})")


def unwrapped(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(unwrapped, value))
    return value.core if isinstance(value, Recorded) else value


def in_cpp(value: Any) -> str:
    if isinstance(value, Recorded):
        return value.call
    if isinstance(value, list | tuple):
        return f"{{{', '.join(map(in_cpp, value))}}}"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    # Learners take the module's functions when they are imported, so it is replaced before.
    thalweg.kernels.compiled = Recorder()
    import thalweg

    calls = ", ".join(f"[] {{ return {getattr(thalweg, name)()._make_core(FEATURES).call}; }}" for name in LEARNERS)
    print(f"Core (*const compositions[])() = {{{calls}}};")
