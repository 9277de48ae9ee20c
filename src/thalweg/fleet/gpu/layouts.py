"""Which models a fleet on a GPU may have, and their records: as the GPU keeps them, and as `FleetCore` writes them.

A discriminant has on the GPU, for p features and c classes, U = L' above its diagonal and D of P = L D L' (the scatter
in their place during the start), class means, variances, counts, the weight of all rows, and the rows of the start so
far. One of the host has besides what follows from these, such as P m_c, or is kept for a ridge, which the GPU's have
not.

A perceptron or logistic regression has on the GPU a weight vector for each class, biases, the order in which classes
came (from 1; 0: not yet), and the rows learned. One of the host has the same in another order, with its rate behind
them.

Least squares have the same numbers in the same order at both places. One of the host begins with the number of targets,
and keeps whole numbers as integers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.learners.base.intervals import WithIntervals
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.learners.linear_regression import OnlineLinearRegression
from thalweg.learners.logistic import OnlineLogistic
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.learners.perceptron import Perceptron
from thalweg.rates import Constant, as_rate

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


@dataclass(frozen=True)
class DiscriminantLayout(Layout):
    """Records of discriminants with soft counts."""

    rate: float
    warmup: int

    step: ClassVar[str] = "Discriminant"

    @property
    def above(self) -> int:
        """Entries above the diagonal."""
        return self.features * (self.features - 1) // 2

    @property
    def start(self) -> int:
        return max(1, self.warmup)

    def lengths(self) -> dict[str, int]:
        p, c = self.features, self.classes
        return {"U": self.above, "D": p, "means": c * p, "variance": p, "counts": c, "total": 1, "rows": 1}

    def per_class(self) -> dict[str, int]:
        return {"means": self.features, "counts": 1}

    def scratch(self, lanes: int) -> int:
        # as discriminant_step.cuh has them
        return (self.classes + 2) * self.features + self.classes * lanes + self.classes

    def options(self) -> NDArray[np.void]:
        return np.array([(self.rate, self.warmup)], dtype=[("rate", "f8"), ("warmup", "i8")])

    def host_parts(self, *, starting: bool) -> dict[str, slice]:
        """The same of a record of the host."""
        p, c = self.features, self.classes
        names = ("n_classes", "rows", "warm_left", "last_class", "since_refresh", "ridge_cursor", "total", "log_count")
        lengths = dict.fromkeys(names, 1) | {"counts": c, "log_prior": c, "half_square": c, "means": c * p}
        lengths |= {"weights": c * p, "origin": p, "variance": p, "surveyed": 1, "ridge_held": p, "long_mean": p}
        lengths |= {"long_variance": p, **({"scatter": p * p} if starting else {}), "U": self.above, "D": p}
        lengths |= {"rate": 1, "rate_rows": 1, "rate_mistakes": 1}
        return slices(lengths)

    def from_host(self, records: Floats, lengths: Places) -> Floats:
        values = np.zeros((len(lengths), self.words))
        ends = np.cumsum(lengths)
        upper = np.triu_indices(self.features, 1)
        for starting in (False, True):
            parts = self.host_parts(starting=starting)
            own = np.flatnonzero(lengths == parts["rate_mistakes"].stop)
            if len(own) == 0:
                continue
            words = records[(ends[own] - lengths[own])[:, np.newaxis] + np.arange(lengths[own[0]])]
            given = {name: words[:, part] for name, part in parts.items()}
            origin = np.tile(given["origin"], self.classes)
            seen = np.repeat(given["counts"] > 0, self.features, axis=1)
            into = {name: values[own, part] for name, part in self.parts().items()}
            into["means"] = np.where(seen, given["means"] + origin, 0.0)
            into["U"], into["D"] = given["U"], given["D"]
            if starting:
                scatter = given["scatter"].reshape(-1, self.features, self.features)
                into["U"], into["D"] = scatter[:, *upper], np.diagonal(scatter, axis1=1, axis2=2)
            into["variance"], into["counts"], into["total"] = given["variance"], given["counts"], given["total"]
            rows = np.ascontiguousarray(given["rows"]).view(np.int64)
            into["rows"] = np.minimum(rows, self.start).astype(np.float64)
            for name, part in self.parts().items():
                values[own, part] = into[name]
        return values

    def to_host(self, records: Floats) -> tuple[Floats, Places]:
        given = {name: records[:, part] for name, part in self.parts().items()}
        starting = given["rows"][:, 0] < self.start
        states: list[Floats] = [np.empty(0)] * len(records)
        for of_start in (False, True):
            own = np.flatnonzero(starting == of_start)
            words = _host_words({name: values[own] for name, values in given.items()}, self, of_start)
            for at, record in zip(own.tolist(), words, strict=True):
                states[at] = record
        lengths = np.array([len(words) for words in states], dtype=np.int64)
        return np.concatenate(states) if states else np.empty(0), lengths


def _host_words(given: dict[str, Floats], shape: DiscriminantLayout, starting: bool) -> Floats:
    p, c, keys = shape.features, shape.classes, len(given["rows"])
    parts = shape.host_parts(starting=starting)
    words = np.zeros((keys, parts["rate_mistakes"].stop))
    integers = words.view(np.int64)
    rows = given["rows"][:, 0].astype(np.int64)
    last = given["counts"].argmax(axis=1)
    counts, total = given["counts"], given["total"]
    U, D = _settled(given, shape) if starting else (_unit_upper(given["U"], p), given["D"])
    means = given["means"].reshape(keys, c, p)
    origin = means[np.arange(keys), last]
    local = np.where((counts > 0)[:, :, np.newaxis], means - origin[:, np.newaxis], 0.0)
    projected = np.einsum("kji,kci->kcj", U, local) * D[:, np.newaxis]
    weights = np.einsum("kji,kcj->kci", U, projected)
    with np.errstate(divide="ignore"):
        log_counts = np.log(counts)
    integers[:, parts["n_classes"].start] = c
    integers[:, parts["rows"].start] = rows
    integers[:, parts["warm_left"].start] = np.maximum(shape.start - rows, 0)
    integers[:, parts["last_class"].start] = np.where(rows > 0, last, -1)
    reals = {
        "total": total,
        "log_count": np.take_along_axis(log_counts, last[:, np.newaxis], axis=1),
        "counts": counts,
        "log_prior": log_counts,
        "half_square": 0.5 * (weights * local).sum(axis=2),
        "means": local.reshape(keys, c * p),
        "weights": weights.reshape(keys, c * p),
        "origin": origin,
        "variance": given["variance"],
        "U": U[:, *np.triu_indices(p, 1)],
        "D": D,
        "rate": np.full((keys, 1), shape.rate),
    }
    if starting:
        scatter = np.zeros((keys, p, p))
        scatter[:, *np.triu_indices(p, 1)] = given["U"]
        scatter[:, np.arange(p), np.arange(p)] = given["D"]
        reals["scatter"] = scatter.reshape(keys, p * p)
        reals["variance"] = 1 / D
    for name, values in reals.items():
        words[:, parts[name]] = values
    return words


def _unit_upper(above: Floats, p: int) -> Floats:
    U = np.zeros((len(above), p, p))
    U[:, *np.triu_indices(p, 1)] = above
    U[:, np.arange(p), np.arange(p)] = 1.0
    return U


def _settled(given: dict[str, Floats], shape: DiscriminantLayout) -> tuple[Floats, Floats]:
    """The factor of the inverse of the first rows' covariance, or the identity where that is singular."""
    p = shape.features
    U, D = _unit_upper(np.zeros((len(given["rows"]), shape.above)), p), np.ones((len(given["rows"]), p))
    enough = given["rows"][:, 0] - (given["counts"] > 0).sum(axis=1) >= p
    for key in np.flatnonzero(enough).tolist():
        covariance = np.diag(given["D"][key])
        covariance[np.triu_indices(p, 1)] = given["U"][key]
        covariance = (covariance + np.triu(covariance, 1).T) / given["total"][key]
        try:
            lower = np.linalg.cholesky(np.linalg.inv(covariance))
        except np.linalg.LinAlgError:
            continue
        scale = np.diagonal(lower)
        if (1 / scale**2 > 1e-11 * np.diagonal(covariance)).all():
            U[key], D[key] = (lower / scale).T, scale**2
    return U, D


