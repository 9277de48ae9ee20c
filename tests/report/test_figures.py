from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from thalweg.errors import MissingExtra
from thalweg.report import (
    accuracy_course,
    bands,
    block_times,
    boards,
    boundaries,
    calibration,
    class_memory,
    confusion_matrix,
    contours,
    critical_difference,
    curve_grid,
    error_versus_rate,
    growth,
    mean_plane,
    member_weights,
    over_time,
    progression,
    scatter,
    shifted_times,
    snapshots,
    style,
)

MODELS = (("O-LDC", "λ"), ("Perceptron", "η"), ("Winnow", "β"), ("Hiraoka's LDA", "ζ"))
BASELINES = ("O-LDC, hard", "No change", "Majority class")


def rate_figure() -> Figure:
    rates = np.linspace(0.01, 0.99, 21)
    curves = [
        error_versus_rate.Curve(name, symbol, rates, 0.1 + 0.1 * place + rates**2 / 9, 0.01 + 0 * rates, (0.9, 0.2))
        for place, (name, symbol) in enumerate(MODELS)
    ]
    return error_versus_rate.draw([error_versus_rate.Panel(title, curves) for title in ("STAGGER", "Plane")])


def snapshot_figure() -> Figure:
    X = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    shots = [snapshots.Snapshot(f"θ = {angle}°", X, X[:, 0] > 0, (1.0, 0.0)) for angle in (0, 30, 60, 90)]
    return snapshots.draw(shots)


def progression_figure() -> Figure:
    panels = []
    for title, rows in (("STAGGER", 120), ("Moving plane", 360), ("ELEC2", 45_312)):
        names = [name for name, _ in MODELS] + list(BASELINES if title == "ELEC2" else ())
        times = np.linspace(1, rows, 100).astype(np.int64)
        curves = [
            progression.Curve(name, 0.1 + 0.05 * place + 0 * times, 0.1 + 0.05 * place, 0.12 + 0.05 * place)
            for place, name in enumerate(names)
        ]
        changes = (40.5, 80.5) if title == "STAGGER" else ()
        panels.append(progression.Panel(title, times, "rows", "error\n(share of rows)", curves, changes))
    return progression.draw(panels)


def over_time_figure() -> Figure:
    rows = np.arange(50, 20_001, 50)
    errors = {name: 0.1 + place / 10 + 0.0 * rows for place, name in enumerate(("O-LDC", *BASELINES[1:]))}
    return over_time.draw(rows, errors, 0.5 + 0.0 * rows, title="A stream of 20,000 rows", window=500)


def grid_figure() -> Figure:
    times = np.arange(15.0, 4000.0, 10.0)
    names = ("O-LDC", "window 10", "window 20", "window 50", "window 200", "Bayes error", "window auto")
    curves = [curve_grid.Curve(name, 0.1 + place / 10 + 0 * times, 0.1) for place, name in enumerate(names)]
    panels = [curve_grid.Panel(f"λ = {rate}", times, curves) for rate in (0.1, 0.3, 0.5, 0.7)]
    panels.append(curve_grid.Panel("auto, and the best cell (λ = 0.9)", times, curves))
    return curve_grid.draw(panels, title="Sudden: mean error of 100 runs", changes=(1000, 2000), steps_per_point=10)


def boundary_figure() -> Figure:
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    lines = [
        boundaries.Boundary(
            "rule (3): σ = 11, ρ = 0.50", lambda points: points[:, 0], style.GREEN, (0, (5, 1.5, 1, 1.5))
        ),
        boundaries.Boundary("best possible", lambda points: 0.5 - np.hypot(*points.T), style.GREY),
    ]
    return boundaries.draw(X, X[:, 0] > 0, ("bow", "disc"), lines, title="Disc and bow: 30 training rows of each class")


def plane_figure() -> Figure:
    rng = np.random.default_rng(0)
    plus, minus = np.array([1.0, 3.0]), np.array([-1.5, 3.0])
    panel = mean_plane.Panel(
        "(a) Linear kernel, two features\nρ = 0.38, ω = 33°: 6 → 2 of 120 rows wrong",
        ("along $C_+ - C_-$ (no unit)", "at right angles to it (no unit)"),
        clouds=[mean_plane.Cloud(rng.normal(plus, 0.5, (40, 2)), style.BLUE, "o", "class 1")],
        arrows=[
            mean_plane.Arrow(plus, style.BLUE, "$C_+$", "mean of class 1"),
            mean_plane.Arrow(minus, style.VERMILION),
        ],
        lines=[mean_plane.Line(plus - minus, 0.5, style.INK, "-", "rule (5): best ρ and b")],
        path=np.linspace(-minus, plus, 4),
        path_labels=["ρ = 0.0", "ρ = 0.3", "ρ = 0.7", "ρ = 1.0"],
    )
    return mean_plane.draw([panel, panel])


