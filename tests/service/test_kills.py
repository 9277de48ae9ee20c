"""Killed at any moment, under load: nothing that was acknowledged is lost or learned twice, and a replica and a replay
have the same bytes.

Clients keep asking, labelling in bulk and one by one, revising, withdrawing, erasing and promoting, with idempotency
keys and retries, while the service is killed by SIGKILL again and again and started anew. Then the journal is set
against what the clients were told.
"""

from __future__ import annotations

import http.client
import os
import random
import threading
import time
from typing import Any

import pytest

from tests.service.rows import stream
from tests.service.server import Client, Server
from tests.waiting import PATIENCE, wait_until
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.records import LabelBody, PredictBody
from thalweg.service.journal.verification import verified
from thalweg.service.learning.ledger import looked_up
from thalweg.service.learning.rebuild import rebuild

#: Kills of each journal, and what clients and moments are drawn from; set THALWEG_KILLS and THALWEG_SEED for others.
KILLS, SEED = int(os.environ.get("THALWEG_KILLS", "3")), os.environ.get("THALWEG_SEED", "0")
ROWS, LABELS = stream(400)
KNOWN: dict[str, tuple[Any, ...]] = {
    "classification": ("low", "high", "flood"),
    "regression": (-1.5, 0.25, 3e7, 1 / 3),
}
#: Where the service says what it predicts, and who challenges.
RIVAL = {"classification": "logistic", "regression": "linear"}


class Worker(threading.Thread):
    """Asks, labels, revises and promotes, and remembers what it was told."""

    def __init__(self, number: int, ports: list[int], stop: threading.Event, task: str) -> None:
        super().__init__(daemon=True)
        self.task = task
        self.number, self.ports, self.ended = number, ports, stop
        self.random = random.Random(f"{SEED} {number}")
        self.client: Client | None = None
        self.keys = self.done = 0
        #: What was acknowledged: by id its label, and what was answered.
        self.labels: dict[str, Any] = {}
        self.answers: dict[str, Any] = {}
        self.erased: set[str] = set()
        self.waiting: list[str] = []
        #: The same request by its key, twice: both answers.
        self.twice: list[tuple[Any, Any]] = []
        self.promotions = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.ended.is_set():
                self.random.choice(
                    [self.ask, self.ask, self.tell, self.tell_many, self.revise, self.void, self.erase, self.promote]
                )()
        except BaseException as failure:  # shown by the test
            self.failure = failure

    def do(self, path: str, body: Any) -> Any:
        """A request by a key of its own, and now and then once more by the same key; None when it is time to end."""
        self.keys += 1
        key = f"{self.number}-{self.keys}"
        answer = self.send(path, body, key)
        self.done += answer is not None
        if answer and self.random.random() < 0.1 and (again := self.send(path, body, key)):
            self.twice.append((answer, again))
        return answer

    def send(self, path: str, body: Any, key: str) -> Any:
        """Until it is answered: whoever was killed meanwhile must not do it twice."""
        while True:
            try:
                if self.client is None:
                    self.client = Client(self.ports[-1])
                status, answer, _ = self.client.call("POST", path, body, idempotency_key=key)
            except (OSError, http.client.HTTPException):
                if self.client is not None:
                    self.client.close()
                self.client = None
                if self.ended.is_set():
                    return None
                time.sleep(0.02)
                continue
            if status not in (429, 503):
                assert status == 200, answer
                return answer
            time.sleep(0.02)

    def ask(self) -> None:
        begin = self.random.randrange(len(ROWS))
        given = ROWS[begin : begin + self.random.choice([1, 1, 5, 40])]
        if answer := self.do("/v1/predict", {"rows": given}):
            for each in answer["predictions"]:
                self.answers[each["id"]] = each["prediction"]
                self.waiting.append(each["id"])

    def tell(self, most: int = 1) -> None:
        chosen = [self.waiting.pop(self.random.randrange(len(self.waiting))) for _ in self.waiting[:most]]
        if not chosen:
            return
        given = {each: self.random.choice(KNOWN[self.task]) for each in chosen}
        answer = self.do("/v1/label", {"labels": [{"id": each, "label": label} for each, label in given.items()]})
        if answer:
            # Without a key that was known, labels that a killed request had learned would be told as repeated.
            assert (answer["learned"], answer["unknown"], answer["conflicts"]) == (len(given), [], []), answer
            self.labels |= given

    def tell_many(self) -> None:
        self.tell(50)

    def revise(self) -> None:
        if not self.labels or self.random.random() < 0.7:
            return
        row = self.random.choice(list(self.labels))
        if self.labels[row] is None:  # withdrawn
            return
        label = self.random.choice(KNOWN[self.task])
        answer = self.do("/v1/label", {"labels": [{"id": row, "label": label}], "revise": True})
        if answer:
            assert answer["revised"] + answer["repeated"] == 1, answer
            self.labels[row] = label

    def void(self) -> None:
        if not self.labels or self.random.random() < 0.7:
            return
        row = self.random.choice(list(self.labels))
        if self.labels[row] is None:
            return
        if answer := self.do("/v1/models/default/void", {"ids": [row]}):
            assert (answer["voided"], answer["unknown"]) == (1, []), answer
            self.labels[row] = None

    def erase(self) -> None:
        """A row that waits, or one that has a label or was withdrawn."""
        if not self.labels or self.random.random() < 0.7:
            return
        row = self.random.choice(self.random.choice([self.waiting, list(self.labels)]) or list(self.labels))
        if row in self.erased:
            return
        if answer := self.do("/v1/models/default/erase", {"ids": [row]}):
            assert (answer["erased"], answer["repeated"], answer["unknown"]) == (1, 0, []), answer
            self.erased.add(row)
            self.labels[row] = None
            self.waiting = [each for each in self.waiting if each != row]

    def promote(self) -> None:
        if self.number == 0 and self.random.random() < 0.2 and self.do("/v1/models/rival/promote", {"force": True}):
            self.promotions += 1


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kept", "task", "features"),
    [
        ("sqlite", "classification", ()),
        ("sqlite", "regression", ()),
        ("postgresql", "classification", ()),
        ("sqlite", "classification", ("rate(target = low) by wind over 60h", "last(wind) by wind", "lag(target, 2)")),
        ("sqlite", "regression", ("mean(target) by wind fading 20 rows", "level - mean(level) over 40 rows")),
    ],
)
def test_nothing_acknowledged_is_lost_or_learned_twice(kept, task, features, start, request, tmp_path):
    database = request.getfixturevalue("postgres").database() if kept == "postgresql" else None
    where = ["--new", "auto", "--task", task, *(["--database", database] if database else [])]
    where += [word for line in features for word in ("--feature", line)] + (["--time", "when"] if features else [])
    server: Server = start(*where)
    first = server.client()
    first.predict(ROWS[:20])
    first.post("/v1/models", {"name": "rival", "kind": RIVAL[task], "challenger_of": "default"})
    ports, stop = [server.port], threading.Event()
    workers = [Worker(number, ports, stop, task) for number in range(4)]
    for worker in workers:
        worker.start()
    moments = random.Random(f"{SEED} {kept}")
    for _ in range(KILLS):
        work(workers, moments.randrange(5, 30))
        server.kill()
        server = start(*where)
        ports.append(server.port)
    work(workers, 10)
    stop.set()
    for worker in workers:
        worker.join(PATIENCE)
        assert worker.failure is None, worker.failure
        assert not worker.is_alive()
        if worker.client is not None:
            worker.client.close()
    journal = open_journal(tmp_path / "data", database, read_only=True)
    expected = labels_left(journal)
    client = server.client()
    wait_until(lambda: client.get("/v1/models")["models"][0]["labels"] == expected)  # revisions may be under way
    server.stop()
    server = start(*where)  # until a start, means that fill gaps count rows that were erased
    client, replica = server.client(), start("--follow", database or str(tmp_path / "data")).client()
    for path in ("/v1/models/default/file", "/v1/models/rival/file"):
        wait_until(lambda path=path: replica.call("GET", path)[1] == client.call("GET", path)[1])
    server.stop()
    check(journal, workers)


