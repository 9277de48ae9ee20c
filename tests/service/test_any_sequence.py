"""Any sequence of requests, restarts and kills: the receipts are those of a simple model in memory, and the model that
serves, a replica and a replay, whole or from snapshots, are the same to the byte.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from tests.examples import SCALE
from tests.service.in_process import FIRST
from tests.waiting import PATIENCE, wait_until
from thalweg.client.protocol import ColumnsRequest, CreateRequest
from thalweg.service.commands import Expire, OfRows, Refused
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.journal.verification import verified
from thalweg.service.learning.ledger import looked_up
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.rebuild import rebuild
from thalweg.service.options import ServeOptions
from thalweg.service.server import make_first
from thalweg.service.service import Service

T = TypeVar("T")
NAME = "default"
LABELS = st.sampled_from(["low", "high", "flood"])
ROWS = st.lists(
    st.tuples(st.none() | st.integers(-9, 9).map(float), st.sampled_from(["north", "south", "east"])),
    min_size=1,
    max_size=4,
)
#: Which of the rows so far, by their numbers from the last.
SOME = st.lists(st.integers(0, 12), min_size=1, max_size=3)
WITHDRAWN = None
#: What a model has, or has not, of earlier rows and labels.
FEATURES = (
    "seen = count() by city",
    "usual = mean(x) by city",
    "last = lag(x, 1) by city",
    "low = rate(target = 'low')",
)


class Requests(RuleBasedStateMachine):
    """A service in this process; `labels` has what each row's label should be by now, `late` the rows without one that
    have expired, and `erased` those that are gone, with the first and the last record of what knew them in `erasures`.
    """

    folder: Path

    @initialize(features=st.sampled_from([(), FEATURES]))
    def begin(self, features: tuple[str, ...]) -> None:
        self.home = Path(tempfile.mkdtemp())
        self.folder = self.home / "0"
        self.folder.mkdir()
        self.loop = asyncio.new_event_loop()
        self.ids: list[str] = []
        self.labels: dict[str, str | None] = {}
        self.late: set[str] = set()
        self.erased: set[str] = set()
        self.erasures: list[tuple[int, int]] = []
        self.columns = ["x", "city"]
        self.versions = self.kills = 0
        self.rivals: list[str] = []
        journal = self.opened()
        make_first(journal, replace(FIRST, feature=features))
        self.start(journal)
        self.predict([(1.5, "north"), (-2.0, "south"), (0.0, "east")])  # which say what the columns are
        self.label([0], "low", False)

    def opened(self) -> SqlJournal:
        journal = open_journal(self.folder, None)
        journal.claim()
        journal.prepare()
        return journal

    def start(self, journal: SqlJournal) -> None:
        self.service = Service(journal, ServeOptions())
        self.do(self.service.start())

    def do(self, what: Awaitable[T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(what, PATIENCE))

    def chosen(self, numbers: Iterable[int]) -> list[str]:
        return [self.ids[-1 - at % len(self.ids)] for at in dict.fromkeys(numbers)] if self.ids else []

    # ------------------------------------------------------------------ requests

    @rule(rows=ROWS)
    def predict(self, rows: list[tuple[float | None, str]]) -> None:
        given = [dict(zip(self.columns, [x, city, *[x] * 9], strict=False)) for x, city in rows]
        done = self.do(self.service.predict(NAME, given))
        self.ids += [f"{done.seq}-{at}" for at in range(len(rows))]

    def told(self, outcome: Any, **counts: Any) -> None:
        """What became of a request, by the names of its receipt."""
        found = {name: len(value) if isinstance(value, list) else value for name, value in vars(outcome).items()}
        assert {name: found[name] for name in counts} == counts

    @precondition(lambda self: self.ids)
    @rule(numbers=SOME, label=LABELS, revise=st.booleans())
    def label(self, numbers: list[int], label: str, revise: bool) -> None:
        counts = dict.fromkeys(["learned", "revised", "repeated", "conflicts", "expired"], 0)
        ids = self.chosen(numbers)
        for each in dict.fromkeys(ids):
            before = self.labels.get(each, "")
            if before is WITHDRAWN or (not before and each in self.late):
                kind = "expired"
            elif not before:
                kind = "learned"
            elif before == label:
                kind = "repeated"
            else:
                kind = "revised" if revise else "conflicts"
            counts[kind] += 1
            if kind in ("learned", "revised"):
                self.labels[each] = label
        ids = list(dict.fromkeys(ids))
        done = self.do(self.service.label(NAME, [(each, label) for each in ids], revise))
        self.told(done.outcome, **counts)

    @precondition(lambda self: self.ids)
    @rule(numbers=SOME)
    def void(self, numbers: list[int]) -> None:
        ids = list(dict.fromkeys(self.chosen(numbers)))
        late = [each for each in ids if each not in self.labels and each in self.late]
        repeated = sum(self.labels.get(each, "") is WITHDRAWN for each in ids)
        done: OfRows = self.do(self.service.withdraw(NAME, ids))
        voided = len(ids) - repeated - len(late)
        self.told(done.outcome, voided=voided, repeated=repeated, expired=len(late), unknown=0)
        self.labels |= dict.fromkeys([each for each in ids if each not in late], WITHDRAWN)

    @precondition(lambda self: self.ids)
    @rule(numbers=SOME)
    def erase(self, numbers: list[int]) -> None:
        ids = list(dict.fromkeys(self.chosen(numbers)))
        repeated = len(self.erased.intersection(ids))
        done: OfRows = self.do(self.service.withdraw(NAME, ids, erase=True))
        self.told(done.outcome, erased=len(ids) - repeated, repeated=repeated, expired=0, unknown=0)
        waiting = [each for each in ids if each in self.labels or each not in self.late]
        self.labels |= dict.fromkeys(waiting, WITHDRAWN)
        if new := set(ids) - self.erased:
            self.erasures.append((min(int(each.split("-")[0]) for each in new), done.seq - 1))
        self.erased |= set(ids)

    @rule()
    def expire(self) -> None:
        """Everything that waits."""
        self.service.models.writer.put([Expire(NAME, None, None, 0)])
        self.service.models.drain()
        self.late |= set(self.ids) - self.labels.keys()

    # ------------------------------------------------------------------ decisions

    @precondition(lambda self: len(self.rivals) < 2 and self.ids)
    @rule()
    def challenge(self) -> None:
        name = f"rival-{len(self.rivals)}"
        self.do(self.service.decisions.create(CreateRequest(name=name, kind="logistic", challenger_of=NAME)))
        self.rivals.append(name)

    @precondition(lambda self: self.rivals)
    @rule(at=st.integers(0, 1))
    def promote(self, at: int) -> None:
        self.perhaps(self.service.decisions.promote(self.rivals[at % len(self.rivals)], force=True))

    @precondition(lambda self: self.rivals)
    @rule(at=st.integers(0, 1), away=st.booleans())
    def archive(self, at: int, away: bool) -> None:
        self.perhaps(self.service.decisions.set_archived(self.rivals[at % len(self.rivals)], away))

    @precondition(lambda self: self.ids)
    @rule()
    def name_version(self) -> None:
        self.versions += 1
        self.do(self.service.decisions.name_version(NAME, f"v{self.versions}"))

    @precondition(lambda self: self.versions)
    @rule(at=st.integers(0, 5))
    def roll_back(self, at: int) -> None:
        self.perhaps(self.service.decisions.roll_back(NAME, f"v{1 + at % self.versions}", None))

    @precondition(lambda self: self.ids and len(self.columns) < 5)
    @rule()
    def add_column(self) -> None:
        name = f"more{len(self.columns)}"
        if self.perhaps(self.service.decisions.change_columns(NAME, ColumnsRequest(add={name: 0.5}))):
            self.columns.append(name)

    def perhaps(self, what: Awaitable[Any]) -> bool:
        """Whether it was done; a decision that does not go with those before it is refused in a sentence."""
        try:
            self.do(what)
        except Refused as refused:
            if refused.status != 409:
                raise
            return False
        return True

    # ------------------------------------------------------------------ processes

    @rule()
    def keep_snapshot(self) -> None:
        self.service.models.threads[NAME].keep()
        self.service.models.drain()

    @rule()
    def restart(self) -> None:
        self.agree()
        self.do(self.service.stop())
        self.start(self.opened())
        self.agree()

    @rule()
    def kill(self) -> None:
        """Begin anew with the files as they are now."""
        self.kills += 1
        after = self.home / str(self.kills)
        self.service.models.drain()  # lest a file change while it is copied
        shutil.copytree(self.folder, after)
        self.do(self.service.stop())
        shutil.rmtree(self.folder)
        self.folder = after
        self.start(self.opened())
        self.agree()

    # ------------------------------------------------------------------ what has to hold

    def agree(self) -> None:
        live = files_of(live_model(self.service))
        journal = open_journal(self.folder, None, read_only=True)
        try:
            assert files_of(rebuild(journal, NAME).model) == live
            assert files_of(rebuild(journal, NAME, from_snapshots=False).model) == live
            replica = Service(open_journal(self.folder, None, read_only=True), ServeOptions(follow=str(self.folder)))
            for thread in replica.models.threads.values():
                thread.start()
            assert files_of(live_model(replica)) == live
            for thread in replica.models.threads.values():
                thread.stop()
                thread.join()
            replica.models.journal.close()
            replica.keys.close()
            verified(journal)
            snapshots = set(journal.snapshots(NAME))
            rows = {
                each.seq: each for each in looked_up(journal, sorted({int(each.split("-")[0]) for each in self.ids}))
            }
        finally:
            journal.close()
        for each in self.ids:
            seq, at = map(int, each.split("-"))
            assert rows[seq].labels.get(at, ("",))[0] == self.labels.get(each, "")
            assert (at in rows[seq].body.erased) == (each in self.erased)
        state = self.service.models.states()[0]
        stay = snapshots - set(state.versions.values())
        assert not [seq for seq in stay if any(first <= seq <= last for first, last in self.erasures)]
        waiting = len(set(self.ids) - self.labels.keys() - self.late)
        learned = sum(label is not WITHDRAWN for label in self.labels.values())
        for known in (state, self.service.models.writer.states[NAME]):
            assert (known.rows, known.waiting) == (len(self.ids), waiting)
        assert self.service.models.writer.states[NAME].learned == learned

    def teardown(self) -> None:
        if hasattr(self, "service"):
            try:
                self.restart()
            finally:
                self.do(self.service.stop())
                self.loop.close()
                shutil.rmtree(self.home)


def live_model(service: Service) -> LiveModel:
    """The model of a service, once it has learned all that was committed."""
    service.models.drain()
    thread = service.models.threads[NAME]
    wait_until(lambda: thread.is_current)
    service.models.drain()
    assert thread.model is not None
    return thread.model


def files_of(model: LiveModel) -> dict[str, bytes]:
    return {part.name: part.body for part in model.snapshot()}


def test_any_sequence() -> None:
    run_state_machine_as_test(
        Requests, settings=settings(max_examples=max(2, round(5 * SCALE)), stateful_step_count=30, deadline=None)
    )
