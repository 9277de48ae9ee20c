"""The page in a real browser: nothing wrong in the console, nothing asked from outside, charts that answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.sample_metrics import sample_metrics
from tests.sample_number_metrics import sample_number_metrics
from tests.waiting import NEXT_FRAMES

from thalweg.report.page import build

WIDE = {"width": 1280, "height": 900}
POINTS = 60
SVG = "{http://www.w3.org/2000/svg}"
TIME_CHARTS = ("error", "rate", "memory", "members", "mean0", "mean1")


@pytest.fixture
def opened(new_context: Callable[..., Any], tmp_path: Path) -> Iterator[Any]:
    """Opens a page and, at the end, checks that it was quiet."""
    contexts, noise = [], []

    def opens(shown: dict[str, Any] | Path, viewport: dict[str, int] = WIDE, **options: Any) -> Any:
        """The page of some metrics, or one that was written already."""
        path = shown if isinstance(shown, Path) else tmp_path / f"page {len(contexts)}.html"
        if isinstance(shown, dict):
            path.write_text(build(shown), encoding="utf-8")
        context = new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: noise.append(request.url) if not _is_own(request.url, path) else None)
        page.goto(path.as_uri())
        page.wait_for_selector("canvas")
        return page

    yield opens
    for context in contexts:
        context.close()
    assert not noise


def _is_own(url: str, path: Path) -> bool:
    return url == path.as_uri() or url.startswith(("data:", "blob:"))


def chart(page: Any, key: str) -> Any:
    return page.locator(f'[data-chart="{key}"]')


def told(page: Any, key: str) -> list[str]:
    """The legend's values: the row first."""
    values: list[str] = chart(page, key).locator(".u-value").all_inner_texts()
    return values


def row(page: Any, key: str = "error") -> int:
    return int(told(page, key)[0].replace(",", ""))


def zoomed(page: Any) -> list[bool]:
    return [chart(page, key).locator("[data-reset]").is_visible() for key in TIME_CHARTS]


COLOURS_OF_EACH = """() => [...document.querySelectorAll("canvas")].map((canvas) => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
})"""


@pytest.mark.real
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_charts_are_drawn(opened: Any, scheme: str) -> None:
    page = opened(sample_metrics(POINTS), color_scheme=scheme)
    colours = page.evaluate(COLOURS_OF_EACH)
    assert len(colours) == len(TIME_CHARTS) + 1
    assert min(colours) > 20
    assert told(page, "error")[0] == "6,000"  # without a cursor, the last point


def _check_members(page: Any) -> None:
    """Kinds and members are other lines: each view has its own names, and shares that add up."""
    shown = chart(page, "members")
    for view in (*range(shown.locator("[data-view]").count()), 0):
        shown.locator(f'[data-view="{view}"]').click()
        page.evaluate(NEXT_FRAMES)
        names = shown.locator(".u-label").all_inner_texts()[1:]
        shares = [float(each.replace("\u00a0", " ").removesuffix(" %")) for each in told(page, "members")[1:]]
        assert names == ["linear", "kernel", "tilings"] if view == 0 else len(names) > 3
        assert sum(shares) == pytest.approx(100, abs=0.5)


