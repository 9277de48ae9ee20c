"""Records of keys as the GPU keeps them: what all kinds of models have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

#: Bytes of shared memory of which nine fit into a multiprocessor of an H100 or H200, and what one block may take of any
#: GPU with the instructions used.
_ROOM_OF_NINE, _ROOM_OF_ONE = 24 << 10, 99 << 10


@dataclass(frozen=True)
class Layout(ABC):
    """What the records of a fleet depend on, and how they go to the host's memory and back."""

    features: int
    classes: int

    #: The struct of C++ whose records these are.
    step: ClassVar[str]

    @abstractmethod
    def lengths(self) -> dict[str, int]:
        """The parts of a record, in order, and the numbers of each."""

    @abstractmethod
    def per_class(self) -> dict[str, int]:
        """The parts that are class by class, and the numbers of a class."""

    @abstractmethod
    def scratch(self, lanes: int) -> int:
        """Numbers that lanes keep beside a record, as the struct of C++ has them."""

    @abstractmethod
    def options(self) -> NDArray[np.void]:
        """The options of the step, as C++ lays them out."""

    def targets(self, given: NDArray[Any]) -> NDArray[Any]:
        """Targets as the step takes them, of those that `FleetCore.run` takes."""
        return np.asarray(given, dtype=np.int32)

    @abstractmethod
    def from_host(self, records: Floats, lengths: Places) -> Floats:
        """Records of the GPU, one in a row, of those that `FleetCore.state` gives one behind the other."""

    @abstractmethod
    def to_host(self, records: Floats) -> tuple[Floats, Places]:
        """Records of the host, one behind the other, and their lengths."""

    @cached_property
    def words(self) -> int:
        """Numbers in a record."""
        return sum(self.lengths().values())

    @cached_property
    def stored(self) -> int:
        """Numbers from one record to the next: whole sectors of 32 bytes, which two keys never share."""
        return -(-self.words // 4) * 4

    @cached_property
    def lanes(self) -> int:
        """Lanes of a warp that share a key.

        With fewer, less is done by each of them alike. With more, a warp has fewer keys, so that more warps have room.
        """
        enough = (lanes for lanes in (2, 4, 8, 16) if self.bytes_of_warp(lanes) <= _ROOM_OF_NINE)
        lanes = next(enough, 32)
        if self.bytes_of_warp(lanes) > _ROOM_OF_ONE:
            raise InvalidInput(f"a fleet on a GPU has no room for {self.classes} classes of {self.features} features")
        return lanes

    def bytes_of_warp(self, lanes: int) -> int:
        """Shared memory of a warp's records and scratch, as step.cu lays them out."""
        apart = (self.stored + self.scratch(lanes) + lanes - 1) // (2 * lanes) * (2 * lanes) + lanes
        return 8 * apart * (32 // lanes)

    def parts(self) -> dict[str, slice]:
        """Where the parts of a record lie."""
        return slices(self.lengths())

    def columns_with_class(self, at: int, wider: Layout) -> Places:
        """Where each number of a record goes in that of a layout with one class more, at this place."""
        columns = np.arange(self.words)
        after, per_class = wider.parts(), self.per_class()
        for name, part in self.parts().items():
            within = np.arange(part.stop - part.start)
            width = per_class.get(name, 0)
            columns[part] = after[name].start + within + np.where(within >= at * width, width, 0)
        return columns


def slices(lengths: dict[str, int]) -> dict[str, slice]:
    """Parts of these lengths, one behind the other."""
    ends = np.cumsum(list(lengths.values())).tolist()
    return {name: slice(end - length, end) for (name, length), end in zip(lengths.items(), ends, strict=True)}
