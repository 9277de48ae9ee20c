"""Where rows are predicted: requests that come together are encoded and predicted in one call of the model.

While the last predictions are being committed, further requests gather, since theirs could not be committed sooner.
The encoder remembers what it sees, so rows go through it in the order in which the journal will hold them.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from thalweg.service.commands import Command, Decide, Key, Predict, Refused, require_active
from thalweg.service.following import JournalFollower
from thalweg.service.journal.records import PredictBody
from thalweg.service.learning import encoding, schema
from thalweg.service.learning.encoding import Encoded, copied, encode
from thalweg.service.learning.label_budget import LiveBudget
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.model_state import ModelState
from thalweg.service.writer import Writer
from thalweg.tables.cells import part_of_cells
from thalweg.tables.encoder import Encoder

#: Different sets of columns that are counted.
_MOST_VOTES = 64
#: Beyond so many rows they are predicted in a thread, so that others are not kept waiting.
_MANY = 512


@dataclass
class ColumnVote:
    """How many rows have the columns of the model, and how many were refused for theirs, by these."""

    fitting: int = 0
    rows: dict[frozenset[str], int] = field(default_factory=dict)
    #: One change at a time.
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def add(self, names: frozenset[str], rows: int) -> int:
        """How many rows have had these columns."""
        if names not in self.rows and len(self.rows) >= _MOST_VOTES:
            self.rows.clear()
        self.rows[names] = self.rows.get(names, 0) + rows
        return self.rows[names]


@dataclass
class PublishedModel:
    """A model as requests reach it. Its encoder is ahead of the journal by the rows that are being committed."""

    name: str
    encoder: Encoder | None
    state: ModelState
    allowed: frozenset[str] | None
    #: The number of failures of the journal before it.
    epoch: int
    #: Kinds of challengers that are being made.
    coming: list[str] = field(default_factory=list)
    #: How often rows have changed the columns, and what speaks for changing them again.
    columns: int = 0
    vote: ColumnVote = field(default_factory=ColumnVote)
    #: Which rows are asked for, ahead of the journal as the encoder is; None where labels are not limited.
    budget: LiveBudget | None = None
    #: Whether rows that are asked are recorded; the encoder learns them then.
    records: bool = True
    #: The model that is shown, and whether it was learned again, so that the encoder remembers what was revised.
    source: LiveModel | None = None
    is_outdated: bool = False

    @classmethod
    def of(cls, model: LiveModel, epoch: int, records: bool = True) -> PublishedModel:
        allowed = None if model.allowed is None else frozenset(model.allowed)
        vote = ColumnVote(model.waiting)
        encoder, state = _encoder(model, shared=not records), model.publish()
        budget = copy.deepcopy(model.budget)
        return cls(model.name, encoder, state, allowed, epoch, vote=vote, budget=budget, records=records, source=model)

    def replace(self, model: LiveModel, state: ModelState) -> None:
        """Show a later state. Where nothing is recorded here, the encoder too is what the journal says."""
        if not self.records:
            self.encoder = _encoder(model, shared=True)
        elif model is not self.source and self.encoder is not None:
            self.is_outdated = self.encoder.history is not None
        if self.budget is not None and state.budget is not None:
            self.budget.know(state.budget)
        self.source, self.state = model, state

    def begin_anew(self, model: LiveModel) -> None:
        """Encode as the journal says, after a revision of what features from earlier rows had known."""
        self.encoder = _encoder(model)

    def settle(self, rows: Any) -> dict[str, Any]:
        """Take the columns from the first rows, a list of JSON or a table of Arrow; the schema for the journal."""
        self.encoder = self.encoder_of(rows)
        return self.encoder.to_json()

    def encoder_of(self, rows: Any) -> Encoder:
        """An encoder for the columns of rows; `Refused` where they say too little, or a learner cannot use them."""
        table = encoding.as_table(rows) if isinstance(rows, list) else rows
        task = self.state.task
        encoder = schema.with_earlier_rows(schema.of_table(table, task.key_column), task, table)
        kinds = [*(learner.kind for learner in self.state.learners.values()), *self.coming]
        self.state.task.check_columns(encoder.plan, kinds)
        return encoder

    def is_outvoted_by(self, rows: Any) -> bool:
        """Whether rows that were refused have columns that more of the first rows have than those of the model."""
        if self.encoder is None or not (self.records and self.state.columns_open):
            return False
        names = frozenset(name for row in rows for name in row) if isinstance(rows, list) else rows.column_names
        strange = frozenset(names)
        return not strange <= set(self.encoder.accepted) and self.vote.add(strange, len(rows)) > self.vote.fitting

    def encode(self, rows: Any, *, learn: bool) -> Encoded:
        """The features of the rows, which the encoder may learn; `Refused` changes nothing."""
        assert self.encoder is not None
        parsed = (encoding.of_rows if isinstance(rows, list) else encoding.of_table)(rows, self.encoder)
        return encode(self.encoder, parsed, self.state.known_labels, learn=learn)


def unrecorded(model: PublishedModel, rows: Any, state: ModelState | None = None) -> Predict:
    """Predictions for rows that are not recorded: the encoder learns nothing, and no label can come."""
    state = state or model.state
    require_active(model.name, state.learners[model.name].archived)
    if model.encoder is None:
        raise Refused(503, "the journal cannot be written, and the model does not know its columns yet", retry_after=1)
    encoded = model.encode(rows, learn=False)
    predictions, response = state.predict(encoded.X)
    body = PredictBody(encoded.X, predictions, state.last, state.version)
    return Predict(model.name, None, body, response, model.epoch, recorded=False)


def _encoder(model: LiveModel, *, shared: bool = False) -> Encoder | None:
    """That of a model, to be changed apart from it; features from earlier rows may be ``shared``, to be looked at."""
    if model.follower is None:
        return None
    own = model.follower.encoder()
    if not shared:
        return copied(own)
    encoder = Encoder.from_json(own.to_json())
    encoder.history = own.history
    return encoder


@dataclass(slots=True, eq=False)
class Question:
    model: PublishedModel
    #: A list of JSON objects, or a table of Arrow.
    rows: Any
    future: asyncio.Future[Any]
    key: Key | None
    #: The state that predicts, where it must be a certain one and not the last.
    state: ModelState | None = None


class Batcher:
    """One for all models, on the event loop."""

    def __init__(self, writer: Writer | JournalFollower, renew: Callable[[PublishedModel], Awaitable[None]]) -> None:
        self._writer, self._renew = writer, renew
        self._questions: list[Question] = []
        self._come = asyncio.Event()
        self._under_way: asyncio.Future[Any] | None = None
        #: Held while rows are encoded and given to the writer, and by those who change what rows are encoded to.
        self.order = asyncio.Lock()

    def ask(
        self, model: PublishedModel, rows: Any, key: Key | None, state: ModelState | None
    ) -> asyncio.Future[Predict]:
        """Predict rows, a list of JSON objects or a table of Arrow; done once the predictions are in the journal."""
        future: asyncio.Future[Predict] = asyncio.get_running_loop().create_future()
        self._questions.append(Question(model, rows, future, key, state))
        self._come.set()
        return future

    async def run(self) -> None:
        while True:
            await self._come.wait()
            self._come.clear()
            await self._gather()
            questions, self._questions = self._questions, []
            async with self.order:
                for together in _by_kind(questions):
                    await self._put(together)

    async def _put(self, together: list[Question]) -> None:
        """Predict the rows of questions and give the predictions to the writer."""
        if together[0].model.is_outdated:
            await self._renew(together[0].model)
        if sum(len(question.rows) for question in together) > _MANY:
            commands, refused = await asyncio.to_thread(self._predict, together)
        else:
            commands, refused = self._predict(together)
        for question, refusal in refused:
            if not question.future.done():
                question.future.set_exception(refusal)
        if commands:
            self._under_way = commands[-1].future
            self._writer.put(commands)

    async def _gather(self) -> None:
        """Let more come while the last commit is under way, and then as long as more do; unless there is enough."""
        if self._under_way is not None and not self._has_enough():
            await asyncio.wait([self._under_way])
            self._under_way = None
        before = 0
        while before < len(self._questions) and not self._has_enough():
            before = len(self._questions)
            await asyncio.sleep(0)  # what has arrived meanwhile is read

    def _has_enough(self) -> bool:
        return sum(len(question.rows) for question in self._questions) >= _MANY

    def _predict(self, together: list[Question]) -> tuple[list[Command], list[tuple[Question, Exception]]]:
        """Questions to one model, all of JSON or a single table; the commands to be written, and what is refused."""
        try:
            return self._predict_at_once(together), []
        except Exception as error:
            if len(together) == 1:
                return [], [(together[0], error)]
        commands: list[Command] = []
        refused: list[tuple[Question, Exception]] = []
        for question in together:  # one of them cannot be predicted: each by itself
            own, wrong = self._predict([question])
            commands += own
            refused += wrong
        return commands, refused

    def _predict_at_once(self, together: list[Question]) -> list[Command]:
        model = together[0].model
        state = together[0].state or model.state  # once: another one may be published meanwhile
        require_active(model.name, state.learners[model.name].archived)
        rows = together[0].rows if len(together) == 1 else [row for question in together for row in question.rows]
        if model.encoder is not None:
            return self._predicted(together, model, state, model.encode(rows, learn=model.records))
        if not model.records:
            raise Refused(
                409, f"{model.name!r} has no columns yet: send the first rows to the service that this one follows"
            )
        settled = Decide(model.name, None, "schema", model.settle(together[0].rows), model.epoch)
        try:
            return [settled, *self._predicted(together, model, state, model.encode(rows, learn=model.records))]
        except Refused:
            model.encoder = None
            raise

    def _predicted(
        self, together: list[Question], model: PublishedModel, state: ModelState, encoded: Encoded
    ) -> list[Command]:
        predictions, response = state.predict(encoded.X)
        if model.budget is not None and model.records:
            worth = response.worth(encoded.X, state.task.positive)
            model.budget.decide(response.own, worth, int(time.time() * 1e6))
        commands: list[Command] = []
        begin = 0
        for question in together:
            part = slice(begin, begin + len(question.rows))
            asked = PredictBody(
                encoded.X[part],
                {name: predicted.part(part) for name, predicted in predictions.items()},
                state.last,
                state.version,
                None if encoded.gaps is None else encoded.gaps[part],
                encoded.categories if begin == 0 else None,
                state.baselines,
                cells={name: part_of_cells(values, part) for name, values in encoded.cells.items()},
                inputs=None if encoded.inputs is None else encoded.inputs.part(part),
                known=encoded.known,
            )
            commands.append(
                Predict(
                    model.name,
                    question.future,
                    asked,
                    response.part(part),
                    model.epoch,
                    model.columns,
                    key=question.key,
                )
            )
            begin = part.stop
        return commands


def _by_kind(questions: list[Question]) -> list[list[Question]]:
    """Neighbours to the same model together; a table by itself."""

    def kind(question: Question) -> tuple[int, ...]:
        return (id(question.model), id(question.state)) if isinstance(question.rows, list) else (id(question),)

    return [list(together) for _, together in groupby(questions, kind)]
