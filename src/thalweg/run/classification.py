"""The part of a run that is about labels: classes by number, probabilities, sets, rare classes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.alert_rules import followed
from thalweg.evaluate.class_drift import ClassChangeDetector
from thalweg.evaluate.confusion import cost_matrix
from thalweg.evaluate.drift import ChangeDetector
from thalweg.evaluate.input_drift import Cells
from thalweg.evaluate.label_baselines import follow_baselines, new_baselines
from thalweg.evaluate.layout import confusion_terms
from thalweg.evaluate.metrics import LABELS, Rows
from thalweg.evaluate.task import Asked, Given, LabelTask
from thalweg.option_names import option
from thalweg.pipeline.over_columns import learner_of, over_columns
from thalweg.run.label_findings import LabelCounts, LabelDelays, LabelShares
from thalweg.run.label_scoreboard import PREDICTORS, LabelScoreboard, SetScoreboard
from thalweg.run.notices import Notices
from thalweg.run.options import RunOptions
from thalweg.run.predictions import LabelNumbers, LabelPredictions, confidences, joined_labels, probabilities_of
from thalweg.run.rare_scoreboard import RareScoreboard
from thalweg.run.task import KEPT, Predicted, RunTask, Targets
from thalweg.store import dumps, loads
from thalweg.table_model import TableClassifier
from thalweg.tables import Chunk, Encoder, Plan, Target
from thalweg.tables.clock import NEVER, Clock
from thalweg.tables.late_labels import Batch, Waiting
from thalweg.tables.opening import natural_order
from thalweg.tables.target import plain_label

#: Labels that an error lists.
_MOST_LISTED = 10
#: What `confidences` gives.
_CONFIDENCES = ("of_truth", "of_prediction", "squared")


class _Piece(NamedTuple):
    """What one compiled call predicted: rows, labels, probabilities, sets, and the classes the model knew after it."""

    rows: NDArray[np.int64]
    given: NDArray[Any]
    proba: NDArray[np.float64] | None
    sets: NDArray[np.bool_] | None
    classes: list[str]


class Classification(RunTask, LabelTask):
    _saved = (
        "names",
        "label_counts",
        "board",
        "shares",
        "delays",
        "rare",
        "sets",
        "probability_labels",
        "_only_label",
        "detector",
        "class_detector",
    )
    _made = (("delays", LabelDelays),)

    board: LabelScoreboard
    shown = ("error",)

    def __init__(self, options: RunOptions, notices: Notices, model: Any = None) -> None:
        super().__init__(options, notices, model)
        for name in ("season", "coverage"):
            if (given := getattr(options, name)) != getattr(RunOptions, name):
                raise InvalidParameter.of_option(name, "be left out for labels: it is for numbers", given)
        if (options.delay or options.label_time) and getattr(self.model, "_needs_labels_at_once", False):
            raise InvalidParameter.of_option("delay", "be 0 for a model with persistence", options.delay)
        self.baselines = new_baselines()
        self.target = Target(options.target, declared=options.target in options.categorical)
        self.names = LabelNumbers()
        self.label_counts = LabelCounts()
        self.board = LabelScoreboard()
        self.shares = LabelShares()
        #: Of labels with times of their own.
        self.delays: LabelDelays | None = None
        self.rare = RareScoreboard(options)
        #: Of a model of prediction sets.
        self.sets = SetScoreboard(self.model.coverage) if hasattr(self.model, "follow_sets") else None
        #: The number of the only label that was learned, and how often; 0 where none was, None where there are several.
        self._only_label: tuple[int, int] | None = (0, 0)
        #: Labels that the table declares, which may come later.
        self._declared: tuple[str, ...] = ()
        #: Labels whose probabilities have a column of their own among the predictions.
        self.probability_labels: list[str] = []
        self.detector = ChangeDetector()
        self.class_detector = ClassChangeDetector()

    def settle(self, head: Chunk, plan: Plan, clocks: dict[str, Clock]) -> Plan:
        self.target.require_classes(head)
        self._declared = tuple(map(plain_label, head.values.get(self.target.name, ())))
        if self.options.label_time is not None:
            self.delays = LabelDelays(counts=clocks[self.options.label_time].counts)
        if self.rare.alerts_asked is not None and self.rare.alerts_asked.unit:
            name = str(self.options.time)
            if clocks[name].counts:
                raise InvalidInput(
                    f"column {name!r} holds whole numbers, not times, so that "
                    f"{option('alerts', self.options.alerts)} means nothing: count rows, as in 100/10000rows"
                )
        self.model = over_columns(self.model, plan)
        return plan

    def codes(self, head: Chunk) -> NDArray[np.int32]:
        return self.target.labels(head)[1]

    def begin(self, targets: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
        if self.options.probabilities == "all":
            self.probability_labels = sorted({*self.names.known, *self._declared}, key=natural_order)
        self.rare.settle(targets, self.names.known)
        if self.rare.positive is not None and self.rare.positive not in self.names.known:
            self.notices.positive_is_missing(self.rare.positive, len(targets), self.names.known)
        self._warn_of_another_positive()
        return np.where(known, targets, "")

    def _warn_of_another_positive(self) -> None:
        """Warn where the model decides for another positive label than the run scores."""
        asked, learner = self.options.positive, learner_of(self.model)
        costs = getattr(learner, "costs", None)
        if asked is None or not hasattr(learner, "positive") or costs == "balanced" or len(self.names.known) < 2:
            return
        own = max(self.names.known) if learner.positive is None else str(learner.positive)
        if own != asked and (costs is None or set(costs) == {"fp", "fn"}):
            which = f"the model takes {own!r} for the positive label, the run {asked!r}"
            self.notices.odd([f"{which}: give both, as in positive={asked!r}"])

    def targets(self, chunk: Chunk) -> Targets:
        labels = self.names.numbers(*self.target.labels(chunk))
        return Targets(labels, labels > 0, [])

    def late_quantity(self, chunk: Chunk, targets: Targets) -> str | None:
        quantity = self.label_counts.add(self.names.known, targets.values)
        newest = int(np.argmax(targets.values == len(self.names)))
        if quantity is None and self.label_counts.are_many_now:
            many = f"{len(self.names):,} different labels so far, and the time of a row grows with their number"
            self.notices.odd([str(chunk.complaint(newest, self.target.name, many))])
        return None if quantity is None else f"{chunk.complaint(newest, self.target.name, quantity)} so far"

    def predict(
        self,
        batch: Batch,
        stretches: Iterator[NDArray[np.int64]],
        waiting: Waiting | None,
        now: NDArray[np.int64] | None,
    ) -> Predicted:
        number = batch.number[batch.carried :]
        if self.options.probabilities == "all" and len(number):
            labels = batch.labels[batch.carried :]
            self.notices.late_labels(self.names.known, self.probability_labels, labels, int(number[0]) - 1)
        rows = batch.X.shape[0]
        predicted: Predicted = {"model": np.zeros(rows, dtype=np.int64)}
        if hasattr(self.model, "predict_proba"):
            predicted |= {name: np.full(rows, np.nan) for name in (*_CONFIDENCES, "of_positive")}
            if self.probability_labels:
                predicted["by_label"] = np.full((rows, len(self.probability_labels)), np.nan)
        if self.sets is not None:
            predicted |= {name: np.full(rows, np.nan) for name in ("held", "set_size")}
            predicted["held_labels"] = np.full(rows, None, dtype=object)
        if self.rare.alerts_asked is not None:
            predicted["period"] = np.full(rows, NEVER)
        if "of_truth" in predicted:
            predicted["share_of_truth"] = self.shares.of_truth(batch)
        if self.delays is not None and now is not None:
            self.delays.add(batch.labels[batch.carried :], now, batch.due[batch.carried :])
        words = self.names.words(batch.labels)
        predicted |= {name: np.zeros(rows, dtype=np.int64) for name in self.baselines}
        kept = self._with_waiting(predicted, batch, waiting, self.names.known)
        asked = Asked(proba=True, sets=self.sets is not None)
        taken = (part for steps in stretches for part in self._steps(batch, words, steps, asked, kept))
        pieces = [self._piece(batch, *part) for part in taken]
        for _, alike in itertools.groupby(pieces, key=lambda piece: piece.classes):
            self._note(batch, list(alike), predicted)
        given = follow_baselines(self.baselines, words, None if batch.at_once else self._learned_order(batch))
        for name, labels in given.items():
            predicted[name][batch.carried :] = self.names.of_predictions(labels)[batch.carried :]
        kept.refer_to(self.names.known)
        predicted[KEPT] = kept.values
        if (period := self.rare.period(number, now)) is not None:
            predicted["period"][batch.carried :] = period
        return predicted

    def _piece(self, batch: Batch, steps: NDArray[np.int64], given: Given) -> _Piece:
        proba = given.proba
        if self._only_label is not None:
            proba = self._with_doubt(proba, steps, batch.labels[np.where(steps < 0, ~steps, steps)])
        classes = [str(label) for label in getattr(self.model, "classes_", ())]
        return _Piece(steps[steps >= 0], given.predictions, proba, given.sets, classes)

    def _with_doubt(
        self, proba: NDArray[np.float64] | None, steps: NDArray[np.int64], labels: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """While only one label is known, and was learned n times, its probability is (n + 1) / (n + 2) (Laplace)."""
        assert self._only_label is not None
        (only, count), learned = self._only_label, np.where(steps < 0, labels, 0)
        if not only and learned.any():
            only = int(learned[learned > 0][0])
        others = (learned > 0) & (learned != only)
        end = int(np.argmax(others)) if others.any() else len(steps)
        counts = count + np.cumsum(learned[:end] > 0)
        self._only_label = None if others.any() else (only, int(counts[-1]) if end else count)
        asked = counts[steps[:end] >= 0]
        if proba is not None:
            proba[: len(asked)] *= np.where(asked > 0, (asked + 1) / (asked + 2), 1.0)[:, np.newaxis]
        return proba

    def _note(self, batch: Batch, pieces: list[_Piece], predicted: Predicted) -> None:
        """What was predicted, and how sure the model was, of pieces during which it knew the same classes."""
        rows = np.concatenate([piece.rows for piece in pieces])
        given = np.concatenate([piece.given for piece in pieces])
        predicted["model"][rows] = self.names.of_predictions(given.astype(np.str_, copy=False))
        if "of_prediction" in predicted:
            known = [piece.proba for piece in pieces if piece.proba is not None]
            proba = np.concatenate(known) if known else None
            column = self.names.places_among(pieces[0].classes)
            predictions = predicted["model"][rows]
            for name, values in confidences(proba, column, batch.labels[rows], predictions).items():
                predicted[name][rows] = values
            number = np.array([self.rare.number(self.names.known)])
            predicted["of_positive"][rows] = probabilities_of(proba, column[number], predictions)[:, 0]
            if self.probability_labels:
                place = {label: at for at, label in enumerate(pieces[0].classes)}
                places = np.array([place.get(label, len(place)) for label in self.probability_labels])
                predicted["by_label"][rows] = probabilities_of(proba, places, predictions)
        sets = [piece.sets for piece in pieces if piece.sets is not None]
        if self.sets is not None and sets:
            held = np.concatenate(sets)
            has_prediction = predicted["model"][rows] > 0
            with_others = np.concatenate([held, np.zeros((len(held), 1), dtype=np.bool_)], axis=1)
            column = self.names.places_among(pieces[0].classes)
            predicted["held"][rows] = with_others[np.arange(len(rows)), column[batch.labels[rows]]]
            predicted["set_size"][rows] = np.where(has_prediction, held.sum(axis=1), np.nan)
            predicted["held_labels"][rows[has_prediction]] = joined_labels(pieces[0].classes, held[has_prediction])

    def watched(self, values: NDArray[Any]) -> Cells:
        return values.astype(np.int64) - 1, self.names.known

    def _add_scores(self, batch: Batch, predicted: Predicted, plan: Plan) -> tuple[NDArray[Any], Rows]:
        rows = batch.learned
        positive = self.rare.number(self.names.known)
        mistakes, scored_rows = self.board.add_labels(
            batch.labels[rows],
            {name: predicted[name][rows] for name in PREDICTORS},
            positive,
            *(predicted[name][rows] if name in predicted else None for name in _CONFIDENCES),
        )
        scored = rows[predicted["model"][rows] > 0]
        of_positive, period = (
            predicted[name][scored] if name in predicted else None for name in ("of_positive", "period")
        )
        self.rare.add(
            batch.labels[scored],
            {name: predicted[name][scored] for name in PREDICTORS},
            of_positive,
            period,
            batch.number[scored],
            positive=positive,
            unpredicted=self.board.unpredicted,
        )
        if "share_of_truth" in predicted:
            self.shares.add(predicted["share_of_truth"][rows], predicted["of_truth"][rows])
        if self.sets is not None:
            self.sets.add(predicted["held"][rows], predicted["set_size"][rows])
        self.class_detector.add(plan.without_cells(batch.X)[rows], batch.labels[rows])
        return mistakes, scored_rows

    def alert_metrics(self) -> tuple[str, ...]:
        asked = {"probabilities": hasattr(self.model, "predict_proba"), "positive": self.rare.positive is not None}
        return followed(LABELS, {name for name, given in asked.items() if given})

    def known_targets(self, targets: NDArray[Any]) -> NDArray[Any]:
        return self.names.words(targets)

    @property
    def positive(self) -> str | None:  # type: ignore[override]
        return self.rare.positive

    def predictions_file(self, path: Path | None, length: int) -> LabelPredictions:
        with_top = self.options.probabilities != "none"
        with_sets = self.sets is not None
        return LabelPredictions(
            path, with_top=with_top, labels=self.probability_labels, with_sets=with_sets, length=length
        )

    def write(self, file: Any, batch: Batch, known: NDArray[np.bool_], predicted: Predicted) -> int:
        fresh = slice(batch.carried, None)
        by_label, held_labels = predicted.pop("by_label", None), predicted.pop("held_labels", None)
        probability = predicted.get("of_prediction")
        file.write(
            batch.number[fresh],
            self.names,
            np.where(known, batch.labels[fresh], 0),
            predicted["model"][fresh],
            None if probability is None else probability[fresh],
            None if by_label is None else by_label[fresh],
            None if held_labels is None else held_labels[fresh],
        )
        return int((predicted["model"][fresh] == 0).sum())

    def state(self) -> dict[str, Any]:
        return super().state() | {"baselines": {name: dumps(baseline) for name, baseline in self.baselines.items()}}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.baselines = {name: loads(content) for name, content in state["baselines"].items()}

    def metrics(self, course: dict[str, Any], features: tuple[str, ...]) -> dict[str, Any]:
        board, known = self.board, self.names.known
        counts = board.confusion[0]
        labels = ["", *known]
        order = sorted(np.flatnonzero(counts.any(axis=1)).tolist(), key=lambda at: natural_order(labels[at]))
        places = [at - 1 for at in order]
        scores = self.scores()
        confusion = board.confusions(len(known))["model"]
        shares = self.shares.metrics()
        delays = None if self.delays is None else self.delays.metrics(known)
        return {
            "verdict": board.verdict(),
            "scores": scores,
            "curve": board.curve(),
            "course": course,
            "confusion": {
                "classes": [known[i - 1] for i in order],
                "counts": [[int(counts[i, j]) for j in order] for i in order],
                "unpredicted": int(counts[:, 0].sum()) + board.unpredicted,
            },
            "calibration": board.calibration(),
            **({} if shares is None else {"label_shares": shares}),
            **({} if delays is None else {"label_delays": delays}),
            "rare": self.rare.metrics(confusion, known, places, scores["model"].get("cost")),
            **({} if self.sets is None else {"sets": self.sets.metrics()}),
            "changes": self.detector.changes(),
            "changes_left_out": self.detector.left_out,
            "class_changes": [
                {
                    "label": known[change["label"] - 1],
                    "row": change["row"],
                    "found": change["found"],
                    "features": [features[at] for at in change["features"]],
                }
                for change in self.class_detector.changes
            ],
        }

    def scores(self) -> dict[str, dict[str, float | None]]:
        board, known, costs = self.board, self.names.known, self.rare.costs
        at = known.index(self.rare.positive) if self.rare.positive in known else None
        prices = None if costs is None or at is None else cost_matrix(costs, len(known), at, "--costs")
        terms: dict[str, dict[str, Any]] = {
            name: confusion_terms(confusion, at) for name, confusion in board.confusions(len(known)).items()
        }
        asked = {"probabilities": board.with_proba, "positive": at is not None, "costs": prices is not None}
        if board.with_proba and at is not None:
            terms["model"] |= self.rare.terms()
            asked |= dict.fromkeys(self.rare.terms(), True)
        has = {*PREDICTORS, *(name for name, given in asked.items() if given)}
        scores: dict[str, dict[str, float | None]] = board.scores(has, terms, positive=at, costs=prices)
        if board.with_proba and at is not None:
            scores["model"] |= self.rare.recent_areas()
        return scores

    def require_labels(self) -> None:
        asked, known = self.options.positive, self.names.known
        if asked is None or not known or self.rare.number(known):
            return
        labels = sorted(known, key=natural_order)
        listed = ", ".join(labels[:_MOST_LISTED]) + (" …" if len(labels) > _MOST_LISTED else "")
        rule = f"be a label of {self.options.target!r}, which has {listed}"
        raise InvalidParameter.of_option("positive", rule, asked)

    def of_table(self, encoder: Encoder, notes: dict[str, Any]) -> TableClassifier:
        return TableClassifier.of_learned(self.model, encoder, notes=notes)
