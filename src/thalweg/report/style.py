"""The house style: one look for every figure.

Colours are Okabe and Ito's, distinct for every kind of colour vision; a model keeps its colour, line and
marker in all figures, so that nothing is shown by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from thalweg.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#AA5A8C"
ORANGE, SKY, GREY, INK = "#E69F00", "#56B4E9", "#7A7A7A", "#222222"
OLIVE = "#8A7A00"
#: Colours of figures and of classes, in the order of those of the page (c0, c1 … in page.css).
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY, OLIVE)
#: The place in the palette of a family of committee members, by how their names begin: the same in all reports.
FAMILIES = {
    "O-LDC": 0,
    "linear": 0,
    "least squares": 0,
    "passive-aggressive": 1,
    "logistic": 2,
    "tilings of the rest": 5,
    "tilings": 3,
    "trees": 5,
    "products": 7,
    "kernel": 4,
    "quadratic": 4,
    "perceptron": 6,
    "shares": 6,
    "running mean": 6,
    "persistence": 7,
    "last value": 7,
}


def family(member: str) -> str:
    """The family of a member; of those of other learners, the first word of its name.

    Examples
    --------
    >>> family("O-LDC 0.1"), family("tilings, step 0.5"), family("mine 3")
    ('O-LDC', 'tilings', 'mine')
    """
    return next((name for name in FAMILIES if member.startswith(name)), member.split(" ")[0])


PNG_DOTS_PER_INCH = 160

_SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#888888",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.7,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "thalweg",
}


#: A style of lines of Matplotlib's.
Dashes: TypeAlias = "str | tuple[int, tuple[float, ...]]"


@dataclass(frozen=True)
class Look:
    colour: str
    dashes: Dashes
    marker: str


_LOOKS = {
    "O-LDC": Look(BLUE, "-", "o"),
    "O-LDC, hard": Look(SKY, "-", "h"),
    "Perceptron": Look(VERMILION, (0, (5, 1.6)), "s"),
    "Winnow": Look(GREEN, (0, (4, 1.4, 1, 1.4)), "^"),
    "Hiraoka's LDA": Look(PURPLE, (0, (1.4, 1.1)), "D"),
    "No change": Look(GREY, (0, (2, 2)), "x"),
    "Majority class": Look("#A8A8A8", (0, (1, 2.2)), "+"),
    "window 10": Look(ORANGE, (0, (1.4, 1.1)), "^"),
    "window 20": Look(VERMILION, (0, (5, 1.6)), "s"),
    "window 50": Look(GREEN, (0, (4, 1.4, 1, 1.4)), "D"),
    "window 200": Look(PURPLE, (0, (2, 1)), "v"),
    "window auto": Look(INK, "-", "*"),
    "kernel mean": Look(BLUE, "-", "o"),
    "kernel mean, tuned in fit": Look(SKY, (0, (5, 1.6)), "s"),
    "128 centroids": Look(GREEN, (0, (4, 1.4, 1, 1.4)), "^"),
    "3 memories": Look(INK, (0, (5, 1.6)), "*"),
    "AutoClassifier": Look(PURPLE, (0, (2, 1)), "v"),
    "SVC": Look(VERMILION, (0, (2, 1)), "D"),
    "Bayes error": Look(GREY, (0, (1, 2)), "_"),
    "Learn++.NSE": Look(BLUE, "-", "o"),
    "newest classifier alone": Look(ORANGE, "-", "v"),
    "loop over scikit-learn's members": Look(VERMILION, (0, (5, 1.6)), "s"),
}
_OTHER = Look(ORANGE, "-", "v")
#: What a figure is about, where it is about one model.
MAIN = Look(BLUE, "-", "o")


def look_of(model: str, otherwise: Look = _OTHER) -> Look:
    """The look of a model, by its printed name; unknown names share one.

    Examples
    --------
    >>> look_of("O-LDC").colour
    '#0072B2'
    """
    return _LOOKS.get(model, otherwise)


def require_matplotlib() -> None:
    """Say at once, and clearly, when figures cannot be drawn."""
    MissingExtra.import_module("matplotlib.figure", "plot", "drawing figures")


@contextmanager
def house_style() -> Iterator[None]:
    """Within it, figures are made and written in the house style; the caller's own settings return after."""
    require_matplotlib()
    from matplotlib import rc_context

    with rc_context(_SETTINGS):
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, sizes in inches, outside pyplot: nothing global is opened or left open."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def share_from_zero(axes: Axes, top: float) -> None:
    """A share (error, rate) starts at zero and leaves a little air above its largest value."""
    axes.set_ylim(0.0, max(top * 1.06, 0.01))


def legend_right(figure: Figure, axes: Axes, length: float = 1.6) -> None:
    """A legend beside the panels, of what these axes hold."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", handlelength=length)


def mark_changes(axes: Axes, changes: Sequence[float], colour: str = VERMILION, width: float = 0.9) -> None:
    for change in changes:
        axes.axvline(change, color=colour, linewidth=width, linestyle=(0, (1, 2)), zorder=1)


def legend_below(figure: Figure, columns: int | None = None, **options: Any) -> None:
    """One legend for all panels, below them, each label once; by default in a single line."""
    handles: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns or len(handles), **options
    )


def label(text: str, longest: int = 28) -> str:
    r"""A name from a file, as it stands: in one line, not too long, no mathematics, nothing hidden by an underscore.

    Examples
    --------
    >>> label("_cost in $ " + "y" * 40)
    ' _cost in \\$ yyyyyyyyyyyyyyyy…'
    """
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    return (f" {line}" if line.startswith("_") else line).replace("$", r"\$")


def save(figure: Figure, folder: Path, stem: str) -> list[Path]:
    """Write a figure as PNG and SVG, the same bytes for the same figure; the paths written."""
    paths = [folder / f"{stem}.png", folder / f"{stem}.svg"]
    with house_style():
        figure.savefig(paths[0], dpi=PNG_DOTS_PER_INCH, metadata={"Software": None})
        figure.savefig(paths[1], metadata={"Date": None})
    return paths
