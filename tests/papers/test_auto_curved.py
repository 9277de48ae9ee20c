"""The items curved and recovery of the study of the default."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from thalweg.errors import DataUnavailable, MissingExtra
from thalweg.evaluate import prequential
from thalweg.learners.auto import AutoClassifier
from thalweg.papers.auto import curved, recovery
from thalweg.papers.auto.comparison import recorded
from thalweg.papers.auto.peers import FOREST, MOA_PEERS, REFITTED_PEERS, Moa, Refitted, score
from thalweg.papers.auto.sources import CURVED_STREAMS, DataSet
from thalweg.papers.auto.study import AUTO
from thalweg.papers.registry import PAPERS
from thalweg.streams import Table, TurningXOR


def missing() -> Table:
    raise DataUnavailable("nothing is at hand here.")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> list[DataSet]:
    """Three streams, of which one is missing, under names that are on record."""

    def table(seed: int) -> Callable[[], Table]:
        return lambda: Table(*TurningXOR(seed=seed).take(300))

    names = [stream.name for stream in CURVED_STREAMS[:3]]
    streams = [
        DataSet(name, name, load, 300, 5) for name, load in zip(names, (table(1), missing, table(2)), strict=True)
    ]
    monkeypatch.setattr(curved, "CURVED_STREAMS", streams)
    return streams


@pytest.mark.quick(3)
@pytest.mark.parametrize("stream", CURVED_STREAMS, ids=lambda stream: stream.name)
def test_a_stream_is_as_long_and_wide_as_declared(stream: DataSet) -> None:
    try:
        table = stream.table(0, 0)
    except (DataUnavailable, MissingExtra) as error:
        pytest.skip(str(error))
    assert (table.length, table.n_features) == (stream.rows, stream.features)
    assert 2 <= len(table.classes) <= 10


def test_every_model_is_on_record_for_every_stream() -> None:
    kept = recorded(curved.ITEM)
    assert list(kept) == [stream.name for stream in CURVED_STREAMS]
    for scores in kept.values():
        assert set(scores) >= {AUTO, *MOA_PEERS, *REFITTED_PEERS}
        assert all(0.0 < each.error < 1.0 < each.microseconds for each in scores.values())


def test_without_options_peers_are_read_and_only_our_own_numbers_are_findings(short: list[DataSet]) -> None:
    (outcome,) = PAPERS["auto"].reproduce(["curved"])
    here = {(finding.data, finding.model): finding for finding in outcome.findings}
    assert set(here) == {(stream.name, model) for stream in (short[0], short[2]) for model in curved.OURS}
    for stream in (short[0], short[2]):
        found = here[stream.name, AUTO]
        records = list(prequential(AutoClassifier(), stream.load()))
        assert found.measured == np.concatenate([record.mistakes for record in records]).mean()
        assert found.as_json()["microseconds"] > 0.0
    assert f"{short[1].name} is left out: nothing is at hand here." in outcome.notes
    assert any("numbers of MOA's and scikit-learn's models are on record" in note for note in outcome.notes)
    assert outcome.table is not None
    assert outcome.table().row_count == 2 * (2 + 1) + 2
    assert outcome.draw is not None
    assert outcome.draw().axes


@pytest.mark.usefixtures("short")
def test_a_peer_that_is_measured_is_no_longer_on_record(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Refitted("sklearn.tree", "DecisionTreeClassifier", every=100, window=200)
    monkeypatch.setattr(curved.peers, "REFITTED_PEERS", {FOREST: tree})
    (outcome,) = PAPERS["auto"].reproduce(["curved"], with_refitted=True)
    assert {finding.model for finding in outcome.findings} == {*curved.OURS, FOREST}
    assert any("numbers of MOA's models are on record" in note for note in outcome.notes)


def test_a_refitted_model_has_learned_the_window_before_its_last_fit_and_nothing_else() -> None:
    X, y = TurningXOR(seed=3).take(430)
    peer = Refitted("sklearn.tree", "DecisionTreeClassifier", every=100, window=150)
    predicted = peer(X, y)
    for row in range(430):
        fits = [moment for moment in (50, 100, 200, 300, 400) if moment <= row]
        if not fits:
            assert predicted[row] == 0
            continue
        past = slice(max(0, fits[-1] - 150), fits[-1])
        model = DecisionTreeClassifier(random_state=0).fit(X[past], y[past])
        assert predicted[row] == model.predict(X[row : row + 1])[0]
    np.testing.assert_array_equal(peer(X, np.full(430, 1))[50:], 1)


def test_the_first_row_is_a_mistake_and_so_is_a_row_without_a_prediction() -> None:
    table = Table(np.zeros((10, 1)), ["a", "b"] * 5)
    assert score(lambda X, codes: codes, table).error == 0.1
    assert score(lambda X, codes: np.where(codes == 1, -1, codes), table).error == 0.6


def test_moa_predicts_each_row_before_it_learns_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for CapyMOA whose model repeats the last label it has learned."""

    class NumpyStream:
        def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
            self._labels = iter(y.tolist())

        def get_schema(self) -> str:
            return "schema"

        def next_instance(self) -> Any:
            return SimpleNamespace(y_index=next(self._labels))

    class LastLabel:
        def __init__(self, schema: str, ensemble_size: int) -> None:
            assert (schema, ensemble_size) == ("schema", 7)
            self.last = None

        def predict(self, instance: Any) -> int | None:
            return self.last

        def train(self, instance: Any) -> None:
            self.last = instance.y_index

    streams, classifiers = ModuleType("capymoa.stream"), ModuleType("capymoa.classifier")
    streams.NumpyStream, classifiers.LastLabel = NumpyStream, LastLabel  # type: ignore[attr-defined]
    for module in (ModuleType("capymoa"), streams, classifiers):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    y = np.array([0, 1, 1, 2, 0])
    assert Moa("LastLabel", 7)(np.zeros((5, 1)), y).tolist() == [-1, 0, 1, 1, 2]
    assert Moa("LastLabel", 7, delay=2)(np.zeros((5, 1)), y).tolist() == [-1, -1, -1, 0, 1]


