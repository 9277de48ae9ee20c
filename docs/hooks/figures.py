"""Draws `docs/figures/<name>.py` into `figures/<name>.svg`, and a dark twin that the reader's theme chooses.

A script has one function, ``draw() -> Figure``. Figures are drawn in the house style on a transparent ground; the dark
twin is the same drawing with its inks exchanged. Where there is a `<name>_phone.py`, narrow screens show that instead.
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from kept import folder_of
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCRIPTS = Path(__file__).parents[1] / "figures"

#: Ink of the house style on white, and its counterpart on the dark ground.
IN_THE_DARK = {
    style.INK: "#E4E6EB",
    "#000000": "#E4E6EB",
    "#555555": "#B4B8C2",
    "#888888": "#7D828F",
    "#E3E3E3": "#3B3F4C",
    "#FFFFFF": "#1E2129",
    style.GREY: "#9AA0AC",
    "#A8A8A8": "#7F8490",
    style.BLUE: "#4BA3E3",
    style.VERMILION: "#F0803C",
    style.GREEN: "#2FC79A",
    style.PURPLE: "#D28BB8",
}
INKS = re.compile("|".join(IN_THE_DARK), re.IGNORECASE)
PAGE = re.compile(r'"([\w/-]+\.md)"')
NARROW = "(max-width: 600px)"
IMAGE = re.compile(r'<img alt="(?P<alt>[^"]*)" src="(?P<path>[^"]*figures/\w+)\.svg"(?P<rest>[^>]*)/>')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Every script becomes two files of the site."""
    for script in sorted(SCRIPTS.glob("[!_]*.py")):
        drawn = folder_of(f"figures/{script.stem}", recipe_of(script), partial(draw, script))
        for path in sorted(drawn.glob("*.svg")):
            files.append(File.generated(config, f"figures/{path.name}", abs_src_path=str(path)))
    return files


def recipe_of(script: Path) -> list[Path]:
    """What a figure depends on, besides the package: its script, the code they share, and the pages it names."""
    pages = [SCRIPTS.parent / page for page in PAGE.findall(script.read_text(encoding="utf-8"))]
    return [script, *SCRIPTS.glob("_*.py"), *pages, Path(__file__)]


def draw(script: Path, folder: Path) -> None:
    """Run one script and write what it draws, light and dark."""
    with inks(), neighbours_importable(script):
        write(runpy.run_path(str(script))["draw"](), folder, script.stem)


@contextmanager
def inks() -> Iterator[None]:
    """Within it, figures are made and written in the inks of the house style, all of which have a dark counterpart."""
    from matplotlib import rc_context

    with style.house_style(), rc_context({"text.color": style.INK}):
        yield


def write(figure: Figure, folder: Path, stem: str) -> None:
    """A figure as two drawings on a transparent ground."""
    drawing = StringIO()
    figure.savefig(drawing, format="svg", metadata={"Date": None}, transparent=True)
    write_twins(drawing.getvalue(), folder, stem)


def write_twins(drawing: str, folder: Path, stem: str) -> None:
    """A drawing in the inks of the house style, for light and for dark ground."""
    dark = INKS.sub(lambda ink: IN_THE_DARK[ink[0].upper()], drawing)
    (folder / f"{stem}.svg").write_text(drawing, encoding="utf-8")
    (folder / f"{stem}-dark.svg").write_text(dark, encoding="utf-8")


@contextmanager
def neighbours_importable(script: Path) -> Iterator[None]:
    """A script may import the drawing code that it shares with its neighbours."""
    sys.path.insert(0, str(script.parent))
    try:
        yield
    finally:
        sys.path.remove(str(script.parent))


def on_page_content(html: str, **_: object) -> str:
    """Beside each figure its dark twin; the theme shows one of them."""
    return IMAGE.sub(_pair, html)


def _pair(image: re.Match[str]) -> str:
    alt, path, rest = image["alt"], image["path"], image["rest"]
    has_narrow = (SCRIPTS / f"{Path(path).name}_phone.py").exists()
    pair = ""
    for twin, ground in (("", "light"), ("-dark", "dark")):
        shown = f'<img alt="{alt}" src="{path}{twin}.svg#only-{ground}" loading="lazy"{rest}/>'
        if has_narrow:
            shown = f'<picture><source media="{NARROW}" srcset="{path}_phone{twin}.svg"/>{shown}</picture>'
        pair += shown
    return pair
