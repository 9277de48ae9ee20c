from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from tests.sample_figures import (
    BASELINES,
    FIGURES,
    MODELS,
    TIMED,
    WITHOUT_CURVES,
    block_times_figure,
    boards_figure,
    boundary_figure,
    contour_figure,
    course_figure,
    plane_figure,
    rate_figure,
    scatter_figure,
    weights_figure,
)

from thalweg.errors import MissingExtra
from thalweg.papers.wusnell2016 import figures
from thalweg.report import style
from thalweg.report.comparison_figures import draw_mean_ranks


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


@pytest.mark.quick(3)
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


@pytest.mark.quick(5)
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


@pytest.mark.slow
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


def test_bars_join_what_the_critical_difference_cannot_tell_apart() -> None:
    figure = draw_mean_ranks({"c": 3.5, "a": 1.0, "b": 2.0, "d": 3.5}, 1.6, title="Ranks")
    (axes,) = figure.axes
    bars = [line.get_xdata() for line in axes.lines if line.get_linewidth() == 3.4]
    np.testing.assert_allclose(bars, [[0.94, 2.06], [1.94, 3.56]])
    texts = [text.get_text() for text in axes.texts]
    assert texts[-4:] == ["a  1.0", "b  2.0", "3.5  c", "3.5  d"]


def test_a_band_is_the_mean_and_its_quantiles_and_leaves_out_a_tenth_on_either_side() -> None:
    runs = np.random.default_rng(2).permuted(np.add.outer(np.arange(101.0), [0.0, 5.0, 9.0]), axis=0)
    (band,) = figures.bands({"runs": runs})
    np.testing.assert_allclose([*band.band, band.y], np.add.outer([10.0, 90.0, 50.0], [0.0, 5.0, 9.0]))
    (axes,) = figures.draw_bands([figures.band_panel("", "", [band])], title="Runs").axes
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), band.y)
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
