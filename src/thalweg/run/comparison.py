"""Runs in memory over the same rows, side by side: scores, and differences with intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.evaluate.significance import Interval
from thalweg.report.notebook import cell, table_html
from thalweg.report.page.content import as_metrics
from thalweg.report.page.formats import counted, per_hundred, percent, plain, short
from thalweg.report.page.number_content import is_regression
from thalweg.run.compare import DataSet, Pair, RecordedRun, columns_left_out, pairs, require_same_rows, rows_used
from thalweg.run.result import Library, Result, as_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"error": "error", "absolute_error": "absolute error", "squared_error": "squared error"}


class Comparison:
    """Several results over the same rows. A notebook shows scores and differences.

    Parameters
    ----------
    results : dict of Result
        By name.

    Attributes
    ----------
    results : dict of Result
    pairs : list
        Every two of them: ``difference`` of their errors, ``errors`` (by kind, the mean difference with its interval
        over blocks of rows), ``rows`` (McNemar's test, of labels), ``windows`` (Wilcoxon's test), ``rare``. Each p is
        corrected for the number of pairs by Holm's method. All of them count the rows that were predicted and whose
        labels came by the end of the stream.
    verdict : str
        Which model has the lowest error, and whether the next one may be as good. Of a rare label the lowest cost, or
        without costs the highest PR AUC.
    notes : list of str
        Which models leave out columns that others learn, such as text.

    Examples
    --------
    >>> from thalweg import evaluate
    >>> from thalweg.streams import SEA
    >>> both = evaluate.compare(["oldc", "perceptron"], SEA(seed=0), rows=3000)
    >>> both
    Comparison(oldc 0.119, perceptron 0.247)
    >>> pair = both.pairs[0]
    >>> pair.first, pair.second, bool(pair.errors["error"].high < 0)
    ('oldc', 'perceptron', True)
    >>> both.verdict
    'oldc has the lowest error: 12.9 fewer mistakes in 100 rows than perceptron (95 % interval: 11.1 to 14.7).'
    """

    def __init__(self, results: Mapping[str, Result]) -> None:
        if len(results) < 2:
            raise InvalidParameter.of("Comparison", "results", "be at least two", list(results))
        self.results = dict(results)
        runs = {
            name: RecordedRun(Path(name), as_metrics(each.metrics), each.predictions) for name, each in results.items()
        }
        first, *others = runs.values()
        for other in others:
            require_same_rows(first, other)
        self._data = DataSet(first.source, first.metrics["run"]["target"], rows_used(first.metrics), runs)
        self.pairs: list[Pair] = pairs(self._data)
        self.verdict = verdict(self._data, self.pairs)

    @property
    def notes(self) -> list[str]:
        """Which models leave out columns that others learn: their errors are of other features."""
        return columns_left_out({name: as_metrics(each.metrics) for name, each in self.results.items()})

    def to_frame(self, library: Library = "pandas") -> Any:
        """The scores of each model, one row each, as a frame of pandas, polars or arrow.

        ``rows`` says over how many: those that were predicted and whose labels came by the end of the stream.
        """
        import pyarrow as pa

        lines = [
            {"model": name, "rows": each.metrics["rows"]["scored"], **each.metrics["scores"]["model"]}
            for name, each in self.results.items()
        ]
        return as_frame(pa.Table.from_pylist(lines), library, "to_frame")

    def plot(self) -> Figure:
        """The error of each model over time, drawn by matplotlib."""
        return draw_errors(self._data)

    def __repr__(self) -> str:
        error = _error(self._first.metrics)
        told = [f"{name} {each.metrics['scores']['model'][error]:.3g}" for name, each in self.results.items()]
        return f"Comparison({'; '.join([', '.join(told), *self.notes])})"

    @property
    def _first(self) -> Result:
        return next(iter(self.results.values()))

    def _repr_html_(self) -> str:
        metrics = self._first.metrics
        error = _error(metrics)
        keys = {"error": "error", "recent": "recent error", "kappa": "κ", "log_loss": "log-loss"}
        if is_regression(metrics):
            keys = {"absolute_error": "MAE", "rmse": "RMSE", "r2": "R²", "recent_absolute_error": "recent MAE"}
        scores = {name: each.metrics["scores"]["model"] for name, each in self.results.items()}
        baselines = {name: each for name, each in metrics["scores"].items() if name != "model"}
        lines = sorted(scores.items(), key=lambda each: each[1][error] or 0.0) + [
            (name.replace("_", " "), each) for name, each in baselines.items()
        ]
        run = metrics["run"]
        about = f"{run['source']}, {run['target']}, {counted(metrics['rows']['scored'], 'row')} scored"
        headers = ("", "difference", "95 % interval", "McNemar p", "Wilcoxon p")
        parts = [
            f'<p class="about">{escape(about)}</p>',
            f"<p>{escape(self.verdict)}</p>",
            table_html(
                ("", *keys.values()), [(name, *(_written(each.get(key)) for key in keys)) for name, each in lines]
            ),
            table_html(headers, [line for pair in self.pairs for line in _lines(pair)], even=True),
            "<p>Differences are the first’s less the second’s, with Student’s intervals over blocks of rows. "
            "McNemar’s test takes rows as independent: where mistakes cluster its p is too small.</p>",
            *(f"<p>{escape(note)}.</p>" for note in self.notes),
        ]
        return cell(parts)


def verdict(data: DataSet, pairs: Sequence[Pair]) -> str:
    """The best run beside the second best, over the rows that both scored; before it, a baseline that is better.

    Where all runs are about the same rare label, its cost decides, or without costs the area under precision and
    recall: a model that never predicts such a label makes few mistakes.
    """
    kind = next((each for each in ("cost", "pr_auc") if all(each in (pair.rare or {}) for pair in pairs)), None)
    if kind is None:
        kind = _error(next(iter(data.runs.values())).metrics)
    most = kind == "pr_auc"
    best, second = sorted(data.runs, key=lambda name: data.runs[name].score(kind), reverse=most)[:2]
    return better_baseline(data, kind) + _beside_second(pairs, kind, best, second)


def better_baseline(data: DataSet, kind: str | None = None) -> str:
    """The beginning of a sentence where a baseline has a better score than the best run, by its error; empty else."""
    kind = kind or _error(next(iter(data.runs.values())).metrics)
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
    "absolute_error": _Best("error", "the lowest error", "less", " absolute error a row", short, short),
    "cost": _Best("cost", "the lowest cost", "less", " a row", short, short),
    "pr_auc": _Best("PR AUC", "the highest PR AUC", "more", "", plain, plain),
}


def _error(metrics: Mapping[str, Any]) -> str:
    return "absolute_error" if is_regression(metrics) else "error"


def _lines(pair: Pair) -> list[tuple[str, ...]]:
    """The differences of two models, by kind of error."""
    name = f"{pair.first} – {pair.second}"
    tests = (
        "" if pair.rows is None else _p(pair.rows.p_value),
        "" if pair.windows is None else _p(pair.windows.p_value),
    )
    if not pair.errors:
        return [(name, _signed(pair.difference), "too few rows", *tests)]
    return [
        (f"{name}, {_NAMES[kind]}", _signed(each.mean, kind), _ends(each, kind), *(tests if at == 0 else ("", "")))
        for at, (kind, each) in enumerate(pair.errors.items())
    ]


def _ends(interval: Interval, kind: str) -> str:
    return f"{_signed(interval.low, kind)} to {_signed(interval.high, kind)}"


def _signed(value: float, kind: str = "error") -> str:
    """A difference with its sign: shares to four decimals, numbers in their unit to four digits."""
    return f"{'+' if value > 0 else ''}{plain(value, 4) if kind == 'error' else short(value)}"


def _written(value: float | None) -> str:
    return "" if value is None else plain(value) if abs(value) < 10.0 else short(value)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
