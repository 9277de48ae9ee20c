"""Figures 1 to 3 of Bounsiar, Beauseroy & Grall, computed: what the bias is worth, and the geometry of rho.

Figure 1 repeats the toy on many training sets of 30 rows a class, each tuned on a validation set of its own, and draws
the one of median gain of (5) over (2). The paper speaks of (3) there but names no rho, so we take 1/2. Figures 2 and 3
are drawn in the plane of the two class means, whose coordinates, e1 along C_+ - C_- and e2 at right angles to it, are
found from mean kernel values alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier
from thalweg.learners.kernel_mean.densities import squared_distances
from thalweg.learners.kernel_mean.tuning import RHOS, best_threshold, fewest_errors_of, mean_scores, middle_of_minima
from thalweg.papers.bounsiar import figures
from thalweg.papers.bounsiar.printed import per_cent, split_error
from thalweg.papers.bounsiar.study import Densities, Parameters, error_on, tune
from thalweg.papers.figures import Mark, Panel, two_classes
from thalweg.papers.registry import Outcome
from thalweg.papers.study import run_all, seeds_of_run
from thalweg.report import style
from thalweg.streams import DiscAndBow, Split, Waveform

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Gram: TypeAlias = Callable[[Floats, Floats], Floats]

#: Training rows of each class, as the paper has it, and rows to choose the parameters by and to test on.
EACH, VALIDATION, TEST = 30, 500, 5000
#: Rows of the waves that make the plane of Figure 3, and as many fresh ones that are shown in it.
WAVES = 400
LIKELIHOOD, WEIGHED, BIASED = "rule (2)", "rule (3)", "rule (5)"
_DASH_DOT = (0, (5.0, 1.5, 1.0, 1.5))

# ---- figure 1 -------------------------------------------------------------------------------------------


class Toy(NamedTuple):
    """One training set, the parameters found for each rule, and the errors on test rows."""

    split: Split
    parameters: dict[str, Parameters]
    errors: dict[str, float]


def toy(seed: int, run: int) -> Toy:
    """Draw a training set, tune the three rules on a validation set, and test them."""
    stream = DiscAndBow(seed=seeds_of_run(seed, run)[0])
    X, y = stream.take(20 * EACH)
    chosen = np.concatenate([np.flatnonzero(y == label)[:EACH] for label in stream.classes])
    sampler = stream.sampler("answered")
    validation, test = (sampler.rows_at(np.zeros(rows, dtype=np.int64)) for rows in (VALIDATION, TEST))
    seen = Densities.at_test_rows(Split(X[chosen], y[chosen], *validation))
    parameters = {
        LIKELIHOOD: tune(seen, rhos=np.array([0.5]), bias=0.0),
        WEIGHED: tune(seen, bias=0.0),
        BIASED: tune(seen),
    }
    split = Split(X[chosen], y[chosen], *test)
    return Toy(split, parameters, {rule: error_on(chosen.machine(), split) for rule, chosen in parameters.items()})


def disc_and_bow(seed: int, runs: int, workers: int, finished: Callable[[float], None]) -> Outcome:
    """Figure 1: the boundaries of rules (2) and (5), and the errors of all three rules over many training sets."""
    toys = run_all([partial(toy, seed, run) for run in range(runs)], workers, finished)
    errors = {rule: np.array([toy.errors[rule] for toy in toys]) for rule in toys[0].errors}
    typical = toys[int(np.argsort(errors[LIKELIHOOD] - errors[BIASED])[len(toys) // 2])]
    findings = tuple(split_error("disc and bow", rule, errors_of_rule) for rule, errors_of_rule in errors.items())
    better = [float(np.mean(errors[BIASED] < errors[rule])) for rule in (LIKELIHOOD, WEIGHED)]
    least = DiscAndBow().bayes_error_at(0)
    return Outcome(
        f"Figure 1. Disc and bow, {EACH} training rows of each class, the median gain of {runs} training sets",
        findings,
        summary=(
            "Test error in per cent: "
            + ", ".join(f"{finding.model} {per_cent(finding)}" for finding in findings)
            + ".",
            f"Bayes error {100.0 * least:.1f}. Rule (5) errs less than rule (2), ρ = 1/2 and b = 0, on {better[0]:.0%} "
            f"of the training sets, and less than rule (3), b = 0, on {better[1]:.0%}.",
        ),
        draw=partial(_draw_toy, typical),
    )


def _draw_toy(shown: Toy) -> Figure:
    X, positive = shown.split.X_train, shown.split.y_train > 0

    def boundary(rule: str, colour: str, dashes: style.Dashes) -> figures.Boundary:
        machine = shown.parameters[rule].machine().fit(X, shown.split.y_train)
        sigma, rho, bias = shown.parameters[rule]
        said = f"{rule}: σ = {sigma:.2g}, ρ = {rho:.2f}" + (f", b = {bias:.2g}" if bias else "")
        return figures.Boundary(said, machine.decision_function, colour, dashes)

    best = figures.Boundary("best possible", _best_score, style.GREY, (0, (1.0, 1.6)))
    return figures.draw_boundaries(
        X,
        positive,
        ("bow", "disc"),
        [boundary(LIKELIHOOD, style.GREEN, _DASH_DOT), boundary(BIASED, style.INK, "-"), best],
        title=f"Disc and bow: {EACH} training rows of each class",
    )


def _best_score(points: Floats) -> Floats:
    """Positive where the disc is the likelier class; beyond both, the nearer one."""
    stream = DiscAndBow()
    distance = np.hypot(*points.T)
    aside = np.abs(np.degrees(np.arctan2(points[:, 0], points[:, 1]))) > stream.half_angle
    return np.asarray(np.where(aside, stream.radius, stream.best_radius()) - distance)


# ---- figures 2 and 3: the plane of the class means ------------------------------------------------------


class MeanPlane(NamedTuple):
    """The class means and the rows, in orthonormal coordinates of the plane that the means span."""

    plus: Floats
    minus: Floats
    rows: Floats

    @classmethod
    def of(cls, kernel: Gram, X: Floats, positive: Flags, shown: Floats) -> MeanPlane:
        """The plane of the class means of rows X, with the rows ``shown`` in it."""
        gram = kernel(X, X)
        with_plus, with_minus = gram[:, positive].mean(axis=1), gram[:, ~positive].mean(axis=1)  # <phi(x), C±>
        across = with_plus - with_minus
        length = np.sqrt(across[positive].mean() - across[~positive].mean())  # |C+ - C-|
        along = across[positive].mean() / length  # <C+, e1>
        up = np.sqrt(with_plus[positive].mean() - along**2)  # <C+, e2>, and <C-, e2> too
        gram = kernel(shown, X)
        with_plus, with_minus = gram[:, positive].mean(axis=1), gram[:, ~positive].mean(axis=1)
        first = (with_plus - with_minus) / length
        rows = np.stack([first, (with_plus - along * first) / up], axis=1)
        return cls(np.array([along, up]), np.array([along - length, up]), rows)

    def weight(self, rho: float) -> Floats:
        return rho * self.plus - (1.0 - rho) * self.minus  # eq. (4)


class Separation(NamedTuple):
    """The best line at right angles to the weight vector of one rho."""

    rho: float
    bias: float
    errors: int

    @classmethod
    def best(cls, plane: MeanPlane, positive: Flags, rhos: Floats) -> Separation:
        """The fewest errors on the rows, over the given rhos and every bias."""
        scores = mean_scores(plane.rows @ plane.minus, plane.rows @ plane.plus, rhos)
        place = middle_of_minima(fewest_errors_of(scores, positive))
        threshold = best_threshold(scores[place], positive)
        return cls(float(rhos[place]), threshold.bias, threshold.errors)


def linear(X: Floats, Y: Floats) -> Floats:
    return X @ Y.T


def radial(X: Floats, Y: Floats, sigma: float) -> Floats:
    """Eq. (6) of all rows with all rows."""
    return np.exp(-sigma * squared_distances(X, Y))


def turning_weight(seed: int) -> Outcome:
    """Figure 2: as rho goes from 0 to 1, the weight vector goes from -C_- to C_+."""
    return Outcome("Figure 2. ρ turns the weight vector from -C₋ to C₊", draw=partial(_draw_turning, seed))


def _draw_turning(seed: int) -> Figure:
    shown = toy(seed, 0)
    sigma = shown.parameters[WEIGHED].sigma
    X, positive = shown.split.X_train, shown.split.y_train > 0
    plane = MeanPlane.of(partial(radial, sigma=sigma), X, positive, X)
    rhos = np.linspace(0.0, 1.0, 6)
    path = np.stack([plane.weight(rho) for rho in rhos])
    beside = {"textcoords": "offset points", "va": "center", "fontsize": 9, "color": style.INK}
    marks: list[Mark] = [
        methodcaller("plot", *path.T, color=style.GREY, linewidth=1.0, marker=".", markersize=5),
        *(methodcaller("annotate", f"ρ = {rho:.1f}", at, (8, 0), **beside) for rho, at in zip(rhos, path, strict=True)),
        *(mark for rho in rhos[1:-1] for mark in figures.vector(plane.weight(rho), style.GREY)),
        *figures.vector(plane.plus, style.BLUE, "$C_+$", "mean of class 1, the disc"),
        *figures.vector(plane.minus, style.VERMILION, "$C_-$", "mean of class −1, the bow"),
        *figures.vector(-plane.minus, style.VERMILION, "$-C_-$", offset=(0.0, -18.0)),
    ]
    title = f"Disc and bow, radial kernel, σ = {sigma:.2g}:\n$w = ρ\\,C_+ - (1 - ρ)\\,C_-$"
    return figures.draw_mean_plane([figures.plane(title, [path, plane.minus[np.newaxis]], marks)])


def rotated_hyperplane(seed: int) -> Outcome:
    """Figure 3: the best line may be had by turning the one of (1)."""
    X, positive = _elongated(seed)
    stream = Waveform(seed=seed)
    (learned, y), (fresh, y_fresh) = stream.take(WAVES), stream.take(WAVES, start=WAVES)
    sigma = KernelMeanClassifier(progress=False).fit(learned, y).sigma_
    plane = MeanPlane.of(partial(radial, sigma=sigma), learned, y > 0, fresh)
    panels = [
        ("(a) Linear kernel, two features", MeanPlane.of(linear, X, positive, X), positive),
        (f"(b) Waveform, radial kernel, σ = {sigma:.2g}, fresh rows", plane, y_fresh > 0),
    ]
    drawn, said = [], []
    for title, machine, labels in panels:
        fixed, free = (Separation.best(machine, labels, rhos) for rhos in (np.array([0.5]), RHOS))
        turn = _angle(machine.weight(0.5), machine.weight(free.rho))
        words = f"ρ = {free.rho:.2f}, ω = {turn:.0f}°: {fixed.errors} → {free.errors} of {len(labels)} rows wrong"
        drawn.append(_separated(f"{title}\n{words}", machine, labels, fixed, free))
        said.append(f"{title}: {words}.")
    return Outcome(
        "Figure 3. The best line may be a rotation of the one of rule (1)",
        summary=tuple(said),
        draw=partial(figures.draw_mean_plane, drawn),
    )


def _elongated(seed: int) -> tuple[Floats, Flags]:
    """Two long flat clouds, 60 rows each, whose means are not one above the other."""
    rng = np.random.default_rng([seed, 3])
    spread = np.linalg.cholesky(np.array([[2.0, 0.1], [0.1, 0.25]]))
    centres = np.repeat([[4.0, 1.5], [2.0, 3.5]], 60, axis=0)
    return centres + rng.standard_normal((120, 2)) @ spread.T, np.arange(120) < 60


def _angle(one: Floats, other: Floats) -> float:
    turn = np.arctan2(other[1], other[0]) - np.arctan2(one[1], one[0])
    return abs(float(np.degrees((turn + np.pi) % (2.0 * np.pi) - np.pi)))


def _separated(title: str, plane: MeanPlane, positive: Flags, fixed: Separation, free: Separation) -> Panel:
    solid, dashed = (style.INK, "-", "rule (5): best ρ and b"), (style.GREEN, _DASH_DOT, "rule (1): ρ = 1/2, best b")
    marks: list[Mark] = [
        *two_classes(plane.rows, positive, ("class −1", "class 1"), markersize=3.5, markeredgewidth=0.8),
        figures.line(plane.weight(fixed.rho), fixed.bias, *dashed),
        figures.line(plane.weight(free.rho), free.bias, *solid),
        *figures.vector(plane.plus, style.BLUE, "$C_+$", "mean of class 1"),
        *figures.vector(plane.minus, style.VERMILION, "$C_-$", "mean of class −1"),
    ]
    return figures.plane(title, [plane.rows, np.stack([plane.plus, plane.minus])], marks)
