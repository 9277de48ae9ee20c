"""Whether probabilities mean what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(confidence: ArrayLike, accuracy: ArrayLike, *, title: str) -> Figure:
    """The share of right answers against the probability they were given with.

    Parameters
    ----------
    confidence, accuracy : array
        Mean probability of the answers in each bin, and the share of them that was right.
    title : str
        What was run.
    """
    with style.house_style():
        figure = style.new_figure(4.6, 4.8)
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=style.GREY, linestyle=(0, (2, 2)), label="as right as it says")
        axes.plot(confidence, accuracy, color=style.MAIN.colour, marker=style.MAIN.marker, label="measured")
        axes.set_title(title)
        axes.set(
            xlabel="probability of the answer", ylabel="share of right answers", xlim=(0, 1), ylim=(0, 1), aspect=1
        )
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure
