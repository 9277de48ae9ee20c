"""Tables that were uploaded, each in a folder of its own: the file, what is known of it, and the results of its run."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from thalweg.files import write_atomically
from thalweg.service.commands import Refused
from thalweg.service.uploads.protocol import NewUpload, RunRequest, UploadedTable

V = TypeVar("V")
#: Tables that are kept at the most, and seconds after which one that nobody touched is deleted; one that never came as
#: a whole goes sooner.
_MOST_TABLES, _KEPT_SECONDS, _INCOMPLETE_SECONDS = 20, 7 * 86_400.0, 3600.0
_STATE = "upload.json"
#: What `thalweg run` leaves in the folder of its results.
MODEL, REPORT, CHECKPOINT = "model.thalweg", "report.html", "checkpoint"
_NOT_IN_NAMES = re.compile(r"[^\w. ()+-]", re.ASCII)


def file_name(given: str) -> str:
    """The name of a file as it is kept, which is no path and no option.

    Examples
    --------
    >>> file_name("C:/Users/me/März 2024.csv"), file_name("../../etc/passwd"), file_name("--help")
    ('M_rz 2024.csv', 'passwd', 'help')
    """
    last = re.split(r"[/\\]", given)[-1]
    return _NOT_IN_NAMES.sub("_", last)[-100:].lstrip("-. ") or "table"


class UploadedTables:
    """All that were uploaded, by their ids, which cannot be guessed; they outlive the process.

    For the event loop; what takes long on a disk is done in threads.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder, self.most_bytes = folder, most_bytes
        self._tables: dict[str, UploadedTable] = {}
        for state in folder.glob(f"*/{_STATE}"):
            with suppress(OSError, msgspec.MsgspecError):  # of another version: its folder is deleted in the end
                table = msgspec.json.decode(state.read_bytes(), type=UploadedTable)
                self._tables[table.id] = table
        self._tables = dict(sorted(self._tables.items(), key=lambda item: item[1].changed))
        self.expire()

    def all(self) -> list[UploadedTable]:
        """The newest first."""
        return list(reversed(self._tables.values()))

    def get(self, upload: str) -> UploadedTable:
        """`Refused` where there is none."""
        table = self._tables.get(upload)
        if table is None:
            raise Refused(404, "there is no such table: it was discarded, or deleted after seven days")
        return table

    def place(self, upload: str) -> Path:
        """Where the file of a table is."""
        return self.folder / upload / "table" / self.get(upload).name

    def results(self, upload: str) -> Path:
        """Where the results of its run are."""
        return self.folder / upload / "run"

    def change(self, upload: str, *, keep: bool = True, **fields: Any) -> UploadedTable:
        """Set some fields; what is not to outlive the process need not be kept."""
        table = replace(self.get(upload), **fields, changed=time.time())
        self._tables[upload] = table
        if keep:
            write_atomically(self.folder / upload / _STATE, msgspec.json.encode(table))
        return table

    async def begin(self, asked: NewUpload) -> UploadedTable:
        """Make room for a table that is about to come."""
        if not 0 < asked.size <= self.most_bytes:
            raise Refused(413, f"a table may have 1 to {self.most_bytes} bytes here (--uploads)")
        self.expire()
        if len(self._tables) >= _MOST_TABLES:
            raise Refused(409, f"there are {_MOST_TABLES} tables: discard one first")
        upload = secrets.token_urlsafe(16).lstrip("-_") or "0"

        def make() -> UploadedTable:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if shutil.disk_usage(self.folder).free < 3 * asked.size:  # the table, its results and a checkpoint
                raise Refused(503, f"the disk has no room for a table of {asked.size} bytes")
            (self.folder / upload / "table").mkdir(parents=True)
            table = UploadedTable(upload, file_name(asked.name), asked.size, 0, "receiving", time.time())
            self._tables[upload] = table
            self.place(upload).touch()
            return self.change(upload)

        return await _on_disk(make)

    async def append(self, upload: str, offset: int, content: bytes) -> UploadedTable:
        """A piece of the file; one that came already is not written again."""
        table = self.get(upload)
        if table.state != "receiving":
            if offset + len(content) <= table.size:
                return table
            raise Refused(409, "all of the table has come already")
        if offset > table.received:
            raise Refused(409, f"{table.received} bytes have come: send what follows them")
        if offset + len(content) > table.size:
            raise Refused(409, f"the table was to have {table.size} bytes")

        def write() -> UploadedTable:
            with self.place(upload).open("r+b") as file:
                file.seek(offset)
                file.write(content)
            received = max(self.get(upload).received, offset + len(content))
            return self.change(upload, received=received, state="reading" if received == table.size else "receiving")

        return await _on_disk(write)

    def asks(self, upload: str, asked: RunRequest) -> UploadedTable:
        """The run of a table is asked for; `Refused` where it cannot be."""
        table = self.get(upload)
        if table.state not in ("ready", "finished", "failed") or not table.columns:
            raise Refused(409, f"the table is {table.state}: it cannot be run now")
        names = {column.name for column in table.columns}
        for name in (asked.target, *([] if asked.time is None else [asked.time]), *(asked.drop or ())):
            if name not in names or "\0" in name:
                raise Refused(422, f"there is no column {name!r} in {table.name}")
        if asked.delay < 0:
            raise Refused(422, "delay must not be negative")
        return self.change(upload, state="waiting", run=asked, message=None, headline=None, findings=())

    async def model_file(self, upload: str) -> bytes:
        """The model of a finished run."""
        if self.get(upload).state != "finished":
            raise Refused(409, "the run is not finished: there is no model to keep")
        return await _on_disk((self.results(upload) / MODEL).read_bytes)

    def discard(self, upload: str) -> None:
        """Delete a table and its results."""
        self.get(upload)
        del self._tables[upload]
        shutil.rmtree(self.folder / upload, ignore_errors=True)

    def expire(self) -> None:
        """Delete tables that nobody has touched for long."""
        now = time.time()
        for table in self.all():
            kept = _INCOMPLETE_SECONDS if table.state == "receiving" else _KEPT_SECONDS
            if table.state not in ("waiting", "running") and now - table.changed > kept:
                self.discard(table.id)
        if self.folder.exists():
            for place in self.folder.iterdir():
                if place.name not in self._tables and now - os.stat(place).st_mtime > _INCOMPLETE_SECONDS:
                    shutil.rmtree(place, ignore_errors=True)


async def _on_disk(call: Callable[[], V]) -> V:
    """In a thread; a disk that fails is a refusal."""
    try:
        return await asyncio.to_thread(call)
    except OSError as error:
        raise Refused(503, f"the table cannot be kept: {error.strerror or error}", retry_after=5) from error
