"""What the writer knows of a model, to decide by before anything is learned."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.service.journal.records import LabelValue
from thalweg.service.learning.live_model import LiveModel


@dataclass
class WriterState:
    expired_through: int
    #: Predict records up to this one have no row that waits.
    looked_through: int
    rows: int
    waiting: int
    learned: int
    #: None where labels are numbers, of which there may be any.
    labels: set[LabelValue] | None
    #: Names of learners: the model itself or challengers.
    archived: set[str]
    #: No promotion came after this record.
    promoted: int
    #: Whether the columns are known, and how often rows with others have changed them since the start.
    has_columns: bool
    #: By name, the record of each named version.
    versions: dict[str, int]
    #: The last record with labels that were learned, revised or withdrawn.
    labelled: int = 0
    columns: int = 0

    @classmethod
    def of(cls, model: LiveModel, withdrawn: int = 0) -> WriterState:
        """Of a model as the journal says it is, but that it has learned some labels that are withdrawn."""
        labels: set[LabelValue] | None = None
        if model.task.has_classes:
            labels = {
                str(label) for learner in model.learners.values() for label in getattr(learner.model, "classes_", ())
            }
        compared = [learner.comparison.since for learner in model.learners.values() if learner.comparison is not None]
        return cls(
            model.expired_through,
            model.expired_through,
            model.rows,
            model.waiting,
            model.labels - withdrawn,
            labels,
            {name for name, archived in model.archived.items() if archived},
            min(compared, default=0),
            model.follower is not None,
            dict(model.versions),
            model.version,
        )

    def settle(self, seq: int) -> None:
        """A record says what the columns are; rows with others before it can no longer be learned."""
        if self.has_columns:
            self.columns += 1
            self.waiting, self.expired_through, self.looked_through = 0, seq, seq
        self.has_columns = True
