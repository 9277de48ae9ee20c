"""A model learned again by a process of its own, which leaves the service its interpreter: ``python -m`` this module.

Standard input is where the journal is, the model, and the last record whose revisions count; standard output is a
snapshot of the model.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from thalweg.client.protocol import prepared
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.records import Part
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.rebuild import rebuild

#: The process yields to everything else on the machine.
_NICE = 10


class Order(msgspec.Struct):
    folder: str | None
    database: str | None
    model: str
    revised_through: int


def start(order: Order) -> subprocess.Popen[bytes]:
    """Start the process; `result_of` waits for its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(order))
    process.stdin.close()
    return process


def result_of(process: subprocess.Popen[bytes]) -> LiveModel | None:
    """The model; None where the process failed or was killed."""
    assert process.stdout is not None
    with process.stdout:
        written = process.stdout.read()
    if process.wait() != 0:
        return None
    return LiveModel.from_snapshot(msgspec.msgpack.decode(written, type=prepared(list[Part])))


def main() -> None:
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    os.nice(_NICE)
    folder = None if order.folder is None else Path(order.folder)
    journal = open_journal(folder, order.database, read_only=True)
    found = rebuild(journal, order.model, revised_through=order.revised_through)
    sys.stdout.buffer.write(msgspec.msgpack.encode(found.model.snapshot()))


if __name__ == "__main__":
    main()
