"""Models by name, for the command line and the service; each learner's own entry says what it is (`CatalogueEntry`)."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from thalweg import learners
from thalweg.errors import InvalidParameter
from thalweg.learners.base import sklearn_state
from thalweg.learners.base.catalogue_entry import CatalogueEntry, check_model_options
from thalweg.option_names import option
from thalweg.pipeline import StreamPipeline
from thalweg.rates import ErrorDriven
from thalweg.transforms import StandardScaler

#: Rows over which an adaptive rate compares the recent errors.
_ERROR_WINDOW = 10
#: Standard deviations at which a scaled feature is clipped.
_CLIP = 10.0
#: Labels to predict, or numbers.
TASKS = ("classification", "regression")

_LEARNERS: Mapping[tuple[str, str], tuple[CatalogueEntry, Any]] = {
    (entry.task, entry.name): (entry, learner)
    for learner in (getattr(learners, name) for name in learners.MODULES)
    if learner._catalogue is not None
    for entry in (learner._catalogue, *learner._more_entries)
}
#: Every entry by its task and then by its name, in the order of `thalweg.learners.MODULES`.
MODELS: Mapping[str, Mapping[str, CatalogueEntry]] = {
    task: {name: entry for (own, name), (entry, _) in _LEARNERS.items() if own == task} for task in TASKS
}


def make_model(
    name: str,
    *,
    task: str = "classification",
    rate: float | None = None,
    adaptive: bool = False,
    window: str | int | None = None,
    seed: int = 0,
    sparse: bool = False,
) -> Any:
    """The model of this name for this task; an `InvalidParameter` where an option does not go with it.

    ``sparse``: the rows are, so that a scaler must not take off means.

    Examples
    --------
    >>> make_model("oldc", rate=0.1)
    OnlineLDC(counts='soft', rate=0.1, ridge=0.001)
    >>> make_model("auto", task="regression")
    AutoRegressor()
    >>> make_model("pa", rate=0.1)
    Traceback (most recent call last):
    thalweg.errors.InvalidParameter: --rate must be left out: pa has no rate, got 0.1
    """
    check_model_options(rate=rate, adaptive=adaptive, seed=seed)
    entries = MODELS[task]
    if name not in entries:
        of_task = f" for {task}" if task != "classification" or any(name in names for names in MODELS.values()) else ""
        close = get_close_matches(name, entries, 1)
        meant = f" (did you mean {close[0]}?)" if close else ""
        raise InvalidParameter.of_option("model", f"be one of {', '.join(entries)}{of_task}{meant}", name)
    entry = entries[name]
    for given, value in (("rate", rate), ("adaptive", adaptive or None)):
        if value is not None and not entry.has_rate:
            raise InvalidParameter.of_option(given, f"be left out: {name} has no rate", value)
    if window is not None and "window" not in entry.options:
        have_one = " or ".join(entry.name for entry in entries.values() if "window" in entry.options)
        raise InvalidParameter.of_option("window", f"be left out unless the model is {have_one}", window)
    if adaptive and not entry.adaptive:
        raise InvalidParameter.of_option(
            "adaptive", f"be left out: {name} forgets at a fixed {option('rate')}", adaptive
        )
    learner = _LEARNERS[task, name][1]
    model = learner() if entry.base is None else learner(_class_named(entry.base)())
    model.set_params(**_parameters(entry, rate, adaptive, window, seed))
    return (
        StreamPipeline([StandardScaler(with_mean=not sparse, clip=_CLIP, robust=True), model])
        if entry.scaled
        else model
    )


def ask_of(
    model: Any,
    *,
    costs: Mapping[str, float] | None = None,
    positive: str | None = None,
    dense_features: int | None = None,
) -> Any:
    """The model with what it takes of costs, label of interest and dense columns; most take none.

    Examples
    --------
    >>> ask_of(make_model("threshold"), costs={"fp": 1.0, "fn": 50.0}, positive="fraud").objective
    'cost'
    """
    parameters = model.get_params(deep=False)
    asked = {"costs": costs, "positive": positive, "dense_features": dense_features or None}
    if costs is not None and "objective" in parameters:
        asked |= {"objective": "cost"}
    return model.set_params(
        **{name: value for name, value in asked.items() if value is not None and name in parameters}
    )


def _parameters(
    entry: CatalogueEntry, rate: float | None, adaptive: bool, window: str | int | None, seed: int
) -> dict[str, Any]:
    parameters = dict(entry.parameters)
    if entry.rate is not None:
        sets = entry.options["rate"]
        parameters = {sets: entry.rate} | parameters
        if adaptive:
            parameters |= {**entry.with_rate, sets: ErrorDriven(start=entry.rate, window=_ERROR_WINDOW)}
        elif rate is not None:
            parameters |= {**entry.with_rate, sets: rate}
    if "window" in entry.options:
        parameters[entry.options["window"]] = _as_window(window)
    if "seed" in entry.options:
        parameters[entry.options["seed"]] = seed
    return parameters


def _as_window(given: str | int | None) -> int | str:
    if not given or given == "auto":
        return "auto"
    try:
        return int(given)
    except ValueError as error:
        raise InvalidParameter.of_option("window", 'be "auto" or a whole number', given) from error


def _class_named(name: str) -> Any:
    return getattr(learners, name) if name in learners.__all__ else sklearn_state.class_named(name)
