"""A guard against slow-downs that noise cannot trip: instructions a row of the main kernels, counted by valgrind.

Run: make bench-guard, or python benchmarks/guard.py --record to write the counts anew.

Two runs of the same program, one of which learns the rows twice as often, differ by the instructions of the rows alone.
The rows are learned so often that the interpreter's own instructions, which vary a little, do not matter. Counts are
kept for each processor family and level: AVX2 on x86-64, since valgrind knows no AVX-512, and NEON on arm64. Another
compiler counts a little differently, so up to 20 % more pass.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from thalweg import kernels

RECORD = Path(__file__).parent / "guard.json"
DRIVER = Path(__file__).parent / "guarded_run.py"
KERNELS = ("discriminant", "perceptron", "recursive least squares")
ROWS = 200
#: How often they are learned, by width: some million instructions.
PASSES = {2: 60, 10: 30, 50: 6, 100: 3}
PASSES_OF_THE_PERCEPTRON = 60
TOLERANCE = 0.2
#: One name for a processor family, whatever the system calls it.
MACHINES = {"aarch64": "arm64", "AMD64": "x86_64"}


def main() -> None:
    """Count, compare, and leave with 1 where a kernel needs more instructions than it did."""
    parser = argparse.ArgumentParser(description="Instructions a row of the main kernels, against those on record.")
    parser.add_argument("--record", action="store_true", help="write the counts instead of comparing them")
    record = parser.parse_args().record
    if shutil.which("valgrind") is None:
        sys.exit("bench-guard needs valgrind, which is not installed")
    level = "v3" if "v3" in kernels.available_levels() else "base"
    machine = f"{MACHINES.get(platform.machine(), platform.machine())}, {level}"
    known = json.loads(RECORD.read_text())
    if not record and machine not in known:
        sys.exit(f"bench-guard has no counts on record for {machine}, only for {'; '.join(known)}")
    counts = {f"{kernel}, {width} features": _per_row(level, kernel, width) for kernel in KERNELS for width in PASSES}
    if record:
        RECORD.write_text(json.dumps({**known, machine: counts}, indent=2, sort_keys=True) + "\n")
        return
    slower = False
    for name, count in counts.items():
        was = known[machine][name]
        change = count / was - 1
        slower |= change > TOLERANCE
        print(f"{name:<40}{was:>10,.0f}{count:>10,.0f}{change:>+8.1%}{'  too many' if change > TOLERANCE else ''}")
    if slower:
        sys.exit(1)


def _per_row(level: str, kernel: str, width: int) -> float:
    passes = PASSES_OF_THE_PERCEPTRON if kernel == "perceptron" else PASSES[width]
    once, twice = (_instructions(level, kernel, width, times) for times in (passes, 2 * passes))
    return round((twice - once) / (passes * ROWS), 1)


def _instructions(level: str, kernel: str, width: int, passes: int) -> int:
    spec = importlib.util.find_spec(f"thalweg.kernels._{level}")
    assert spec is not None
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-S", "-s"]
    command += [str(DRIVER), str(spec.origin), kernel, str(ROWS), str(width), str(passes)]
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        sys.exit(f"bench-guard could not count {kernel!r}: {done.stderr.strip().splitlines()[-1]}")
    return int(found.group(1))


if __name__ == "__main__":
    main()
