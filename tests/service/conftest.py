from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.service.postgres import Postgres
from tests.service.server import Client, Server

for needed in ("starlette", "uvicorn", "httptools", "msgspec", "orjson", "pyarrow"):
    pytest.importorskip(needed, reason=f"the service needs {needed}")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts services, and ends those that a test has left running."""
    started: list[Server] = []

    def begin(*arguments: str, data: Path | None = None) -> Server:
        server = Server(*arguments, data=tmp_path / "data" if data is None else data)
        started.append(server)
        return server

    yield begin
    for server in started:
        if server.running:
            server.kill()


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One service for the tests of a file that leave nothing behind which matters to others."""
    server = Server("--new", "oldc", data=tmp_path_factory.mktemp("common"))
    yield server
    server.stop()


@pytest.fixture
def client(common: Server) -> Iterator[Client]:
    found = common.client()
    yield found
    found.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    pytest.importorskip("psycopg", reason="the journal in PostgreSQL needs psycopg")
    server = Postgres()
    yield server
    server.close()