def work(workers: list[Worker], requests: int) -> None:
    """Wait until so many more requests are answered and new labels are among them, however fast the machine is."""

    def counted() -> tuple[int, int]:
        return sum(worker.done for worker in workers), sum(len(worker.labels) for worker in workers)

    done, labels = counted()

    def enough() -> bool:
        now_done, now_labels = counted()
        failed = any(worker.failure for worker in workers)
        return failed or (now_done >= done + requests and now_labels > labels)

    wait_until(enough, pause=0.001)


def labels_left(journal: Any) -> int:
    """How many labels were learned and not withdrawn."""

    def bodies(kind: Any) -> list[LabelBody]:
        return [LabelBody.from_bytes(record.body) for record in journal.records("default", kind=kind)]

    learned = sum(len(each.learned) for kind in ("label", "revise") for each in bodies(kind))
    return learned - sum(first > 0 for each in bodies("void") for *_, first in each.revised)


def check(journal: Any, workers: list[Worker]) -> None:
    """The journal against what the clients know, and the models against the journal."""
    labelled = [LabelBody.from_bytes(r.body) for k in ("label", "revise") for r in journal.records("default", kind=k)]
    learned = [(asked, row) for each in labelled for asked, row, _ in each.learned]
    assert len(learned) == len(set(learned)), "a row was learned twice"
    asked = {r.seq: PredictBody.from_bytes(r.body) for r in journal.records("default", kind="predict")}
    now = {rows.seq: rows.labels for rows in looked_up(journal, sorted(asked))}
    told = 0
    for worker in workers:
        for row, answer in worker.answers.items():
            seq, place = map(int, row.split("-"))
            assert (place in asked[seq].erased) == (row in worker.erased)
            assert asked[seq].predictions["default"][place] == (None if row in worker.erased else answer)
        for row, label in worker.labels.items():
            seq, place = map(int, row.split("-"))
            assert now[seq][place][0] == label
            told += 1
        for one, other in worker.twice:
            assert one == other
    assert told > 0
    promotions = sum(1 for _ in journal.records("default", kind="promote"))
    acknowledged = workers[0].promotions
    assert acknowledged <= promotions <= acknowledged + 1  # the last one may have been cut off
    seqs = journal.snapshots("default")
    kept = journal.snapshot("default", seqs[-1])
    assert rebuild(journal, "default", seqs[-1]).model.snapshot() == kept
    assert rebuild(journal, "default", seqs[-1], from_snapshots=False).model.snapshot() == kept
    verified(journal)
    journal.close()