def test_the_report_of_every_model_is_drawn(opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real runs: what a model tells of itself while it learns must be what the page can draw."""
    pytest.importorskip("pyarrow", reason="runs read files by pyarrow")
    from thalweg import cli
    from thalweg.catalogue import MODELS
    from thalweg.streams import SEA

    monkeypatch.chdir(tmp_path)
    X, y = SEA(seed=1).take(600)
    lines = [f"{a!r},{b!r},{c!r},{'wet' if label else 'dry'}" for (a, b, c), label in zip(X.tolist(), y, strict=True)]
    Path("rows.csv").write_text("\n".join(["a,b,c,state", *lines]) + "\n")
    drawn = {}
    for name in MODELS["classification"]:
        with pytest.raises(SystemExit, match="0"):
            cli.main(["run", "rows.csv", "--target", "state", "--model", name, "--out", name, "--json"])
        page = opened(tmp_path / name / "report.html")
        keys = page.locator("[data-chart]").evaluate_all("(figures) => figures.map((each) => each.dataset.chart)")
        colours = page.evaluate(COLOURS_OF_EACH)
        assert len(colours) == len(keys), name
        assert min(colours) > 20, name
        drawn[name] = keys
        if name == "auto":
            _check_members(page)
    assert {name for name, keys in drawn.items() if "memory" in keys} == {"auto", "auto-linear", "oldc"}
    assert {name for name, keys in drawn.items() if "mean0" in keys} == {
        "auto",
        "auto-linear",
        "oldc",
        "trend",
        "hiraoka",
    }
    assert {name for name, keys in drawn.items() if "members" in keys} == {"auto", "auto-linear"}


def test_the_report_of_numbers_is_drawn_and_its_last_rows_keep_their_own_axis(opened: Any) -> None:
    """On a phone, in the dark: the band has a colour of its own, and zooming elsewhere leaves the last rows alone."""
    phone = {"is_mobile": True, "has_touch": True, "color_scheme": "dark"}
    page = opened(sample_number_metrics(), {"width": 390, "height": 800}, **phone)
    keys = ("error", "last", "course", "residuals", "coverage", "members")
    colours = page.evaluate(COLOURS_OF_EACH)
    assert len(colours) == len(keys) + 1  # and the rate
    assert min(colours) > 20
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert [row(page, key) for key in ("error", "last", "course")] == [3000, 3000, 3000 // 8 * 8]
    chart(page, "error").locator(".plot").focus()
    page.keyboard.press("+")
    resets = [chart(page, key).locator("[data-reset]").is_visible() for key in keys]
    assert resets == [True, False, True, True, True, True]


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_needs_no_sideways_scroll(opened: Any, width: int) -> None:
    long = {
        "labels": [f"{'very-long-label' * 6} {at}" for at in range(12)],
        "source": "folder/" * 30,
        "column": "c" * 200,
    }
    page = opened(sample_metrics(POINTS, long), {"width": width, "height": 800}, is_mobile=True, has_touch=True)
    for details in page.locator("details").all():
        details.evaluate("(element) => { element.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.body.scrollWidth") <= width


@pytest.mark.parametrize(
    ("seconds", "ticks"), [(864, ["2024-01-08", "2024-02-19"]), (7, ["03:00", "06:00"]), (86400, ["2025", "2030"])]
)
def test_times_are_on_the_axis_and_in_the_legend(opened: Any, tmp_path: Path, seconds: int, ticks: list[str]) -> None:
    rows = [1, 3000, 6000]
    times = [1_704_067_200 + seconds * (row - 1) for row in rows]
    given = {"column": "when", "kind": "time", "labels": rows, "rows": rows, "times": times}
    page = opened(sample_metrics(POINTS) | {"times": given}, {"width": 390, "height": 800})
    last = str(datetime.fromtimestamp(times[-1], UTC))[: 10 if seconds == 86400 else 16]
    assert told(page, "error")[0] == f"{last}, row 6,000"
    drawing = ElementTree.fromstring(saved(page, "error", "svg", tmp_path))
    names = [each.text for each in drawing.iter(f"{SVG}text")]
    assert set(ticks) <= set(names), names
    wide = page.locator("#changes .scroll")
    assert wide.get_attribute("data-cut") is not None
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate(NEXT_FRAMES)
    assert wide.get_attribute("data-cut") is None


def test_the_hint_is_for_the_pointer_in_hand(opened: Any) -> None:
    by_mouse, by_touch = "Drag across a chart", "Slide a finger along a chart"
    phone = {"is_mobile": True, "has_touch": True}
    for options, told, other in (({}, by_mouse, by_touch), (phone, by_touch, by_mouse)):
        page = opened(sample_metrics(POINTS), **options)
        assert page.get_by_text(told).is_visible()
        assert not page.get_by_text(other).is_visible()


def test_a_page_of_ten_thousand_columns_stays_usable(opened: Any) -> None:
    metrics = sample_metrics(POINTS)
    metrics["columns"] = [[f"column {place}", "number", "as it is"] for place in range(10_000)]
    page = opened(metrics)
    assert page.evaluate("document.documentElement.scrollHeight") < 10_000
    page.get_by_text("All 10,000 columns").click()
    assert page.evaluate("document.documentElement.scrollHeight") < 10_000
    page.get_by_text("column 9999").scroll_into_view_if_needed()
    assert page.get_by_text("column 9999").is_visible()


def test_charts_follow_the_cursor_and_zoom_together(opened: Any) -> None:
    page = opened(sample_metrics(POINTS))
    over = chart(page, "error").locator(".u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    assert 2900 <= row(page) <= 3200
    assert row(page, "rate") == row(page)

    page.mouse.move(box["x"] + 0.25 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], middle, steps=4)
    page.mouse.up()
    page.evaluate(NEXT_FRAMES)
    assert zoomed(page) == [True] * len(TIME_CHARTS)
    page.mouse.move(box["x"] + 1, middle)
    assert 1500 <= row(page) <= 1700
    assert row(page, "memory") == row(page)

    page.mouse.dblclick(box["x"] + 20, middle)
    page.evaluate(NEXT_FRAMES)
    assert zoomed(page) == [False] * len(TIME_CHARTS)
    page.mouse.move(box["x"] + 1, middle)
    assert row(page) == 100


def test_a_moment_of_change_tells_itself(opened: Any) -> None:
    metrics = sample_metrics(POINTS)
    page = opened(metrics)
    over = chart(page, "error").locator(".u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    share = (metrics["changes"][0]["row"] - 100) / (100 * POINTS - 100)
    page.mouse.move(box["x"] + share * box["width"] + 1, box["y"] + 40)
    tip = chart(page, "error").locator(".tip")
    assert tip.inner_text().replace("\u00a0", " ") == "1: row 2,100, error 10.0 % → 30.0 % → 20.0 %"
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 40)
    assert not tip.is_visible()


def test_the_keyboard_suffices(opened: Any) -> None:
    page = opened(sample_metrics(POINTS))
    chart(page, "error").locator(".plot").focus()
    page.keyboard.press("ArrowLeft")
    assert row(page) == 5900
    page.keyboard.press("Home")
    assert row(page) == 100
    assert "100" in chart(page, "error").locator("[data-spoken]").inner_text()
    page.keyboard.press("+")
    page.evaluate(NEXT_FRAMES)
    assert all(zoomed(page))
    page.keyboard.press("Escape")
    page.evaluate(NEXT_FRAMES)
    assert not any(zoomed(page))


def test_views_switch_and_the_theme_turns(opened: Any) -> None:
    metrics = sample_metrics(POINTS)
    page = opened(metrics, color_scheme="light")
    fading = chart(page, "error").locator('[data-view="1"]')
    fading.click()
    page.evaluate(NEXT_FRAMES)
    last = metrics["curve"]["fading"]["error"]["model"][-1]
    assert told(page, "error")[1].replace("\u00a0", " ") == f"{100 * round(last, 4):.1f}".rstrip("0").rstrip(".") + " %"
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ground
    assert fading.get_attribute("aria-pressed") == "true"
    assert min(page.evaluate(COLOURS_OF_EACH)) > 20


def test_paper_is_light_and_has_nothing_to_click(opened: Any) -> None:
    page = opened(sample_metrics(POINTS), color_scheme="dark")
    width = "() => document.querySelector('canvas').clientWidth"
    ground = "() => getComputedStyle(document.body).backgroundColor"
    dark, wide = page.evaluate(ground), page.evaluate(width)
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ground) == "rgb(255, 255, 255)" != dark
    assert page.evaluate(width) <= 700 < wide
    assert not page.locator(".views").first.is_visible()
    assert not page.locator("#theme").is_visible()
    page.emulate_media(media="screen", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert (page.evaluate(ground), page.evaluate(width)) == (dark, wide)
    assert page.locator("html").get_attribute("data-theme") is None


def saved(page: Any, key: str, kind: str, folder: Path) -> bytes:
    with page.expect_download() as download:
        chart(page, key).locator(f"[data-{kind}]").click()
    assert download.value.suggested_filename == f"thalweg-{key}.{kind}"
    path = folder / f"saved.{kind}"
    download.value.save_as(path)
    return path.read_bytes()


@pytest.mark.parametrize("key", ["error", "members", "mean0", "calibration"])
def test_a_chart_is_saved_as_a_picture(opened: Any, tmp_path: Path, key: str) -> None:
    page = opened(sample_metrics(POINTS))
    picture = saved(page, key, "png", tmp_path)
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5000
    drawing = ElementTree.fromstring(saved(page, key, "svg", tmp_path))
    assert drawing.tag == f"{SVG}svg"
    titles = {"error": "Error over time", "members": "Weight of each member", "mean0": "level"}
    assert drawing.findtext(f"{SVG}title") == titles.get(key, "Calibration")
    words = [text.text for text in drawing.iter(f"{SVG}text")]
    legend = chart(page, key).locator(".u-label").all_inner_texts()[1:]  # without the row's
    assert words[-len(legend) :] == legend
    paths = [path.get("d", "") for path in drawing.iter(f"{SVG}path")]
    assert len(paths) == len(legend) + (key == "calibration")  # and the dotted line of that
    assert all(re.fullmatch(r"M[-\d. MLVHZ]+", path) for path in paths)
    if key == "error":
        assert {path.count("L") for path in paths} == {POINTS - 1}
        assert words.count("1") == words.count("2") == 1  # the moments of change
        height = float(drawing.find(f"{SVG}clipPath/{SVG}rect").get("height"))
        heights = [float(point.split()[1]) for point in re.split("[ML]", paths[0])[1:]]
        assert 0 <= min(heights) < max(heights) < height


def test_a_drawing_shows_what_is_zoomed_to_and_any_name(opened: Any, tmp_path: Path) -> None:
    name = "</text><script>&\u00e4"
    page = opened(sample_metrics(POINTS, {"title": name}))
    whole = saved(page, "error", "svg", tmp_path)
    chart(page, "error").locator(".plot").focus()
    page.keyboard.press("+")
    page.evaluate(NEXT_FRAMES)
    drawing = saved(page, "error", "svg", tmp_path)
    assert drawing != whole
    assert name in [text.text for text in ElementTree.fromstring(drawing).iter(f"{SVG}text")]
