"""What a running service forgets by itself: old records, replies to old requests; and how large its journal is.

What may go is found by a connection of its own, beside the requests. The writer then erases it a page at a time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import closing

from thalweg.errors import JournalError, ThalwegError
from thalweg.service.commands import Command, Cut, DropReplies
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.compaction import cut_points, snapshots_of_versions
from thalweg.service.live_models import LiveModels
from thalweg.service.options import Amount, ServeOptions

_LOG = logging.getLogger("thalweg.service")
#: Seconds between looks at the most and at the least.
_EVERY_SECONDS, _LEAST_SECONDS = 60.0, 1.0
#: How many times longer than a look the pause is, so that large journals are read rarely; and where they have grown.
_SPARING, _SPARING_GROWN = 30.0, 5.0
#: Records that came since the last look, as a share of those that were kept then, after which the next one is due.
_GROWTH = 0.1


class JournalRetention:
    """Looks from time to time for what is not to be kept, and gives the writer commands that erase it.

    It looks once a minute, and where records are cut also when there are a tenth more, so that a higher rate of
    requests does not make the journal larger.
    """

    def __init__(self, models: LiveModels, options: ServeOptions) -> None:
        self._models, self._keep, self._keep_replies = models, options.keep, options.keep_replies
        #: Records that were kept when the journal was last looked at, and the last of them.
        self._kept, self._looked_through = 0, 0
        #: Bytes of the journal when it was last looked at; None before.
        self.size: int | None = None
        #: Bytes that were free on its disk; None where that is not known.
        self.free: int | None = None
        #: Whether cuts that another process may have begun have been resumed.
        self._resumed = False
        self._warned = False

    async def run(self) -> None:
        while True:
            began = time.monotonic()
            try:
                self._models.writer.put(await asyncio.to_thread(self.due))
            except JournalError:
                pass  # the writer says so, and tries again
            except ThalwegError as error:
                _LOG.error("the journal is not cut: %s", error)
            except Exception:  # what is not cut now is cut a minute later
                _LOG.exception("the journal is not cut")
            taken = time.monotonic() - began
            await asyncio.sleep(max(_LEAST_SECONDS, _SPARING_GROWN * taken))
            while time.monotonic() < began + max(_EVERY_SECONDS, _SPARING * taken) and not self._has_grown():
                await asyncio.sleep(_LEAST_SECONDS)

    def _has_grown(self) -> bool:
        return self._keep is not None and self._models.writer.seq - self._looked_through > _GROWTH * self._kept

    def due(self) -> list[Command]:
        """What is to be erased now; in a thread, since it reads the journal."""
        with closing(self._models.journal.another()) as journal:
            self.size, self.free = journal.size(), journal.free()
            commands: list[Command] = []
            if self._keep is not None:
                commands += self._cuts(journal, self._keep)
            expired = journal.last_before(time.time_ns() // 1000 - 1_000_000 * self._keep_replies)
            through = max([expired, *journal.cuts().values()])
            if journal.has_replies(through):
                commands.append(DropReplies("", None, through))
            return commands

    def _cuts(self, journal: SqlJournal, keep: Amount) -> list[Command]:
        before, (self._looked_through, _) = journal.cuts(), journal.last()
        points = cut_points(journal, keep)
        self._kept = self._looked_through - min({**before, **points}.values(), default=0)
        commands: list[Command] = []
        for name in journal.models():
            cut, begun = points.get(name, 0), before.get(name, 0)
            if cut > begun:
                known = self._models.by_name.get(name)
                versions = () if known is None else list(known.state.versions.values())
                parts = snapshots_of_versions(journal, name, versions, cut)
                commands.append(Cut(name, None, cut, parts))
            elif begun and not self._resumed:
                commands.append(Cut(name, None, begun, []))
        self._resumed = True
        if keep.bytes is not None:
            self._warn_if_larger(keep.bytes, bool(points), bool(commands))
        return commands

    def _warn_if_larger(self, most: int, larger: bool, cutting: bool) -> None:
        """Once, where nothing more can be cut: rows wait for labels, or there is no later snapshot."""
        if larger and not cutting and not self._warned:
            _LOG.warning(
                "the journal is larger than %d bytes (--keep), and nothing more of it can be erased: "
                "rows without a label stay until they expire (--expire)",
                most,
            )
        self._warned = larger and not cutting