def test_without_capymoa_its_models_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "capymoa", None)
    with pytest.raises(MissingExtra, match=r"thalweg\[bench-moa\]"):
        PAPERS["auto"].reproduce(["curved"], with_moa=True)


def test_recovery_compares_the_running_model_with_a_fresh_one_on_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rows in (("BEFORE", 600), ("AFTER", 300), ("WINDOW", 100)):
        monkeypatch.setattr(recovery, name, rows)
    once, again = (PAPERS["auto"].reproduce(["recovery"], runs=2, seed=5, workers=workers) for workers in (1, 2))
    assert once == again
    (outcome,) = once
    found = {(each.data, each.model, each.more["rows"]): each.measured for each in outcome.findings}
    assert len(found) == len(recovery.CHANGES) * 2 * 3
    errors = []
    for run in range(2):
        seed, _ = recovery.seeds_of_run(5, run)
        (X, y), (_, later) = recovery._line(seed), recovery._xor(seed)
        labels = np.concatenate([y[:600], later[600:]])
        wrong = AutoClassifier().predict_then_learn(X, labels) != labels
        errors.append(wrong[600:].reshape(3, 100).mean(axis=1))
    for window, mean in enumerate(np.mean(errors, axis=0)):
        assert found["line to XOR", recovery.RUNNING, 100 * (window + 1)] == pytest.approx(mean, abs=1e-12)
    # A fresh model has seen the same rows after either change that ends with the line.
    for rows in (100, 200, 300):
        assert found["XOR to line", recovery.FRESH, rows] == found["disc to line", recovery.FRESH, rows]
    assert outcome.table is not None
    assert outcome.table().row_count == 3
    assert outcome.draw is not None
    assert len(outcome.draw().axes) == 4


def test_the_straight_boundary_of_recovery_is_as_noisy_as_the_curved_one() -> None:
    X, y = recovery._line(3)
    beyond = X[:, 0] - X[:, 1] + X[:, 2] / 2.0 > 0.0
    # a share of 0.05 of 25,000 rows has a standard deviation of 0.0014
    assert (y != beyond).mean() == pytest.approx(0.05, abs=0.005)
