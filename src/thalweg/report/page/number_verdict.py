"""The top of the page of a run that predicts numbers: better or worse than the baselines, by how much, how sure."""

from __future__ import annotations

from thalweg.report.page.against import beaten_by
from thalweg.report.page.content import Known, Skill
from thalweg.report.page.formats import counted, lowest_coverage, per_hundred, percent, short
from thalweg.report.page.number_content import NumberMetrics
from thalweg.report.page.standing import (
    Bar,
    Standing,
    bars,
    how_intervals_are_made,
    skipped_rows,
    sorted_hint,
    standing,
    with_circumstances,
)

#: Below this part of the running mean's error, that of the last value looks as if rows were sorted by the target.
_SORTED = 0.01


def baseline_names(metrics: NumberMetrics) -> dict[str, str]:
    """By key, how each baseline is called."""
    season = metrics["run"]["options"].get("season")
    known = {
        "last_value": "the last value",
        "running_mean": "the running mean",
        "running_median": "the running median",
        "season": f"the value {counted(int(season or 0), 'row')} ago",
    }
    return {key: known[key] for key in metrics["verdict"]}


def best_baseline(metrics: NumberMetrics) -> str:
    """The one with the smallest absolute error."""
    scores = metrics["scores"]
    return min(metrics["verdict"], key=lambda name: scores[name]["mae"] or 0.0)


def tone(metrics: NumberMetrics) -> Standing:
    """In which colour the headline stands."""
    return standing(metrics["verdict"][best_baseline(metrics)]["mae"])


def headline(metrics: NumberMetrics) -> str:
    """The model beside the best baseline, its error, a better model of ``--against``, how late targets came, and rows
    skipped, if many.
    """
    said = _compared(metrics) + beaten_by(metrics)
    return with_circumstances(said, metrics, "target", lambda loss: f"mean absolute error {short(loss)}")


def _compared(metrics: NumberMetrics) -> str:
    best = best_baseline(metrics)
    name, against = baseline_names(metrics)[best], metrics["verdict"][best]["mae"]
    if against["difference"] is None:
        return "No row had a target that could be compared, so nothing can be said."
    if against["skill"] is None:
        return f"{name[0].upper()}{name[1:]} is never wrong: the target does not change, there is nothing to learn."
    best_of, scores = ", the best baseline", metrics["scores"]
    error = f"mean absolute error {short(scores['model']['mae'])}"
    both = f"{error} against {short(scores[best]['mae'])}"
    match standing(against):
        case "better":
            return f"Better than {name}{best_of}: {error}, {_share(against['skill'])} less."
        case "worse":
            return f"Worse than {name}{best_of}: {error}, {_share(against['skill'])} more."
        case "even":
            return f"No significant difference from {name}{best_of}: {both}."
        case _:
            return f"Too few rows to distinguish it from {name}{best_of}: {both}."


def _share(skill: Known) -> str:
    return percent(None if skill is None else abs(skill))


def findings(metrics: NumberMetrics) -> list[str]:
    """What happened, the comparison with each baseline, and whether the intervals held."""
    scores, names, rows = metrics["scores"], baseline_names(metrics), metrics["rows"]
    model = scores["model"]
    if model["mae"] is None:
        return [
            f"{metrics['model']['title']} predicted {counted(rows['predicted'], 'row')} of {metrics['run']['source']}; "
            "no target came for any of them."
        ]
    others = "; ".join(f"{name} {short(scores[key]['mae'])}" for key, name in names.items())
    happened = (
        f"{metrics['model']['title']} predicted each row before it learned that row’s target. Over "
        f"{counted(rows['scored'], 'row')} its mean absolute error is {short(model['mae'])}, its root mean "
        f"squared error {short(model['rmse'])}. Mean absolute errors of the baselines: {others}."
    )
    if rows["skipped"]:
        happened += f" {skipped_rows(metrics)}"
    against = [_against(metrics["verdict"][key]["mae"], name) for key, name in names.items()]
    compared = f"{', '.join(against[:-1])}, and {against[-1]}"
    said = [happened, f"Its absolute error is {compared}.", *_advice(metrics)]
    return [*_sorted_by_target(metrics), *said, *_by_squares(metrics), *_coverage(metrics)]


def _sorted_by_target(metrics: NumberMetrics) -> list[str]:
    """A warning where neighbours are almost the same, beside how far targets lie apart; not of the first few rows."""
    step, spread = (metrics["scores"][key]["mae"] for key in ("last_value", "running_mean"))
    if step is None or not spread or not 0.0 < step < _SORTED * spread:
        return []
    observed = f"The target changes by {short(step)} from row to row on average"
    return [sorted_hint(observed, metrics["run"]["options"], "target")]


def _advice(metrics: NumberMetrics) -> list[str]:
    """Where a baseline is better."""
    if tone(metrics) != "worse":
        return []
    name = baseline_names(metrics)[best_baseline(metrics)]
    return [f"Always predicting {name}, without looking at any column, does better on this stream."]


def _against(skill: Skill, name: str) -> str:
    if skill["skill"] is None:
        return f"not to be compared with that of {name}, which is never wrong"
    said = f"{_share(skill['skill'])} {'smaller' if skill['skill'] >= 0.0 else 'larger'} than that of {name}"
    if standing(skill) == "unknown":
        return f"{said} (too few rows for an interval)"
    return f"{said} ({100 * skill['level']:g}\N{NO-BREAK SPACE}% interval: {_ends(skill)})"


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


def _by_squares(metrics: NumberMetrics) -> list[str]:
    """Where squared errors, which count large misses most, say something else."""
    best = best_baseline(metrics)
    skills = metrics["verdict"][best]
    by_size, by_squares = standing(skills["mae"]), standing(skills["mse"])
    if by_size == by_squares or "unknown" in (by_size, by_squares):
        return []
    name = baseline_names(metrics)[best]
    return [
        f"By squared errors, which count large ones most, it is {_verdict(by_squares)} {name}: they are "
        f"{_share(skills['mse']['skill'])} {'smaller' if (skills['mse']['skill'] or 0.0) >= 0.0 else 'larger'}."
    ]


def _verdict(found: Standing) -> str:
    return {"better": "better than", "worse": "worse than"}.get(found, "not significantly different from")


def _coverage(metrics: NumberMetrics) -> list[str]:
    found = metrics["intervals"]
    if found["coverage"] is None:
        return []
    asked = f"{100 * found['asked']:g}\N{NO-BREAK SPACE}%"
    said = (
        f"The intervals held the target in {percent(found['coverage'])} of the rows, where {asked} were asked for. "
        f"Their mean width is {short(found['mean_width'])}."
    )
    return [said + lowest_coverage(found["lowest"], found["block_rows"])]


def fine_print(metrics: NumberMetrics) -> str:
    """How the interval was made; empty where there is none."""
    return how_intervals_are_made(metrics["verdict"][best_baseline(metrics)]["mae"], "Errors")


def intervals(metrics: NumberMetrics) -> list[Bar]:
    """Each interval as a bar beside zero, all on one scale: the difference in absolute error."""
    return bars(
        {
            name.removeprefix("the "): (metrics["verdict"][key]["mae"], _ends(metrics["verdict"][key]["mae"]))
            for key, name in baseline_names(metrics).items()
        }
    )


def unit(metrics: NumberMetrics) -> str:
    """What the bars measure."""
    return "absolute error"
