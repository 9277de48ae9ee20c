"""All requests to the service, each written once: the blocking and the awaiting client share them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from os import PathLike
from pathlib import Path
from time import time_ns
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

from thalweg.client.batches import Batch, arrow_columns, as_body, labels_in_batches, rows_in_batches
from thalweg.client.both_ways import call, stream
from thalweg.client.column_responses import ImportanceOverTime, Inputs
from thalweg.client.history_responses import Course, Point
from thalweg.client.model_responses import (
    Comparison,
    Decision,
    KeyDetails,
    Model,
    Models,
    RowsToLabel,
    Version,
    Versions,
)
from thalweg.client.predictions import Prediction, Predictions
from thalweg.client.protocol import (
    ARROW,
    BYTES,
    DEFAULT_MODEL,
    EVENTS,
    JSON,
    MOST_EXPLAINED,
    ColumnsRequest,
    Costs,
    CreateRequest,
    EraseReceipt,
    EraseRequest,
    Label,
    PredictResponse,
    PromoteRequest,
    Receipt,
    RequestBody,
    RollbackRequest,
    VersionRequest,
    VoidReceipt,
    VoidRequest,
)
from thalweg.client.transport import Reply, Request, Wire, decoded, followed, reply_to
from thalweg.errors import InvalidInput

Response = TypeVar("Response")


class Calls:
    """The methods of `Client` and `AsyncClient`."""

    _wire: Wire
    _model: str | None
    _patience: float
    _batch_rows: int

    @call
    async def predict(
        self,
        rows: Any,
        *,
        columns: Sequence[str] | None = None,
        model: str | None = None,
        key: str | None = None,
        explain: bool = False,
    ) -> Predictions:
        """Predictions for rows, each with the id under which its label is given later.

        Parameters
        ----------
        rows : mapping, sequence of mappings, table or array
            One row by column; several; a pandas, polars or Arrow table; or a two-dimensional array, with `columns`.
            Tables and arrays go as Arrow batches, which is much quicker. A cell of a column of maps is a mapping from
            names or indices to numbers, in a table an entry of Arrow's type map.
        columns : sequence of str, optional
            Names for an array's columns.
        model : str, optional
            Who is asked; by default the client's model, else the service's own choice.
        key : str, optional
            Requests of equal key are done once. By default every call has a new one.
        explain : bool
            Whether to say what each column contributes to each prediction. It takes rows as mappings, and as much time
            as hundreds of predictions.
        """
        model = model or self._model
        batch_rows = min(self._batch_rows, MOST_EXPLAINED) if explain else self._batch_rows
        batches = rows_in_batches(rows, columns, batch_rows, model)
        return reduce(add, [await self._predicted(*keyed, model, explain) for keyed in _keyed(batches, key)])

    @call
    async def predict_one(
        self, row: Mapping[str, Any], *, model: str | None = None, key: str | None = None, explain: bool = False
    ) -> Prediction:
        """The prediction for one row.

        Parameters
        ----------
        row : mapping
            Values by column.
        model, key, explain
            See `predict`.
        """
        if not isinstance(row, Mapping):
            raise InvalidInput(f"a row must be a dictionary by column, got {row!r}")
        return (await Calls.predict(self, row, model=model, key=key, explain=explain))[0]

    @call
    async def label(
        self,
        labels: Any,
        label: Label | Sequence[Label] | None = None,
        *,
        revise: bool = False,
        model: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Give labels by id, as late as they come and in any order.

        Parameters
        ----------
        labels : str, mapping, sequence or table
            An id; labels by id; ids; or a table with columns id and label.
        label : str, number, bool or sequence, optional
            The id's, or one for each of the ids. The service takes classes as text: 1 and "1" are one class. Those of a
            regression model are finite numbers.
        revise : bool
            Whether a label may replace an earlier one of the same row. The model ends as if the right label had come
            at first; for that the service learns again all that came after. Without it such labels are conflicts.
        model, key : str, optional
            See `predict`.
        """
        model = model or self._model
        batches = labels_in_batches(labels, label, self._batch_rows, model, revise)
        return reduce(add, [await self._labelled(*keyed, model, revise) for keyed in _keyed(batches, key)])

    @call
    async def void(self, ids: str | Sequence[str], *, model: str | None = None, key: str | None = None) -> VoidReceipt:
        """Withdraw rows, with or without a label.

        Parameters
        ----------
        ids : str or sequence of str
            Of the rows. The model ends as if their labels had never come; for that the service learns again all that
            came after. Labels that come later are refused as expired.
        model, key : str, optional
            See `predict`.
        """
        return await self._sent(self._path_of(model, "void"), VoidRequest(_listed(ids)), VoidReceipt, key)

    @call
    async def erase(
        self, ids: str | Sequence[str], *, model: str | None = None, key: str | None = None
    ) -> EraseReceipt:
        """Erase the values and labels of rows from the journal of the service.

        Parameters
        ----------
        ids : str or sequence of str
            Of the rows. The model ends as if they had never had a label, and later labels are refused as expired.
        model, key : str, optional
            See `predict`.
        """
        return await self._sent(self._path_of(model, "erase"), EraseRequest(_listed(ids)), EraseReceipt, key)

    @call
    async def change_columns(
        self,
        name: str,
        *,
        add: Mapping[str, Any] | None = None,
        retire: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Decision:
        """Add, retire or rename columns of a model.

        Parameters
        ----------
        name : str
            The model.
        add : dict, optional
            By name, the default of a new column, which rows without it have: a number, a text, or a dict with a
            ``kind`` (``"number"``, ``"category"`` or ``"time"``) and a ``default``. The model learns the rows that the
            journal keeps again, with the defaults.
        retire : sequence of str
            Columns whose values are ignored from now on.
        rename : dict, optional
            New names by the old ones.
        key : str, optional
            See `predict`.
        """
        asked = ColumnsRequest(dict(add or {}), list(retire), dict(rename or {}))
        return await self._sent(_path(name, "columns"), asked, Decision, key)

    @call
    async def models(self) -> list[Model]:
        """All models of the service."""
        return (await self._read("/v1/models", Models)).models

    @call
    async def model(self, name: str) -> Model:
        """One model."""
        return await self._read(_path(name), Model)

    @call
    async def create(
        self,
        name: str,
        kind: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
        challenger_of: str | None = None,
        positive: str | None = None,
        costs: Mapping[str, float] | None = None,
        task: str | None = None,
        coverage: float | None = None,
        key: str | None = None,
        key_memory: int | None = None,
        features: Sequence[str] | None = None,
        time: str | None = None,
        label_budget: str | float | None = None,
        labels_of: str | None = None,
        explore: float | None = None,
    ) -> Decision:
        """Make a model, or a challenger of one.

        Parameters
        ----------
        name : str
            Its name, from now on.
        kind : str
            What learns, such as ``"oldc"`` or ``"auto"``; ``thalweg models`` lists them by task.
        parameters : mapping, optional
            As the options of ``thalweg run``: rate, adaptive, window, seed.
        schema : mapping, optional
            Its columns, as in ``{"columns": [{"name": "load", "kind": "number"}]}``, and its labels; by default the
            first rows decide. A challenger has that of the model it challenges.
        challenger_of : str, optional
            The model in whose shadow it learns.
        positive : str, optional
            The label of interest: the model then has scores of how it is found (ROC AUC, PR AUC, recall, precision).
        costs : mapping, optional
            What mistakes about it cost, as in ``{"fp": 1, "fn": 50}``.
        task : {"classification", "regression"}, optional
            Whether labels are classes, by default, or numbers. A challenger has that of the model it challenges.
        coverage : float, optional
            Of regression, the share of rows whose interval is to hold the label: 0.9 by default, or 0.5, 0.8, 0.95 or
            0.99; of kind "linear" any between 0 and 1.
        key : str, optional
            The column that says which key, such as a customer, a row belongs to: each key then has a small model of its
            own beside that of all keys. A challenger has that of the model it challenges.
        key_memory : int, optional
            Bytes of memory for the models of keys, at least 65,536. Cold ones then go to a temporary file.
        features : sequence of str, optional
            Features from earlier rows, as in ``["recent = count() by card over 1h"]``.
        time : str, optional
            The column of times that windows of features go by.
        label_budget : float or str, optional
            How many rows to ask the labels of: a share of them, such as 0.1, or a number per time, such as "100/day".
            Predictions then say whether the label is asked for, and `to_label` lists those that wait.
        labels_of : {"auto", "uncertain", "rare", "flagged", "random"}, optional
            Which rows are preferred; "auto" by default.
        explore : float, optional
            Share of the label budget that is spent on all rows alike, 0.1 by default.
        """
        parameters, schema = (None if given is None else dict(given) for given in (parameters, schema))
        if costs is not None and not (isinstance(costs, Mapping) and costs.keys() <= {"fp", "fn"}):
            raise InvalidInput(f"costs must be a mapping with fp and fn, as in {{'fp': 1, 'fn': 50}}, got {costs!r}")
        priced = None if costs is None else Costs(**costs)
        lines = None if features is None else list(features)
        limit = label_budget, labels_of, explore
        asked = positive, priced, task, coverage, key, key_memory, lines, time, *limit
        given = CreateRequest(name, kind, parameters, schema, challenger_of, *asked)
        return await self._sent("/v1/models", given, Decision)

    @call
    async def key(self, key: str | int, *, model: str | None = None) -> KeyDetails:
        """How a key of a model with keys does.

        Parameters
        ----------
        key : str or int
            As it is in the rows.
        model : str, optional
            See `predict`.
        """
        return await self._read(f"{self._path_of(model, 'keys')}/{quote(str(key), safe='')}", KeyDetails)

    @call
    async def compare(self, name: str) -> Comparison:
        """A champion beside its challenger.

        Parameters
        ----------
        name : str
            The challenger's; or the champion's, where it has but one.
        """
        return await self._read(_path(name, "compare"), Comparison)

    @call
    async def promote(self, name: str, *, expected: str | None = None, force: bool = False) -> Decision:
        """Make a challenger the champion, whose predictions are returned; the old champion learns on in its place.

        Parameters
        ----------
        name : str
            The challenger's.
        expected : str, optional
            The challenger's kind. The service refuses where it has become another, as after a promotion.
        force : bool
            Whether to promote a challenger that has a significantly higher error, or that no label has compared with
            the champion since they took their places.
        """
        given = PromoteRequest(expected, force)
        return await self._decided(name, "promote", None if given == PromoteRequest() else given)

    @call
    async def archive(self, name: str) -> Decision:
        """Archive a model: it keeps its state and predicts nothing until it is restored.

        Parameters
        ----------
        name : str
            The model's.
        """
        return await self._decided(name, "archive")

    @call
    async def restore(self, name: str) -> Decision:
        """Take an archived model back.

        Parameters
        ----------
        name : str
            The model's.
        """
        return await self._decided(name, "restore")

    @call
    async def download(self, name: str, *, version: str | None = None, seq: int | None = None) -> bytes:
        """The file of a model: written to the disk, `thalweg.load` and ``thalweg predict`` read it.

        Parameters
        ----------
        name : str
            The model's.
        version : str, optional
            The name of an older state; by default the model as it is.
        seq : int, optional
            Instead of a version, the record of the journal after which it was so.
        """
        query = {"version": version, "seq": None if seq is None else str(seq)}
        given = {key: value for key, value in query.items() if value is not None}
        return (await self._asked(Request("GET", _path(name, "file"), given))).body

    @call
    async def upload(self, name: str, file: bytes | str | PathLike[str]) -> Decision:
        """Make a model from the file of one.

        Parameters
        ----------
        name : str
            The new model's.
        file : bytes or path
            What `download` gave, or a file that ``thalweg run`` wrote.
        """
        content = file if isinstance(file, bytes) else Path(file).read_bytes()
        batch = Batch(BYTES, content)
        return decoded(await self._posted(_path(name, "file"), batch, method="PUT"), Decision)

    @call
    async def versions(self, name: str) -> list[Version]:
        """Named versions and snapshots of a model, in their order.

        Parameters
        ----------
        name : str
            The model's.
        """
        return (await self._read(_path(name, "versions"), Versions)).versions

    @call
    async def name_version(self, name: str, version: str) -> Decision:
        """Name the state of a model, and of its challengers, as it is now.

        Parameters
        ----------
        name : str
            The model's.
        version : str
            A name that no version of the model has.
        """
        return await self._decided(name, "versions", VersionRequest(version))

    @call
    async def rollback(self, name: str, version: str | None = None, *, seq: int | None = None) -> Decision:
        """Return a model to an older state: it predicts and learns from there on, and nothing is erased.

        Parameters
        ----------
        name : str
            The model's, or a challenger's.
        version : str, optional
            The name of the state.
        seq : int, optional
            Instead of a version, the record of the journal after which the model was in that state.
        """
        return await self._decided(name, "rollback", RollbackRequest(version, seq))

    @call
    async def course(self, name: str) -> Course:
        """How a model has been doing.

        Parameters
        ----------
        name : str
            The model's.
        """
        return await self._read(_path(name, "course"), Course)

    @call
    async def to_label(self, name: str, limit: int = 100) -> RowsToLabel:
        """The rows whose label is asked for and has not come, those that were the most worth asking first.

        Parameters
        ----------
        name : str
            The model's, which has a label budget.
        limit : int
            Rows at the most, up to 1,000.
        """
        return await self._read(f"{_path(name, 'to-label')}?limit={limit}", RowsToLabel)

    @call
    async def importance(self, name: str) -> ImportanceOverTime:
        """Which columns a model relies on, and how that changed.

        Parameters
        ----------
        name : str
            The model's; challengers are not sampled.
        """
        return await self._read(_path(name, "importance"), ImportanceOverTime)

    @call
    async def inputs(self, name: str) -> Inputs:
        """The columns of a model's rows then and now, and which of them changed.

        Parameters
        ----------
        name : str
            The model's.
        """
        return await self._read(_path(name, "inputs"), Inputs)

    @stream
    async def events(self, name: str) -> AsyncGenerator[Point, None]:
        """How a model is doing, as it happens; without end. Lost connections are taken up again.

        Parameters
        ----------
        name : str
            The model's.
        """
        request = Request("GET", _path(name, "events"), headers={"Accept": EVENTS})
        points = followed(self._wire, request, self._patience)
        try:
            async for point in points:
                yield point
        finally:
            await points.aclose()

    # ---- what the methods have in common

    def _path_of(self, model: str | None, what: str) -> str:
        return _path(model or self._model or DEFAULT_MODEL, what)

    async def _read(self, path: str, kind: type[Response]) -> Response:
        return decoded(await self._asked(Request("GET", path)), kind)

    async def _sent(
        self, path: str, asked: RequestBody | None, kind: type[Response], key: str | None = None
    ) -> Response:
        body = b"" if asked is None else as_body(asked)
        return decoded(await self._posted(path, Batch(JSON, body), key), kind)

    async def _asked(self, request: Request) -> Reply:
        return await reply_to(self._wire, request, self._patience)

    async def _posted(
        self,
        path: str,
        batch: Batch,
        key: str | None = None,
        query: Mapping[str, str] | None = None,
        method: str = "POST",
    ) -> Reply:
        headers = {"Content-Type": batch.media, "Accept": batch.media, "Idempotency-Key": key or _new_key()}
        return await self._asked(Request(method, path, query or {}, batch.content, headers))

    async def _predicted(self, batch: Batch, key: str, model: str | None, explain: bool) -> Predictions:
        if explain and batch.media == ARROW:
            raise InvalidInput("rows to be explained must be mappings by column, not a table or an array")
        query = {"model": model} if model and batch.media == ARROW else {}
        query |= {"explain": "true"} if explain else {}
        reply = await self._posted("/v1/predict", batch, key, query)
        if batch.media == ARROW:
            given, metadata = arrow_columns(reply.body)
            version = int(metadata["version"]) if "version" in metadata else None
            recorded = metadata.get("recorded") != "false"
            return Predictions.of_columns(metadata.get("model", model or ""), version, given, recorded)
        return Predictions.of(decoded(reply, PredictResponse))

    async def _labelled(self, batch: Batch, key: str, model: str | None, revise: bool) -> Receipt:
        in_address = ({"model": model} if model else {}) | ({"revise": "true"} if revise else {})
        reply = await self._posted("/v1/label", batch, key, in_address if batch.media == ARROW else {})
        return decoded(reply, Receipt)

    async def _decided(self, name: str, order: str, asked: RequestBody | None = None) -> Decision:
        return await self._sent(_path(name, order), asked, Decision)


def _new_key() -> str:
    """A key of its own that rises with time: a journal takes such keys four times as fast as random ones."""
    return f"{time_ns():016x}-{uuid4().hex}"


def _listed(ids: str | Sequence[str]) -> list[str]:
    return [ids] if isinstance(ids, str) else list(ids)


def _path(name: str, *further: str) -> str:
    return "/".join(["/v1/models", quote(name, safe=""), *further])


def _keyed(batches: Iterator[Batch], key: str | None) -> Iterator[tuple[Batch, str]]:
    """Batches, each with a key of its own that depends on the call's key alone."""
    whole = key or _new_key()
    has_key = False
    for place, batch in enumerate(batches):
        has_key = True
        yield batch, f"{whole}-{place}" if place else whole
    if not has_key:
        raise InvalidInput("there must be at least one row or label")
