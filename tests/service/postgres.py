"""A PostgreSQL server of the tests' own, from Debian's packages, on a free port of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.ports import ReservedPort
from tests.waiting import PATIENCE

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


class Postgres:
    """A server with its files in a temporary folder, and as many databases as are asked for."""

    def __init__(self) -> None:
        if not PROGRAMS:
            pytest.skip("these tests need the programs of PostgreSQL: initdb and pg_ctl")
        self._user = None if os.getuid() else "postgres"  # the server refuses to run as root
        import pwd  # not on Windows

        if self._user and self._user not in {each.pw_name for each in pwd.getpwall()}:
            pytest.skip("as root these tests need the user postgres")
        self.folder = Path(tempfile.mkdtemp(prefix="thalweg-postgres-"))
        if self._user:
            shutil.chown(self.folder, self._user)
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self._run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.start()
        self._databases = 0

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(PROGRAMS[-1] / program), *arguments],
            cwd=self.folder,
            user=self._user,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=PATIENCE,
        )

    def start(self) -> None:
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder}"
        self._run("pg_ctl", "-D", "data", "-w", "-t", f"{PATIENCE:.0f}", "-l", "log", "-o", options, "start")

    def stop(self, how: str = "immediate") -> None:
        self._run("pg_ctl", "-D", "data", "-w", "-t", f"{PATIENCE:.0f}", "-m", how, "stop")

    def database(self) -> str:
        """The address of a new, empty database."""
        self._databases += 1
        name = f"journal{self._databases}"
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", name)
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def close(self) -> None:
        self.stop()
        self._reserved.release()
        shutil.rmtree(self.folder)
