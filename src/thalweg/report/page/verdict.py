"""The top of the page: better or worse than the baselines, by how much, and how sure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thalweg.report.page import rare_verdict
from thalweg.report.page.against import beaten_by
from thalweg.report.page.formats import (
    capital,
    count,
    counted,
    listed,
    loss_words,
    lowest_coverage,
    per_hundred,
    percent,
    plain,
    short,
    written,
)
from thalweg.report.page.label_findings import (
    calibration_finding,
    delays_by_label,
    is_no_better_than_shares,
    shares_of_labels,
)
from thalweg.report.page.rare_verdict import question
from thalweg.report.page.standing import (
    Bar,
    Baseline,
    Standing,
    bars,
    baselines,
    best_baseline,
    how_intervals_are_made,
    interval,
    skipped_rows,
    sorted_hint,
    standing,
    with_circumstances,
)
from thalweg.run_metrics import Known, Metrics, Skill, is_regression, loss_of, target_word

#: A label that changes at most this often looks sorted, where changes are this many times rarer than rows of all
#: labels but the most frequent.
_FEW_CHANGES, _ROWS_A_CHANGE = 20, 10
#: Below this part of the running mean's error, that of the last value looks as if rows were sorted by the target.
_SORTED = 0.01
#: What to make of it where a baseline does better.
_BETTER = {
    "no_change": "Labels here come in runs: repeating the last one, without looking at any column, does better.",
    "majority": "Always giving the most frequent label, without looking at any column, does better.",
}


def tone(metrics: Metrics) -> Standing:
    """In which colour the headline stands: that of the comparison it makes."""
    if _only_label(metrics) is not None:
        return "unknown"
    asked = _question_beside_error(metrics)
    return rare_verdict.tone(metrics, asked) if asked else standing(best_baseline(metrics).difference)


def headline(metrics: Metrics) -> str:
    """The model beside the best baseline, its error, a better model of ``--against``, how late labels came, and rows
    skipped, if many.
    """
    if (label := _only_label(metrics)) is not None:
        compared = f"Every scored row has the label {label}: there is nothing to learn."
    elif asked := _question_beside_error(metrics):
        compared = rare_verdict.headline(metrics, asked)
    else:
        compared = _compared(metrics) + (rare_verdict.balanced_accuracy(metrics) if question(metrics) else "")
        compared += beaten_by(metrics)
    return with_circumstances(compared, metrics)


def _question_beside_error(metrics: Metrics) -> rare_verdict.Question | None:
    """What the headline is about where it is not the error; with rare classes it is the error, and more."""
    asked = question(metrics)
    return None if asked == "classes" else asked


def _only_label(metrics: Metrics) -> str | None:
    """The label of every scored row, where they all have the same."""
    classes = [] if is_regression(metrics) else metrics["confusion"]["classes"]
    return classes[0] if len(classes) == 1 else None


def _skill(metrics: Metrics, baseline: Baseline, loss: str = "mae") -> Skill:
    return metrics["verdict"][baseline.key][loss]


def _compared(metrics: Metrics) -> str:
    best, loss, scores = best_baseline(metrics), loss_of(metrics), metrics["scores"]
    gap, word, error = best.difference["difference"], target_word(metrics), scores["model"][loss.name]
    if gap is None:
        return f"No row had a {word} that could be compared, so nothing can be said."
    if is_regression(metrics) and _skill(metrics, best)["skill"] is None:
        return f"{capital(best.phrase)} is never wrong: the target does not change, there is nothing to learn."
    if is_no_better_than_shares(metrics):
        shares = metrics["label_shares"]
        log_loss = f"log-loss {plain(shares['model'])} against {plain(shares['log_loss'])}"
        both = f"{loss_words(metrics, error)} against {percent(scores['majority']['error'])}"
        return f"No better than the share of each label known at the time: {log_loss}, {both}."
    against = f"{best.phrase}, the best baseline"
    both = f"{loss_words(metrics, error)} against {written(loss.form, best.score)}"
    if gap == 0.0:
        both = f"{loss_words(metrics, error)}, the same"
    if is_regression(metrics):
        much, less, more = _share(_skill(metrics, best)["skill"]), "less", "more"
    else:
        much, less, more = per_hundred(gap), "fewer mistakes in 100 rows", "more mistakes in 100 rows"
    match standing(best.difference):
        case "better":
            return f"Better than {against}: {loss_words(metrics, error)}, {much} {less}."
        case "worse":
            return f"Worse than {against}: {loss_words(metrics, error)}, {much} {more}."
        case "even":
            return f"No significant difference from {against}: {both}."
        case _:
            return f"Too few rows to distinguish it from {against}: {both}."


def _share(skill: Known) -> str:
    return percent(None if skill is None else abs(skill))


def findings(metrics: Metrics) -> list[str]:
    """What happened, the comparison with each baseline, what to make of it, and whether intervals or sets held."""
    title, word = metrics["model"]["title"], target_word(metrics)
    if metrics["scores"]["model"][loss_of(metrics).name] is None:
        predicted = f"{title} predicted {counted(metrics['rows']['predicted'], 'row')} of {metrics['run']['source']}"
        return [f"{predicted}; no {word} came for any of them."]
    if _only_label(metrics) is not None:
        return [
            "With one label every model is always right. "
            f"Is {metrics['run']['target']} the right column, and does the file hold rows with other labels?"
        ]
    asked = question(metrics)
    if asked:
        sentences = rare_verdict.findings(metrics, asked)
    else:
        happened = _over_numbers(metrics) if is_regression(metrics) else _over_labels(metrics)
        sentences = [f"{title} predicted each row before it learned that row’s {word}{happened}"]
    if metrics["rows"]["skipped"]:
        sentences[0] += f" {skipped_rows(metrics)}"
    if asked in (None, "classes"):
        sentences += [_beside_baselines(metrics), *_advice(metrics)]
    sentences += [*delays_by_label(metrics), *shares_of_labels(metrics), *_by_squares(metrics)]
    return [*_sorted(metrics), *sentences, *_coverage(metrics), *calibration_finding(metrics)]


def _over_labels(metrics: Metrics) -> str:
    error = {name: percent(scores["error"]) for name, scores in metrics["scores"].items()}
    return (
        f", and got {error['model']} of {counted(metrics['rows']['scored'], 'row')} wrong. Repeating the last label "
        f"known at the time (no-change) would have got {error['no_change']} wrong; always giving the most frequent "
        f"label so far (majority), {error['majority']}."
    )


def _over_numbers(metrics: Metrics) -> str:
    model = metrics["scores"]["model"]
    others = "; ".join(f"{baseline.phrase} {short(baseline.score)}" for baseline in baselines(metrics))
    return (
        f". Over {counted(metrics['rows']['scored'], 'row')} its mean absolute error is {short(model['mae'])}, its "
        f"root mean squared error {short(model['rmse'])}. Mean absolute errors of the baselines: {others}."
    )


def _beside_baselines(metrics: Metrics) -> str:
    if is_regression(metrics):
        *others, last = (_relative(_skill(metrics, baseline), baseline.phrase) for baseline in baselines(metrics))
        return f"Its absolute error is {', '.join(others)}, and {last}."
    first, second = baselines(metrics)
    return f"In 100 rows it made {_gap(first, ' mistakes')}, and {_gap(second, '')}."


def _gap(baseline: Baseline, of: str) -> str:
    """How many mistakes more or fewer in 100 rows."""
    difference = baseline.difference
    gap = difference["difference"] or 0.0
    if gap == 0.0:
        gap_words = f"as many{of} as {baseline.phrase}"
        if difference["low"] == difference["high"] == 0.0:
            return gap_words
    else:
        gap_words = f"{per_hundred(gap)} {'fewer' if gap < 0.0 else 'more'}{of} than {baseline.phrase}"
    return gap_words + _with_interval(difference, interval(difference, per_hundred, "fewer"))


def _relative(skill: Skill, phrase: str) -> str:
    """How much smaller or larger, as a share of the baseline's error."""
    if skill["skill"] is None:
        return f"not to be compared with that of {phrase}, which is never wrong"
    compared = f"{_share(skill['skill'])} {'smaller' if skill['skill'] >= 0.0 else 'larger'} than that of {phrase}"
    return compared + _with_interval(skill, _ends(skill))


