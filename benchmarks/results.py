"""A suite's results as a file: all that its table and its pictures are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.contest import Effort
from benchmarks.records import Finding, Record

FORMAT = 1


@dataclass(frozen=True)
class Results:
    """What one suite measured in one run.

    Parameters
    ----------
    suite, asks : str
        The suite and its question.
    machine : mapping
        The machine, in general terms.
    load : sequence of two floats or None
        Processes that wanted a core before the run and after it.
    effort : Effort
        How long was looked.
    records, findings : sequences
        What was measured, and what follows.
    left_out : sequence of str
        Who could not be had, and why.
    complete : bool
        Whether it was measured to the end.
    """

    suite: str
    asks: str
    machine: Mapping[str, Any]
    load: Sequence[float | None]
    effort: Effort
    records: Sequence[Record]
    findings: Sequence[Finding]
    left_out: Sequence[str]
    complete: bool

    def write(self, folder: Path) -> Path:
        """Write ``<suite>.json``; a file from before gives way only to a whole one."""
        folder.mkdir(parents=True, exist_ok=True)
        path, unfinished = folder / f"{self.suite}.json", folder / f".{self.suite}.json"
        unfinished.write_text(json.dumps(self._as_json(), indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
        return path

    def _as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "suite": self.suite,
            "asks": self.asks,
            "complete": self.complete,
            "machine": dict(self.machine),
            "load": {"before": self.load[0], "after": self.load[1]},
            "effort": {"rounds": self.effort.rounds, "seconds": self.effort.seconds, "size": self.effort.size},
            "left_out": list(self.left_out),
            "findings": [finding.as_json() for finding in self.findings],
            "records": [record.as_json() for record in self.records],
        }


def read(path: Path) -> Results:
    """The results in a file."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if found.get("format") != FORMAT:
        raise ValueError(f"{path.name} is not a file of results in format {FORMAT}")
    findings = [{name: value for name, value in each.items() if name != "met"} for each in found["findings"]]
    return Results(
        suite=found["suite"],
        asks=found["asks"],
        machine=found["machine"],
        load=(found["load"]["before"], found["load"]["after"]),
        effort=Effort(**found["effort"]),
        records=[Record.from_json(each) for each in found["records"]],
        findings=[Finding(**each) for each in findings],
        left_out=found["left_out"],
        complete=found["complete"],
    )