@dataclass(frozen=True)
class LinearLayout(Layout):
    """Records of a weight vector for each class."""

    rate: float

    #: Whether a record of the host ends with the rows learned.
    counts_rows: ClassVar[bool]

    def lengths(self) -> dict[str, int]:
        return {"weights": self.classes * self.features, "bias": self.classes, "arrival": self.classes, "rows": 1}

    def per_class(self) -> dict[str, int]:
        return {"weights": self.features, "bias": 1, "arrival": 1}

    def scratch(self, lanes: int) -> int:
        # as linear_step.cuh has them
        return (self.classes + 1) * lanes + 2 * self.classes + self.features

    def _host_parts(self) -> dict[str, slice]:
        c = self.classes
        lengths = {"n_classes": 1, "arrivals": 1, "arrival": c, "bias": c, "weights": c * self.features}
        lengths |= {"rate": 1, "rate_rows": 1, "rate_mistakes": 1} | ({"rows": 1} if self.counts_rows else {})
        return slices(lengths)

    def from_host(self, records: Floats, lengths: Places) -> Floats:
        words = records.reshape(len(lengths), -1)
        integers = np.ascontiguousarray(words).view(np.int64)
        host, values = self._host_parts(), np.zeros((len(lengths), self.words))
        parts = self.parts()
        values[:, parts["weights"]], values[:, parts["bias"]] = words[:, host["weights"]], words[:, host["bias"]]
        values[:, parts["arrival"]] = integers[:, host["arrival"]] + 1
        if self.counts_rows:
            values[:, parts["rows"]] = integers[:, host["rows"]]
        return values

    def to_host(self, records: Floats) -> tuple[Floats, Places]:
        host, parts = self._host_parts(), self.parts()
        size = max(part.stop for part in host.values())
        words = np.zeros((len(records), size))
        integers = words.view(np.int64)
        integers[:, host["n_classes"]] = integers[:, host["arrivals"]] = self.classes
        integers[:, host["arrival"]] = records[:, parts["arrival"]].astype(np.int64) - 1
        words[:, host["bias"]], words[:, host["weights"]] = records[:, parts["bias"]], records[:, parts["weights"]]
        words[:, host["rate"]] = self.rate
        if self.counts_rows:
            integers[:, host["rows"]] = records[:, parts["rows"]].astype(np.int64)
        return words.reshape(-1), np.full(len(records), size)


