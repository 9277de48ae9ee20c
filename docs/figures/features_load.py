"""What two features from earlier rows did to the error of a linear model of hourly load."""

from __future__ import annotations

from contextlib import chdir
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from _pages import names_of

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "guides/features.md"
LOOKS = [(style.VERMILION, (0, (5, 1.6))), (style.BLUE, "-")]


def draw() -> Figure:
    """The page's errors, over the last week at each hour."""
    with TemporaryDirectory() as folder, chdir(folder):  # the page writes its tables
        errors = names_of(PAGE, "errors")["errors"]
    figure = style.new_figure(7.2, 3.2)
    axes = figure.subplots()
    for (name, values), (colour, dashes) in zip(errors.items(), LOOKS, strict=True):
        axes.plot(values.index / 24, values, color=colour, linestyle=dashes, label=name)
    axes.set(xlabel="days", ylabel="mean absolute error over a week", xlim=(0, len(values) / 24), ylim=(0, None))
    figure.legend(loc="outside lower center", ncols=2, handlelength=2.6)
    return figure
