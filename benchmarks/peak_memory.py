"""Memory and checkpoints of one ``thalweg run``: a stream is written, then learned by a process of its own.

Run by the suite ``memory`` in a small process, and so by ``python benchmarks/peak_memory.py --rows 1000000``. Nothing
large is imported here: a process is born with its parent's peak.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_THALWEG = (sys.executable, "-c", "from thalweg import cli; cli.main()")
#: What ru_maxrss counts in.
_UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> None:
    """Measure and print, a line of JSON for each length."""
    parser = argparse.ArgumentParser(description="Peak memory and cost of checkpoints over the length of a stream.")
    parser.add_argument("--rows", type=int, nargs="+", required=True, metavar="N", help="lengths of the streams")
    parser.add_argument("--stream", default="sea", help="a stream of `thalweg generate`")
    parser.add_argument("options", nargs="*", help="after --: options of `thalweg run`; by default its own")
    given = parser.parse_args()
    for rows in given.rows:
        print(json.dumps(measured(rows, given.stream, given.options)), flush=True)


def measured(rows: int, stream: str, options: list[str]) -> dict[str, Any]:
    """One length: a file is written, then learned."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        making = [*_THALWEG, "generate", stream, "--rows", str(rows), "-o", str(table)]
        subprocess.run(making, check=True, capture_output=True)
        command = [*_THALWEG, "run", str(table), "--target", "label", "--out", f"{folder}/out", "--json", *options]
        told = Path(folder) / "told.json"
        with told.open("wb") as output:
            process = subprocess.Popen(command, stdout=output)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(process.returncode)
        timing = json.loads(told.read_text())["timing"]
    return {
        "rows": rows,
        "peak_mb": usage.ru_maxrss * _UNIT / 1e6,
        "seconds": timing["seconds"],
        "checkpoint_share": timing["checkpoint_seconds"] / timing["seconds"],
    }


if __name__ == "__main__":
    main()
