"""What the first rows of a run settle: its task, what the columns are, and the clocks of their times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.history.history import History
from thalweg.history.planning import asked_features, with_features, with_history
from thalweg.pipeline.over_columns import split_columns
from thalweg.run.notices import Notices
from thalweg.run.options import RunOptions
from thalweg.run.questions import parse_ngrams, unused_hashing
from thalweg.run.task import RunTask
from thalweg.run.tasks import PossibleTasks
from thalweg.tables import Chunk, Plan, plan_columns
from thalweg.tables.cells import parsed, trimmed
from thalweg.tables.clock import NEVER, Clock
from thalweg.tables.oddities import oddities
from thalweg.tables.plan import without_text
from thalweg.tables.rows import as_text
from thalweg.tables.timestamps import form_of

#: Options that are parameters of a model of a table.
OF_TABLES = (
    *("head", "categorical", "numeric", "text", "drop", "time", "key", "na", "decimal", "keep_sentinels", "missing"),
    *("ngrams", "hash_bits"),
)


class FirstRows:
    """Of one run; ``say`` is called with what was decided."""

    def __init__(self, options: RunOptions, notices: Notices, say: Callable[[str], None]) -> None:
        self._options, self._notices, self._say = options, notices, say
        #: By column, for those of times that the options name.
        self.clocks: dict[str, Clock] = {}
        #: The features from earlier rows; None for none.
        self.history: History | None = None

    def settle(self, head: Chunk, tasks: PossibleTasks) -> tuple[RunTask, Plan]:
        """The task, and what the columns are; what a user should know of them is said."""
        reserved = [name for name in (self._options.label_time,) if name is not None]
        for name in (self._options.time, *reserved):
            if name is not None and name not in head.column_names:
                raise InvalidInput.of_column(head.pieces[0].block.file, name, head.column_names)
            if name is not None and name not in self.clocks:  # sorting has settled that of the rows already
                self.settle_clock(name, head.column(name))
        plan = self._columns(head, reserved, detect_text=True)
        task = tasks.settle(head)
        if self._options.has_features:
            head = self._with_history(head, reserved, task)
            plan = self._columns(head, reserved, detect_text=True)
        text_left_out: list[str] = []
        if plan.sparse_columns and (self._options.key is not None or not task.takes_sparse_rows()):
            if self._options.text:
                rule = f"be left out: {self._owner(task)} takes no sparse rows"
                raise InvalidParameter.of_option("text", rule, self._options.text[0])
            plan, text_left_out = without_text(
                plan, self._columns(head, reserved, detect_text=False), self._owner(task)
            )
        if tasks.inferred is not None:
            self._say(tasks.inferred)
        self._say_forms(head, plan)
        if len({clock.kind for clock in self.clocks.values()}) > 1:
            time, label_time = (self.clocks[str(name)].kind for name in (self._options.time, self._options.label_time))
            raise InvalidInput(
                f"columns {self._options.time!r} and {self._options.label_time!r} cannot be compared: "
                f"one holds {time}, the other {label_time}"
            )
        if self.history is not None:
            plan = with_features(plan, self.history)
        plan = task.settle(head, plan, self.clocks)
        split_columns(task.model, plan)
        self._warn(head, plan, task, text_left_out)
        return task, plan

    def _with_history(self, head: Chunk, reserved: list[str], task: RunTask) -> Chunk:
        """The first rows with their features from earlier rows."""
        given = self._options
        lines = asked_features(given.feature)
        features = asked_features(given.feature, given.features)

        def plan_of(rows: Chunk, target: str | None, drop: Sequence[str] = given.drop) -> Plan:
            return self._columns(rows, [] if target is None else reserved, target=target, drop=drop, detect_text=False)

        head, self.history = with_history(
            head,
            plan_of,
            features,
            also=lines or (),
            target=given.target,
            classes=task.name == "classification",
            positive=given.positive,
            clocks=self.clocks,
            time=given.time,
            label_time=given.label_time,
            delay=given.delay,
        )
        return head

    def _warn(self, head: Chunk, plan: Plan, task: RunTask, text_left_out: list[str]) -> None:
        given = self._options
        ngrams = None if given.ngrams == RunOptions.ngrams else given.ngrams
        hash_bits = None if given.hash_bits == RunOptions.hash_bits else given.hash_bits
        self._notices.odd(unused_hashing(plan, ngrams=ngrams, hash_bits=hash_bits))
        self._notices.odd(f"column {name!r} is {plan.left_out[name]}" for name in text_left_out)
        odd = oddities(
            head,
            plan,
            task.codes(head),
            na=given.na,
            time=given.time,
            categorical=given.categorical,
            decimal=given.decimal,
        )
        self._notices.odd(odd)

    def parameters(self, besides: Sequence[str]) -> dict[str, Any]:
        """What was asked of the columns, less those that came ``besides``, as parameters of a model of a table."""
        asked = {name: getattr(self._options, name) for name in OF_TABLES}
        asked["drop"] = tuple(name for name in asked["drop"] if name not in besides)
        asked["time"] = None if asked["time"] in besides else asked["time"]
        parameters = {name: value for name, value in asked.items() if value != getattr(RunOptions, name)}
        if "ngrams" in parameters:
            parameters["ngrams"] = parse_ngrams(parameters["ngrams"])
        if self.history is not None:
            parameters["features"] = tuple(map(str, self.history.features))
        return {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}

    def settle_clock(self, name: str, column: Any) -> Clock:
        """The clock of a column, by its first rows in the order of the file."""
        like = None if name == self._options.time else self.clocks.get(str(self._options.time))
        self.clocks[name] = Clock.settle(name, column, self._options.na, like)
        return self.clocks[name]

    def times(
        self, chunk: Chunk
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None, list[tuple[int, str, str]]]:
        """When rows and labels come, where the table says so; and the rows of which it does not."""
        time_column, label_column = self._options.time, self._options.label_time
        if time_column is None:
            return None, None, []
        now, wrong = parsed(self.clocks[time_column], chunk.column(time_column))
        if label_column is None:
            self._notices.times_of(time_column, now)
            return now, None, [(at, time_column, what) for at, what in wrong]
        seen = {at for at, _ in wrong}
        places = (int(at) for at in np.flatnonzero(now == NEVER))
        wrong += [(at, "the time of the row is missing") for at in places if at not in seen]
        label_time, wrong_labels = parsed(self.clocks[label_column], chunk.column(label_column))
        untimed = [(at, time_column, what) for at, what in wrong]
        return now, label_time, untimed + [(at, label_column, what) for at, what in wrong_labels]

    def _say_forms(self, head: Chunk, plan: Plan) -> None:
        """Whether days or months come first, where the first rows had to show it."""
        times = [column for column in plan.columns if column.is_exchangeable and column.name not in self.clocks]
        forms = {name: clock.detected for name, clock in self.clocks.items()}
        forms |= {column.name: form_of(trimmed(as_text(head.column(column.name)))) for column in times}
        for name, form in forms.items():
            if form is None or form.because is None:
                continue
            sentence = f"column {name!r} is read as {form.form}: {form.because}"
            if form.likely:
                self._notices.odd([f"{sentence}; if that is wrong, write its dates as 2024-01-31"])
            elif name in self.clocks:
                self._say(sentence)

    def _owner(self, task: RunTask) -> str:
        keys = "" if self._options.key is None else " with keys"
        return f"the model {self._options.model} of {task.name}{keys}"

    def _columns(self, head: Chunk, reserved: list[str], *, detect_text: bool, **other: Any) -> Plan:
        asked = {"target": self._options.target, "drop": self._options.drop, "key": self._options.key} | other
        return plan_columns(
            head,
            **asked,
            categorical=self._options.categorical,
            numeric=self._options.numeric,
            reserved=reserved,
            decimal=self._options.decimal,
            na=self._options.na,
            detect_sentinels=not self._options.keep_sentinels,
            text=self._options.text,
            detect_text=detect_text,
            ngrams=parse_ngrams(self._options.ngrams),
            hash_bits=self._options.hash_bits,
            forms={name: clock.detected for name, clock in self.clocks.items() if clock.detected is not None},
        )
