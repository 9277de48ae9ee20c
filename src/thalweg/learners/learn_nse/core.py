"""The state of Learn++.NSE: members, the history of their errors, and rows that wait for their block to fill.

The members are saved as arrays; everything that a forged file could get wrong is checked on loading.
"""

from __future__ import annotations

from threading import RLock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.labels import Labels
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.python_core import Codes, PythonCore
from thalweg.learners.base.rows import Floats
from thalweg.learners.base.sklearn_state import fitted_arrays, with_fitted_arrays
from thalweg.learners.learn_nse.affine import Frame
from thalweg.learners.learn_nse.members import Member, Members, Training, seeded
from thalweg.learners.learn_nse.weights import (
    ErrorHistory,
    Weighting,
    ballots,
    count_votes,
    distribution,
    member_errors,
    voting_weights,
)


class PendingRows:
    """Rows with their classes and, where they were asked for already, the members' predictions for them."""

    def __init__(self, features: int) -> None:
        self._features = features
        self.clear()

    def clear(self) -> None:
        self._rows: list[Floats] = []
        self._classes: list[Codes] = []
        self._answers: list[Codes | None] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, X: Floats, y: Codes, answers: Codes | None = None) -> None:
        """Some more rows; the arrays are copied."""
        self._rows.append(X.copy())
        self._classes.append(y.copy())
        self._answers.append(answers)
        self._length += len(X)

    def insert_class(self, at: int) -> None:
        """A class takes its place at index ``at``; predictions in the old numbering are of no more use."""
        self._classes = [y + (y >= at) for y in self._classes]
        self._answers = [None] * len(self._answers)

    @property
    def rows(self) -> Floats:
        return np.concatenate([np.empty((0, self._features)), *self._rows])

    @property
    def classes(self) -> Codes:
        return np.concatenate([np.empty(0, dtype=np.int64), *self._classes])

    @property
    def answers(self) -> Codes | None:
        """The members' predictions, a row per row, or None where some were not asked for."""
        known = [part for part in self._answers if part is not None]
        return np.concatenate(known) if len(known) == len(self._answers) and known else None

    def with_more(self, X: Floats, y: Codes, answers: Codes | None) -> tuple[Floats, Codes, Codes | None]:
        """These rows and some more, as a block; nothing is added here."""
        if len(self) == 0:
            return X, y, answers
        before = self.answers
        together = None if before is None or answers is None else np.concatenate([before, answers])
        return np.concatenate([self.rows, X]), np.concatenate([self.classes, y]), together


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


#: Rows that come one by one make blocks of this many, as in the paper's SEA concepts, where no size is given.
DEFAULT_BLOCK = 250


Pruning = Literal["age", "error"]


class Plan(NamedTuple):
    slope: float
    crossing: float
    weighting: Weighting
    block_size: int | None
    max_members: int | None
    pruning: Pruning | None
    n_jobs: int | None


