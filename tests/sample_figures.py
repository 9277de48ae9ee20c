"""One figure of every kind, with names and numbers that are hard to place."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from thalweg.papers.bounsiar import figures as bounsiar
from thalweg.papers.figures import Curve, Panel, draw_progression, points
from thalweg.papers.karnick2008 import figures as karnick2008
from thalweg.papers.kuncheva2008 import figures as kuncheva2008
from thalweg.papers.schnackenberg2018 import figures as schnackenberg2018
from thalweg.papers.wusnell2016 import figures as wusnell2016
from thalweg.report import run_figures, style
from thalweg.report.comparison_figures import draw_mean_ranks, draw_member_weights
from thalweg.report.page.charts import Chart, Line, View

MODELS = (("O-LDC", "λ"), ("Perceptron", "η"), ("Winnow", "β"), ("Hiraoka's LDA", "ζ"))
BASELINES = ("O-LDC, hard", "No change", "Majority class")


def rate_figure() -> Figure:
    rates = np.linspace(0.01, 0.99, 21)
    curves = [
        Curve(
            name,
            rates,
            0.1 + 0.1 * place + rates**2 / 9,
            label=f"{name} ({symbol})",
            band=(0.09 + 0.1 * place + rates**2 / 9, 0.11 + 0.1 * place + rates**2 / 9),
            paper_best=(0.9, 0.2),
        )
        for place, (name, symbol) in enumerate(MODELS)
    ]
    return kuncheva2008.draw_error_versus_rate([Panel(title, curves) for title in ("STAGGER", "Plane")])


def snapshot_figure() -> Figure:
    X = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    shots = [kuncheva2008.snapshot(f"θ = {angle}°", X, X[:, 0] > 0, (1.0, 0.0)) for angle in (0, 30, 60, 90)]
    return kuncheva2008.draw_snapshots(shots)


def progression_figure() -> Figure:
    panels = []
    for title, rows in (("STAGGER", 120), ("Moving plane", 360), ("ELEC2", 45_312)):
        names = [name for name, _ in MODELS] + list(BASELINES if title == "ELEC2" else ())
        times = np.linspace(1, rows, 100).astype(np.int64)
        lines = [
            Curve(
                name,
                times,
                0.1 + 0.05 * place + 0 * times,
                mean=0.1 + 0.05 * place,
                paper_mean=0.12 + 0.05 * place,
            )
            for place, name in enumerate(names)
        ]
        changes = (40.5, 80.5) if title == "STAGGER" else ()
        panels.append(Panel(title, lines, "rows", "error\n(share of rows)", changes))
    return draw_progression(panels)


def over_time_figure() -> Figure:
    rows = list(range(50, 20_001, 50))
    looks = ("model", "no-change", "majority")
    lines = tuple(Line(look, [0.1 + at / 10 for _ in rows], look, dashed=at > 0) for at, look in enumerate(looks))
    chart = Chart("error", "Error over time", "", "share", rows, (View("", lines),))
    return run_figures.draw_chart(chart, "A stream of 20,000 rows", "error", (5000,))


def grid_figure() -> Figure:
    times = np.arange(15.0, 4000.0, 10.0)
    names = ("O-LDC", "window 10", "window 20", "window 50", "window 200", "Bayes error", "window auto")
    curves = [Curve(name, times, 0.1 + place / 10 + 0 * times) for place, name in enumerate(names)]
    titles = [*(f"λ = {rate}" for rate in (0.1, 0.3, 0.5, 0.7)), "auto, and the best cell (λ = 0.9)"]
    panels = [Panel(title, curves, changes=(1000, 2000)) for title in titles]
    return schnackenberg2018.draw_curves(panels, title="Sudden: mean error of 100 runs", steps_per_point=10)


def boundary_figure() -> Figure:
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    lines = [
        bounsiar.Boundary(
            "rule (3): σ = 11, ρ = 0.50", lambda points: points[:, 0], style.GREEN, (0, (5, 1.5, 1, 1.5))
        ),
        bounsiar.Boundary("best possible", lambda points: 0.5 - np.hypot(*points.T), style.GREY),
    ]
    return bounsiar.draw_boundaries(
        X, X[:, 0] > 0, ("bow", "disc"), lines, title="Disc and bow: 30 training rows of each class"
    )


def plane_figure() -> Figure:
    rng = np.random.default_rng(0)
    plus, minus = np.array([1.0, 3.0]), np.array([-1.5, 3.0])
    cloud, path = rng.normal(plus, 0.5, (40, 2)), np.linspace(-minus, plus, 4)
    marks = [
        points(cloud, style.BLUE, "o", "class 1"),
        bounsiar.line(plus - minus, 0.5, style.INK, "-", "rule (5): best ρ and b"),
        *bounsiar.vector(plus, style.BLUE, "$C_+$", "mean of class 1"),
        *bounsiar.vector(minus, style.VERMILION),
    ]
    title = "(a) Linear kernel, two features\nρ = 0.38, ω = 33°: 6 → 2 of 120 rows wrong"
    plane = bounsiar.plane(title, [cloud, path, np.stack([plus, minus])], marks)
    return bounsiar.draw_mean_plane([plane, plane])


TIMED = ("kernel mean", "kernel mean, tuned in fit", "128 centroids", "SVC")


def growth_figure() -> Figure:
    sizes = np.array([300, 1000, 3000, 10_000, 30_000, 100_000])
    curves = [
        Curve(name, sizes[: 6 - place], 1e-4 * sizes[: 6 - place] ** (1 + place / 3))
        for place, name in enumerate(TIMED)
    ]
    panels = [Panel("fit", curves), Panel("predictions of 2,000 rows", curves)]
    return bounsiar.draw_growth(panels, title="Twonorm: time against training rows")


def contour_figure() -> Figure:
    clouds = [
        schnackenberg2018.Cloud("class 0", np.zeros(2), np.array([[2.0, 0.8], [0.8, 1.0]]), heading=np.ones(2)),
        schnackenberg2018.Cloud("class 1", np.full(2, 20.0), np.eye(2)),
    ]
    moments = [(f"row {row:,}", clouds) for row in (0, 1000, 2000, 3999)]
    return schnackenberg2018.draw_contours(
        [("(a) Crossing\narrows: 600 rows ahead", moments), ("(b) Sudden", moments[:3])]
    )


def shifted_figure() -> Figure:
    times, every = np.array([1.0, 2.0, 4.0, 7.0, 10.0]), np.arange(1.0, 11.0)
    panels = [
        schnackenberg2018.time_panel(title, times, times - 0.5, times / 2, times / 2 + 0.5, (every, every - 1.0))
        for title in ("λ = 0.5: all rows weigh the same", "λ = 0.9: late rows weigh more")
    ]
    return schnackenberg2018.draw_shifted_times(panels)


def weights_figure() -> Figure:
    members = [f"O-LDC {rate}" for rate in (0.001, 0.01, 0.1)]
    members += ["perceptron", "passive-aggressive C=1", "passive-aggressive C=0.1", "logistic 0.1", "persistence"]
    rows = np.arange(336, 45_312, 336)
    shares = {member: np.full(len(rows), 1.0 / len(members)) for member in members}
    return draw_member_weights(rows, shares, title="ELEC2: weight of each member", block=336)


def memory_figure() -> Figure:
    rows = list(range(50, 20_001, 50))
    lines = tuple(Line(f"class {at}", np.linspace(0, 100 * at, len(rows)).tolist(), f"c{at}") for at in range(8))
    chart = Chart("memory", "Memory of each class", "", "rows", rows, (View("", lines),))
    return run_figures.draw_chart(chart, chart.title, "rows", (5000, 9000))


def calibration_figure() -> Figure:
    confidence = np.linspace(0.55, 0.95, 5)
    return run_figures.draw_calibration(confidence, confidence - 0.05, title="Calibration")


def confusion_figure() -> Figure:
    names = [f"a long name of class {place}" for place in range(16)]
    return run_figures.draw_confusion_matrix(names, np.full((16, 16), 100) + 3000 * np.eye(16), title="Confusion")


def bands_figure() -> Figure:
    times = np.arange(1, 1001)
    powers = {"SGD, η₀ = 1": 0.5, "recursive least squares": 1.0, "averaged SGD": 0.25}
    shown = wusnell2016.bands({name: np.outer([1.0, 3.0], 1.0 / times**power) for name, power in powers.items()})
    quantity = "distance to the true weights (no unit)"
    panels = [
        wusnell2016.band_panel("As in the paper", quantity, shown, levels={"batch": 0.1}, ylim=(0.0, 2.5)),
        wusnell2016.band_panel("The same, logarithmic", quantity, shown, logarithmic=True),
    ]
    return wusnell2016.draw_bands(panels, title="Figure 1. Estimation error, 100 runs")


def scatter_figure() -> Figure:
    X = np.random.default_rng(1).normal(size=(200, 2)) * [3.0, 1.0]
    clouds = {"class +1": X + 1.0, "class −1": X - 1.0}
    lines = [
        wusnell2016.Line("best line", (0.0, 0.0), (1.0, -1.0)),
        wusnell2016.Line("printed line", (0.0, 1.0), (0.0, 2.0)),
    ]
    return wusnell2016.draw_scatter(clouds, lines, title="Figure 3. Rows of two classes")


def ranks_figure() -> Figure:
    names = [f"passive-aggressive C={place}" for place in range(21)]
    ranks = dict(zip(names, np.linspace(2.0, 19.0, 21) ** 1.02, strict=True))
    return draw_mean_ranks(ranks, 8.9, title="Mean rank over 12 streams (1 is best)")


def boards_figure() -> Figure:
    rng = np.random.default_rng(0)
    cells = (np.add.outer(np.arange(50) // 25, np.arange(50) // 25) % 2).astype(np.int64)
    shots = [
        karnick2008.board(f"{turn}°, block {turn}", cells, rng.random((100, 2)), np.arange(100) % 2)
        for turn in range(6)
    ]
    return karnick2008.draw_boards(shots)


def course_figure() -> Figure:
    waves = 0.9 + 0.05 * np.sin(np.arange(200) / 9)
    blocks = np.arange(1, 201)
    curves = [Curve(karnick2008.SINGLE, blocks, waves - 0.03), Curve(karnick2008.ENSEMBLE, blocks, waves)]
    panels = [
        Panel(f"{name}, 5 runs: {waves.mean():.3f} beside {waves.mean() - 0.03:.3f}", curves, changes=(50.5, 100.5))
        for name in ("naive Bayes", "SVM", "MLP")
    ]
    return karnick2008.draw_accuracy(panels, title="SEA concepts: accuracy after each of 200 blocks")


def block_times_figure() -> Figure:
    every, some = np.arange(1, 701), np.linspace(1, 700, 15).astype(np.int64)
    curves = [
        Curve("Learn++.NSE", every, 1e3 * (1e-3 + 1e-5 * every)),
        Curve("loop over scikit-learn's members", some, 1e3 * (1e-3 * some)),
    ]
    return karnick2008.draw_block_times(curves, title="Rotating checkerboard: time of a block", task="100 rows learned")


FIGURES = [
    rate_figure,
    snapshot_figure,
    progression_figure,
    over_time_figure,
    grid_figure,
    contour_figure,
    boundary_figure,
    plane_figure,
    growth_figure,
    shifted_figure,
    weights_figure,
    memory_figure,
    calibration_figure,
    bands_figure,
    scatter_figure,
    boards_figure,
    course_figure,
    block_times_figure,
]
WITHOUT_CURVES = [ranks_figure, confusion_figure]
