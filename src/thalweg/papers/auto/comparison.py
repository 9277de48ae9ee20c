"""Models over streams, test-then-train: errors and costs measured, and those of slow peers as they are on record.

The peers take minutes, so ``recorded.json`` beside this file holds what ``thalweg reproduce auto ITEM --with-moa
--with-refitted --json FILE`` wrote (CapyMOA 0.15.1, scikit-learn 1.9.1). With either option the peers concerned are
measured anew. Streams are measured one after the other in one thread whatever the number of workers, because processor
time is part of the result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.classifier import StreamClassifier
from thalweg.papers.auto.peers import Codes, Predict, Score, score
from thalweg.papers.auto.sources import DataSet
from thalweg.papers.auto.study import AUTO
from thalweg.papers.registry import Finding
from thalweg.papers.study import Request, Study
from thalweg.report import tables

#: By stream and model.
Scores: TypeAlias = Mapping[str, Mapping[str, Score]]


def on_record(item: str) -> list[dict[str, Any]]:
    kept = json.loads(files(__package__).joinpath("recorded.json").read_text(encoding="utf-8"))
    return [finding for finding in kept if finding["item"] == item]


def recorded(item: str) -> Scores:
    kept: dict[str, dict[str, Score]] = {}
    for finding in on_record(item):
        kept.setdefault(finding["data"], {})[finding["model"]] = Score(finding["measured"], finding["microseconds"])
    return kept


def learner(make: type[StreamClassifier], **parameters: Any) -> Predict:
    """A classifier of ours as a model to compare."""
    return partial(_predict_then_learn, partial(make, **parameters))


def _predict_then_learn(make: partial[StreamClassifier], X: NDArray[np.float64], codes: Codes) -> NDArray[Any]:
    return np.asarray(make().predict_then_learn(X, codes))


class SlowPeers(NamedTuple):
    """Models that are measured on request only."""

    #: Whose they are.
    owner: str
    #: The option of the request that measures them.
    option: str
    models: Mapping[str, Predict]

    @property
    def said(self) -> str:
        """What measures them, for the reader."""
        return f"--{self.option.replace('_', '-')} measures {self.owner} models"


class Comparison:
    """The scores of our models and of slow peers on every stream that is at hand.

    Parameters
    ----------
    item : str
        The item of the study, by whose name results are on record.
    streams : sequence of DataSet
    ours : mapping of Predict by name
        Models that are always measured.
    slow : sequence of SlowPeers
    request : Request
    """

    def __init__(
        self,
        item: str,
        streams: Sequence[DataSet],
        ours: Mapping[str, Predict],
        slow: Sequence[SlowPeers],
        request: Request,
    ) -> None:
        self._recorded, self._streams = recorded(item), streams
        self._read = [peers for peers in slow if not getattr(request, peers.option)]
        self._measured = dict(ours)
        for peers in slow:
            if peers not in self._read:
                self._measured |= peers.models
        self.study = Study({stream.name: float(stream.rows) for stream in streams}, request)

    @cached_property
    def scores(self) -> Scores:
        """The scores on every stream that is at hand, measured or on record."""
        return {stream.name: scores for stream in self._streams if (scores := self._of_stream(stream))}

    def _of_stream(self, stream: DataSet) -> Mapping[str, Score]:
        finished = self.study.stage(stream.name)
        table = self.study.at_hand(stream.name, partial(stream.table, 0, 0))
        if table is None:
            return {}
        scores = {}
        for done, (name, predict) in enumerate(self._measured.items(), start=1):
            scores[name] = score(predict, table)
            finished(done / len(self._measured))
        kept = self._recorded.get(stream.name, {})
        return {**scores, **{name: kept[name] for peers in self._read for name in peers.models if name in kept}}

    def findings(self) -> tuple[Finding, ...]:
        """What was measured."""
        return tuple(
            Finding(stream, name, score.error, more={"microseconds": score.microseconds})
            for stream, of_stream in self.scores.items()
            for name, score in of_stream.items()
            if name in self._measured
        )

    def on_all(self, models: Sequence[str]) -> list[str]:
        """Those of the models that have a score on every stream."""
        return [name for name in models if all(name in of_stream for of_stream in self.scores.values())]

    def errors(self, models: Sequence[str]) -> NDArray[np.float64]:
        """Errors of shape (streams, models)."""
        return np.array([[of_stream[name].error for name in models] for of_stream in self.scores.values()])

    def error_lines(self, models: Sequence[str]) -> list[tables.Cells]:
        """Lines of a table: the stream and the errors, the least in bold."""
        from rich.text import Text

        return [
            [
                stream,
                *(Text(f"{error:.4f}".lstrip("0"), style="bold" if error == min(errors) else "") for error in errors),
            ]
            for stream, errors in zip(self.scores, self.errors(models).tolist(), strict=True)
        ]

    def cost_lines(self, models: Sequence[str]) -> list[tables.Line]:
        """Lines of a table: the stream and microseconds a row."""
        return [
            [stream, *(_microseconds(of_stream[name].microseconds) for name in models)]
            for stream, of_stream in self.scores.items()
        ]

    def notes(self) -> list[str]:
        """Whose numbers are on record, and what had to be left out."""
        if not self._read:
            return self.study.notes
        there, here = (
            _microseconds(float(np.median([of_stream[AUTO].microseconds for of_stream in scores.values()])))
            for scores in (self._recorded, self.scores)
        )
        return [
            f"The numbers of {' and '.join(peers.owner for peers in self._read)} models are on record, from another "
            f"run, in which {AUTO} took {there} µs a row (median; {here} here). "
            f"{', '.join(peers.said for peers in self._read)}.",
            *self.study.notes,
        ]


def _microseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.1f}"
