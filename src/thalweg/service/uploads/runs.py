"""Runs of uploaded tables: `thalweg run` in a process of its own, one at a time, resumed after a restart."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import orjson

from thalweg.service.commands import Refused
from thalweg.service.uploads.protocol import Progress, RunRequest, TableColumn
from thalweg.service.uploads.tables import CHECKPOINT, UploadedTables

#: Seconds between searches for tables to delete, that the columns of a table may take, and that a process has to stop.
_PAUSE_SECONDS, _PREVIEW_SECONDS, _STOP_SECONDS = 60.0, 60.0, 10.0
#: Points of a curve; where there are more, every second is left out.
_MOST_POINTS = 400
#: Bytes of a line of progress, in which a sentence may name many columns.
_MOST_LINE = 1 << 20
_LOG = logging.getLogger("thalweg.service")
_FAILED = {"reading": "its columns could not be read", "running": "the run ended early"}


class TableRuns:
    """What is done with tables once they have come: their columns are read, and those that are asked for are run."""

    def __init__(self, tables: UploadedTables) -> None:
        self._tables = tables
        self._news = asyncio.Event()
        self._process: Process | None = None
        self._at_work: str | None = None
        self._stopping = False

    def notice(self) -> None:
        """There may be something to do."""
        self._news.set()

    async def work(self) -> None:
        """Until it is cancelled: what is to be done, the oldest first."""
        while not self._stopping:
            self._news.clear()
            table = next((table for table in reversed(self._tables.all()) if table.state in _NEXT), None)
            if table is not None:
                await self._do(table.id, _NEXT[table.state])
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), _PAUSE_SECONDS)
            self._tables.expire()

    async def stop(self) -> None:
        """Stop the process at work, which writes a checkpoint first."""
        self._stopping = True
        await self._end()
        self.notice()

    async def discard(self, upload: str) -> None:
        """Delete a table, and stop its run."""
        self._tables.get(upload)
        if self._at_work == upload:
            await self._end()
        self._tables.discard(upload)

    async def _do(self, upload: str, call: Any) -> None:
        self._at_work = upload
        try:
            await call(self, upload)
        except Refused:  # it was discarded meanwhile
            pass
        except Exception as error:  # others wait to be run
            why = "the service failed on this table"
            if isinstance(error, OSError):
                why = f"the disk failed: {error.strerror or error}"
            else:
                _LOG.exception("a run of a table failed")
            with suppress(Refused, OSError):
                self._tables.change(upload, state="failed", message=why)
        finally:
            await self._end()
            self._at_work = self._process = None

    async def _read_columns(self, upload: str) -> None:
        """The columns of a table that has come as a whole."""
        arguments = ["thalweg.service.uploads.preview", self._tables.place(upload).name]
        process = await self._started(arguments, self._tables.place(upload).parent, stdout=PIPE)
        try:
            out, complaint = await asyncio.wait_for(process.communicate(), _PREVIEW_SECONDS)
        except TimeoutError:
            await self._end()
            self._tables.change(upload, state="failed", message=f"its columns took over {_PREVIEW_SECONDS:g} seconds")
            return
        if self._stopping:
            return
        if process.returncode:
            lines = complaint.decode("utf-8", "replace").strip().splitlines()
            self._tables.change(upload, state="failed", message=lines[-1] if lines else _FAILED["reading"])
            return
        seen = orjson.loads(out)
        columns = tuple(msgspec.convert(seen["columns"], list[TableColumn]))
        self._tables.change(upload, state="ready", columns=columns, target=seen["target"])

    async def _run(self, upload: str) -> None:
        """Run a table, from its checkpoint where it was interrupted."""
        table, results = self._tables.get(upload), self._tables.results(upload)
        assert table.run is not None
        resumes = table.state == "running" and (results / CHECKPOINT).exists()
        progress = table.progress if resumes else Progress()
        self._tables.change(upload, state="running", progress=progress)
        command = ["thalweg", "run", table.name, *_options(table.run), "--resume" if resumes else "--fresh"]
        process = await self._started(command, self._tables.place(upload).parent)
        assert process.stderr is not None
        complaint, result = _FAILED["running"], None
        async for line in process.stderr:
            try:
                entry = orjson.loads(line)
            except orjson.JSONDecodeError:
                complaint = line.decode("utf-8", "replace").strip().removeprefix("thalweg: ") or complaint
                continue
            if "headline" in entry:
                result = entry
            elif "rows" in entry:
                progress = _further(progress, entry)
                self._tables.change(upload, keep=False, progress=progress)
        await process.wait()
        if result is not None:
            done = {"headline": result["headline"], "findings": tuple(result["findings"])}
            self._tables.change(upload, state="finished", progress=progress, **done)
        elif not self._stopping:
            self._tables.change(upload, state="failed", progress=progress, message=complaint)
        else:
            self._tables.change(upload, progress=progress)

    async def _started(self, arguments: list[str], folder: Path, stdout: int = DEVNULL) -> Process:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", *arguments),
            cwd=folder,
            env=environment,
            limit=_MOST_LINE,
            stdin=DEVNULL,
            stdout=stdout,
            stderr=PIPE,
        )
        return self._process

    async def _end(self) -> None:
        """Let the process at work write its checkpoint and end."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()


#: By the state of a table, what is to be done with it. One that is running was interrupted.
_NEXT = {"reading": TableRuns._read_columns, "waiting": TableRuns._run, "running": TableRuns._run}


def _options(asked: RunRequest) -> Iterator[str]:
    """As `thalweg run` takes them. Rows that cannot be read are left out, and listed in the report."""
    yield from (f"--target={asked.target}", "--out=../run", "--progress=json", "--bad-rows=skip")
    if asked.time is not None:
        yield f"--time={asked.time}"
    if asked.delay:
        yield f"--delay={asked.delay}"
    yield from (f"--drop={name}" for name in asked.drop or ())


def _further(progress: Progress, entry: dict[str, Any]) -> Progress:
    """The progress with one more line of a run."""
    points = progress.points
    if "recent" in entry:
        points = (*points, (entry["rows"], entry["recent"]))
        points = points[::2] if len(points) > _MOST_POINTS else points
    named = {name: entry.get(name, getattr(progress, name)) for name in ("metric", "form")}
    return Progress(entry["rows"], entry["share"], points=points, **named)
