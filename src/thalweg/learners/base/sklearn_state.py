"""Fitted scikit-learn classifiers as arrays, and back, without pickle: six classes by name, every array checked.

Formats that rebuild any object by the names of its attributes believe what the attributes say. scikit-learn's
compiled parts do not check either: a decision tree whose file names a child that does not exist reads foreign memory.
So each class is written down here: the attributes that predicting needs, with types, shapes and ranges. A loaded
classifier predicts exactly as the saved one did. Attributes that serve further training only are left behind; of these
classes only `GaussianNB` continues learning as if nothing had happened.

Classifiers are those of the classes 0, 1, … of rows without names, as ensembles train them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import ModelFileError

State = dict[str, NDArray[Any]]
#: Of whole parameters, which scikit-learn checks and then doubles: no seed is larger.
_MOST = 2**32


@dataclass(frozen=True)
class _Kind:
    """How a class is kept: attributes and their types, those not always there, those left behind or derived, checks."""

    module: str
    kept: dict[str, str]
    check: Callable[[Any, int, int], None]
    optional: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    derive: Callable[[Any, int], None] = field(default=lambda model, classes: None)


def is_known(model: object) -> bool:
    """Whether a classifier of this very class can be kept as arrays."""
    kind = KINDS.get(type(model).__name__)
    return kind is not None and type(model) is getattr(importlib.import_module(kind.module), type(model).__name__)


def class_named(name: str) -> Any:
    return getattr(importlib.import_module(KINDS[name].module), name)


def fitted_arrays(model: Any) -> State:
    """What a fitted classifier has learned; `ModelFileError` for a class, or an attribute, that is not known here."""
    name = type(model).__name__
    if not is_known(model):
        raise ModelFileError(f"a fitted {name} cannot be saved: only {', '.join(sorted(KINDS))} of scikit-learn can")
    kind, learned = KINDS[name], vars(model).keys() - vars(type(model)()).keys()
    unknown = learned - kind.kept.keys() - kind.left - {"classes_", "n_features_in_"}
    if unknown:
        raise ModelFileError(f"a {name} of this version of scikit-learn cannot be saved: {min(unknown)} is not known")
    state: State = {}
    for attribute, how in kind.kept.items():
        if attribute in vars(model):
            value = vars(model)[attribute]
            if how == "tree":
                state.update(_tree_arrays(value))
            elif how == "arrays":
                state.update({f"{attribute}.{i}": np.ascontiguousarray(part) for i, part in enumerate(value)})
            else:
                state[attribute] = np.ascontiguousarray(value)
    return state


def with_fitted_arrays(model: Any, state: State, features: int, classes: int) -> Any:
    """An unfitted classifier, made the one that `fitted_arrays` described; ValueError where that cannot be."""
    kind = KINDS[type(model).__name__]
    model._validate_params()
    whole = [value for value in model.get_params().values() if isinstance(value, int)]
    _require(all(abs(value) <= _MOST for value in whole), f"a parameter of a {type(model).__name__} is out of range")
    rest = dict(state)
    model.classes_ = np.arange(classes)
    model.n_features_in_ = features
    for attribute, how in kind.kept.items():
        if how == "tree":
            setattr(model, attribute, _tree(rest, features, classes))
        elif how == "arrays":
            parts = [name for name in rest if name.startswith(f"{attribute}.")]
            setattr(model, attribute, [_finite(rest.pop(f"{attribute}.{i}")) for i in range(len(parts))])
        elif attribute in rest or attribute not in kind.optional:
            setattr(model, attribute, _HELD[how](_finite(rest.pop(attribute))))
    _require(not rest, f"{min(rest, default='')} is no attribute of a {type(model).__name__}")
    kind.derive(model, classes)
    kind.check(model, features, classes)
    return model


def _finite(array: NDArray[Any]) -> NDArray[Any]:
    _require(array.dtype.kind in "bif" and bool(np.isfinite(array).all()), "an attribute is not of finite numbers")
    return array.copy()


def _floats(array: NDArray[Any]) -> NDArray[Any]:
    _require(array.dtype == np.float64, "an attribute is not of floats")
    return array


def _whole(array: NDArray[Any]) -> NDArray[Any]:
    _require(array.dtype.kind == "i", "an attribute is not of integers")
    return array


_HELD: dict[str, Callable[[NDArray[Any]], Any]] = {
    "floats": _floats,
    "integers": _whole,
    "float": lambda array: np.float64(array.item()),
    "integer": lambda array: int(_whole(array).item()),
    "flag": lambda array: bool(array.item()),
    "pair": lambda array: (int(_whole(array)[0]), int(array[1])),
}


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _shapes(model: Any, **shapes: tuple[int, ...]) -> None:
    for name, shape in shapes.items():
        got = getattr(model, name).shape
        _require(got == shape, f"{name} of a {type(model).__name__} must have shape {shape}, got {got}")


def _check_gaussian(model: Any, p: int, c: int) -> None:
    _shapes(model, theta_=(c, p), var_=(c, p), class_count_=(c,), class_prior_=(c,))
    _require(bool((model.var_ >= 0).all()), "a variance is negative")
    _require(bool((model.class_prior_ >= 0).all()), "a prior probability is negative")


def _check_linear(model: Any, p: int, c: int) -> None:
    lines = 1 if c == 2 else c
    _shapes(model, coef_=(lines, p), intercept_=(lines,))


def _check_svc(model: Any, p: int, c: int) -> None:
    _require(model.kernel in ("linear", "poly", "rbf", "sigmoid"), f"an SVC with kernel {model.kernel!r} is not kept")
    counts, pairs = model._n_support, c * (c - 1) // 2
    _shapes(model, _n_support=(c,), _intercept_=(pairs,), intercept_=(pairs,), class_weight_=(c,))
    _require(bool((counts >= 0).all()), "a count of support vectors is negative")
    vectors = int(counts.sum(dtype=np.int64))
    _shapes(model, support_=(vectors,), support_vectors_=(vectors, p))
    _shapes(model, _dual_coef_=(c - 1, vectors), dual_coef_=(c - 1, vectors))
    of_probability = (pairs,) if len(model._probA) else (0,)
    _shapes(model, _probA=of_probability, _probB=of_probability)
    _require(counts.dtype == np.int32 and model.support_.dtype == np.int32, "the support is not of 32-bit integers")


def _derive_svc(model: Any, classes: int) -> None:
    model._sparse = False  # rows are dense here


def _check_mlp(model: Any, p: int, c: int) -> None:
    outputs = 1 if c == 2 else c
    hidden = np.atleast_1d(np.asarray(model.hidden_layer_sizes, dtype=np.int64)).tolist()
    widths = [p, *hidden, outputs]
    _require(len(model.coefs_) == len(model.intercepts_) == len(widths) - 1, "the layers do not fit their sizes")
    for i, (coefs, intercepts) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        _require(coefs.shape == (widths[i], widths[i + 1]), "the layers do not fit their sizes")
        _require(intercepts.shape == (widths[i + 1],), "the layers do not fit their sizes")


def _derive_mlp(model: Any, classes: int) -> None:
    from sklearn.preprocessing import LabelBinarizer

    model._label_binarizer = LabelBinarizer().fit(model.classes_)
    model.n_layers_ = len(model.coefs_) + 1
    model.n_outputs_ = 1 if classes == 2 else classes
    model.out_activation_ = "logistic" if classes == 2 else "softmax"


def _derive_tree(model: Any, classes: int) -> None:
    model.n_classes_ = np.int64(classes)
    model.n_outputs_ = 1


# A tree's nodes are a structured array whose gaps hold whatever the memory held: each field goes by itself.
_NODE_PREFIX = "tree_."


def _tree_arrays(tree: Any) -> State:
    state = tree.__getstate__()
    fields = {f"{_NODE_PREFIX}{name}": state["nodes"][name].copy() for name in state["nodes"].dtype.names}
    return {**fields, "tree_.values": state["values"], "tree_.max_depth": np.array([state["max_depth"]])}


def _tree(rest: State, features: int, classes: int) -> Any:
    from sklearn.tree._tree import NODE_DTYPE, Tree

    values = _floats(_finite(rest.pop("tree_.values")))
    depth = int(_whole(rest.pop("tree_.max_depth")).item())
    _require(values.ndim == 3 and values.shape[1:] == (1, classes) and len(values) > 0, "a tree's values do not fit")
    nodes = np.zeros(len(values), dtype=NODE_DTYPE)
    for name in NODE_DTYPE.names:
        column = rest.pop(_NODE_PREFIX + name)
        _require(column.shape == (len(values),) and column.dtype == NODE_DTYPE[name], f"a tree's {name} does not fit")
        nodes[name] = column
    at, left, right = np.arange(len(nodes)), nodes["left_child"], nodes["right_child"]
    leaf = left == -1
    inner = ~leaf
    _require(bool((right[leaf] == -1).all()), "a tree's leaf has a child")
    for child in (left[inner], right[inner]):  # behind its parent: a walk through the tree ends
        _require(bool(((child > at[inner]) & (child < len(nodes))).all()), "a tree's child does not exist")
    used = nodes["feature"][inner]
    _require(bool(((used >= 0) & (used < features)).all()), "a tree asks for a feature that does not exist")
    tree = Tree(features, np.array([classes], dtype=np.intp), 1)
    tree.__setstate__({"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values})
    return tree


def _check_nothing_more(model: Any, p: int, c: int) -> None:
    """A tree was checked as it was built."""


KINDS = {
    "GaussianNB": _Kind(
        "sklearn.naive_bayes",
        {"theta_": "floats", "var_": "floats", "class_count_": "floats", "class_prior_": "floats", "epsilon_": "float"},
        _check_gaussian,
    ),
    "LogisticRegression": _Kind(
        "sklearn.linear_model",
        {"coef_": "floats", "intercept_": "floats", "n_iter_": "integers"},
        _check_linear,
        optional=frozenset({"n_iter_"}),
    ),
    "LinearDiscriminantAnalysis": _Kind(
        "sklearn.discriminant_analysis",
        {
            **dict.fromkeys(("coef_", "intercept_", "priors_", "means_"), "floats"),
            **dict.fromkeys(("xbar_", "scalings_", "explained_variance_ratio_", "covariance_"), "floats"),
            **dict.fromkeys(("_max_components", "_n_features_out"), "integer"),
        },
        _check_linear,
        optional=frozenset(  # for other ends than predicting
            ("xbar_", "scalings_", "explained_variance_ratio_", "covariance_", "_max_components", "_n_features_out")
        ),
    ),
    "SVC": _Kind(
        "sklearn.svm",
        {
            **dict.fromkeys(("support_vectors_", "dual_coef_", "_dual_coef_", "intercept_", "_intercept_"), "floats"),
            **dict.fromkeys(("_probA", "_probB", "class_weight_"), "floats"),
            **dict.fromkeys(("support_", "_n_support", "n_iter_", "_num_iter"), "integers"),
            "_gamma": "float",
            "fit_status_": "integer",
            "shape_fit_": "pair",
            "_effective_probability": "flag",
        },
        _check_svc,
        optional=frozenset({"n_iter_", "_num_iter", "_effective_probability"}),  # not in all versions
        left=frozenset({"_sparse"}),
        derive=_derive_svc,
    ),
    "MLPClassifier": _Kind(
        "sklearn.neural_network",
        {"coefs_": "arrays", "intercepts_": "arrays", "n_iter_": "integer", "loss_": "float"},
        _check_mlp,
        left=frozenset(
            (
                *("_label_binarizer", "n_outputs_", "n_layers_", "out_activation_"),
                *("_random_state", "_optimizer", "t_", "loss_curve_", "best_loss_", "_best_coefs", "_best_intercepts"),
                *("_no_improvement_count", "validation_scores_", "best_validation_score_"),
                *("_coef_indptr", "_intercept_indptr", "_coef_grads", "_intercept_grads"),
            )
        ),
        derive=_derive_mlp,
    ),
    "DecisionTreeClassifier": _Kind(
        "sklearn.tree",
        {"tree_": "tree", "max_features_": "integer"},
        _check_nothing_more,
        left=frozenset({"n_classes_", "n_outputs_"}),
        derive=_derive_tree,
    ),
}
