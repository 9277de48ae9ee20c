"""What the page for tables asks and is told."""

from __future__ import annotations

from typing import Annotated, Literal

from thalweg.client.protocol import Count, ModelName, RequestBody, ResponseBody, Time, field_rule, json_schema

State = Literal["receiving", "reading", "ready", "waiting", "running", "finished", "failed"]
ColumnName = Annotated[str, json_schema(minLength=1)]


class NewUpload(RequestBody, frozen=True):
    """A table that is about to be sent."""

    name: Annotated[str, field_rule("name must be that of a file", description="Name of the file.", minLength=1)]
    size: Annotated[int, field_rule("size must be a whole number of bytes", description="In bytes.", minimum=1)]


class RunRequest(RequestBody, frozen=True):
    """What to predict in a table, and how: the options of `thalweg run` of these names."""

    target: Annotated[ColumnName, field_rule("target must be the name of a column")]
    time: Annotated[ColumnName | None, field_rule("time must be the name of a column")] = None
    delay: Annotated[int, field_rule("delay must be a whole number of rows", minimum=0, maximum=10**9)] = 0
    drop: Annotated[list[ColumnName] | None, field_rule("drop must be a list", "drop, item {}: it must be text")] = None


class KeepRequest(RequestBody, frozen=True):
    """The name of the live model that a finished run becomes."""

    name: ModelName


class TableColumn(ResponseBody, frozen=True):
    """A column of an uploaded table, with its first values."""

    name: str
    examples: tuple[str, ...]


class Progress(ResponseBody, frozen=True):
    """How far a run is."""

    rows: Count = 0
    share: float | None = None
    metric: Annotated[str, json_schema(description="What the points are of.")] = "error"
    form: Annotated[str, json_schema(description="share, number or amount.")] = "share"
    points: Annotated[
        tuple[tuple[Count, dict[str, float | None]], ...],
        json_schema(description="Rows so far, and the error over the last rows of the model and the baselines."),
    ] = ()


class UploadedTable(ResponseBody, frozen=True):
    """A table that was uploaded, and its run."""

    id: str
    name: str
    size: Count
    received: Annotated[Count, json_schema(description="Bytes that have come.")]
    state: State
    changed: Time
    columns: tuple[TableColumn, ...] = ()
    target: Annotated[str | None, json_schema(description="The column that is likely to be predicted.")] = None
    message: Annotated[str | None, json_schema(description="Why it failed.")] = None
    run: RunRequest | None = None
    progress: Progress = Progress()
    headline: str | None = None
    findings: tuple[str, ...] = ()


class Discarded(ResponseBody, frozen=True):
    """A table is gone, with the results of its run."""

    id: str


class Uploads(ResponseBody, frozen=True):
    """All tables that were uploaded, the newest first, and the limits of further ones."""

    tables: tuple[UploadedTable, ...]
    most_bytes: Annotated[Count, json_schema(description="Size limit of a table.")]
    piece_bytes: Annotated[Count, json_schema(description="Size limit of one piece of it.")]
