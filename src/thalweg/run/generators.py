"""The streams that can be written to a file, by name.

The classes are named, not imported: a list of what there is must not wait for numpy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from thalweg.errors import InvalidParameter

if TYPE_CHECKING:
    from thalweg.streams import ConceptStream


@dataclass(frozen=True)
class Generator:
    """A stream by name: its class in `thalweg.streams`, what it is, and the arguments that make it this one."""

    kind: str
    about: str
    fixed: Mapping[str, Any] = field(default_factory=dict)


GENERATORS: Mapping[str, Generator] = {
    "stagger": Generator("Stagger", "nine binary features; three rules that replace one another"),
    "moving-plane": Generator("MovingPlane", "two features; a line that turns with every row"),
    "circular": Generator(
        "DriftingGaussians", "two Gaussian classes that circle round each other", {"scenario": "circular"}
    ),
    "crossing": Generator("DriftingGaussians", "two Gaussian classes whose paths cross", {"scenario": "crossing"}),
    "passing": Generator("DriftingGaussians", "two Gaussian classes that pass each other", {"scenario": "passing"}),
    "sudden": Generator("DriftingGaussians", "two Gaussian classes that jump three times", {"scenario": "sudden"}),
    "checkerboard": Generator("RotatingCheckerboard", "two features; four squares that turn"),
    "sea": Generator("SEA", "three features; a threshold that jumps, under noisy labels"),
    "two-norm": Generator("TwoNorm", "20 features; two Gaussian classes, parted by a plane"),
    "ring-norm": Generator("RingNorm", "20 features; two Gaussian classes, parted by a sphere"),
    "waveform": Generator("Waveform", "21 features; three classes of mixed waves"),
    "disc-and-bow": Generator("DiscAndBow", "two features; a disc and a bow on its edge"),
    "linear-response": Generator("LinearResponse", "five features; the label is their weighted sum"),
}


def make_stream(name: str, seed: int, settings: Mapping[str, float] | None = None) -> ConceptStream:
    """The stream of that name.

    Parameters
    ----------
    name : str
        One of `GENERATORS`.
    seed : int >= 0
        Everything random about it.
    settings : mapping of parameter to number, optional
        Other parameters of its class, which are numbers.
    """
    if name not in GENERATORS:
        raise InvalidParameter(f"STREAM must be one of {', '.join(GENERATORS)}, got {name!r}")
    from thalweg import streams

    chosen = GENERATORS[name]
    kind = getattr(streams, chosen.kind)
    free = [each.name for each in dataclasses.fields(kind) if each.name != "seed" and each.name not in chosen.fixed]
    for parameter in settings or {}:
        if parameter not in free:
            raise InvalidParameter.of_option("set", f"name a parameter of {name}: {', '.join(free)}", parameter)
    stream: ConceptStream = kind(seed=seed, **chosen.fixed, **(settings or {}))
    return stream
