from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from thalweg.errors import DataUnavailable, MissingExtra
from thalweg.evaluate import prequential, summarise
from thalweg.learners.auto import AutoClassifier
from thalweg.papers.auto import reproduce, study
from thalweg.papers.auto.sources import DATA_SETS, ELEC2, GENERATED, Source
from thalweg.papers.auto.study import (
    AUTO,
    MAJORITY,
    MEMBERS,
    NO_CHANGE,
    OURS,
    PERSISTENT,
    RIVER_FOREST,
    river_peers,
)
from thalweg.papers.registry import PAPERS, Outcome
from thalweg.streams import MovingPlane, Table, load_elec2


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two short generated streams, and no data set at hand."""

    def missing() -> Table:
        raise DataUnavailable("nothing is at hand here.")

    sources = {"data": tuple(replace(each, load=missing) for each in DATA_SETS), "generated": GENERATED[:2]}
    monkeypatch.setattr(reproduce, "SOURCES", sources)
    monkeypatch.setattr(study, "SOURCES", sources)
    monkeypatch.setattr(reproduce, "ELEC2", replace(ELEC2, load=missing))


def values(outcome: Outcome) -> dict[tuple[str, str], float]:
    return {(finding.data, finding.model): finding.measured for finding in outcome.findings}


def test_every_linear_member_is_measured_alone_and_named_as_the_committee_names_it() -> None:
    X, y = MovingPlane(seed=3).take(100)
    model = AutoClassifier(curved=False).partial_fit(X, y)
    linear = [name for name, family in zip(model.members_, model.families_, strict=True) if family == "linear"]
    assert linear == list(MEMBERS)


def test_an_error_is_the_prequential_one() -> None:
    table = Table(*MovingPlane(seed=3).take(700))
    summary = summarise(prequential(AutoClassifier(), table))  # which does not score the first row
    for name, scores in ((AUTO, summary.model), (NO_CHANGE, summary.no_change), (MAJORITY, summary.majority)):
        assert OURS[name](table) == pytest.approx((1 + 699 * scores.error) / 700)


def test_elec2_begins_with_the_default_near_its_best_member() -> None:
    try:
        table = Table(*load_elec2("six").take(5000))
    except DataUnavailable as error:
        pytest.skip(str(error))
    errors = {name: measure(table) for name, measure in OURS.items()}
    best = min(errors[name] for name in MEMBERS)
    assert errors[AUTO] <= 1.03 * best
    assert errors[AUTO] < errors[NO_CHANGE] < errors[MAJORITY]
    assert abs(errors[PERSISTENT] - errors[AUTO]) < 0.005


@pytest.mark.quick(1)
@pytest.mark.parametrize("source", GENERATED[:2], ids=lambda source: source.name)
def test_on_a_young_stream_the_default_is_near_its_best_member(source: Source) -> None:
    """STAGGER has 120 rows and two sudden changes: little time to find out who is right."""
    tables = [source.table(run, seed=1) for run in range(100)]
    errors = {name: np.mean([OURS[name](table) for table in tables]) for name in (AUTO, *MEMBERS)}
    assert errors[AUTO] <= 1.03 * min(errors[name] for name in MEMBERS)


def test_river_answers_two_classes_and_more() -> None:
    try:
        peers = river_peers()
    except MissingExtra as error:
        pytest.skip(str(error))
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 2)) + 6.0 * np.eye(3)[y][:, :2]
    for classes in (["dry", "wet"], ["dry", "hot", "wet"]):
        kept = y < len(classes)
        table = Table(X[kept], np.array(classes)[y[kept]])
        for measure in peers.values():
            assert 1 / table.length <= measure(table) < 0.15


@pytest.mark.usefixtures("short")
def test_the_study_is_the_same_with_any_number_of_workers_and_says_what_it_left_out() -> None:
    once, again = (
        PAPERS["auto"].reproduce(PAPERS["auto"].items, runs=2, seed=4, workers=workers) for workers in (1, 2)
    )
    assert once == again
    data, generated, ranks, figure, weights = once
    assert data.findings == ()
    assert f"{ELEC2.name} is left out: nothing is at hand here." in data.notes
    assert weights.draw is None
    assert weights.summary == ("Left out: nothing is at hand here.",)
    found = values(generated)
    assert {name for name, _ in found} == {source.name for source in GENERATED[:2]}
    assert {name for _, name in found} >= set(OURS)
    mean_ranks = {name: rank for (_, name), rank in values(ranks).items()}
    models = len(mean_ranks)
    assert sum(mean_ranks.values()) == pytest.approx(models * (models + 1) / 2)
    assert figure.draw is not None
    assert figure.draw().axes


@pytest.mark.usefixtures("short")
def test_the_distance_to_the_best_member_is_said_and_so_is_a_broken_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    (outcome,) = PAPERS["auto"].reproduce(["generated"], runs=2, seed=4)
    found = values(outcome)
    name = GENERATED[1].name
    best = min(found[name, member] for member in MEMBERS)
    assert f"{name:<22} {found[name, AUTO] / best - 1:+6.1%}" in "\n".join(outcome.summary)
    monkeypatch.setattr(reproduce, "TOLERATED", -1.0)
    (broken,) = PAPERS["auto"].reproduce(["generated"], runs=2, seed=4)
    assert broken.summary[-1].endswith(f"worse on {', '.join(source.name for source in GENERATED[:2])}.")


@pytest.mark.quick(4)
@pytest.mark.parametrize("source", [*DATA_SETS, *GENERATED], ids=lambda source: source.name)
def test_a_stream_is_as_long_and_wide_as_declared(source: Source) -> None:
    try:
        table = source.table(0, 0)
    except DataUnavailable as error:
        pytest.skip(str(error))
    assert (table.length, table.n_features) == (source.rows, source.features)


def test_without_river_its_models_are_left_out_and_the_forest_is_refused(
    short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "river", None)
    (outcome,) = PAPERS["auto"].reproduce(["generated"], runs=1)
    assert {name for _, name in values(outcome)} == set(OURS)
    assert any(note.startswith("River is left out") for note in outcome.notes)
    with pytest.raises(MissingExtra, match=r"thalweg\[bench\]"):
        PAPERS["auto"].reproduce(["forest"])


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_the_forest_stands_beside_the_default_on_the_same_rows() -> None:
    pytest.importorskip("river")
    (alone,) = PAPERS["auto"].reproduce(["generated"], runs=1, seed=4)
    (outcome,) = PAPERS["auto"].reproduce(["forest"], runs=3, seed=4)
    found = values(outcome)
    for source in GENERATED[:2]:
        assert found[source.name, AUTO] == values(alone)[source.name, AUTO]
        assert 0.0 < found[source.name, RIVER_FOREST] < 0.5
