"""Our models as River's: dicts in, labels, numbers or dicts out, with features that come and go.

Examples
--------
>>> from river import datasets, evaluate, metrics
>>> from thalweg import OnlineLDC
>>> from thalweg.river import to_river
>>> model = to_river(OnlineLDC(ridge=1e-3))
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.85
True
"""

from __future__ import annotations

from typing import Any, Literal

from sklearn.base import clone

from thalweg.errors import InvalidParameter, MissingExtra
from thalweg.fleet import Fleet, KeyedClassifier
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.estimator import StreamEstimator
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.table_model import TableClassifier, TableModel
from thalweg.transforms.base import StreamTransformer


def to_river(model: Any, *, missing: Literal["zero", "mean"] = "zero", sparse: bool | None = None) -> Any:
    """Wrap a classifier, regressor or transformer of thalweg as a River object.

    A model that has learned continues with what it has learned, and ``model`` itself does not change. River's ``clone``
    gives a fresh one. The learner inside, with all it can, is ``learner_``; its columns are ``feature_names_``, and
    ``n_features_in_`` is their number. The columns are the features of the first row in alphabetical order, whatever
    the order of the dict, then those that each later row brings, in the same order among themselves.

    Parameters
    ----------
    model : classifier, regressor or transformer of thalweg
        Pipelines and committees too. A regressor has one target. One that has learned must have learned rows with
        names, such as those of a frame. Rows with categories, text, times and gaps are for a `TableClassifier` or
        `TableRegressor`; to them a column that a row lacks is a gap, and one that comes after their first rows is
        ignored. A `KeyedClassifier` has the name of its key, as in ``key="user"``. A `Fleet` is
        not for River: its own ``learn_one`` and ``predict_one`` take dicts.
    missing : {"zero", "mean"}, default "zero"
        What a feature is in a row that lacks it. "zero" is River's own convention, right where most features of a row
        are absent because they are nought. "mean", the mean of the rows that had it, is neutral where a sensor falls
        silent.
    sparse : bool, optional
        Whether a row costs the time of the features it has, and no more, however many were met so far. By default this
        is so with ``missing="zero"`` where it makes no other model: linear learners, baselines, and what is made of
        them. With True `AutoClassifier` and pipelines with ``StandardScaler(with_mean=False)`` take sparse rows too,
        and are other models then. False keeps an array over all features, as a model that has learned does.

    Returns
    -------
    river.base.MiniBatchClassifier, MiniBatchRegressor or MiniBatchTransformer
        For `river.compose`, `river.evaluate` and all else that takes one. A regressor with intervals gives them as
        those of `river.conf` do: ``predict_one(x, with_interval=True)``. A feature that appears later was 0 until
        then. A `KeyedClassifier`, a model with scikit-learn classifiers inside, and `LearnNSE` once it has a member
        cannot grow: they do not look at features that come later.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.river import to_river
    >>> model = to_river(OnlineLDC(0.05, counts="soft"))
    >>> for i in range(100):
    ...     model.learn_one({"x": i % 7, "y": 1.0}, i % 7 > 3)
    >>> model.predict_one({"x": 6, "y": 1.0}), model.predict_one({"x": 1, "new": 3.0})
    (True, False)
    """
    if missing not in ("zero", "mean"):
        raise InvalidParameter.of("to_river", "missing", 'be "zero" or "mean"', missing)
    try:
        from thalweg.river.models import RiverClassifier, RiverRegressor, RiverTransformer
    except ModuleNotFoundError as error:
        raise MissingExtra.of("River", "river", "to_river") from error
    if isinstance(model, TableModel):
        return _of_table(model, missing, sparse)
    takes_sparse = isinstance(model, StreamClassifier | StreamRegressor) and model._takes_sparse
    if sparse and not (missing == "zero" and takes_sparse):
        reason = 'with missing="mean"' if takes_sparse else f"for {type(model).__name__}, which takes dense rows"
        raise InvalidParameter.of("to_river", "sparse", f"be left out {reason}", sparse)
    if getattr(model, "_hasher", None) is not None:
        rule = "take dicts, and one with a TextHasher takes texts: call its own learn_one and predict_one"
        raise InvalidParameter.of("to_river", "model", rule, model)
    learned = isinstance(model, StreamEstimator) and model.__sklearn_is_fitted__()
    if learned:
        _require_named_rows(model, missing, sparse)
    else:
        _require_named_key(model)
    template: Any = clone(model) if learned else model
    wrapped: Any
    if isinstance(model, StreamClassifier):
        wrapped = RiverClassifier(template, missing, False if learned else sparse)
    elif isinstance(model, StreamRegressor):
        wrapped = RiverRegressor(template, missing, False if learned else sparse)
    elif isinstance(model, StreamTransformer):
        wrapped = RiverTransformer(template, missing)
    else:
        rule = "be a classifier, regressor or transformer of thalweg"
        if isinstance(model, Fleet):
            rule += "; a Fleet takes dicts by itself, with key= the name of their key"
        raise InvalidParameter.of("to_river", "model", rule, model)
    if learned:
        wrapped.take_over(model)
    return wrapped


def _of_table(model: TableModel, missing: str, sparse: bool | None) -> Any:
    from thalweg.river.tables import RiverTableClassifier, RiverTableRegressor

    for name, value, usual in (("missing", missing, "zero"), ("sparse", sparse, None)):
        if value != usual:
            rule = "be left out for a model of a table, whose own parameters say what a gap is"
            raise InvalidParameter.of("to_river", name, rule, value)
    learned = model.__sklearn_is_fitted__()
    kind = RiverTableClassifier if isinstance(model, TableClassifier) else RiverTableRegressor
    wrapped = kind(clone(model) if learned else model)
    if learned:
        wrapped.take_over(model)
    return wrapped


def _require_named_key(model: Any) -> None:
    """Refuse a key by its place: the features of a dict have none that its writer could know."""
    if isinstance(model, KeyedClassifier) and not isinstance(model.key, str):
        rule = 'have the name of its key, as in KeyedClassifier(learner, key="user"), since River\'s rows are dicts'
        raise InvalidParameter.of("to_river", "model", rule, model)
    if isinstance(model, StreamEstimator) and any(isinstance(p, KeyedClassifier) for p in model.get_params().values()):
        rule = "not have a KeyedClassifier inside, unless it has learned rows with names, since River's rows are dicts"
        raise InvalidParameter.of("to_river", "model", rule, model)


def _require_named_rows(model: StreamEstimator, missing: str, sparse: bool | None) -> None:
    """Refuse what a model that has learned cannot continue with."""
    if not hasattr(model, "feature_names_in_"):
        rule = "have learned rows with names, since River's rows are dicts; to_river(clone(model)) starts a fresh one"
        raise InvalidParameter.of("to_river", "model", rule, model)
    for name, value, usual in (("missing", missing, "zero"), ("sparse", bool(sparse), False)):
        if value != usual:  # means that were not counted, and another model than the one that has learned
            raise InvalidParameter.of("to_river", name, "be left out for a model that has learned", value)
