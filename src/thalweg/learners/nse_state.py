"""The members of Learn++.NSE as arrays, and back, with everything checked that a forged file could get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.contract import StreamClassifier
from thalweg.learners.labels import Labels
from thalweg.learners.nse_members import Member
from thalweg.learners.nse_training import seeded
from thalweg.learners.sklearn_state import fitted_arrays, with_fitted_arrays

State = dict[str, NDArray[Any]]


def arrays_of(members: list[Member]) -> State:
    """Members as arrays; `ModelFileError` where one is neither ours nor of a known scikit-learn class."""
    state: State = {
        "member_seeds": np.array([member.seed for member in members], dtype=np.int64),
        "member_sizes": np.array([len(member.classes) for member in members], dtype=np.int64),
        "member_classes": np.concatenate([np.empty(0, np.int64), *(member.classes for member in members)]),
    }
    for i, member in enumerate(members):
        for name, array in _learned(member.model).items():
            state[f"member.{i}.{name}"] = array
    return state


def _learned(model: Any) -> State:
    if model is None:
        return {}
    return model._core.state() if isinstance(model, StreamClassifier) else fitted_arrays(model)


def members_from(state: State, base: Any, features: int) -> list[Member]:
    """What `arrays_of` was given; ValueError or KeyError where that cannot be."""
    sizes, seeds, classes = (state[name] for name in ("member_sizes", "member_seeds", "member_classes"))
    for array in (sizes, seeds, classes):
        _require(array.ndim == 1 and array.dtype == np.int64, "the lists of members are not lists of integers")
    _require(len(sizes) == len(seeds), "the lists of members differ in length")
    _require(bool((sizes > 0).all()) and int(sizes.sum()) == len(classes), "the members' classes do not add up")
    learned: list[State] = [{} for _ in sizes]
    for name, array in state.items():
        if name.startswith("member."):
            _, at, inner = name.split(".", 2)
            learned[int(at)][inner] = array
    parts = np.split(classes, np.cumsum(sizes)[:-1])
    return [
        Member(_revived(base, seed, arrays, features, len(part)), part.copy(), seed)
        for arrays, part, seed in zip(learned, parts, seeds.tolist(), strict=False)
    ]


def _revived(base: Any, seed: int, arrays: State, features: int, classes: int) -> Any:
    if classes == 1:
        return None
    model = seeded(base, seed)
    if isinstance(model, StreamClassifier):
        model._resume(arrays, Labels(np.arange(classes)), features)
        return model
    return with_fitted_arrays(model, arrays, features, classes)


def check(state: State, members: list[Member], features: int, block_size: int) -> None:
    """ValueError where arrays and members cannot be those of one ensemble."""
    classes, blocks = int(state["n_classes"][0]), int(state["blocks"][0])
    rows, y = state["pending_rows"], state["pending_classes"]
    _require(state["seen"].shape == (classes,) and state["seen"].dtype == np.bool_, "the classes seen do not fit")
    _require(rows.ndim == 2 and rows.shape[1] == features and rows.dtype == np.float64, "the pending rows do not fit")
    _require(y.shape == (len(rows),) and y.dtype == np.int64 and len(rows) < block_size, "the pending rows do not fit")
    for codes in (y, *(member.classes for member in members)):
        _require(bool((codes >= 0).all() and (codes < classes).all()), "a class is out of range")
        _require(bool(state["seen"][codes].all()), "a class was seen, and was not")
    for member in members:
        _require(bool((np.diff(member.classes) > 0).all()), "a member's classes are not in order")
    for name in ("centre", "spread"):
        _require(state[name].shape == (features,) and bool(np.isfinite(state[name]).all()), f"the {name} does not fit")
    _require(bool((state["spread"] > 0).all()), "the spread is not positive")
    _check_history(state, len(members), blocks)


def _check_history(state: State, members: int, blocks: int) -> None:
    errors, ages = state["errors"], state["ages"]
    _require(errors.ndim == 2 and len(errors) == members and errors.dtype == np.float64, "the errors do not fit")
    _require(ages.shape == (members,) and ages.dtype == np.int64, "the members' ages do not fit")
    _require(bool((np.diff(ages) < 0).all()) and bool((ages <= blocks).all()), "the members' ages are not in order")
    _require(members == 0 or int(ages[-1]) == 1, "the newest member is not new")
    kept = errors.shape[1]
    lived = np.arange(kept)[::-1] < ages[:, None]
    _require(bool((np.isnan(errors) == ~lived).all()), "the errors do not fit the members' ages")
    _require(bool(((errors >= 0) & (errors <= 1 + 1e-12))[lived].all()), "an error lies outside [0, 1]")
    for name in ("error_sums", "error_shares"):
        sums = state[name]
        _require(sums.shape == (members,) and sums.dtype == np.float64, f"the {name} do not fit")
        _require(bool((np.isfinite(sums) & (sums >= 0)).all()), f"the {name} are not positive numbers")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
