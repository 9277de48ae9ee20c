"""Which of several runs over the same rows is the best, in words, over time, and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg.evaluate.layout import known
from thalweg.evaluate.metrics import METRICS
from thalweg.evaluate.significance import Interval
from thalweg.report.page.formats import per_hundred, plain, short, written
from thalweg.report.page.standing import baseline_names
from thalweg.report.score_table import ScoreTable, score_columns
from thalweg.run.compare import DataSet, RecordedRun
from thalweg.run.pairs import ERRORS, Pair, Ranking
from thalweg.run_metrics import Known, loss_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def verdict(data: DataSet, pairs: Sequence[Pair]) -> str:
    """The best run beside the second best, over the rows that both scored; before it, a baseline that is better.

    Where all runs are about the same rare label, its cost decides, or without costs the area under precision and
    recall: a model that never predicts such a label makes few mistakes.
    """
    kind = next((metric for metric in ("cost", "pr_auc") if all(metric in (pair.rare or {}) for pair in pairs)), None)
    if kind is None:
        kind = loss_of(next(iter(data.runs.values())).metrics).name
    most = kind == "pr_auc"
    best, second = sorted(data.runs, key=lambda name: data.runs[name].score(kind), reverse=most)[:2]
    return better_baseline(data, kind) + _beside_second(pairs, kind, best, second)


def better_baseline(data: DataSet, kind: str | None = None) -> str:
    """The beginning of a sentence where a baseline has a better score than the best run, by its error; empty else."""
    kind = kind or loss_of(next(iter(data.runs.values())).metrics).name
    metric = METRICS[kind]
    sign = -1.0 if metric.better == "more" else 1.0
    best = min(data.runs.values(), key=lambda run: sign * run.score(kind))
    name, score = min(best.baselines(kind).items(), key=lambda entry: sign * entry[1])
    if sign * score >= sign * best.score(kind):
        return ""
    scores = f"{_WORDS[kind].score} {written(metric.form, score)} against {written(metric.form, best.score(kind))}"
    return f"No run is better than {name}, a baseline: {scores}. Of the runs, "


def _beside_second(pairs: Sequence[Pair], kind: str, best: str, second: str) -> str:
    words, most = _WORDS[kind], METRICS[kind].better == "more"
    beginning = f"{best} has the {'highest' if most else 'lowest'} {words.score}"
    (pair,) = (pair for pair in pairs if {pair.first, pair.second} == {best, second})
    spread = {**(pair.errors or {}), **(pair.rare or {})}.get(kind)
    if spread is None:
        return f"{beginning}, but there are too few rows to say whether {second} is as good."
    sign = 1 if most == (pair.first == best) else -1
    gain, ends = sign * spread.mean, sorted((sign * spread.low, sign * spread.high))
    if ends == [0.0, 0.0]:
        return f"{best} and {second} have the same {words.score}."
    interval = " to ".join(f"{'−' if end < 0 else ''}{words.amount(abs(end))}" for end in ends)
    if ends[0] <= 0:
        beginning += f", but {second} may be as good"
        return f"{beginning}: the difference is {interval}{words.unit} (95 % interval)."
    much = f"{words.amount(gain)} {words.more}{words.unit}"
    return f"{beginning}: {much} than {second} (95 % interval: {interval})."


def draw_errors(data: DataSet) -> Figure:
    """The error of each run over time; of numbers, the mean absolute error."""
    from thalweg.report import style
    from thalweg.report.comparison_figures import draw_side_by_side

    style.require_matplotlib()
    errors = {
        name: (np.array(list(over_time), dtype=np.int64), np.array(list(over_time.values()), dtype=np.float64))
        for name, over_time in ((name, run.errors_over_time) for name, run in data.runs.items())
    }
    first = next(iter(data.runs.values()))
    word = "absolute error" if first.of_numbers else "error"
    return draw_side_by_side(
        errors,
        title=style.label(f"Error over time: {data.source}, {data.target}", 80),
        label=f"{word}\n(mean of the last {first.metrics['curve']['window']:,} rows)",
    )


class _Words(NamedTuple):
    """For the best of several runs by one score: its name, and how a difference is said."""

    score: str
    more: str
    unit: str
    amount: Callable[[float], str]


_WORDS = {
    "error": _Words("error", "fewer", " mistakes in 100 rows", per_hundred),
    "mae": _Words("error", "less", " absolute error a row", short),
    "cost": _Words("cost", "less", " a row", short),
    "pr_auc": _Words("PR AUC", "more", "", plain),
}


def compared_scores(data: DataSet) -> ScoreTable:
    """Of the runs, the best first, then of the baselines: once where they are the same beside every run."""
    runs = dict(sorted(data.runs.items(), key=lambda entry: entry[1].error))
    columns = score_columns(next(iter(data.runs.values())).metrics)

    def line(run: RecordedRun, predictor: str) -> tuple[Known, ...]:
        return tuple(run.metrics["scores"][predictor].get(key) for key in columns)

    lines = {name: line(run, "model") for name, run in runs.items()}
    titles = {key: phrase for run in runs.values() for key, phrase in baseline_names(run.metrics).items()}
    for key, phrase in titles.items():
        title = phrase.removeprefix("the ").replace("-", " ")
        beside = {name: line(run, key) for name, run in runs.items() if key in run.metrics["scores"]}
        alike = len(set(beside.values())) == 1
        lines |= {title if alike else f"{title}, {name}": scores for name, scores in beside.items()}
    measures, metrics = zip(*columns.values(), strict=True)
    return ScoreTable(measures, tuple(metric.form for metric in metrics), lines)


#: Of a table of differences; columns that stay empty are left out.
_HEADERS = ("", "difference", "95 % interval", "only\nfirst\nwrong", "only\nsecond\nwrong", "McNemar\np", "Wilcoxon\np")


def difference_table(data: DataSet, pairs: Sequence[Pair]) -> tuple[tuple[str, ...], dict[str, list[tuple[str, ...]]]]:
    """Headers, and by pair a line for each score: the first's less the second's, its interval, and the tests."""
    loss = loss_of(next(iter(data.runs.values())).metrics).name
    groups = {f"{pair.first} – {pair.second}": _lines(pair, loss) for pair in pairs}
    cells = [line for group in groups.values() for line in group]
    kept = [at for at in range(len(_HEADERS)) if at < 2 or any(line[at] for line in cells)]
    return (
        tuple(_HEADERS[at] for at in kept),
        {name: [tuple(line[at] for at in kept) for line in group] for name, group in groups.items()},
    )


def _lines(pair: Pair, loss: str) -> list[tuple[str, ...]]:
    rows, windows = pair.rows, pair.windows
    tests = (
        *(("", "", "") if rows is None else (f"{rows.only_first:,}", f"{rows.only_second:,}", p_words(rows.p_value))),
        "" if windows is None else p_words(windows.p_value),
    )
    if not pair.errors:
        return [(ERRORS[loss], _signed(pair.difference, loss), "", *tests)]
    return [
        (
            ERRORS.get(kind) or METRICS[kind].title,
            _signed(interval.mean, kind),
            f"{_signed(interval.low, kind)} to {_signed(interval.high, kind)}",
            *(tests if kind == loss else ("", "", "", "")),
        )
        for kind, interval in {**pair.errors, **(pair.rare or {})}.items()
    ]


def _signed(value: float, kind: str) -> str:
    """A difference with its sign: amounts to four digits, others to four decimals."""
    is_amount = kind not in METRICS or METRICS[kind].form == "amount"
    return f"{'+' if value > 0 else ''}{short(value) if is_amount else plain(value, 4)}"


def p_words(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def comparison(
    sets: Sequence[DataSet], *, pairs: Sequence[Pair] | None = None, ranking: Ranking | None = None
) -> dict[str, Any]:
    """The runs by data set, and the tests: of pairs over one data set, of ranks over several; null where not made.

    Each p of the pairs is corrected for their number by Holm's method.
    """
    return {
        "data_sets": [_data_set_json(data) for data in sets],
        "pairs": None if pairs is None else [_pair(pair) for pair in pairs],
        "ranking": None if ranking is None else _ranking(ranking),
    }


def _data_set_json(data: DataSet) -> dict[str, Any]:
    runs = {name: {"path": str(run.path), "scores": run.metrics["scores"]} for name, run in data.runs.items()}
    return {"source": data.source, "target": data.target, "rows": data.rows, "runs": runs}


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": pair.difference,
        "mcnemar": None if pair.rows is None else known(pair.rows._asdict()),
        "wilcoxon": None if pair.windows is None else known(pair.windows._asdict()),
        "rare": None if pair.rare is None else {name: _interval(gap) for name, gap in pair.rare.items()},
        **({} if pair.errors is None else {"errors": {name: _interval(gap) for name, gap in pair.errors.items()}}),
    }


def _interval(interval: Interval) -> dict[str, float]:
    return {"difference": interval.mean, "low": interval.low, "high": interval.high}


def _ranking(ranking: Ranking) -> dict[str, Any]:
    test = ranking.test
    return {
        "models": list(ranking.names),
        "errors": ranking.errors.tolist(),
        "mean_ranks": test.mean_ranks.tolist(),
        "friedman": known({"statistic": test.statistic, "p_value": test.p_value, "f_p_value": test.f_p_value}),
        "nemenyi_difference": ranking.difference,
    }
