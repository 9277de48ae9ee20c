"""The live page in a real browser, before a service that is made of a script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the service needs Starlette")
pytest.importorskip("uvicorn", reason="the service needs uvicorn")

from tests.service.replayed import Replayed, listening, number_point, point
from tests.service.rows import stream
from tests.service.server import Server
from tests.waiting import NEXT_FRAMES
from thalweg.service.page.pages import asset, assets, page

WIDE = {"width": 1280, "height": 900}
CHARTS = [
    "error",
    "rare",
    "cost",
    "families",
    "rate",
    "memory",
    "half_life",
    "waiting",
    "delay",
    "speed",
    "mean0",
    "mean1",
]
COLOURS_OF_EACH = """() => [...document.querySelectorAll("canvas")].map((canvas) => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
})"""

#: The colours of areas that lie on one another, from the bottom, where a chart is cut from top to bottom.
AREAS = """(canvas) => {
    const cut = new OffscreenCanvas(1, canvas.height).getContext("2d");
    cut.drawImage(canvas, Math.round(-0.6 * canvas.width), 0);
    const pixels = [...new Uint32Array(cut.getImageData(0, 0, 1, canvas.height).data.buffer)].reverse();
    const areas = [...new Set(pixels)].filter((own) => own && pixels.filter((each) => each === own).length > 10);
    const hex = (part) => part.toString(16).padStart(2, "0");
    return areas.map((own) => "#" + [0, 8, 16].map((by) => hex((own >> by) & 255)).join(""));
}"""


@pytest.fixture
def service() -> Replayed:
    return Replayed()


@pytest.fixture
def opened(new_context: Callable[..., Any], service: Replayed) -> Iterator[Callable[..., Any]]:
    """Opens the page and, at the end, checks that it was quiet and asked nobody but its service."""
    noise: list[str] = []
    with listening(service.app()) as replayed:
        contexts = []

        def opens(
            path: str = "", viewport: dict[str, int] = WIDE, quiet: bool = True, address: str = replayed, **options: Any
        ) -> Any:
            context = new_context(viewport=viewport, **options)
            contexts.append(context)
            shown = context.new_page()
            if quiet:  # a refusal, such as a 401, is always told in the console
                shown.on("console", lambda message: noise.append(message.text))
            shown.on("pageerror", lambda error: noise.append(str(error)))
            shown.on("request", lambda asked: None if asked.url.startswith(address) else noise.append(asked.url))
            shown.goto(address + path)
            return shown

        yield opens
        for context in contexts:
            context.close()
    assert not noise


def chart(shown: Any, key: str) -> Any:
    return shown.locator(f'[data-chart="{key}"]')


def told(shown: Any, key: str) -> list[str]:
    values: list[str] = chart(shown, key).locator(".u-series:not(.silent) .u-value").all_inner_texts()
    return values


def by_labels(shown: Any) -> None:
    shown.get_by_role("button", name="by labels").click()


@pytest.mark.real
def test_rows_and_labels_of_a_real_service_arrive(start: Callable[..., Server], opened: Any) -> None:
    server = start("--new", "oldc")
    rows, labels = stream(300)
    shown = opened(address=f"http://127.0.0.1:{server.port}/")
    shown.get_by_role("heading", name="No rows yet").wait_for()
    client = server.client()
    ids = [answer["id"] for answer in client.predict(rows[:20])]
    shown.get_by_role("heading", name="No labels yet").wait_for()
    client.label(list(zip(ids, labels, strict=False)))  # these rows had no prediction, and are not scored
    ids += [answer["id"] for answer in client.predict(rows[20:200])]
    client.label(list(zip(ids[20:150], labels[20:], strict=False)))
    chart(shown, "error").locator("canvas").wait_for()
    shown.reload()
    chart(shown, "mean0").locator("canvas").wait_for()
    assert min(shown.evaluate(COLOURS_OF_EACH)) > 20
    by_labels(shown)
    assert told(shown, "error")[0] == "150"
    client.label(list(zip(ids[150:], labels[150:], strict=False)))
    shown.locator('[data-chart="error"] .u-value', has_text="200").wait_for()
    assert "200" in shown.locator(".tiles").inner_text()
    client.post("/v1/models", {"name": "rival", "kind": "auto", "challenger_of": "default"})
    for at in range(200, 300, 20):
        ids = [answer["id"] for answer in client.predict(rows[at : at + 20])]
        client.label(list(zip(ids, labels[at : at + 20], strict=True)))
    shown.reload()
    shown.get_by_role("heading", name="rival challenges default").wait_for()
    assert "over 80 labels" in shown.locator("#challenge").inner_text()
    assert chart(shown, "families").count() == 0
    shown.get_by_text("rival", exact=True).click()
    chart(shown, "families").locator("canvas").wait_for()
    families = shown.locator('[data-chart="families"] .u-label').all_inner_texts()[1:]
    assert families == ["linear", "products", "kernel", "tilings", "trees", "shares"]
    assert chart(shown, "rate").count() == 0  # it has none, and its place is taken


def test_every_chart_is_drawn_and_moves_with_each_point(opened: Any, service: Replayed) -> None:
    service.compared = None
    shown = opened("#flood", color_scheme="dark")
    shown.wait_for_selector("canvas")
    shown.get_by_text("rain", exact=True).click()
    chart(shown, "mean1").locator("canvas").wait_for()
    keys = shown.locator("[data-chart]").evaluate_all("(all) => all.map((each) => each.dataset.chart)")
    assert keys == CHARTS
    assert min(shown.evaluate(COLOURS_OF_EACH)) > 20
    by_labels(shown)
    assert [told(shown, key)[0] for key in CHARTS] == ["14,000"] * len(CHARTS)
    before = shown.evaluate("[...document.querySelectorAll('canvas')].map((each) => each.toDataURL())")
    service.add("rain", 15_000)
    shown.locator('[data-chart="error"] .u-value', has_text="15,000").wait_for()
    assert [told(shown, key)[0] for key in CHARTS] == ["15,000"] * len(CHARTS)
    assert told(shown, "families")[1:] == ["13.6\u00a0%", "10\u00a0%", "76.4\u00a0%"]
    after = shown.evaluate("[...document.querySelectorAll('canvas')].map((each) => each.toDataURL())")
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert shown.get_by_text("15,000").first.is_visible()
    ground = "getComputedStyle(document.body).backgroundColor"
    assert shown.evaluate(ground) == "rgb(20, 24, 29)"
    shown.get_by_role("button", name="Switch between light and dark").click()
    assert shown.evaluate(ground) == "rgb(255, 255, 255)"
    # From the bottom: linear, kernel and tilings, in the report's colours, up to the whole.
    assert chart(shown, "families").locator("canvas").evaluate(AREAS) == ["#0072b2", "#e69f00", "#aa5a8c"]
    assert min(shown.evaluate(COLOURS_OF_EACH)) > 20


def test_numbers_have_a_band_and_charts_of_their_own(opened: Any, service: Replayed) -> None:
    every = range(25, 14_025, 50)
    service.courses = {"price": [number_point(at) for at in every], "rain": [point(at) for at in every]}
    assert service.compared
    service.compared |= {"champion": "price", "challenger": "price-2", "difference": -1.5, "interval": [-3.25, 0.25]}
    shown = opened("", {"width": 390, "height": 800}, is_mobile=True, has_touch=True)
    chart(shown, "predictions").locator("canvas").wait_for()
    by_labels(shown)
    keys = shown.locator("[data-chart]").evaluate_all("(all) => all.map((each) => each.dataset.chart)")
    assert keys == ["error", "predictions", "families", "skill", "coverage", "width", "waiting", "delay", "speed"]
    assert min(shown.evaluate(COLOURS_OF_EACH)) > 20
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    labels = chart(shown, "predictions").locator(".u-label").all_inner_texts()
    assert labels == ["row", "prediction", "lower", "upper", "label"]
    assert re.fullmatch(
        r"Recently off by \d\.\d+ on average; the last value is off by 2\.\d+\.", shown.locator("h1").last.inner_text()
    )
    said = shown.locator("#challenge").inner_text()
    assert "The mean squared error of price-2 is 1.5 above that of price: between −0.25 and 3.25" in said
    service.add("price", 15_000)
    shown.locator('[data-chart="predictions"] .u-value', has_text="15,000").wait_for()
    chart(shown, "error").locator(".plot").focus()
    shown.keyboard.press("+")  # a zoom along labels is none along the last rows
    shown.get_by_role("button", name="Reset zoom").first.wait_for()
    first, last = chart(shown, "predictions").locator(".plot"), told(shown, "predictions")[0]
    first.focus()
    shown.keyboard.press("Home")
    assert (told(shown, "predictions")[0], last) == ("14,921", "15,000")
    shown.get_by_text("rain", exact=True).click()
    chart(shown, "memory").locator("canvas").wait_for()
    assert chart(shown, "predictions").count() == 0


def test_a_challenger_is_shown_with_its_interval(opened: Any) -> None:
    shown = opened()
    challenge = shown.locator("#challenge")
    challenge.get_by_text("rain-auto is better.").wait_for()
    assert "2.1 more mistakes" in challenge.inner_text()
    assert "between 0.4 and 3.8" in challenge.inner_text()
    low, high = challenge.locator(".bar").evaluate(
        "(bar) => { const own = bar.getBoundingClientRect(), zero = bar.parentNode.querySelector('.zero')"
        ".getBoundingClientRect().left; return [own.left - zero, own.right - zero]; }"
    )
    assert 0 < low < high
    shown.get_by_text("flood", exact=True).click()
    challenge.wait_for(state="hidden")


def test_columns_are_ranked_and_those_that_changed_are_told_then_and_now(opened: Any, service: Replayed) -> None:
    shown = opened()
    columns = shown.locator("#columns")
    columns.get_by_text("The effect of column 0 reversed at about label 4,132.").wait_for()
    assert columns.locator(".ranking li").first.inner_text().split("\n") == ["column 0", "0.400"]
    assert columns.locator(".ranking li").nth(1).inner_text().split("\n") == ["column 1", "0.200 ± 0.020"]
    assert not columns.get_by_text("column 9").is_visible()
    columns.get_by_text("3 more columns").click()
    assert columns.get_by_text("column 9").is_visible()
    lines = [row.inner_text().split("\t") for row in columns.locator("tbody tr").all()]
    assert lines == [
        ["level", "mean", "row 6,001", "12.2", "–"],
        ["city", "category Oslo", "row 3,491", "20\u00a0%", "50\u00a0%"],
        ["label", "category wet", "label 7,001", "20\u00a0%", "40\u00a0%"],
    ]
    assert "The newest of each first, in 14,000 predictions and 13,900 labels." in columns.inner_text()
    assert "Not watched: clock." in columns.inner_text()
    accounted = "57 rows like those before were predicted no worse (error 8\u00a0% before, 9\u00a0% after)"
    assert f"At label 6,003 the error rose when column level changed. {accounted}" in columns.inner_text()
    assert "At label 4,125, for a short time, the error rose before any watched column was seen" in columns.inner_text()
    assert "Column city (row 4,300) changed after the rise." in columns.inner_text()


def test_zoom_and_keyboard_are_those_of_the_report(opened: Any, service: Replayed) -> None:
    shown = opened()
    shown.wait_for_selector("canvas")
    by_labels(shown)
    plot = chart(shown, "error").locator(".plot")
    plot.focus()
    shown.keyboard.press("Home")
    assert told(shown, "error")[0] == told(shown, "rate")[0] == "25"
    spoken = chart(shown, "error").locator("[aria-live]")
    assert re.match(r"labels25, rain\d", spoken.inner_text())
    shown.keyboard.press("+")
    resets = shown.get_by_role("button", name="Reset zoom")
    resets.first.wait_for()
    assert resets.count() == len(CHARTS)
    service.add("rain", 15_000)  # a reader's zoom outlives new points
    shown.get_by_text("15,000").first.wait_for()
    assert resets.count() == len(CHARTS)
    plot.focus()
    shown.keyboard.press("Escape")
    resets.first.wait_for(state="hidden")
    shown.locator('[data-chart="rate"] summary').click()
    chart(shown, "rate").locator("details tbody tr").nth(20).wait_for()
    shown.locator('input[value="rain"]').focus()
    shown.keyboard.press("ArrowRight")
    chart(shown, "mean0").wait_for(state="detached")
    assert chart(shown, "families").count() == 0  # a model without families
    assert shown.url.endswith("#flood")


def test_a_lost_connection_is_told_and_taken_up_again(opened: Any, service: Replayed) -> None:
    shown = opened(quiet=False)
    state = shown.get_by_role("status")
    shown.locator('[data-state="live"]').wait_for()
    assert service.resumed == ["14000"]
    service.away = True
    shown.locator('[data-state="lost"]').wait_for()
    assert "trying again" in state.inner_text()
    assert chart(shown, "error").locator("canvas").is_visible()  # what is known stays
    service.add("rain", 16_000)
    service.away = False
    shown.locator('[data-state="live"]').wait_for()
    by_labels(shown)
    shown.evaluate("window.dispatchEvent(new HashChangeEvent('hashchange'))")
    shown.locator('[data-chart="error"] .u-value', has_text="16,000").wait_for()


def test_a_token_is_asked_for_and_kept_for_the_tab(opened: Any, service: Replayed) -> None:
    service.token = "sesame"
    shown = opened(quiet=False)
    field = shown.get_by_label("Bearer token")
    field.wait_for()
    field.fill("wrong")
    field.press("Enter")
    shown.get_by_text("The token was refused").wait_for()
    field.fill("sesame")
    shown.get_by_role("button", name="Open").click()
    shown.wait_for_selector("canvas")
    shown.reload()
    shown.wait_for_selector("canvas")
    assert not field.is_visible()
    assert shown.evaluate("localStorage.length") == 0


def test_what_is_not_there_yet_is_explained(opened: Any, service: Replayed) -> None:
    service.compared, service.courses = None, {}
    shown = opened("#%E0%A4%A")  # and an address that cannot be read does no harm
    shown.get_by_role("heading", name="No model yet").wait_for()
    again = "window.dispatchEvent(new HashChangeEvent('hashchange'))"
    service.courses, service.rows = {"rain": []}, {"rain": 0}
    shown.evaluate(again)
    shown.get_by_role("heading", name="No rows yet").wait_for()
    assert "/v1/predict" in shown.locator("#verdict pre").inner_text()
    service.rows = {"rain": 12}
    shown.evaluate(again)
    shown.get_by_role("heading", name="No labels yet").wait_for()
    assert "12 of 12 predicted rows wait" in shown.locator("#verdict").inner_text()
    service.rows = {}
    service.courses["rain"].append(point(1) | {"rate": None, "half_life": {}, "family_weights": None})
    shown.evaluate(again)
    shown.wait_for_selector("canvas")
    assert "no single learning rate" in chart(shown, "rate").inner_text()
    assert "it has no half-life" in chart(shown, "half_life").inner_text()


def test_what_a_service_tells_is_never_markup(opened: Any, service: Replayed) -> None:
    evil = "<img src=x onerror=alert(1)>"
    service.compared = {**(service.compared or {}), "champion": evil, "challenger": evil}
    service.courses = {"rain": [], evil: []}
    for labels in (10, 20, 30, 40, 50):
        for name in service.courses:
            service.add(name, labels)
            service.courses[name][-1]["memory"] = {evil: 3.0, "dry": 2.0}
            service.courses[name][-1]["means"] = {evil: {evil: 1.0 * labels}}
    shown = opened()
    shown.wait_for_selector("canvas")
    assert shown.locator("img").count() == 0
    assert shown.get_by_text(evil).first.is_visible()


def test_a_phone_needs_no_sideways_scroll(opened: Any, service: Replayed) -> None:
    service.courses |= {f"{'long-name-' * 9}{at}": [] for at in range(9)}
    service.compared = {**(service.compared or {}), "challenger": "rain-" + "long" * 30}
    shown = opened("", {"width": 390, "height": 800}, is_mobile=True, has_touch=True)
    shown.wait_for_selector("canvas")
    for details in shown.locator("details").all():
        details.evaluate("(element) => { element.open = true; }")
    for width in (390, 320):
        shown.set_viewport_size({"width": width, "height": 800})
        shown.evaluate(NEXT_FRAMES)
        assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_everything_the_page_names_can_be_had_and_nothing_else() -> None:
    from starlette.applications import Starlette

    from thalweg.service.page import routes

    html = page().content.decode() + page("tables").content.decode()
    named = set(re.findall(r'(?:href|src)="assets/([^"]+)"', html))
    for name in assets():
        named |= set(re.findall(r'from "\./([^"]+)"', asset(name).content.decode()))
    assert named == set(assets())
    assert "<style" not in html
    assert " style=" not in html
    assert not re.search(r"<script(?![^>]*\bsrc=)", html)
    httpx = pytest.importorskip("httpx", reason="requests are sent by httpx")
    with listening(Starlette(routes=routes())) as address, httpx.Client(base_url=address) as client:
        first = client.get("/")
        assert client.get("/", headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
        for path in ("/assets/nothing", "/assets/..%2fpages.py", "/assets/live.html", "/assets/"):
            assert client.get(path).status_code == 404
