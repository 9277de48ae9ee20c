"""Records of keys as the GPU keeps them, and as `compiled.FleetCore` writes them to files.

A record of the GPU has, for p features and c classes, U = L' above its diagonal and D of P = L D L' (the scatter in
their place during the start), class means, variances, counts, the weight of all rows, and the rows of the start so far.
One of the host has besides what follows from these, such as P m_c, or is kept for a ridge, which the GPU's have not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.fleet.gpu.layout import Floats, Layout, Places, slices


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
        """Rows of the start."""
        return max(1, self.warmup)

    def lengths(self) -> dict[str, int]:
        """The parts of a record, in order, and the numbers of each."""
        p, c = self.features, self.classes
        return {"U": self.above, "D": p, "means": c * p, "variance": p, "counts": c, "total": 1, "rows": 1}

    def per_class(self) -> dict[str, int]:
        """The parts that are class by class, and the numbers of a class."""
        return {"means": self.features, "counts": 1}

    def scratch(self, lanes: int) -> int:
        """Numbers that lanes keep beside a record, as discriminant_step.cuh has them."""
        return (self.classes + 2) * self.features + self.classes * lanes + self.classes

    def options(self) -> NDArray[np.void]:
        """The options of the step, as C++ lays them out."""
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
        """Records of the GPU, one in a row, of those that `FleetCore.state` gives one behind the other."""
        found = np.zeros((len(lengths), self.words))
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
            into = {name: found[own, part] for name, part in self.parts().items()}
            into["means"] = np.where(seen, given["means"] + origin, 0.0)
            into["U"], into["D"] = given["U"], given["D"]
            if starting:
                scatter = given["scatter"].reshape(-1, self.features, self.features)
                into["U"], into["D"] = scatter[:, *upper], np.diagonal(scatter, axis1=1, axis2=2)
            into["variance"], into["counts"], into["total"] = given["variance"], given["counts"], given["total"]
            rows = np.ascontiguousarray(given["rows"]).view(np.int64)
            into["rows"] = np.minimum(rows, self.start).astype(np.float64)
            for name, part in self.parts().items():
                found[own, part] = into[name]
        return found

    def to_host(self, records: Floats) -> tuple[Floats, Places]:
        """Records of the host, one behind the other, and their lengths."""
        given = {name: records[:, part] for name, part in self.parts().items()}
        starting = given["rows"][:, 0] < self.start
        found: list[Floats] = [np.empty(0)] * len(records)
        for of_start in (False, True):
            own = np.flatnonzero(starting == of_start)
            words = _host_words({name: values[own] for name, values in given.items()}, self, of_start)
            for at, each in zip(own.tolist(), words, strict=True):
                found[at] = each
        lengths = np.array([len(words) for words in found], dtype=np.int64)
        return np.concatenate(found) if found else np.empty(0), lengths


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
