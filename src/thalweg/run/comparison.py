"""Which of several runs over the same rows is the best, in words and over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thalweg.report.page.formats import per_hundred, percent, plain, short
from thalweg.run.compare import DataSet, Pair
from thalweg.run_metrics import loss_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def verdict(data: DataSet, pairs: Sequence[Pair]) -> str:
    """The best run beside the second best, over the rows that both scored; before it, a baseline that is better.

    Where all runs are about the same rare label, its cost decides, or without costs the area under precision and
    recall: a model that never predicts such a label makes few mistakes.
    """
    kind = next((each for each in ("cost", "pr_auc") if all(each in (pair.rare or {}) for pair in pairs)), None)
    if kind is None:
        kind = loss_of(next(iter(data.runs.values())).metrics).name
    most = kind == "pr_auc"
    best, second = sorted(data.runs, key=lambda name: data.runs[name].score(kind), reverse=most)[:2]
    return better_baseline(data, kind) + _beside_second(pairs, kind, best, second)


def better_baseline(data: DataSet, kind: str | None = None) -> str:
    """The beginning of a sentence where a baseline has a better score than the best run, by its error; empty else."""
    kind = kind or loss_of(next(iter(data.runs.values())).metrics).name
    has, sign = _BEST[kind], -1.0 if kind == "pr_auc" else 1.0
    best = min(data.runs.values(), key=lambda run: sign * run.score(kind))
    name, score = min(best.baselines(kind).items(), key=lambda each: sign * each[1])
    if sign * score >= sign * best.score(kind):
        return ""
    said = f"{has.written(score)} against {has.written(best.score(kind))}"
    return f"No run is better than {name}, a baseline: {has.score} {said}. Of the runs, "


def _beside_second(pairs: Sequence[Pair], kind: str, best: str, second: str) -> str:
    has, most = _BEST[kind], kind == "pr_auc"
    (pair,) = (each for each in pairs if {each.first, each.second} == {best, second})
    spread = {**(pair.errors or {}), **(pair.rare or {})}.get(kind)
    if spread is None:
        return f"{best} has {has.what}, but there are too few rows to say whether {second} is as good."
    sign = 1 if most == (pair.first == best) else -1
    gain, ends = sign * spread.mean, sorted((sign * spread.low, sign * spread.high))
    if ends == [0.0, 0.0]:
        return f"{best} and {second} have the same {has.score}."
    interval = " to ".join(f"{'−' if end < 0 else ''}{has.amount(abs(end))}" for end in ends)
    if ends[0] <= 0:
        told = f"{best} has {has.what}, but {second} may be as good"
        return f"{told}: the difference is {interval}{has.unit} (95 % interval)."
    return f"{best} has {has.what}: {has.amount(gain)} {has.more}{has.unit} than {second} (95 % interval: {interval})."


def draw_errors(data: DataSet) -> Figure:
    """The error of each run over time; of numbers, the mean absolute error."""
    from thalweg.report import curves, style

    style.require_matplotlib()
    errors = {
        name: (np.array(list(over_time), dtype=np.int64), np.array(list(over_time.values()), dtype=np.float64))
        for name, over_time in ((name, run.errors_over_time) for name, run in data.runs.items())
    }
    first = next(iter(data.runs.values()))
    word = "absolute error" if first.of_numbers else "error"
    return curves.draw_side_by_side(
        errors,
        title=style.label(f"Error over time: {data.source}, {data.target}", 80),
        label=f"{word}\n(mean of the last {first.metrics['curve']['window']:,} rows)",
    )


class _Best(NamedTuple):
    """Words for the best of several runs by one score."""

    score: str
    what: str
    more: str
    unit: str
    #: How differences are written, and scores.
    amount: Callable[[float], str]
    written: Callable[[float], str]


_BEST = {
    "error": _Best("error", "the lowest error", "fewer", " mistakes in 100 rows", per_hundred, percent),
    "mae": _Best("error", "the lowest error", "less", " absolute error a row", short, short),
    "cost": _Best("cost", "the lowest cost", "less", " a row", short, short),
    "pr_auc": _Best("PR AUC", "the highest PR AUC", "more", "", plain, plain),
}
