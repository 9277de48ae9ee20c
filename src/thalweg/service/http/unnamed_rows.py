"""Rows without column names, as other protocols send them: values in the order of the model's columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thalweg.service.commands import Refused
from thalweg.service.service import Service


def columns_of(service: Service, name: str) -> tuple[str, ...] | None:
    """The columns of a model in their order; None before the first row."""
    encoder = service.models.model(name).encoder
    return None if encoder is None else tuple(encoder.plan.names)


def as_rows(service: Service, name: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows of values by column; `Refused` where a row has another length."""
    columns = columns_of(service, name)
    if columns is None:
        raise Refused(409, f"{name!r} does not know its columns yet: send rows with names first, or give it a schema")
    for at, row in enumerate(values):
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != len(columns):
            raise Refused(422, f"row {at}: it must have {len(columns)} values, those of {', '.join(columns)}")
    return [dict(zip(columns, row, strict=True)) for row in values]
