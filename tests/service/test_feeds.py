"""Streams that a service reads: answered, learned, and done once, whoever dies in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.service.rows import stream
from tests.service.server import Server
from tests.service.streams import KafkaHere, RedisHere
from tests.waiting import wait_until
from thalweg.errors import InvalidParameter
from thalweg.service.commands import Refused
from thalweg.service.feeds import feeding
from thalweg.service.feeds.feeding import opener
from thalweg.service.feeds.source import Message

ROWS, LABELS = (each[1:] for each in stream(241))  # the first row has gaps, and tells too little
Stream = RedisHere | KafkaHere


@pytest.fixture(params=[RedisHere, pytest.param(KafkaHere, marks=pytest.mark.slow)], ids=["redis", "kafka"])
def feed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stream]:
    folder = tmp_path / "stream"
    folder.mkdir()
    made = request.param(folder)
    yield made
    made.close()


def answers_of(feed: Stream, messages: int) -> dict[str, dict[str, str]]:
    """By place, once so many messages are answered; a stream that was lost for a moment is answered again, the same."""

    def found() -> dict[str, dict[str, str]]:
        return {answer["of"]: answer for answer in feed.replies()}

    wait_until(lambda: len(found()) >= messages)
    return found()


@pytest.mark.real
def test_rows_are_answered_and_labels_learned_when_they_come(start: Callable[..., Server], feed: Stream) -> None:
    server = start("--new", "oldc", "--from", feed.address)
    client = server.client()
    places = feed.send([{"row": row} for row in ROWS[:60]])
    answers = answers_of(feed, 60)
    assert set(answers) == set(places)
    assert "prediction" not in answers[places[0]]  # nothing was known yet
    late = [{"of": place, "label": label} for place, label in zip(places[:40], LABELS, strict=False)]
    by_id = [
        {"id": answers[place]["id"], "label": label} for place, label in zip(places[40:], LABELS[40:60], strict=True)
    ]
    at_once = [{"row": row, "label": label} for row, label in zip(ROWS[60:100], LABELS[60:100], strict=True)]
    feed.send([*late, *by_id])
    wait_until(lambda: client.get("/v1/models/default")["labels"] == 60)
    known = feed.send(at_once)
    answers = answers_of(feed, 100)
    assert all(set(answers[place]) == {"of", "id", "prediction", "probability"} for place in known)
    wait_until(lambda: client.get("/v1/models/default")["labels"] == 100)
    wait_until(lambda: client.get("/v1/models/default")["rows"] == 100)
    client.post("/v1/models", {"name": "price", "kind": "linear", "task": "regression"})
    feed.send([{"row": {"x": x}, "label": 2.0 * x, "model": "price"} for x in (1.0, 2.0)])  # as text from Redis
    wait_until(lambda: client.get("/v1/models/price")["labels"] == 2)
    [known] = feed.send([{"row": {"x": 3.0}, "label": "high", "model": "price"}])
    wait_until(lambda: sum(answer["of"] == known for answer in feed.replies()) == 2)
    answer, error = (answer for answer in feed.replies() if answer["of"] == known)
    assert set(answer) == {"of", "id", "prediction", "lower", "upper"}
    assert "it must be a finite number" in error["error"]
    wait_until(lambda: feed.unacknowledged() == 0)


def test_what_cannot_be_done_is_told_and_holds_up_nobody(start: Callable[..., Server], feed: Stream) -> None:
    server = start("--new", "oldc", "--from", feed.address)
    wrong: list[dict[str, Any]] = [
        {"row": ROWS[3], "label": "high"},
        {"row": ROWS[4] | {"level": "much"}, "label": "high"},
        {"row": ROWS[1], "model": "nobody"},
        {"label": "high"},
        {"label": "high", "of": "99-99"},
        {"label": "high", "id": "123456-0"},
        {"nothing": "at all"},
        {"row": ROWS[2], "label": "low"},
    ]
    places = feed.send(wrong)
    told = {place: answer.get("error", "") for place, answer in answers_of(feed, len(wrong)).items()}
    assert [not told[place] for place in places] == [True] + [False] * 6 + [True]
    assert "'level'" in told[places[1]]
    assert "no model 'nobody'" in told[places[2]]
    assert "99-99" in told[places[4]]
    assert "no row has this id" in told[places[5]]
    client = server.client()
    wait_until(lambda: client.get("/v1/models/default")["labels"] == 2)
    client.post("/v1/models", {"name": "mail", "kind": "majority"})
    maps = [{"row": {"words": {"free": value}}, "label": "spam", "model": "mail"} for value in (2, "two", 3)]
    places = feed.send(maps)
    told = answers_of(feed, len(wrong) + len(maps))
    assert told[places[1]]["error"] == "row 0, column 'words': 'two', the value of 'free', is not a number"
    wait_until(lambda: client.get("/v1/models/mail")["labels"] == 2)
    wait_until(lambda: feed.unacknowledged() == 0)


def test_a_message_that_cannot_be_read_is_told_and_the_next_is_read(start: Callable[..., Server], feed: Stream) -> None:
    server = start("--new", "oldc", "--from", feed.address)
    whole = b'{"level": 1, "rain": 2}'
    rows = [
        whole,
        b'{"level": 123456789012345678901234567890, "rain": 2}',
        b'{"level": 1, "\\ud800": 2}',
        b"[" * 5000,
        b'{"level": ' + b"[" * 500 + b"]" * 500 + b"}",
        b"\xff\xfe",
        b"",
        whole,
    ]
    places = feed.send_rows(rows)
    label = feed.send([{"label": "high", "of": places[0] + "\tlabel"}, {"label": "high", "of": "\0"}])
    told = {place: answer.get("error", "") for place, answer in answers_of(feed, len(rows) + len(label)).items()}
    assert [not told[place] for place in places] == [True, True, False, False, False, False, False, True], told
    assert all("not JSON" in told[places[at]] for at in (2, 3, 5, 6))
    assert all("no row came" in told[place] for place in label)
    wait_until(lambda: feed.unacknowledged() == 0)
    assert server.client().settled("/v1/models/default")["rows"] == 3  # rows are counted after they are answered


class Failing:
    """A service that fails at first, and a stream that keeps what was done with it."""

    name = "failing"

    def __init__(self, failures: list[Exception]) -> None:
        self.failures, self.done, self.keys = failures, [], self

    async def recalled(self, keys: list[str]) -> dict[str, Any]:
        return {}

    async def once(self, key: str, request: bytes, act: Any, other: str) -> Any:
        return await act()

    def read_label(self, model: str, value: Any) -> Any:
        return value

    async def label(self, *asked: Any) -> Any:
        if self.failures:
            raise self.failures.pop(0)
        return SimpleNamespace(outcome=SimpleNamespace(unknown=[], expired=[], conflicts=[]))

    async def reply(self, replies: list[dict[str, str]]) -> None:
        self.done += [reply["error"] for reply in replies]

    async def acknowledge(self, messages: list[Message]) -> None:
        self.done += [message.place for message in messages]


def test_a_failure_of_the_service_is_not_the_message_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeding, "_AGAIN", 0.0)
    messages = [Message("1-0", {"label": "high", "id": "1-0"})]
    for status in (429, 500, 503):
        both = Failing([Refused(status, "not now")] * 2)
        asyncio.run(feeding.MessageHandler(both, both).handle(messages))
        assert (both.failures, both.done) == ([], ["1-0"])  # tried until it was done
    refused = Failing([Refused(422, "never")])
    asyncio.run(feeding.MessageHandler(refused, refused).handle(messages))
    assert refused.done == ["never", "1-0"]
    broken = Failing([OSError("the disk is gone")])
    with pytest.raises(OSError, match="gone"):
        asyncio.run(feeding.MessageHandler(broken, broken).handle(messages))
    assert broken.done == []


def test_the_label_of_an_erased_row_is_refused() -> None:
    both = Failing([])
    gone = SimpleNamespace(body=b'{"error": "the rows have been erased"}')

    async def recalled(keys: list[str]) -> dict[str, Any]:
        return dict.fromkeys(keys, gone)

    both.recalled = recalled
    asyncio.run(feeding.MessageHandler(both, both).handle([Message("2-0", {"label": "high", "of": "1-0"})]))
    assert both.done == ["no row came at 1-0", "2-0"]


def in_the_middle(server: Server) -> Callable[[], bool]:
    """Whether a service has begun with what came last: something is in its journal and little is acknowledged."""
    client = server.client()
    before = client.get("/v1/models/default")["rows"]
    return lambda: client.get("/v1/models/default")["rows"] > before


@pytest.mark.slow
def test_a_killed_service_loses_nothing_and_learns_nothing_twice(
    start: Callable[..., Server], feed: Stream, tmp_path: Path
) -> None:
    server = start("--new", "oldc", "--from", feed.address)
    places = []
    for part in range(0, 240, 80):
        begun = in_the_middle(server)
        pairs = zip(ROWS[part : part + 80], LABELS[part : part + 80], strict=True)
        places += feed.send([{"row": row, "label": label} for row, label in pairs])
        wait_until(begun, pause=0.005)
        server.kill()
        server = start("--from", feed.address)
    client = server.client()
    wait_until(lambda: feed.unacknowledged() == 0)
    wait_until(lambda: client.get("/v1/models/default")["labels"] >= 240)
    model = client.get("/v1/models/default")
    assert (model["rows"], model["labels"], model["waiting"]) == (240, 240, 0)
    wait_until(lambda: {answer["of"] for answer in feed.replies()} == set(places))
    ids: dict[str, set[str]] = {}
    for answer in feed.replies():
        assert "error" not in answer, answer
        ids.setdefault(answer["of"], set()).add(answer["id"])
    assert all(len(each) == 1 for each in ids.values())  # delivered again is answered as before
    assert len(set.union(*ids.values())) == 240


UP = b'thalweg_feed_up{feed="redis:rows"}'


def test_a_stream_that_was_away_is_read_on(start: Callable[..., Server], tmp_path: Path) -> None:
    redis = RedisHere(tmp_path)
    try:
        client = start("--new", "oldc", "--from", redis.address).client()
        redis.send([{"row": row} for row in ROWS[:5]])
        answers_of(redis, 5)
        wait_until(lambda: UP + b" 1.0\n" in client.get("/metrics"))
        wait_until(lambda: redis.unacknowledged() == 0)
        redis.stop()
        wait_until(lambda: UP + b" 0.0\n" in client.get("/metrics"))
        assert client.get("/readyz") == {"status": "ready"}  # others are served meanwhile
        redis.start()
        redis.send([{"row": row} for row in ROWS[5:10]])
        answers_of(redis, 10)
        wait_until(lambda: client.get("/v1/models/default")["rows"] == 10)
        place = redis.replies()[-1]["of"]
        redis.begin_anew(place, {"row": ROWS[11]})  # another message where one was before is not taken for it
        wait_until(lambda: "was the stream made anew?" in redis.replies()[-1].get("error", ""))
        wait_until(lambda: b'thalweg_feed_messages_total{feed="redis:rows"} 11.0\n' in client.get("/metrics"))
        told = client.get("/metrics")
        assert b'thalweg_feed_refused_total{feed="redis:rows"} 1.0\n' in told
        assert UP + b" 1.0\n" in told
    finally:
        redis.close()


@pytest.mark.parametrize(
    "address",
    ["rows.csv", "redis://localhost:6379", "redis:///rows", "redis://localhost/a/rows", "kafka://localhost:9092"],
    ids=["file", "no stream", "no host", "no database", "no topic"],
)
def test_an_address_is_checked_before_anything_is_opened(address: str) -> None:
    with pytest.raises(InvalidParameter, match="--from must"):
        opener(address)
