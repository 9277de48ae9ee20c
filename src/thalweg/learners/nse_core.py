"""The state of Learn++.NSE: members, the history of their errors, and rows that wait for their block to fill."""

from __future__ import annotations

from threading import RLock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.affine_form import Frame
from thalweg.learners.nse_members import Member, Members
from thalweg.learners.nse_state import arrays_of, check, members_from
from thalweg.learners.nse_training import Training
from thalweg.learners.nse_weights import (
    ErrorHistory,
    Weighting,
    ballots,
    count_votes,
    distribution,
    member_errors,
    voting_weights,
)
from thalweg.learners.pending_rows import PendingRows
from thalweg.learners.python_core import Codes, PythonCore
from thalweg.learners.rows import Floats

#: Rows that come one by one make blocks of this many, as in the paper's SEA concepts, where no size is given.
DEFAULT_BLOCK = 250


class Plan(NamedTuple):
    """How blocks become votes."""

    slope: float
    crossing: float
    weighting: Weighting
    block_size: int | None
    max_members: int | None
    pruning: Literal["age", "error"] | None
    n_jobs: int | None


class LearnNSECore(PythonCore):
    """An ensemble with one member per block.

    Parameters
    ----------
    features : int
        The width of a row.
    training : Training
        What makes a member of a block.
    plan : Plan
        How blocks become votes.
    """

    def __init__(self, features: int, training: Training, plan: Plan) -> None:
        super().__init__(features)
        self._training = training
        self._plan = plan
        self._lock = RLock()  # while a member comes or goes, nobody votes
        self.seen = np.empty(0, dtype=np.bool_)
        self.forget()

    def forget(self) -> None:
        """As before the first row; the classes stay announced."""
        self.blocks = 0
        self.seen = np.zeros_like(self.seen)
        self.members = Members(Frame(np.zeros(self.n_features), np.ones(self.n_features)), self._plan.n_jobs)
        self.history = ErrorHistory(self._plan.weighting, self._plan.slope, self._plan.crossing)
        self.weights = np.empty(0)
        self.pending = PendingRows(self.n_features)

    def insert(self, at: int) -> None:
        """A class takes its place at index ``at``."""
        with self._lock:
            self.seen = np.insert(self.seen, at, False)
            self.members.insert_class(at)
            self.pending.insert_class(at)

    # ------------------------------------------------------------------ rows into blocks

    def begin(self, X: Floats, y: Codes) -> None:
        """Forget everything and begin from these rows; the last block takes what is left, so that none wait."""
        self.forget()
        size = self._plan.block_size or len(X)
        ends = [*range(size, len(X) - size + 1, size), len(X)]
        for start, end in zip([0, *ends], ends, strict=False):
            self._learn_block(X[start:end], y[start:end])

    def run(
        self,
        X: Floats,
        y: Codes,
        answers: Codes | None = None,
        scores: Floats | None = None,
        rates: Floats | None = None,
        shares: Floats | None = None,
    ) -> None:
        """Test-then-train. Where no answer is wanted and no block size was given, all these rows are one block."""
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

    # ------------------------------------------------------------------ blocks into members

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

    # ------------------------------------------------------------------ votes

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
        each = np.arange(self.n_classes) == y[:, None]
        before = counts + np.cumsum(each, axis=0) - each
        return np.where(before > 0, before, -np.inf)

    # ------------------------------------------------------------------ as arrays

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays by name."""
        return {**self.snapshot()[0], **arrays_of(list(self.members))}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Take back what `state` gave, or raise ValueError."""
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
