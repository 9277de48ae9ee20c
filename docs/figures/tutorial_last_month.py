"""Wrong predictions by week: a model fitted in March, one that follows, and the last label again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from _pages import names_of

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "tutorials/my-model-was-right-last-month.md"
LOOKS = {
    "same as the last": (style.GREY, (0, (2, 2))),
    "fitted in March": (style.VERMILION, (0, (5, 1.6))),
    "thalweg": (style.BLUE, "-"),
}


def draw() -> Figure:
    """The shares that the page's table sums up by month."""
    weekly = names_of(PAGE, "wrong")["wrong"].resample("7D").mean().iloc[:-1]  # the last week is not a whole one
    figure = style.new_figure(7.2, 3.2)
    axes = figure.subplots()
    for name, (colour, dashes) in LOOKS.items():
        axes.plot(weekly.index + pd.Timedelta(days=3.5), weekly[name], color=colour, linestyle=dashes, label=name)
    axes.axvspan(pd.Timestamp("2026-03-01"), pd.Timestamp("2026-04-01"), color=style.GREY, alpha=0.12, linewidth=0)
    axes.text(pd.Timestamp("2026-03-16"), 0.02, "the month it was fitted in", color=style.GREY, ha="center")
    months = pd.date_range("2026-03-01", "2026-06-01", freq="MS")
    axes.set(ylim=(0, 0.62), ylabel="share of wrong predictions, by week", xlim=(months[0], months[-1]))
    axes.set_xticks(months, [month.strftime("%-d %B") for month in months])
    figure.legend(loc="outside lower center", ncols=len(LOOKS), handlelength=2.6)
    return figure
