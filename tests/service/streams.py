"""A Redis server and a cluster of Kafka for the tests, each as a stream that a test writes to."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.ports import ReservedPort
from tests.waiting import PATIENCE, wait_until


class RedisHere:
    """A real server on a free port, with its files in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._library = pytest.importorskip("redis", reason="a Redis stream is read by redis-py")
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("a Redis stream needs redis-server")
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self.address = f"redis://127.0.0.1:{self.port}/0/rows"
        # Only the process is stopped, not the machine: nothing has to wait for the disk.
        kept = {"appendonly": "yes", "appendfsync": "no", "save": ""}
        options = {"port": self.port, "dir": folder, "bind": "127.0.0.1", **kept}
        self._command = [program, *(str(part) for name, value in options.items() for part in (f"--{name}", value))]
        self._client = self._library.Redis(port=self.port, decode_responses=True, socket_timeout=PATIENCE)
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        wait_until(self._is_up)

    def _is_up(self) -> bool:
        assert self._process.poll() is None, "the Redis server did not start"
        try:
            return bool(self._client.ping())
        except self._library.ConnectionError:  # not yet listening, or still loading
            return False

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)

    def send(self, messages: list[dict[str, Any]]) -> list[str]:
        """Add entries; their places."""
        pipeline = self._client.pipeline(transaction=False)
        for message in messages:
            pipeline.xadd("rows", message | ({"row": json.dumps(message["row"])} if "row" in message else {}))
        return pipeline.execute()

    def send_rows(self, rows: list[bytes]) -> list[str]:
        """Add entries whose row is just this; their places."""
        return [self._client.xadd("rows", {"row": row}) for row in rows]

    def begin_anew(self, place: str, message: dict[str, Any]) -> None:
        """Forget the stream, and have this at a place that it had before."""
        self._client.delete("rows")
        self._client.xadd("rows", message | {"row": json.dumps(message["row"])}, id=place)

    def replies(self) -> list[dict[str, str]]:
        """All that was published."""
        return [fields for _, fields in self._client.xrange("rows:replies")]

    def unacknowledged(self) -> int:
        """Taken or not, what would come again."""
        group = self._client.xinfo_groups("rows")[0]
        return group["pending"] + group["lag"]

    def close(self) -> None:
        self._client.close()
        self.stop()
        self._reserved.release()


class KafkaHere:
    """librdkafka's mock cluster: it speaks the protocol over TCP, and lives in this process."""

    def __init__(self, folder: Path) -> None:
        self._kafka = pytest.importorskip("confluent_kafka", reason="a topic of Kafka is read by confluent-kafka")
        self._producer = self._kafka.Producer({"test.mock.num.brokers": 1, "log_level": 0})
        brokers = self._producer.list_topics(timeout=PATIENCE).brokers.values()
        self._brokers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
        self.address = f"kafka://{self._brokers}/rows"
        self._replies: list[dict[str, str]] = []
        self._reader = self._consumer("the test")
        self._reader.assign([self._kafka.TopicPartition("rows-replies", part, 0) for part in range(4)])

    def _consumer(self, group: str) -> Any:
        return self._kafka.Consumer({"bootstrap.servers": self._brokers, "group.id": group, "log_level": 0})

    def send(self, messages: list[dict[str, Any]]) -> list[str]:
        """Produce messages, all into one partition; their places."""
        return self._produce([json.dumps(message).encode() for message in messages])

    def send_rows(self, rows: list[bytes]) -> list[str]:
        """Produce messages whose row is just this; their places."""
        return self._produce([b'{"row": %s}' % row for row in rows])

    def _produce(self, values: list[bytes]) -> list[str]:
        places: list[str] = []

        def delivered(error: Any, message: Any) -> None:
            assert error is None, error
            places.append(f"{message.partition()}:{message.offset()}")

        for value in values:
            self._producer.produce("rows", value, partition=0, on_delivery=delivered)
        assert self._producer.flush(PATIENCE) == 0
        return places

    def replies(self) -> list[dict[str, str]]:
        """All that was published."""
        while found := self._reader.consume(1000, 0.2):
            self._replies += [json.loads(each.value()) for each in found if each.error() is None]
        return self._replies

    def unacknowledged(self) -> int:
        """What would come again: the distance from the committed offset to the end."""
        group = self._consumer("thalweg")
        try:
            place = self._kafka.TopicPartition("rows", 0)
            committed = group.committed([place], timeout=PATIENCE)[0].offset
            _, end = group.get_watermark_offsets(place, timeout=PATIENCE)
            return end - max(committed, 0)
        finally:
            group.close()

    def close(self) -> None:
        self._reader.close()
