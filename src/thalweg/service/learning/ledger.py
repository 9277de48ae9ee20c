"""Rows that were predicted, by id, with the labels that they have.

What was asked recently is kept at hand; the rest is looked up in the journal, so that memory does not grow with rows
that wait. An id is the seq of the predict record and the place of the row in it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from thalweg.service.journal.records import (
    LabelBody,
    LabelledRow,
    LabelOutcome,
    LabelValue,
    PredictBody,
    PredictedRows,
    Record,
    body_of,
)
from thalweg.service.journal.sql import SqlJournal

_ID = re.compile(r"([1-9][0-9]{0,17})-(0|[1-9][0-9]{0,8})", re.ASCII)
#: Bytes that may be kept at hand.
_AT_HAND = 64 << 20
#: What a record takes beside its features, and what the label of a row does.
_BESIDES, _A_LABEL = 1000, 300


def place_of(given: str) -> tuple[int, int] | None:
    """Predict record and place of an id; None for what cannot be one.

    Examples
    --------
    >>> place_of("12-0"), place_of("012-0"), place_of("drop table")
    ((12, 0), None, None)
    """
    match = _ID.fullmatch(given)
    return None if match is None else (int(match[1]), int(match[2]))


class Ledger:
    """For the one thread that writes the journal.

    ``before_looking`` is called before rows that are not at hand are looked up, to write what has not been written yet.
    Labels learned before the ``cuts`` of the journal can no longer be changed.
    """

    def __init__(self, journal: SqlJournal, before_looking: Callable[[], None], cuts: Mapping[str, int]) -> None:
        self._journal = journal
        self._cuts = cuts
        self._before_looking = before_looking
        self._at_hand: OrderedDict[int, PredictedRows] = OrderedDict()
        self._bytes = 0

    def keep(self, rows: PredictedRows) -> None:
        """Rows that were just predicted, or were just looked up."""
        self._at_hand[rows.seq] = rows
        self._bytes += _size(rows)
        while self._bytes > _AT_HAND and len(self._at_hand) > 1:
            _, oldest = self._at_hand.popitem(last=False)
            self._bytes -= _size(oldest)

    def forget(self) -> None:
        """After a failed transaction: what is at hand may not be what the journal holds."""
        self._at_hand.clear()
        self._bytes = 0

    def rows(self, seqs: Iterable[int]) -> dict[int, PredictedRows]:
        """Predict records by their seqs; those that are none are left out."""
        wanted = set(seqs)
        held = {}
        for seq in wanted:
            if (at_hand := self._at_hand.get(seq)) is not None:
                self._at_hand.move_to_end(seq)
                held[seq] = at_hand
        if missing := sorted(wanted - held.keys()):
            self._before_looking()
            for rows in looked_up(self._journal, missing):
                held[rows.seq] = rows
                self.keep(rows)
        return held

    def sort(
        self, model: str, labels: Sequence[tuple[str, LabelValue]], *, seq: int, revise: bool, expired_through: int
    ) -> LabelOutcome:
        """What becomes of each label, by its row's id; from now on the rows have them.

        The rows must be those of ``model``; ``seq`` is the record that will hold the labels. With ``revise`` a label
        other than the row's own takes its place. Rows of predict records up to ``expired_through`` can no longer get a
        first label.
        """
        outcome, cut = LabelOutcome(), self._cuts.get(model, 0)
        now: set[tuple[int, int]] = set()
        for at, place, rows in self._rows_of(model, [given for given, _ in labels], outcome):
            given, label = labels[at]
            before = rows.labels.get(place[1])
            late = rows.seq <= expired_through if before is None else before[0] is None
            too_old = before is not None and revise and before[0] != label and before[1] <= cut
            if late or too_old:
                outcome.expired.append(given)
            elif before is None:
                outcome.learned.append(LabelledRow(rows, place[1], label))
                rows.labels[place[1]] = (label, seq)
                now.add(place)
            elif before[0] == label:
                outcome.repeated += 1
            elif revise and place not in now:
                outcome.revised.append((LabelledRow(rows, place[1], label), before[1]))
                rows.labels[place[1]] = (label, before[1])
                now.add(place)
            else:
                outcome.conflicts.append(given)
        outcome.learned.sort(key=lambda own: (own.rows.seq, own.row))  # whatever the order within a request
        return outcome

    def withdraw(self, model: str, ids: Sequence[str], expired_through: int, *, erase: bool) -> LabelOutcome:
        """Withdraw rows by their ids: from now on they have no label and can get none.

        Rows that can no longer be withdrawn have expired, and can be erased nonetheless.
        """
        outcome, cut, gone = LabelOutcome(), self._cuts.get(model, 0), set[tuple[int, int]]()
        for at, place, rows in self._rows_of(model, ids, outcome):
            label, first = rows.labels.get(place[1], ("", 0))
            is_settled = first <= cut if first else rows.seq <= expired_through
            if erase and (place in gone or place[1] in rows.body.erased):
                outcome.repeated += 1
                continue
            if erase:
                gone.add(place)
                outcome.erased.append(place)
            elif label is None:
                outcome.repeated += 1
            elif is_settled:
                outcome.expired.append(ids[at])
            if label is not None and not is_settled:
                outcome.voided.append((LabelledRow(rows, place[1], ""), first))
                rows.labels[place[1]] = (None, first)
        return outcome

    def _rows_of(
        self, model: str, ids: Sequence[str], outcome: LabelOutcome
    ) -> Iterator[tuple[int, tuple[int, int], PredictedRows]]:
        """By the number of an id, its place and its rows; ids without a row are noted as expired or unknown."""
        places = [place_of(given) for given in ids]
        known = self.rows(place[0] for place in places if place is not None)
        cut = self._cuts.get(model, 0)
        for at, (given, place) in enumerate(zip(ids, places, strict=True)):
            rows = None if place is None else known.get(place[0])
            if place is None or rows is None or rows.model != model or place[1] >= len(rows):
                was_erased = place is not None and rows is None and place[0] <= cut
                (outcome.expired if was_erased else outcome.unknown).append(given)
            else:
                yield at, place, rows


def _size(rows: PredictedRows) -> int:
    """Bytes that rows take, once all of them have labels."""
    return rows.body.X.nbytes + _A_LABEL * len(rows) + _BESIDES


def looked_up(journal: SqlJournal, seqs: Sequence[int], through: int | None = None) -> list[PredictedRows]:
    """Predict records from the journal, with their labels as they were after a record."""
    rows = {record.seq: predicted_rows(record) for record in journal.fetch(seqs) if record.kind == "predict"}
    links = journal.links(sorted(rows)) if rows else []
    labelling = sorted({seq for _, seq in links if through is None or seq <= through})
    for record in journal.fetch(labelling) if labelling else []:
        labelled = body_of(record, LabelBody)
        for asked, row, label in labelled.learned:
            if asked in rows:
                rows[asked].labels[row] = (label, record.seq)
        for asked, row, label, first in labelled.revised:
            if asked in rows:
                rows[asked].labels[row] = (None if record.kind == "void" else label, first)
    return [rows[seq] for seq in sorted(rows)]


def predicted_rows(record: Record) -> PredictedRows:
    """A predict record in hand, as yet without labels."""
    return PredictedRows(record.seq, record.model, record.time, body_of(record, PredictBody), {})