class LearnNSECore(PythonCore):
    """An ensemble with one member per block."""

    def __init__(self, features: int, training: Training, plan: Plan) -> None:
        super().__init__(features)
        self._training = training
        self._plan = plan
        self._lock = RLock()  # while a member comes or goes, nobody votes
        self.seen = np.empty(0, dtype=np.bool_)
        self.forget()

    def forget(self) -> None:
        self.blocks = 0
        self.seen = np.zeros_like(self.seen)
        self.members = Members(Frame(np.zeros(self.n_features), np.ones(self.n_features)), self._plan.n_jobs)
        self.history = ErrorHistory(self._plan.weighting, self._plan.slope, self._plan.crossing)
        self.weights = np.empty(0)
        self.pending = PendingRows(self.n_features)

    def insert(self, at: int) -> None:
        with self._lock:
            self.seen = np.insert(self.seen, at, False)
            self.members.insert_class(at)
            self.pending.insert_class(at)

    def begin(self, X: Floats, y: Codes) -> None:
        """Forget everything and begin from these rows; the last block takes what is left, so that none wait."""
        self.forget()
        size = self._plan.block_size or len(X)
        ends = [*range(size, len(X) - size + 1, size), len(X)]
        for start, end in zip([0, *ends], ends, strict=False):
            self._learn_block(X[start:end], y[start:end])

    def run(
        self, X: Floats, y: Codes, answers: Codes | None = None, scores: Floats | None = None, *_: Any, **__: Any
    ) -> None:
        """Test-then-train. Where no prediction is wanted and no block size was given, all these rows are one block."""
        if answers is None and scores is None:
            if self._plan.block_size is None:
                self._take_in(X, y, block_size=len(self.pending) + len(X))
            else:
                self.learn(X, y)
            return
        start = 0
        while start < len(X):
            stop = start + self._room
            rows, classes = X[start:stop], y[start:stop]
            asked = self.members.answers(rows) if len(self.members) else None
            votes = self._votes_before(classes) if asked is None else self._votes_of(asked)
            if scores is not None:
                scores[start:stop] = votes
            if answers is not None:
                answers[start:stop] = np.where(np.isneginf(votes).all(axis=1), -1, votes.argmax(axis=1))
            self._take_in(rows, classes, self._block_size, asked)
            start = stop

    def learn(self, X: Floats, y: Codes) -> None:
        """Learn these rows in order, in blocks that do not depend on how the rows were handed over."""
        start = 0
        while start < len(X):
            stop = start + self._room
            self._take_in(X[start:stop], y[start:stop], self._block_size)
            start = stop

    @property
    def _block_size(self) -> int:
        return self._plan.block_size or DEFAULT_BLOCK

    @property
    def _room(self) -> int:
        """The rows that the next block lacks."""
        return self._block_size - len(self.pending)

    def _take_in(self, X: Floats, y: Codes, block_size: int, asked: Codes | None = None) -> None:
        """Add rows to those that are pending, or make a block of them all. Where a member's training fails, neither."""
        if len(self.pending) + len(X) < block_size:
            self.pending.add(X, y, asked)
            self.seen[y] = True
            return
        self._learn_block(*self.pending.with_more(X, y, asked))
        self.pending.clear()

    def _learn_block(self, X: Floats, y: Codes, asked: Codes | None = None) -> None:
        if len(self.members) == 0:
            ensemble_wrong, wrong = np.zeros(len(y), dtype=np.bool_), np.empty((len(y), 0), dtype=np.bool_)
        else:
            asked = self.members.answers(X) if asked is None else asked
            ensemble_wrong = self._votes_of(asked).argmax(axis=1) != y
            wrong = asked != y[:, None]
        D = distribution(ensemble_wrong)  # eq. (1) to (3)
        member, newest_wrong = self._training.member_of(X, y, D, self.blocks)
        errors = member_errors(np.column_stack([wrong, newest_wrong]), ensemble_wrong, D)  # eq. (4)
        with self._lock:
            self.seen[y] = True
            self.blocks += 1
            if len(self.members) == 0:
                self.members.frame = Frame.of(X)
            self.members.append(member)
            self.history.add(errors)
            if self._plan.max_members is not None and len(self.members) > self._plan.max_members:
                self._drop(0 if self._plan.pruning == "age" else int(errors[:-1].argmax()))
            self.weights = voting_weights(self.history.averages())  # eq. (5) to (7)

    def _drop(self, member: int) -> None:
        self.members.drop(member)
        self.history.drop(member)

    def discriminants(self, X: Floats) -> Floats:
        """The votes for each class; before the first block, how often each has been seen."""
        with self._lock:
            if len(self.members) == 0:
                return np.repeat(self._votes_before(np.zeros(1, dtype=np.int64)), len(X), axis=0)
            votes = self.members.votes(X, ballots(self.weights), self.n_classes)
        return self._of_seen(votes)

    def _votes_of(self, answers: Codes) -> Floats:
        return self._of_seen(count_votes(answers, ballots(self.weights), self.n_classes))

    def _of_seen(self, votes: Floats) -> Floats:
        votes[:, ~self.seen] = -np.inf
        return votes

    def _votes_before(self, y: Codes) -> Floats:
        """While there is no member: for each of these rows, how often each class came before it."""
        counts = np.bincount(self.pending.classes, minlength=self.n_classes)
        is_label = np.arange(self.n_classes) == y[:, None]
        before = counts + np.cumsum(is_label, axis=0) - is_label
        return np.where(before > 0, before, -np.inf)

    def state(self) -> dict[str, NDArray[Any]]:
        return {**self.snapshot()[0], **arrays_of(list(self.members))}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self.resume(state, members_from(state, self._training.base, self.n_features))

    def snapshot(self) -> tuple[dict[str, NDArray[Any]], list[Member]]:
        """All that was learned, the members as they are: for Python's own copying and pickling."""
        arrays = {
            "n_classes": np.array([self.n_classes]),
            "blocks": np.array([self.blocks]),
            "seen": self.seen,
            "pending_rows": self.pending.rows,
            "pending_classes": self.pending.classes,
            "centre": self.members.frame.centre,
            "spread": self.members.frame.spread,
            "errors": self.history.errors,
            "ages": self.history.ages,
            "error_sums": self.history.sums,
            "error_shares": self.history.shares,
        }
        return arrays, [member.copy() for member in self.members]

    def resume(self, state: dict[str, NDArray[Any]], members: list[Member]) -> None:
        """Take back what `snapshot` gave, or raise ValueError."""
        check(state, members, self.n_features, self._block_size)
        self.n_classes = int(state["n_classes"][0])
        self.forget()
        self.seen = state["seen"].copy()
        self.blocks = int(state["blocks"][0])
        if len(state["pending_rows"]):
            self.pending.add(state["pending_rows"], state["pending_classes"])
        self.members.frame = Frame(state["centre"].copy(), state["spread"].copy())
        for member in members:
            self.members.append(member)
        self.history.resume(state["errors"], state["ages"], state["error_sums"], state["error_shares"])
        self.weights = voting_weights(self.history.averages())
