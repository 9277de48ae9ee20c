"""The types of the protocol, read by several threads."""

from __future__ import annotations

import subprocess
import sys

_MANY_THREADS = """
import sys, threading
import msgspec
from thalweg.client import protocol

sys.setswitchinterval(1e-6)
for _ in range(150):
    kind = type("Fresh", (protocol.PredictRequest,), {})  # as at the start, when no body has come yet
    together = threading.Barrier(8)

    def read():
        together.wait()
        msgspec.convert({"rows": [{"height": 1.0}]}, protocol.prepared(kind))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("done")
"""


def test_the_first_bodies_may_come_on_several_threads():
    ended = subprocess.run([sys.executable, "-c", _MANY_THREADS], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr
