"""Public data sets: from the folder named by THALWEG_DATA, else from OpenML."""

from __future__ import annotations

import gzip
import os
import warnings
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np

from thalweg.errors import DataUnavailable, InvalidParameter
from thalweg.streams.stream import Rows
from thalweg.streams.table import Table

_ELEC2_FILE = "elec2.csv.gz"
_ELEC2_ROWS = 45_312
_ELEC2_COLUMNS = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")

Elec2Features: TypeAlias = Literal["paper", "six", "all"]
_ELEC2_CHOICES: dict[str, tuple[str, ...]] = {
    "paper": ("day", "period", "nswdemand"),
    "six": ("period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer"),
    "all": _ELEC2_COLUMNS,
}


def load_elec2(features: Elec2Features = "paper") -> Table:
    """ELEC2, the electricity market of New South Wales (Harries 1999): UP or DOWN goes the price.

    45,312 half hours from May 1996 to December 1998; the label compares the price with its mean over the
    last 24 hours. Every feature lies in [0, 1]. Repeating the last label is right on 85.3 % of the rows.

    Parameters
    ----------
    features : {"paper", "six", "all"}
        "paper": day, period and nswdemand, as in Kuncheva & Plumpton 2008. "six": all but date and day.
        "all": the eight columns.

    Raises
    ------
    DataUnavailable
        There is no ``elec2.csv.gz`` in the folder that the environment variable THALWEG_DATA names, and
        OpenML cannot be reached.
    """
    if features not in get_args(Elec2Features):
        raise InvalidParameter.of("load_elec2", "features", "be 'paper', 'six' or 'all'", features)
    folder = os.environ.get("THALWEG_DATA")
    path = Path(folder) / _ELEC2_FILE if folder else None
    X, y = _elec2_from_file(path) if path and path.is_file() else _elec2_from_openml()
    day = X[:, _ELEC2_COLUMNS.index("day")]
    # The file counts days from 1 and OpenML's reader from 0; all seven occur.
    day[:] = (day - day.min()) / 6.0
    names = _ELEC2_CHOICES[features]
    return Table(X[:, [_ELEC2_COLUMNS.index(name) for name in names]], y, names)


def _elec2_from_file(path: Path) -> Rows:
    with gzip.open(path, "rt", encoding="ascii") as lines:
        header = tuple(lines.readline().strip().split(","))
    if header != (*_ELEC2_COLUMNS, "class"):
        raise DataUnavailable(f"{path} is not ELEC2: its columns are {', '.join(header)}.")
    X = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(len(_ELEC2_COLUMNS)), ndmin=2)
    y = np.loadtxt(path, delimiter=",", skiprows=1, usecols=len(_ELEC2_COLUMNS), dtype="U4", ndmin=1)
    return X, y


def _elec2_from_openml() -> Rows:
    from sklearn.datasets import fetch_openml

    how = (
        f"ELEC2 is not at hand: set THALWEG_DATA to a folder that holds {_ELEC2_FILE}, or allow a connection "
        "to OpenML, from which scikit-learn downloads it once (data set 'electricity', version 1)"
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a failed attempt is told once, below
            bunch = fetch_openml("electricity", version=1, as_frame=False, parser="liac-arff", n_retries=1, delay=0.1)
    except (OSError, ValueError) as error:  # no network, no such data set, a damaged answer
        raise DataUnavailable(f"{how}; the download failed with: {error}") from error
    if tuple(bunch.feature_names) != _ELEC2_COLUMNS or bunch.data.shape[0] != _ELEC2_ROWS:
        raise DataUnavailable(f"{how}; the download is not ELEC2.")
    return np.array(bunch.data, dtype=np.float64), np.array(bunch.target, dtype="U4")
