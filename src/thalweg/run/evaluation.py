"""`thalweg.evaluate.run` and `thalweg.evaluate.compare`: what `thalweg run` does, on rows in memory."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone

from thalweg.errors import InvalidParameter
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.learners.prediction_intervals import PredictionIntervals
from thalweg.option_names import parameters_of
from thalweg.parameters import whole_number
from thalweg.pipeline import StreamPipeline
from thalweg.pipeline.pipeline import learner_name, named
from thalweg.run.engine import LateQuantity, RunEngine
from thalweg.run.first_rows import OF_TABLES
from thalweg.run.memory_source import MemorySource
from thalweg.run.metrics import metrics_of
from thalweg.run.options import RunOptions
from thalweg.run.result import Comparison, Result
from thalweg.table_model import TableClassifier, TableModel

#: Options of `thalweg run` that are about files, or have a parameter of their own here.
_NOT_HERE = frozenset(
    {"source", "target", "model", "delay", "time", "label_time", "limit", "against", "against_rows", "task"}
    | {"out", "model_out", "delimiter", "header", "encoding", "decimal"}
)
#: Those that set up a model by its name.
_OF_NAMED_MODELS = ("rate", "adaptive", "window")


def run(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    delay: int = 0,
    time: Any = None,
    label_time: Any = None,
    rows: int | None = None,
    against: str | Sequence[str] = (),
    against_rows: int = RunOptions.against_rows,
    **options: Any,
) -> Result:
    """Evaluate a model on rows in memory, test-then-train, as `thalweg run` evaluates one on a file.

    Every row is predicted before its label is learned, beside baselines that get their labels when the model does. It
    is the same evaluation: columns are read, encoded and scored as those of a file with the same cells, and
    predictions, scores and changes are the same. `prequential` yields records instead, chunk by chunk, and leaves rows
    as they are.

    Parameters
    ----------
    model : str or estimator
        A name that `thalweg models` lists, such as ``"auto"``; a classifier or regressor of thalweg; or a classifier
        of scikit-learn with ``partial_fit``, which is asked row by row. A regressor without intervals gets those of
        `PredictionIntervals`. Of a `TableClassifier` or `TableRegressor` it is the learner, with the parameters as
        options. An estimator is cloned: it stays as it is, and `Result.model` has learned the rows. A
        model that takes no sparse rows learns no column of text; a warning names it.
    X : array, frame of pandas, polars or pyarrow, sparse matrix, or Stream
        Rows in time order. Columns of a frame may hold numbers, categories, text, times and gaps.
    y : array-like or str, optional
        Labels, or numbers for a regressor; or the name of their column in X. A row whose label is missing is only
        predicted. To be left out for a Stream.
    delay : int >= 0, default 0
        How many rows late a label comes. Rows whose label came are scored.
    time : array-like or str, optional
        When each row comes: timestamps or whole numbers, or the name of their column in X. An array is no feature.
    label_time : array-like or str, optional
        When the label of each row comes, in the same form. Needs ``time``.
    rows : int, optional
        Rows to evaluate; by default all, or the length of a Stream.
    against : sequence of {"frozen", "retrained", "prompt"}, optional
        Also score gradient boosting, fitted once or every ``against_rows`` labelled rows, or ``prompt``, the same model
        had its late labels come at once. Boosting is refused with columns of text.
    against_rows : int, default 2000
        Labelled rows of the first fit, and between fits. From the second on, a fit uses the last five times as many.
    **options
        Further options of `thalweg run`, under their names in Python: ``positive``, ``costs``, ``alerts``,
        ``probabilities``, ``coverage``, ``season``, ``drop``, ``categorical``, ``numeric``, ``text``, ``missing``,
        ``bad_rows``, ``sort``, ``seed`` and others; ``features`` as `TableClassifier` takes them; ``rate``,
        ``adaptive`` and ``window`` for models by name.

    Returns
    -------
    Result
        Scores, predictions, figures, the page of the run, and the model.

    Examples
    --------
    >>> import pandas as pd
    >>> from thalweg import AutoClassifier, evaluate
    >>> from thalweg.streams import SEA
    >>> X, y = SEA(seed=0).take(3000)
    >>> table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(side=y)
    >>> result = evaluate.run(AutoClassifier(), table, "side", delay=10)
    >>> result.headline.split(":")[0], round(result.summary["model"]["error"], 3)
    ('Better than majority, the best baseline', 0.12)
    >>> result.to_frame().shape
    (3000, 4)
    """
    with parameters_of("run"):
        source = MemorySource(X, y, time=time, label_time=label_time, rows=rows)
        asked = {"delay": delay, "against": against, "against_rows": against_rows, **options}
        (engine,), seconds = _walk([model], source, rows, asked)
        written = repr(model) if isinstance(model, str) else _written(model)
        return _result(engine, _call("run", written, source, rows, asked), seconds)


def compare(
    models: Sequence[Any] | Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    delay: int = 0,
    time: Any = None,
    label_time: Any = None,
    rows: int | None = None,
    **options: Any,
) -> Comparison:
    """Evaluate several models over one pass of the rows, and compare them.

    Parameters
    ----------
    models : sequence, or dict by name
        At least two models, each as `run` takes it. Without names they are called as they are written.
    X, y, delay, time, label_time, rows, **options
        As for `run`.

    Returns
    -------
    Comparison
        Scores, and differences with intervals and tests, all over the rows whose labels came by the end of the stream.

    Examples
    --------
    >>> from thalweg import OnlineLDC, evaluate
    >>> from thalweg.streams import SEA
    >>> models = {"quick": OnlineLDC(0.02, counts="soft"), "slow": OnlineLDC(0.001, counts="soft")}
    >>> comparison = evaluate.compare(models, SEA(seed=0), rows=3000)
    >>> round(comparison.results["slow"].summary["model"]["error"], 3)
    0.12
    """
    named = dict(models) if isinstance(models, Mapping) else {_written(model): model for model in models}
    if len(named) < 2 or (not isinstance(models, Mapping) and len(named) < len(models)):
        rule = "be at least two that differ, or a dict that names them"
        raise InvalidParameter.of("compare", "models", rule, list(named))
    with parameters_of("compare"):
        source, asked = MemorySource(X, y, time=time, label_time=label_time, rows=rows), {"delay": delay, **options}
        engines, seconds = _walk(list(named.values()), source, rows, asked)
        command = _call("compare", f"[{', '.join(map(_written, named.values()))}]", source, rows, asked)
        return Comparison(
            {name: _result(engine, command, seconds, name) for name, engine in zip(named, engines, strict=True)}
        )


def _walk(
    models: Sequence[Any], source: MemorySource, rows: int | None, asked: dict[str, Any]
) -> tuple[list[RunEngine], float]:
    """Each model over one pass of the rows; and the seconds it took."""
    if rows is not None:
        whole_number("run", "rows", rows, least=1)
    began = clock.monotonic()
    said: set[str] = set()  # what is wrong with the table is said once
    engines = [_engine(model, source, rows, asked, said) for model in models]
    try:
        _take_all(engines)
    except LateQuantity as quantity:
        for engine in engines:
            engine.start_over(quantity)
        _take_all(engines)
    for engine in engines:
        engine.require_rows()
    return engines, clock.monotonic() - began


def _take_all(engines: Sequence[RunEngine]) -> None:
    for chunk in engines[0].chunks():
        for engine in engines:
            engine.take(chunk)


def _call(name: str, models: str, source: MemorySource, rows: int | None, asked: dict[str, Any]) -> str:
    """What was called, with what differs from the defaults."""
    given = {"time": source.time, "label_time": source.label_time, "rows": rows} | asked
    usual = {name: getattr(RunOptions, name, None) for name in given} | {"against": ()}
    options = [f"{name}={value!r}" for name, value in given.items() if value is not None and value != usual[name]]
    return f"thalweg.evaluate.{name}({', '.join([models, source.given, repr(source.target), *options])})"


def _engine(model: Any, source: MemorySource, rows: int | None, asked: dict[str, Any], said: set[str]) -> RunEngine:
    given = dict(asked)
    against = given.pop("against", ())
    if not isinstance(given.get("features", ""), str):
        given["feature"] = tuple(given.pop("features"))
    for name, value in given.items():
        known = name in RunOptions.declared() and (name not in _NOT_HERE or name in ("delay", "against_rows", "task"))
        if not known:
            others = ", ".join(sorted(set(RunOptions.declared()) - _NOT_HERE))
            raise InvalidParameter.of("run", "options", f"be options of thalweg run, of which there are {others}", name)
        if name in _OF_NAMED_MODELS and not isinstance(model, str) and value is not None:
            raise InvalidParameter.of("run", name, "be left out where the model is given: set it there", value)
        if isinstance(value, list):
            given[name] = tuple(value)
        elif isinstance(value, str) and isinstance(getattr(RunOptions, name), tuple):
            given[name] = (value,)
        elif name == "costs" and isinstance(value, Mapping):
            given[name] = ",".join(f"{kind}={cost!r}" for kind, cost in value.items())
    if isinstance(model, TableModel):
        given, model = _options_of(model) | given, model._new_learner()
    given["drop"] = (*given.get("drop", ()), *source.besides)
    made = None if isinstance(model, str) else _copy(model)
    if made is not None:
        given["task"] = "regression" if isinstance(made, StreamRegressor) else "classification"
    of_model = given.pop("time", None)
    options = RunOptions(
        source=source.given,
        target=source.target,
        model=model if made is None else learner_name(made),
        time=source.time or of_model,
        label_time=source.label_time,
        limit=rows,
        against=(against if isinstance(against, str) else ",".join(against)) or None,
        **given,
    )
    return RunEngine(options, source, made, said=said)


def _options_of(model: TableModel) -> dict[str, Any]:
    """What the parameters of a model of a table are to a run."""
    usual, changed = type(model)(), dict[str, Any]()
    for name in OF_TABLES:
        value = getattr(model, name)
        if value != getattr(usual, name):
            changed[name] = tuple(value) if isinstance(value, list) else value
    if "ngrams" in changed:
        changed["ngrams"] = "-".join(map(str, changed["ngrams"]))
    if len(model.features):
        changed["features" if isinstance(model.features, str) else "feature"] = model.features
    return changed


def _copy(model: Any) -> StreamClassifier | StreamRegressor:
    """A clone that has learned nothing; one that is not ours behind a pipeline of ours."""
    ours = isinstance(model, StreamClassifier | StreamRegressor)
    fits = not isinstance(model, type) and hasattr(model, "partial_fit") and hasattr(model, "predict")
    if not ours and not (fits and hasattr(model, "__sklearn_tags__") and hasattr(model, "get_params")):
        rule = (
            "be the name of a model, one of thalweg's, or a scikit-learn estimator with partial_fit; "
            "run(…, against='retrained') scores gradient boosting beside a model"
        )
        raise InvalidParameter.of("run", "model", rule, model)
    copied = clone(model) if ours else StreamPipeline([clone(model)])
    if isinstance(copied, StreamRegressor) and not hasattr(copied, "predict_interval_then_learn"):
        copied = _with_intervals(copied, model)
    if not isinstance(copied, StreamClassifier | StreamRegressor):
        raise InvalidParameter.of("run", "model", "be a classifier or a regressor", model)
    return copied


def _with_intervals(copied: StreamRegressor, given: Any) -> StreamRegressor:
    """A regressor with `PredictionIntervals` around it, or around the last step of a pipeline."""
    if not isinstance(copied, StreamPipeline):
        return PredictionIntervals(copied)
    name, last = named(copied.steps)[-1]
    if not isinstance(last, StreamRegressor):
        rule = (
            "be a regressor of thalweg, or a pipeline that ends in one, since a run needs its intervals; "
            "prequential evaluates other regressors"
        )
        raise InvalidParameter.of("run", "model", rule, given)
    return copied.set_params(**{name: PredictionIntervals(last)})


def _written(model: Any) -> str:
    return model if isinstance(model, str) else " ".join(repr(model).split())


def _result(engine: RunEngine, command: str, seconds: float, name: str | None = None) -> Result:
    import pyarrow as pa

    assert engine.predictions is not None
    metrics = metrics_of(engine, command)
    if name is not None:
        metrics["model"]["name"] = name
    timing = {"seconds": seconds, "processor_seconds": engine.processor_seconds()}
    model = engine.table_model()
    model.encoder_.remedy = ""  # which is what to do in a run
    if isinstance(model, TableClassifier) and isinstance(engine.source, MemorySource):
        model = model.with_label_type(engine.source.label_type)
    return Result(metrics, pa.concat_tables(engine.predictions.tables), model, timing)