TIMED = ("kernel mean", "kernel mean, tuned in fit", "128 centroids", "SVC")


def growth_figure() -> Figure:
    sizes = (300, 1000, 3000, 10_000, 30_000, 100_000)
    curves = [
        growth.Curve(name, sizes[: 6 - place], [1e-4 * rows ** (1 + place / 3) for rows in sizes[: 6 - place]])
        for place, name in enumerate(TIMED)
    ]
    panels = [growth.Panel("fit", curves), growth.Panel("answers to 2,000 rows", curves)]
    return growth.draw(panels, title="Twonorm: time against training rows")


def contour_figure() -> Figure:
    clouds = [
        contours.Cloud("class 0", np.zeros(2), np.array([[2.0, 0.8], [0.8, 1.0]]), heading=np.ones(2)),
        contours.Cloud("class 1", np.full(2, 20.0), np.eye(2)),
    ]
    moments = [contours.Moment(f"row {row:,}", clouds) for row in (0, 1000, 2000, 3999)]
    return contours.draw([("(a) Crossing\narrows: 600 rows ahead", moments), ("(b) Sudden", moments[:3])])


def shifted_figure() -> Figure:
    times, every = np.array([1.0, 2.0, 4.0, 7.0, 10.0]), np.arange(1.0, 11.0)
    panels = [
        shifted_times.Panel(title, times, times - 0.5, times / 2, times / 2 + 0.5, every, every - 1.0)
        for title in ("λ = 0.5: all rows weigh the same", "λ = 0.9: late rows weigh more")
    ]
    return shifted_times.draw(panels)


def weights_figure() -> Figure:
    members = [f"O-LDC {rate}" for rate in (0.001, 0.01, 0.1)]
    members += ["perceptron", "passive-aggressive C=1", "passive-aggressive C=0.1", "logistic 0.1", "persistence"]
    rows = np.arange(336, 45_312, 336)
    shares = {member: np.full(len(rows), 1.0 / len(members)) for member in members}
    return member_weights.draw(rows, shares, title="ELEC2: whose voice counts", block=336)


def memory_figure() -> Figure:
    rows = np.arange(50, 20_001, 50)
    remembered = {f"class {place}": np.linspace(0, 100 * place, len(rows)) for place in range(8)}
    return class_memory.draw(rows, remembered, title="Memory of each class", changes=(5000, 9000))


def calibration_figure() -> Figure:
    confidence = np.linspace(0.55, 0.95, 5)
    return calibration.draw(confidence, confidence - 0.05, title="Calibration")


def confusion_figure() -> Figure:
    names = [f"a long name of class {place}" for place in range(16)]
    return confusion_matrix.draw(names, np.full((16, 16), 100) + 3000 * np.eye(16), title="Confusion")


def bands_figure() -> Figure:
    times = np.arange(1, 1001)
    shown = [
        bands.Band(name, 2.0 / times**power, 1.0 / times**power, 3.0 / times**power)
        for name, power in (("SGD, η₀ = 1", 0.5), ("recursive least squares", 1.0), ("averaged SGD", 0.25))
    ]
    quantity = "distance to the true weights (no unit)"
    panels = [
        bands.Panel("As in the paper", quantity, times, shown, levels={"batch": 0.1}, limits=(0.0, 2.5)),
        bands.Panel("The same, logarithmic", quantity, times, shown, logarithmic_time=True, logarithmic=True),
    ]
    return bands.draw(panels, title="Figure 1. Estimation error, 100 runs")


def scatter_figure() -> Figure:
    X = np.random.default_rng(1).normal(size=(200, 2)) * [3.0, 1.0]
    clouds = [scatter.Cloud("class +1", X + 1.0), scatter.Cloud("class −1", X - 1.0)]
    lines = [scatter.Line("best line", (0.0, 0.0), (1.0, -1.0)), scatter.Line("printed line", (0.0, 1.0), (0.0, 2.0))]
    return scatter.draw(clouds, lines, title="Figure 3. Rows of two classes")


def ranks_figure() -> Figure:
    names = [f"passive-aggressive C={place}" for place in range(21)]
    ranks = dict(zip(names, np.linspace(2.0, 19.0, 21) ** 1.02, strict=True))
    return critical_difference.draw(ranks, 8.9, title="Mean rank over 12 streams (1 is best)")