def _with_interval(difference: Any, ends: str) -> str:
    if standing(difference) == "unknown":
        return " (too few rows for an interval)"
    return f" ({100 * difference['level']:g}\N{NO-BREAK SPACE}% interval: {ends})"


def _ends(skill: Skill) -> str:
    """Both ends in words, the smaller one first."""
    low, high = skill["skill_low"], skill["skill_high"]
    if low is None or high is None:
        return "no interval yet"
    if low >= 0.0:
        return f"{per_hundred(low)} to {_share(high)} smaller"
    if high <= 0.0:
        return f"{per_hundred(high)} to {_share(low)} larger"
    return f"{_share(low)} larger to {_share(high)} smaller"


def _sorted(metrics: Metrics) -> list[str]:
    """A warning where neighbours have almost always the same label, or targets much nearer than others; not of the
    first few rows.
    """
    if is_regression(metrics):
        step, spread = (metrics["scores"][key]["mae"] for key in ("last_value", "running_mean"))
        if step is None or not spread or not 0.0 < step < _SORTED * spread:
            return []
        return [sorted_hint(f"The target changes by {short(step)} from row to row on average", metrics)]
    if (changes := few_label_changes(metrics)) is None:
        return []
    times = {1: "once", 2: "twice"}.get(changes, f"{count(changes)} times")
    return [sorted_hint(f"The label changes only {times} in {counted(metrics['rows']['scored'], 'row')}", metrics)]


