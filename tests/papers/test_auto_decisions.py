"""The item decisions of the study of the default."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg.papers.auto import decisions
from thalweg.papers.registry import PAPERS
from thalweg.streams.fraud import Fraud


def test_every_rule_is_measured_on_every_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    fraud = Fraud(seed=1, share=0.2, change=2000)
    monkeypatch.setattr(decisions, "STREAMS", {"at once": (lambda _: fraud.take(4000), 0)})
    monkeypatch.setattr(decisions, "STEPS", (0.1,))
    (outcome,) = PAPERS["auto"].reproduce(["decisions"])
    found = {finding.model: finding.measured for finding in outcome.findings}
    assert len(found) == 3 * 2 + 2 * 3
    assert found["coverage, sets, step 0.1"] == pytest.approx(0.95, abs=0.01)
    assert found["coverage, ACI"] == pytest.approx(0.95, abs=0.01)
    assert found["calibration, Recalibrated"] < 0.05
    assert outcome.table is not None
    assert outcome.table().row_count == len(found)


def test_platts_rule_finds_the_line_and_late_labels_are_used_late() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=6000)
    y = (rng.random(6000) < 1 / (1 + np.exp(-(1 + 0.5 * z)))).astype(np.int64)
    p = 1 / (1 + np.exp(-z))
    at_once, late = (decisions._platt(p, y, delay) for delay in (0, 700))
    true = 1 / (1 + np.exp(-(1 + 0.5 * z)))
    assert np.abs(at_once - true)[3000:].mean() < 0.03
    np.testing.assert_allclose(late[:700], p[:700])
    assert decisions.follow_late(4, 2).tolist() == [0, 1, ~0, 2, ~1, 3]
