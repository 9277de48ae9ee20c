"""How large what is installed is: the compiled part of each instruction set, and whole packages."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from benchmarks.contest import Effort
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite
from thalweg import kernels

COMPILED, LEVELS = "of a package", "of thalweg, by instruction set"
MOST = 6.0
#: Names of packages and of compiled modules that lie beside them.
PEERS = {"River": ("river",), "Vowpal Wabbit": ("vowpalwabbit", "pylibvw"), "scikit-learn": ("sklearn",)}


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Bytes of compiled modules as they lie on the disk."""
    own = {name: _size_of(f"thalweg.kernels._{name}") for name in ("base", "v3", "v4")}
    built = {name: size for name, size in own.items() if size is not None}
    yield [_record(LEVELS, f"kernels, {name}", size) for name, size in built.items()]
    compared = [_record(COMPILED, "thalweg", sum(built.values()))]
    for name, parts in PEERS.items():
        sizes = [_compiled_bytes(part) for part in parts]
        if None in sizes:
            bench.leave_out(f"{name}: not installed")
        else:
            compared.append(_record(COMPILED, name, sum(filter(None, sizes)), ours=False))
    yield compared


def _record(work: str, model: str, size: int, *, ours: bool = True) -> Record:
    return Record(work, model, {}, "ours" if ours else "peer", (float(size),), "bytes", "compiled part")


def _size_of(module: str) -> int | None:
    spec = importlib.util.find_spec(module)
    return Path(spec.origin).stat().st_size if spec and spec.origin else None


def _compiled_bytes(package: str) -> int | None:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    place = Path(spec.origin)
    suffix = Path(EXTENSION_SUFFIXES[0]).suffix
    files = place.parent.rglob(f"*{suffix}") if place.name == "__init__.py" else [place]
    return sum(path.stat().st_size for path in files)


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """The whole compiled part, in the levels this processor can and cannot run."""
    for record in records:
        if record.work == COMPILED and record.model == "thalweg":
            levels = len(kernels.available_levels())
            yield Finding("installed compiled part", record.best / 1e6, at_most=MOST, unit="MB")
            yield Finding("instruction sets of it that this processor runs", levels)


SUITE = Suite(
    name="installed",
    asks="How large is the compiled part as installed?",
    measure=measure,
    plot=dots("installed", "Compiled code as installed", panel="work"),
    full=Effort(rounds=1),
    quick=Effort(rounds=1),
    findings=findings,
)
