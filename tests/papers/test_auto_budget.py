"""The items budget and checks of the study of the default."""

from __future__ import annotations

from dataclasses import replace

import pytest

from thalweg import OnlineLDC
from thalweg.papers.auto import budget, checks
from thalweg.papers.auto.sources import CURVED_STREAMS
from thalweg.papers.registry import PAPERS
from thalweg.streams.fraud import Fraud


def test_asking_is_set_against_drawing_at_the_same_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    disc = next(stream for stream in CURVED_STREAMS if stream.name == "Wandering disc")
    monkeypatch.setattr(budget, "CURVED_STREAMS", [replace(disc, rows=900)])
    monkeypatch.setattr(budget, "AutoClassifier", lambda: OnlineLDC(0.01, counts="soft"))
    (outcome,) = PAPERS["auto"].reproduce(["budget"], runs=2, seed=1, workers=1)
    errors = {finding.model: finding.measured for finding in outcome.findings}
    assert set(errors) == {"all labels", "10%, asked", "10%, random", "3%, asked", "3%, random"}
    assert 0 < errors["all labels"] < errors["3%, random"] < 1
    ratio = errors["3%, asked"] / errors["3%, random"]
    assert f"{ratio:.3f} of the errors" in outcome.summary[1]


def test_a_shop_is_scored_before_and_after_the_change(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Fraud.take
    monkeypatch.setattr(Fraud, "take", lambda self: take(self, 33_000))
    before_recall, before_area, after_recall, after_area = checks.measure("highest scores only", 101)
    assert before_recall > after_recall >= 0
    assert before_area > max(after_area, 0.1)
