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
    calibration,
    class_memory,
    confusion_matrix,
    contours,
    critical_difference,
    curve_grid,
    error_versus_rate,
    member_weights,
    over_time,
    progression,
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


def ranks_figure() -> Figure:
    names = [f"passive-aggressive C={place}" for place in range(21)]
    ranks = dict(zip(names, np.linspace(2.0, 19.0, 21) ** 1.02, strict=True))
    return critical_difference.draw(ranks, 8.9, title="Mean rank over 12 streams (1 is best)")


FIGURES = [
    rate_figure,
    snapshot_figure,
    progression_figure,
    over_time_figure,
    grid_figure,
    contour_figure,
    shifted_figure,
    weights_figure,
    memory_figure,
    calibration_figure,
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


@pytest.mark.parametrize("names", [[name for name, _ in MODELS] + list(BASELINES), WINDOWS])
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


def test_shares_fill_the_height_in_shades_of_their_family() -> None:
    (axes,) = weights_figure().axes
    tops = [area.get_datalim(axes.transData).y1 for area in axes.collections]
    np.testing.assert_allclose(tops, np.arange(1, 9) / 8)
    colours = [tuple(area.get_facecolor()[0]) for area in axes.collections]
    assert len(set(colours)) == len(colours)
