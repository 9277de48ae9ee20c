"""The page for tables in a real browser: a large file, a broken one, a tab that is closed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the service needs Starlette")

from tests.service.server import Server
from tests.service.test_uploads import table

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
LARGE = 50_000_000


@pytest.fixture
def opens(new_context: Callable[..., Any]) -> Callable[..., Any]:
    """Opens the page of a service; what it says in the console is kept in `noise`."""

    def opened(server: Server, viewport: dict[str, int] = WIDE) -> Any:
        shown = new_context(viewport=viewport).new_page()
        shown.noise = []
        shown.on("pageerror", lambda error: shown.noise.append(str(error)))
        shown.on("console", lambda message: shown.noise.append(message.text))
        shown.on("dialog", lambda dialog: dialog.accept())
        shown.goto(f"http://127.0.0.1:{server.port}/tables")
        shown.locator("#drop").wait_for()
        return shown

    return opened


def card(shown: Any, text: str) -> Any:
    """The first table on the page, once it says this."""
    first = shown.locator(".table").first
    first.get_by_text(text).first.wait_for()
    return first


def write_large(file: Path) -> int:
    """Rows with a long note that says nothing, until the file is large; the number of rows."""
    with file.open("wb") as rows:
        head, *lines = table(60_000).splitlines(keepends=True)
        note = b"x" * (LARGE // len(lines))
        rows.write(b"note," + head)
        rows.writelines(b"%s%d,%s" % (note, at, line) for at, line in enumerate(lines))
    return len(lines)


@pytest.mark.real
def test_a_large_table_a_closed_tab_and_a_live_model(
    start: Callable[..., Server], opens: Callable[..., Any], tmp_path: Path
) -> None:
    server = start("--new", "oldc", "--uploads", "60MB")
    large = tmp_path / "large.csv"
    rows = write_large(large)
    assert large.stat().st_size > LARGE
    shown = opens(server)
    shown.route("**/content?offset=2*", lambda route: route.abort())  # the connection is lost in the middle
    shown.set_input_files("#file", large)
    shown.get_by_text("connection lost").wait_for()
    assert not [text for text in shown.noise if "ERR_FAILED" not in text]
    shown.close(run_before_unload=False)

    shown = opens(server)
    again = card(shown, "The upload was interrupted.")
    again.locator("input[type=file]").set_input_files(large)
    again.get_by_role("button", name="Run", exact=True).wait_for()
    assert again.get_by_label("Column to predict").input_value() == "side"
    again.get_by_text("Leave columns out").click()
    again.get_by_label("note", exact=True).check()
    again.get_by_role("button", name="Run", exact=True).click()
    again.locator("canvas").wait_for()
    assert not shown.noise
    shown.close()  # the run goes on

    shown = opens(server, PHONE)
    done = card(shown, "Read the report")
    assert f"{rows:,} rows, predicting side" in done.inner_text()
    assert "Better than" in done.locator(".headline").inner_text()
    with shown.context.expect_page() as opened:
        done.get_by_text("Read the report").click()
    report = opened.value
    report.locator("canvas").first.wait_for()  # its charts are drawn by its own script
    assert "Better than" in report.locator("h1").inner_text()
    done.get_by_label("Name of the live model").fill("sides")
    done.get_by_role("button", name="Keep as a live model").click()
    done.get_by_text("It predicts and learns as sides").wait_for()
    [answer] = server.client().predict([{"x": 1, "y": 80}], model="sides")
    assert answer["prediction"] == "right"
    width = shown.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
    done.get_by_role("button", name="Discard").click()
    shown.locator(".table").wait_for(state="detached")
    assert not shown.noise
    assert server.data is not None
    assert not list((server.data / "uploads").iterdir())


@pytest.mark.real
def test_a_broken_file_is_refused_in_a_sentence(
    start: Callable[..., Server], opens: Callable[..., Any], tmp_path: Path
) -> None:
    server = start("--new", "oldc", "--uploads", "1MB")
    shown = opens(server)
    broken, large = tmp_path / "picture.csv", tmp_path / "large.csv"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(5000))
    large.write_bytes(bytes(2_000_000))
    shown.set_input_files("#file", large)
    shown.get_by_text("large.csv has 2 MB: a table may have 1 MB here").wait_for()
    shown.set_input_files("#file", broken)
    failed = card(shown, "picture.csv")
    failed.locator(".wrong").wait_for()
    assert "Traceback" not in failed.inner_text()
    assert failed.get_by_role("button", name="Run").count() == 0
    assert not shown.noise
