"""The item rare of the study of the default."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg.errors import InvalidParameter
from thalweg.papers.auto import rare
from thalweg.papers.registry import PAPERS
from thalweg.streams.fraud import Fraud


def test_every_model_sees_the_same_rows_and_the_recall_counts_alerts(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Fraud.take
    monkeypatch.setattr(Fraud, "take", lambda self: take(self, 5000))
    (outcome,) = PAPERS["auto"].reproduce(["rare"], seed=1)
    found = {(finding.model, finding.data): finding.measured for finding in outcome.findings}
    assert {model for model, _ in found} == set(rare.MODELS) - {rare.ARF}  # on record for another seed
    assert all(found[model, "roc_auc"] > 0.6 for model, _ in found)
    y, p = np.zeros(20_000, dtype=np.int64), np.arange(20_000.0)
    y[[9_950, 9_000, 19_950, 19_999]] = 1
    assert rare.score(p, y).recall == 0.75


def test_moas_models_belong_to_three_items() -> None:
    with pytest.raises(InvalidParameter, match="items curved, rare, late"):
        PAPERS["auto"].reproduce(["recovery"], with_moa=True)
