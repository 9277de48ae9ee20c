"""Which task a run has: what the options leave open, the first rows settle."""

from __future__ import annotations

from typing import Any

from thalweg.catalogue import MODELS
from thalweg.errors import InvalidParameter
from thalweg.option_names import option
from thalweg.run.classification import Classification
from thalweg.run.notices import Notices
from thalweg.run.options import RunOptions
from thalweg.run.regression import Regression
from thalweg.run.task import RunTask
from thalweg.tables import Chunk, Target

#: Whole numbers that are surely classes, such as 0 and 1.
_FEW = 2
#: Classes that may be asked for without a warning, whatever their numbers are.
_USUAL = 10
_TASKS: tuple[type[RunTask], ...] = (Classification, Regression)


class PossibleTasks:
    """The tasks that the options allow; options that go with none of them are refused before a row is read."""

    def __init__(self, options: RunOptions, notices: Notices, model: Any = None) -> None:
        self._options = options
        self._target = Target(options.target, declared=options.target in options.categorical)
        self._asked = options.task or ("classification" if self._target.declared else None)
        self._notices, self._is_given, self._has_warned = notices, model is not None, False
        self._made: dict[str, RunTask] = {}
        self._refused: dict[str, InvalidParameter] = {}
        #: What the first rows say of the target, where they settle the task.
        self.inferred: str | None = None
        for kind in _TASKS:
            if self._asked in (None, kind.name):
                try:
                    self._made[kind.name] = kind(options, notices, model)
                except InvalidParameter as error:
                    self._refused[kind.name] = error
        if not self._made:
            have_it = [name for name in self._refused if options.model in MODELS[name]]
            raise self._refused[next(iter([*have_it, *self._refused]))]

    @property
    def likely(self) -> RunTask:
        """What a run has until its first rows are read."""
        return next(iter(self._made.values()))

    def named(self, name: str) -> RunTask:
        """The task that a checkpoint names, whose options are the same."""
        return self._made[name]

    @property
    def are_open(self) -> bool:
        """Whether the rows decide."""
        return self._asked is None and len(self._made) > 1

    def turn_to_numbers(self) -> None:
        """Later rows showed that the target is a quantity: regression from here on."""
        self._asked, self.inferred = "regression", None

    def settle(self, head: Chunk) -> RunTask:
        """The task by the first rows: numbers of which there are many, or with decimals, mean regression."""
        task = self.settle_by(None if self._asked else self._target.quantity(head, self._options.decimal))
        if self._asked == "classification":
            quantity = Target(self._target.name).quantity(head, self._options.decimal)
            if quantity is not None:
                different = self._target.different_numbers(head) or 0
                self.warn_of_classes(f"{self._target.name} holds {quantity}", different)
        if self._asked is None and self.inferred is None and self._target.name not in head.nominal:
            different = self._target.different_numbers(head) or 0
            if different > _FEW:
                held = f"{self._target.name} holds {different} different whole numbers"
                self.inferred = f"classification: {held}; {option('task', 'regression')} predicts them as numbers"
        return task

    def warn_of_classes(self, held: str, different: int) -> None:
        """The target holds a quantity, of so many different numbers, and classes are asked for."""
        if different > _USUAL and not self._has_warned:
            self._has_warned = True
            numbers = "a regressor, such as AutoRegressor," if self._is_given else option("task", "regression")
            self._notices.odd(
                [f"{held}, and a classifier takes each for a class of its own: {numbers} predicts numbers"]
            )

    def settle_by(self, quantity: str | None) -> RunTask:
        """The task by the quantity that the target holds in the first rows; None for classes."""
        name = self._asked
        if name is None:
            name = "classification" if quantity is None else "regression"
            if quantity is not None:
                held = f"{self._target.name} holds {quantity}"
                self.inferred = f"regression: {held}; {option('task', 'classification')} takes them for classes"
                if name in self._refused:
                    but = f"{option('task', 'classification')} takes the numbers for classes"
                    raise InvalidParameter(f"{held}, which means regression: {self._refused[name]}; {but}")
        if name in self._refused:
            raise self._refused[name]
        return self._made[name]