@dataclass(frozen=True)
class PerceptronLayout(LinearLayout):
    """Records of perceptrons that do not average."""

    margin: float
    start_scale: float
    seed: int
    intercept: bool

    step: ClassVar[str] = "Perceptron"
    counts_rows: ClassVar[bool] = True

    def options(self) -> NDArray[np.void]:
        kinds = [("rate", "f8"), ("margin", "f8"), ("start_scale", "f8"), ("seed", "u8"), ("intercept", "i8")]
        return np.array([(self.rate, self.margin, self.start_scale, self.seed, self.intercept)], dtype=kinds)


@dataclass(frozen=True)
class LogisticLayout(LinearLayout):
    """Records of logistic regressions with one rate for all features."""

    penalty: float

    step: ClassVar[str] = "Logistic"
    counts_rows: ClassVar[bool] = False

    def options(self) -> NDArray[np.void]:
        return np.array([(self.rate, self.penalty)], dtype=[("rate", "f8"), ("penalty", "f8")])


@dataclass(frozen=True)
class LeastSquaresLayout(Layout):
    """Records of regressors of one target, which has the place of a class."""

    penalty: float
    forgetting: float
    intercept: bool

    step: ClassVar[str] = "LeastSquares"

    def lengths(self) -> dict[str, int]:
        p = self.features
        lengths = {"rows": 1, "penalty_cursor": 1, "weight": 1, "origin": p, "mean": p, "scale": p, "penalty_held": p}
        return lengths | {"target_origin": 1, "target_mean": 1, "weights": p, "U": p * (p - 1) // 2, "D": p}

    def per_class(self) -> dict[str, int]:
        """Nothing: there are no classes."""
        return {}

    def scratch(self, lanes: int) -> int:
        # as least_squares_step.cuh has them
        return 3 * self.features + lanes

    def options(self) -> NDArray[np.void]:
        kinds = [("penalty", "f8"), ("forgetting", "f8"), ("intercept", "i4"), ("turns", "i4")]
        return np.array([(self.penalty, self.forgetting, self.intercept, self._turns())], dtype=kinds)

    def _turns(self) -> int:
        """Features whose penalty is topped up after a row, as `turns_to_hold` of triangle.hpp has it."""
        if self.penalty == 0 or self.forgetting == 0:
            return 0
        return min(max(math.ceil(self.features * (1 - (1 - self.forgetting)) / 0.69), 1), self.features)

    def targets(self, given: NDArray[Any]) -> NDArray[Any]:
        """The numbers whose bits these are."""
        return np.ascontiguousarray(given).view(np.float64)

    def from_host(self, records: Floats, lengths: Places) -> Floats:
        words = np.ascontiguousarray(records).reshape(len(lengths), -1)
        values = words[:, 1:].copy()
        values[:, :2] = words.view(np.int64)[:, 1:3]
        return values

    def to_host(self, records: Floats) -> tuple[Floats, Places]:
        words = np.hstack([np.empty((len(records), 1)), records])
        integers = words.view(np.int64)
        integers[:, 0] = 1
        integers[:, 1:3] = records[:, :2]
        return words.reshape(-1), np.full(len(records), words.shape[1])


_WHERE = 'where device is "cuda"'


def layout_of(model: Any, features: int) -> Layout:
    """The records of such models before a class is known; InvalidParameter for one that cannot be on a GPU."""
    if isinstance(model, StreamRegressor):
        return _regression_layout(model, features)
    if type(model) not in (OnlineLDC, Perceptron, OnlineLogistic):
        raise _refused(model, "be an OnlineLDC, a Perceptron or an OnlineLogistic")
    if model.class_weight is not None:
        raise _refused(model, "have no class weights")
    is_discriminant = type(model) is OnlineLDC
    is_bank = is_discriminant and model._is_bank
    rate = None if is_bank else as_rate(model.rate, type(model).__name__, below_one=is_discriminant)
    if not isinstance(rate, Constant):
        raise _refused(model, "have a constant rate")
    step = float(rate.value)
    if isinstance(model, OnlineLDC):
        plain = model.counts == "soft" and not model.ridge and model.dtype == "float64"
        if not plain or model.covariance != "corrected":
            raise _refused(model, 'have counts="soft" and the corrected covariance, without ridge or float32,')
        return DiscriminantLayout(features, 0, step, int(model.warmup))
    if isinstance(model, Perceptron):
        if model.averaged:
            raise _refused(model, "not average its weights")
        options = float(model.margin), float(model.start_scale), int(model.random_state), bool(model.intercept)
        return PerceptronLayout(features, 0, step, *options)
    if model.per_feature:
        raise _refused(model, "have one rate for all features")
    if model.products:
        raise _refused(model, "have no products of features")
    return LogisticLayout(features, 0, step, float(model.penalty))


def _regression_layout(model: StreamRegressor, features: int) -> Layout:
    if isinstance(model, WithIntervals):
        raise _refused(model, "have no prediction intervals, whose state records on a GPU do not hold,")
    if type(model) is not OnlineLinearRegression or model.solver != "rls":
        raise _refused(model, 'be, of the regressors, an OnlineLinearRegression with solver="rls"')
    options = float(model.penalty), float(model.forgetting), bool(model.intercept)
    return LeastSquaresLayout(features, 0, *options)


def _refused(model: Any, rule: str) -> InvalidParameter:
    return InvalidParameter.of("Fleet", "model", f"{rule} {_WHERE}", model)
