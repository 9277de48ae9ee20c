"""The page whose learners run in the browser: they predict as the package does, and controls do what they say."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thalweg import AutoClassifier, NoChange, WindowForest
from thalweg.streams import RotatingCheckerboard, WanderingDisc

# One group: another worker would compile the kernels, too.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]

DOCS = Path(__file__).parents[2] / "docs"
ROWS, FROZEN_AFTER = 1500, 1000
MOST_BYTES = 1_000_000
LEARNERS = (AutoClassifier, WindowForest, NoChange)
IN_THE_BROWSER = """([X, y, delay, frozenAfter, points]) => LEARNERS.map((name) => {
  const learner = new Learner(demonstration.kernels, name, name === "WindowForest" ? frozenAfter : Infinity);
  const predicted = X.map((x, i) => Math.max(learner.take(x, y[i], delay), 0));
  const probabilities = points.map((x) => learner.probability(x));
  learner.discard();
  return [name, predicted, probabilities];
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page and its scripts, as the site has them, without the site around it."""
    pytest.importorskip("ziglang", reason="compiling to WebAssembly needs ziglang: pip install 'thalweg[docs]'")
    pytest.importorskip("mkdocs", reason="the build needs the docs extra")
    sys.path.insert(0, str(DOCS / "hooks"))
    try:
        kernels = importlib.import_module("demonstration").compiled()
    finally:
        sys.path.remove(str(DOCS / "hooks"))
    own = tmp_path_factory.mktemp("demonstration")
    shutil.copytree(DOCS / "demonstration", own / "demonstration")
    shutil.copy(kernels / "kernels.js", own / "demonstration")
    page = (DOCS / "watch.md").read_text(encoding="utf-8")
    html = page[page.index("<link") : page.rindex("</script>")] + "</script>"
    own.joinpath("watch.html").write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Watch</title><body>{html}</body></html>',
        encoding="utf-8",
    )
    return own


@pytest.fixture
def opened(new_context: Callable[..., Any], folder: Path) -> Iterator[Callable[..., Any]]:
    """Opens the page from its folder, without a server, and at the end checks that it was quiet."""
    contexts, noise = [], []

    def opens(motion: str = "no-preference", **options: Any) -> Any:
        contexts.append(new_context(reduced_motion=motion, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda asked: noise.append(asked.url) if not asked.url.startswith("file:") else None)
        page.goto((folder / "watch.html").as_uri())
        page.wait_for_function("demonstration")
        return page

    yield opens
    for context in contexts:
        context.close()
    assert not noise


@pytest.mark.real
@pytest.mark.parametrize("delay", [0, 50])
def test_the_learners_predict_as_those_of_the_package(opened, delay):
    X, y = WanderingDisc(seed=3, features=2).take(ROWS)
    ticks = np.linspace(-2, 2, 20)
    points = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    found = opened("reduce").evaluate(IN_THE_BROWSER, [X.tolist(), y.tolist(), delay, FROZEN_AFTER, points.tolist()])
    for learner, (name, predicted, probabilities) in zip(LEARNERS, found, strict=True):
        assert name == learner.__name__
        model, learned = learner(), FROZEN_AFTER if learner is WindowForest else ROWS
        order = [step for i in range(ROWS) for step in ((i, ~(i - delay)) if 0 <= i - delay < learned else (i,))]
        assert predicted == model.follow(X, y, order)[0].tolist()
        # Trees work in single precision, and other processors round elsewhere.
        np.testing.assert_allclose(probabilities, model.predict_proba(points)[:, 1], atol=1e-6)


def test_all_of_it_is_small(folder):
    fetched = [path for path in folder.rglob("*") if path.suffix in {".html", ".js", ".css"}]
    assert sum(path.stat().st_size for path in fetched) < MOST_BYTES


@pytest.mark.parametrize(
    ("name", "stream"),
    [("WanderingDisc", WanderingDisc(features=2)), ("RotatingCheckerboard", RotatingCheckerboard(length=6001))],
)
def test_the_streams_have_the_labels_of_the_package(opened, name, stream):
    X = np.random.default_rng(0).uniform(-2, 2, size=(2000, 2))
    times = np.arange(2000) * 7 % 6000
    labels = "([name, X, times]) => (stream => X.map((x, i) => stream.label(x, times[i] / 6000)))(new (eval(name))())"
    found = opened("reduce").evaluate(labels, [name, X.tolist(), times.tolist()])
    assert found == stream.label_at(times, X).tolist()


def test_it_plays_pauses_and_starts_over(opened):
    page = opened()
    page.wait_for_function("demonstration.rows > 20 && demonstration.frames > 5")
    page.get_by_role("button", name="Pause").click()
    paused = page.evaluate("demonstration.rows")
    page.get_by_role("button", name="100 rows").click()
    assert page.evaluate("demonstration.rows") == paused + 100
    assert page.locator("[data-show=rows]").inner_text() == str(paused + 100)
    mistakes = "demonstration.step(300), demonstration.mistakes.map(({ all }) => all)"
    first = page.evaluate(f"demonstration.reset(), {mistakes}")
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate("demonstration.rows") == 0
    assert page.evaluate(mistakes) == first
    assert first[0] < first[2]


def test_who_asked_for_less_motion_starts_it_by_hand(opened):
    page = opened("reduce")
    assert not page.evaluate("demonstration.playing")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("demonstration.rows > 0 && demonstration.frames > 0")


def test_the_default_follows_and_the_frozen_forest_does_not(opened):
    page = opened("reduce")
    page.evaluate("demonstration.step(4000)")
    default, frozen, last = page.evaluate("[0, 1, 2].map((model) => demonstration.error(model))")
    assert default < 0.15 < 0.3 < min(frozen, last)
    assert page.evaluate("demonstration.frozenAt") == FROZEN_AFTER


def test_controls_change_noise_delay_and_speed(opened):
    page = opened("reduce")
    for name, keys, value in (("noise", "End", 0.3), ("delay", "End", 500), ("speed", "Home", None)):
        page.locator(f"[name={name}]").press(keys)
        if value is not None:
            assert page.evaluate(f"demonstration.{name}") == value
    page.evaluate("demonstration.step(600)")
    assert page.evaluate("demonstration.turn") == 0
    assert page.evaluate("demonstration.learners.map(({ learned }) => learned)") == [100, 100, 100]


def test_a_stream_is_painted(opened):
    page = opened("reduce")
    page.get_by_label("Paint your own").check()
    assert page.locator("[name=speed]").is_disabled()
    labels = "[0.1, 0.5, 0.9].map((x1) => demonstration.stream.label([x1, 0.5]))"
    assert page.evaluate(labels) == [1, 0, 1]
    canvas = page.locator(".panels canvas").first
    for key in ("ArrowUp", "ArrowDown", "Space"):
        canvas.press(key)
    assert page.evaluate(labels) == [1, 1, 1]
    page.get_by_label("Blue").check()
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.up()
    assert page.evaluate(labels) == [0, 0, 0]
