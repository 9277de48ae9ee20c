"""The numbers of a reproduction, each beside the paper's, and their JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import mean_interval
from thalweg.files import write_atomically


@dataclass(frozen=True)
class Finding:
    """A number measured for an item of a paper, and the paper's own number where it prints one."""

    paper: str
    item: str
    #: The data set, or the part of the paper.
    data: str
    #: The model, or the quantity.
    model: str
    measured: float
    _: KW_ONLY
    #: Half-width of the mean's 95 % interval; None for a single run.
    ci95: float | None = None
    runs: int = 1
    #: None where the paper prints no number.
    printed: float | None = None
    #: The model's fixed learning rate; None where it adapts or there is none.
    rate: float | None = None
    #: Remark for the reader, such as a misprint; not part of the JSON.
    note: str = ""
    #: Further keys of the JSON object.
    more: Mapping[str, Any] = field(default_factory=dict)
    #: Whether this is a processor time: its JSON object has ``seconds`` and none of the keys of an error.
    is_time: bool = False

    @classmethod
    def of_runs(
        cls, paper: str, item: str, data: str, model: str, values: NDArray[np.float64], **others: Any
    ) -> Finding:
        """The mean over runs and its interval.

        Examples
        --------
        >>> found = Finding.of_runs("p", "table1", "heart", "SVM", np.array([0.16, 0.18]))
        >>> round(found.measured, 3), found.runs
        (0.17, 2)
        """
        return cls(paper, item, data, model, float(values.mean()), ci95=ci95(values), runs=len(values), **others)

    @property
    def deviation(self) -> float | None:
        return None if self.printed is None else self.measured - self.printed

    def as_json(self) -> dict[str, Any]:
        subject = {"paper": self.paper, "item": self.item, "data": self.data, "model": self.model}
        if self.is_time:
            return {**subject, **self.more, "seconds": self.measured}
        return {
            **subject,
            "rate": self.rate,
            "paper_value": self.printed,
            "measured": self.measured,
            "ci95": self.ci95,
            "runs": self.runs,
            **self.more,
        }


def ci95(values: NDArray[np.float64]) -> float | None:
    """Half-width of the 95 % interval of the mean over runs; None for a single run."""
    return mean_interval(values).halfwidth if len(values) > 1 else None


def write_json(findings: Iterable[Finding], path: Path) -> None:
    """Write the findings as a JSON list. The file is replaced as a whole, so readers never see a part of it."""
    text = json.dumps([finding.as_json() for finding in findings], indent=1, allow_nan=False) + "\n"
    write_atomically(path, text.encode())