def few_label_changes(metrics: Mapping[str, Any]) -> int | None:
    """How often the label changes, by the mistakes of no-change; None where that is more than a handful of times."""
    options, scored = metrics["run"]["options"], metrics["rows"]["scored"]
    by_class = sorted(sum(line) for line in metrics["confusion"]["counts"])
    mistakes = (metrics["scores"]["no_change"]["error"] or 0.0) * scored
    changes = round(mistakes / max(int(options.get("delay") or 0), 1))  # each is known so many rows later
    if mistakes > sum(by_class[:-1]):  # rare labels, each alone
        return None
    if options.get("label_time") or changes > max(_FEW_CHANGES, 2 * len(by_class) - 1):
        return None
    return changes if 0 < _ROWS_A_CHANGE * changes <= sum(by_class[:-1]) else None


def _advice(metrics: Metrics) -> list[str]:
    """What to make of it, where it is not plainly better."""
    beside = [(baseline, standing(baseline.difference)) for baseline in baselines(metrics)]
    worse = [baseline for baseline, how in beside if how == "worse"]
    if len(worse) == len(beside):
        every = "both" if len(worse) == 2 else "all"
        return [f"On this stream {every} baselines, which look at no column at all, do better than this model."]
    if worse:
        best = min(worse, key=lambda baseline: baseline.score or 0.0)
        always = f"Always predicting {best.phrase}, without looking at any column, does better on this stream."
        return [_BETTER.get(best.key, always)]
    if any(how == "unknown" for _, how in beside):
        return ["The figures below are what was seen; more rows are needed before they mean anything."]
    undecided = [baseline.phrase for baseline, how in beside if how == "even"]
    return [f"The difference from {listed(undecided)} may be chance."] if undecided else []


def _by_squares(metrics: Metrics) -> list[str]:
    """Where squared errors, which count large misses most, say something else."""
    if not is_regression(metrics):
        return []
    best = best_baseline(metrics)
    squares = _skill(metrics, best, "mse")
    by_size, by_squares = standing(best.difference), standing(squares)
    if by_size == by_squares or "unknown" in (by_size, by_squares):
        return []
    than = {"better": "better than", "worse": "worse than"}.get(by_squares, "not significantly different from")
    return [
        f"By squared errors, which count large ones most, it is {than} {best.phrase}: they are "
        f"{_share(squares['skill'])} {'smaller' if (squares['skill'] or 0.0) >= 0.0 else 'larger'}."
    ]


def _coverage(metrics: Metrics) -> list[str]:
    """Whether intervals, or prediction sets, held what they were asked to."""
    sets, ends = metrics.get("sets"), metrics.get("intervals")
    held = sets or ends
    if held is None or held["coverage"] is None:
        return []
    asked = f"{100 * held['asked']:g}\N{NO-BREAK SPACE}%"
    often = f"in {percent(held['coverage'])} of the rows, where {asked} were asked for."
    if ends:
        size = f"The intervals held the target {often} Their mean width is {short(ends['mean_width'])}."
    else:
        assert sets is not None
        size = (
            f"The prediction sets held the true label {often} They had {sets['mean_size']:.2f} labels on average, and "
            f"{percent(sets['empty'])} of them had none."
        )
    return [size + lowest_coverage(held["lowest"], held["block_rows"])]


def fine_print(metrics: Metrics) -> str:
    """How the interval was made; empty where there is none."""
    if _only_label(metrics) is not None:
        return ""
    if asked := _question_beside_error(metrics):
        return rare_verdict.fine_print(metrics, asked)
    errors = "Errors" if is_regression(metrics) else "Mistakes"
    return how_intervals_are_made(best_baseline(metrics).difference, errors)


def intervals(metrics: Metrics) -> list[Bar]:
    """Each interval as a bar beside zero, all on one scale."""
    if _only_label(metrics) is not None:
        return []
    if asked := _question_beside_error(metrics):
        return rare_verdict.intervals(metrics, asked)

    def ends(baseline: Baseline) -> str:
        if is_regression(metrics):
            return _ends(_skill(metrics, baseline))
        return interval(baseline.difference, per_hundred, "fewer")

    return bars({baseline.name: (baseline.difference, ends(baseline)) for baseline in baselines(metrics)})


def unit(metrics: Metrics) -> str:
    """What the bars measure."""
    if is_regression(metrics):
        return "absolute error"
    return "cost of a row" if _question_beside_error(metrics) else "mistakes in 100 rows"