def boards_figure() -> Figure:
    rng = np.random.default_rng(0)
    cells = (np.add.outer(np.arange(50) // 25, np.arange(50) // 25) % 2).astype(np.int64)
    shots = [
        boards.Board(f"{turn}°, block {turn}", cells, rng.random((100, 2)), np.arange(100) % 2) for turn in range(6)
    ]
    return boards.draw(shots)


def course_figure() -> Figure:
    waves = 0.9 + 0.05 * np.sin(np.arange(200) / 9)
    panels = [accuracy_course.Panel(f"{name}, 5 runs", waves, waves - 0.03) for name in ("naive Bayes", "SVM", "MLP")]
    return accuracy_course.draw(panels, title="SEA concepts: accuracy after each of 200 blocks", changes=(50, 100))


def block_times_figure() -> Figure:
    every, some = np.arange(1, 701), np.linspace(1, 700, 15).astype(np.int64)
    curves = {
        "Learn++.NSE": (every, 1e-3 + 1e-5 * every),
        "loop over scikit-learn's members": (some, 1e-3 * some),
    }
    return block_times.draw(curves, title="Rotating checkerboard: time of a block", task="100 rows learned")


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


def visible_texts(figure: Figure) -> list[Text]:
    FigureCanvasAgg(figure).draw()
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text() and _is_drawn(text, figure)]


def _is_drawn(text: Text, figure: Figure) -> bool:
    """Tick labels beyond the limits of their axis exist but are not drawn."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if text in [tick.label1 for tick in axis.get_major_ticks()]:
                low, high = sorted(axis.get_view_interval())
                shown = dict(zip(axis.get_majorticklabels(), axis.get_majorticklocs(), strict=True))
                return text in shown and low - 1e-9 <= shown[text] <= high + 1e-9
    return True


@pytest.mark.parametrize("make", [*FIGURES, *WITHOUT_CURVES])
def test_no_text_overlaps_another_or_leaves_the_page(make) -> None:
    figure = make()
    page = figure.bbox
    boxes = [(text.get_text(), text.get_window_extent()) for text in visible_texts(figure)]
    assert len(boxes) > 10
    for name, box in boxes:
        assert page.x0 <= box.x0, name
        assert box.x1 <= page.x1 + 1, name
        assert page.y0 <= box.y0, name
        assert box.y1 <= page.y1 + 1, name
    clashes = [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.overlaps(b)]
    assert not clashes


@pytest.mark.parametrize("make", FIGURES)
def test_every_outer_axis_is_labelled_and_every_curve_named(make) -> None:
    figure = make()
    rows_of_axes = [axes for axes in figure.axes if axes.get_title() != "mean"]
    assert any(axes.get_ylabel() for axes in rows_of_axes)
    assert any(axes.get_xlabel() for axes in rows_of_axes)
    (legend,) = figure.legends
    named = {text.get_text() for text in legend.get_texts()}
    for axes in rows_of_axes:
        assert set(axes.get_legend_handles_labels()[1]) <= named


@pytest.mark.parametrize("make", [*FIGURES, *WITHOUT_CURVES])
def test_the_same_figure_is_written_as_the_same_bytes(make, tmp_path: Path) -> None:
    written = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        written.append([path.read_bytes() for path in style.save(make(), tmp_path / name, "figure")])
    assert written[0] == written[1]
    assert written[0][0].startswith(b"\x89PNG")
    assert b"<svg" in written[0][1]


def test_the_rate_figure_shows_the_given_numbers_and_the_papers_best() -> None:
    axes = rate_figure().axes[0]
    curve = next(line for line in axes.lines if line.get_label() == "O-LDC (λ)")
    rates = np.linspace(0.01, 0.99, 21)
    np.testing.assert_array_equal(curve.get_xdata(), rates)
    np.testing.assert_array_equal(curve.get_ydata(), 0.1 + rates**2 / 9)
    stars = [line for line in axes.lines if line.get_marker() == "*" and len(line.get_xdata())]
    assert [(float(star.get_xdata()[0]), float(star.get_ydata()[0])) for star in stars] == [(0.9, 0.2)] * 4


WINDOWS = ("O-LDC", "window 10", "window 20", "window 50", "window 200", "window auto", "Bayes error")


@pytest.mark.parametrize("names", [[name for name, _ in MODELS] + list(BASELINES), WINDOWS, TIMED])
def test_models_are_told_apart_without_colour(names: list[str]) -> None:
    looks = [style.look_of(name) for name in names]
    assert len({look.marker for look in looks}) == len(looks)
    assert len({look.colour for look in looks}) == len(looks)


def test_ellipses_are_one_and_two_standard_deviations_wide() -> None:
    axes = contour_figure().axes[0]
    covariance = np.array([[2.0, 0.8], [0.8, 1.0]])
    for line, deviations in zip(axes.lines[:2], (1.0, 2.0), strict=True):
        points = np.array(line.get_data()).T
        np.testing.assert_allclose(np.einsum("ij,jk,ik->i", points, np.linalg.inv(covariance), points), deviations**2)


def test_a_boundary_lies_where_its_score_changes_sign() -> None:
    (axes,) = boundary_figure().axes
    straight, round_ = (contour.get_paths()[0].vertices for contour in axes.collections)
    np.testing.assert_allclose(straight[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.hypot(*round_.T), 0.5, atol=1e-3)


def test_a_line_is_at_right_angles_to_its_normal_and_at_its_offset() -> None:
    axes = plane_figure().axes[0]
    (line,) = [line for line in axes.lines if line.get_label().startswith("rule (5)")]
    np.testing.assert_allclose(np.array(line.get_data()).T @ [2.5, 0.0] + 0.5, 0.0, atol=1e-9)


def test_a_figure_leaves_the_callers_settings_alone() -> None:
    before = dict(rcParams)
    rate_figure()
    assert dict(rcParams) == before


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"thalweg\[plot\]"):
        style.require_matplotlib()


def test_without_a_rate_only_the_errors_are_drawn() -> None:
    rows = np.arange(1, 11)
    figure = over_time.draw(rows, {"Majority class": rows / 10}, None, title="Baseline", window=5)
    assert len(figure.axes) == 1


def test_bars_join_what_the_critical_difference_cannot_tell_apart() -> None:
    figure = critical_difference.draw({"c": 3.5, "a": 1.0, "b": 2.0, "d": 3.5}, 1.6, title="Ranks")
    (axes,) = figure.axes
    bars = [line.get_xdata() for line in axes.lines if line.get_linewidth() == 3.4]
    np.testing.assert_allclose(bars, [[0.94, 2.06], [1.94, 3.56]])
    texts = [text.get_text() for text in axes.texts]
    assert texts[-4:] == ["a  1.0", "b  2.0", "3.5  c", "3.5  d"]


def test_a_band_is_the_mean_and_its_quantiles_and_leaves_out_a_tenth_on_either_side() -> None:
    runs = np.random.default_rng(2).permuted(np.add.outer(np.arange(101.0), [0.0, 5.0, 9.0]), axis=0)
    band = bands.Band.of("runs", runs)
    np.testing.assert_allclose([band.low, band.mean, band.high], np.add.outer([10.0, 50.0, 90.0], [0.0, 5.0, 9.0]))
    panel = bands.Panel("", "", np.arange(1, 4), [band])
    (axes,) = bands.draw([panel], title="Runs").axes
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), band.mean)
    extent = axes.collections[0].get_datalim(axes.transData)
    assert (extent.y0, extent.y1) == (10.0, 99.0)


def test_both_axes_of_a_scatter_have_one_scale_and_hold_all_points() -> None:
    (axes,) = scatter_figure().axes
    assert axes.get_aspect() == 1.0
    for line in axes.lines[:2]:
        for values, (low, high) in zip(line.get_data(), (axes.get_xlim(), axes.get_ylim()), strict=True):
            assert low < min(values) <= max(values) < high


def test_shares_fill_the_height_in_shades_of_their_family() -> None:
    (axes,) = weights_figure().axes
    tops = [area.get_datalim(axes.transData).y1 for area in axes.collections]
    np.testing.assert_allclose(tops, np.arange(1, 9) / 8)
    colours = [tuple(area.get_facecolor()[0]) for area in axes.collections]
    assert len(set(colours)) == len(colours)


def test_a_board_shows_its_cells_and_its_rows() -> None:
    axes = boards_figure().axes[0]
    (picture,) = axes.images
    shown = np.asarray(picture.get_array())
    # the second axis of the cells goes up; colours flip where either coordinate crosses the middle
    assert (shown[0, 0], shown[0, 49], shown[49, 0], shown[49, 49]) == (0, 1, 1, 0)
    assert picture.get_extent() == pytest.approx([0.0, 1.0, 0.0, 1.0])
    assert [len(line.get_xdata()) for line in axes.lines] == [50, 50]


def test_a_course_is_drawn_after_each_block_with_its_means() -> None:
    axes = course_figure().axes[0]
    lines = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    np.testing.assert_array_equal(lines["Learn++.NSE"].get_xdata(), np.arange(1, 201))
    waves = 0.9 + 0.05 * np.sin(np.arange(200) / 9)
    np.testing.assert_array_equal(lines["Learn++.NSE"].get_ydata(), waves)
    assert axes.get_title(loc="left") == f"naive Bayes, 5 runs: {waves.mean():.3f} beside {waves.mean() - 0.03:.3f}"
    assert [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2] == [50.5, 100.5]


def test_times_are_drawn_in_milliseconds() -> None:
    (axes,) = block_times_figure().axes
    ours, loop = axes.lines
    np.testing.assert_allclose(ours.get_ydata(), 1 + 0.01 * np.arange(1, 701))
    assert (ours.get_marker(), loop.get_marker()) == ("None", "s")
