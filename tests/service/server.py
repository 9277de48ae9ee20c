"""A service in a process of its own, and a plain client for it."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import re
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE, wait_until
from thalweg import cli

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"

# Processes begin with everything imported, so that a start costs next to nothing.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["thalweg.service.server", "thalweg.learners", "thalweg.service.http.arrow", "pyarrow"]
)


def _serve(arguments: list[str], log: str) -> None:
    with open(log, "w") as file:
        os.dup2(file.fileno(), 2)
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    cli.main(["serve", *arguments])


class Server:
    """`thalweg serve` on a free port of this machine."""

    def __init__(self, *arguments: str, data: Path | None = None) -> None:
        where = [] if data is None else ["--data", str(data)]
        self.data = data
        self._clients: list[Client] = []
        with tempfile.NamedTemporaryFile(prefix="thalweg-serve-", suffix=".log", delete=False) as log:
            self.log = Path(log.name)
        command = ["--listen", "127.0.0.1:0", *where, *arguments]
        self.process = PROCESSES.Process(target=_serve, args=(command, str(self.log)))
        self.process.start()
        self.port = self._listening()

    def _listening(self) -> int:
        def told() -> re.Match[str] | None:
            ended = not self.running
            found = re.search(r"serves at http://\S+:(\d+)[\n\"]", self.log.read_text())
            assert found or not ended, self.log.read_text()
            return found

        found = wait_until(told, pause=0.01)
        assert found is not None
        return int(found[1])

    @property
    def running(self) -> bool:
        return self.process.exitcode is None

    def kill(self) -> None:
        self.process.kill()
        self._close()

    def stop(self) -> int | None:
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGTERM)
        return self._close()

    def _close(self) -> int | None:
        self.process.join(PATIENCE)
        for client in self._clients:
            client.close()
        self.log.unlink(missing_ok=True)
        return self.process.exitcode

    def client(self, **headers: str) -> Client:
        self._clients.append(Client(self.port, headers))
        return self._clients[-1]


class Client:
    """One connection."""

    def __init__(self, port: int, headers: dict[str, str] | None = None) -> None:
        self.port = port
        self.headers = headers or {}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def call(
        self, method: str, path: str, body: Any = None, *, media: str = JSON, **headers: str
    ) -> tuple[int, Any, http.client.HTTPMessage]:
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        given = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        if content is not None:
            given = {"content-type": media} | given
        self._connection.request(method, path, content, given)
        answer = self._connection.getresponse()
        received = answer.read()
        kind = answer.headers.get_content_type()
        return answer.status, json.loads(received) if kind == JSON else received, answer.headers

    def post(self, path: str, body: Any, **headers: str) -> Any:
        """The answer to what must succeed."""
        status, found, _ = self.call("POST", path, body, **headers)
        assert status in (200, 201), found
        return found

    def get(self, path: str) -> Any:
        status, found, _ = self.call("GET", path)
        assert status == 200, found
        return found

    def predict(self, rows: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
        return self.post("/v1/predict", {"rows": rows} | more)["predictions"]

    def label(self, labels: list[tuple[str, Any]], **more: Any) -> dict[str, Any]:
        given = [{"id": row, "label": label} for row, label in labels]
        return self.post("/v1/label", {"labels": given} | more)

    def settled(self, path: str = "/v1/models") -> Any:
        """What is told once all that was asked before is counted; a label of no row waits for just that.

        Models learn on threads of their own, so that each is asked; numbers are labels of regression.
        """
        for model in self.get("/v1/models")["models"]:
            for label in ("nothing", 0.0):
                body = {"model": model["name"], "labels": [{"id": "nobody", "label": label}]}
                if self.call("POST", "/v1/label", body)[0] != 422:
                    break
        return self.get(path)

    def close(self) -> None:
        self._connection.close()
