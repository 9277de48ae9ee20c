"""Public data sets: from the folder named by THALWEG_DATA; ELEC2 also from OpenML.

The thirteen benchmark sets of Rätsch, Onoda & Müller (2001) come with their splits into training and test rows.
"""

from __future__ import annotations

import gzip
import os
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import DataUnavailable, InvalidParameter
from thalweg.parameters import whole_number
from thalweg.streams.stream import Floats, Labels, Rows
from thalweg.streams.table import Table


def in_folder(name: str) -> Path | None:
    """The file in the folder of data sets, where there is one."""
    folder = os.environ.get("THALWEG_DATA")
    path = Path(folder) / name if folder else None
    return path if path and path.is_file() else None


def in_folder_or_nowhere(title: str, name: str) -> Path:
    """The file in the folder of data sets; an error that says how to get it where there is none."""
    path = in_folder(name)
    if path is None:
        raise DataUnavailable(f"{title} is not at hand: set THALWEG_DATA to a folder that holds {name}.")
    return path


_ELEC2_FILE = "elec2.csv.gz"
_ELEC2_ROWS = 45_312
_ELEC2_COLUMNS = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")

Elec2Features: TypeAlias = Literal["paper", "six", "all"]
_ELEC2_CHOICES: dict[str, tuple[str, ...]] = {
    "paper": ("day", "period", "nswdemand"),
    "six": ("period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer"),
    "all": _ELEC2_COLUMNS,
}

_SEA_FILE, _SEA_COLUMNS = "sea_concepts.csv.gz", ("x1", "x2", "x3")
_WEATHER_FILE = "noaa_weather.csv.gz"
_WEATHER_COLUMNS = (
    "temperature",
    "dew_point",
    "sea_level_pressure",
    "visibility",
    "avg_wind_speed",
    "max_sustained_wind_speed",
    "max_temperature",
    "min_temperature",
)
_COVERTYPE_FILE = "covertype.npz"
_COVERTYPE_QUANTITIES = (
    "elevation",
    "aspect",
    "slope",
    "horizontal_distance_to_hydrology",
    "vertical_distance_to_hydrology",
    "horizontal_distance_to_roadways",
    "hillshade_9am",
    "hillshade_noon",
    "hillshade_3pm",
    "horizontal_distance_to_fire_points",
)
#: Each category's name and how many values it has, numbered from 1.
_COVERTYPE_CATEGORIES = (("wilderness_area", 4), ("soil_type", 40))


def load_elec2(features: Elec2Features = "paper") -> Table:
    """ELEC2, the electricity market of New South Wales (Harries 1999): whether the price goes UP or DOWN.

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

    Examples
    --------
    >>> load_elec2("7")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: The 'features' parameter of load_elec2 must be 'paper', 'six' or 'all', got '7'.
    """
    if features not in get_args(Elec2Features):
        raise InvalidParameter.of("load_elec2", "features", "be 'paper', 'six' or 'all'", features)
    path = in_folder(_ELEC2_FILE)
    X, y = _from_csv(path, "ELEC2", _ELEC2_COLUMNS, "class", "U4") if path else _elec2_from_openml()
    day = X[:, _ELEC2_COLUMNS.index("day")]
    # The file counts days from 1 and OpenML's reader from 0; all seven occur.
    day[:] = (day - day.min()) / 6.0
    names = _ELEC2_CHOICES[features]
    return Table(X[:, [_ELEC2_COLUMNS.index(name) for name in names]], y, names)


def load_sea_concepts() -> Table:
    """SEA concepts (Street & Kim 2001), the 50,000 rows that Polikar's group published.

    Three features uniform in [0, 10], of which the third says nothing. The class is 1 where x1 + x2 <= 8, 9, 7, 9.5,
    for 12,500 rows each, with 9.5 % of the labels turned round: no classifier can err on less.

    Raises
    ------
    DataUnavailable
        There is no ``sea_concepts.csv.gz`` in the folder that the environment variable THALWEG_DATA names.

    Examples
    --------
    >>> try:
    ...     rows = load_sea_concepts().length
    ... except DataUnavailable:  # the file is not on this machine
    ...     rows = 50_000
    >>> rows
    50000
    """
    path = in_folder_or_nowhere("SEA concepts", _SEA_FILE)
    return Table(*_from_csv(path, "SEA concepts", _SEA_COLUMNS, "class", np.int64), _SEA_COLUMNS)


def load_weather() -> Table:
    """NOAA weather (Elwell & Polikar 2011): rain or no rain on 18,159 days, 1949 to 1999, from eight readings a day.

    The features are as measured, on scales from 0 to 5,500; two rows hold an impossible pressure.

    Raises
    ------
    DataUnavailable
        There is no ``noaa_weather.csv.gz`` in the folder that the environment variable THALWEG_DATA names.

    Examples
    --------
    >>> try:
    ...     rows = load_weather().length
    ... except DataUnavailable:  # the file is not on this machine
    ...     rows = 18_159
    >>> rows
    18159
    """
    path = in_folder_or_nowhere("NOAA weather", _WEATHER_FILE)
    return Table(*_from_csv(path, "NOAA weather", _WEATHER_COLUMNS, "rain", np.int64), _WEATHER_COLUMNS)


def load_covertype(*, one_hot: bool = True) -> Table:
    """Forest cover types (UCI): 581,012 patches of forest in their published order, seven classes.

    Parameters
    ----------
    one_hot : bool
        Whether wilderness area and soil type are 44 indicators, which makes 54 features, or two columns of category
        numbers, which mean nothing to a linear model.

    Raises
    ------
    DataUnavailable
        There is no ``covertype.npz`` in the folder that the environment variable THALWEG_DATA names.

    Examples
    --------
    >>> try:
    ...     features = load_covertype(one_hot=False).n_features
    ... except DataUnavailable:  # the file is not on this machine
    ...     features = 12
    >>> features
    12
    """
    path = in_folder_or_nowhere("Covertype", _COVERTYPE_FILE)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            folded, y = arrays["X"], arrays["y"].astype(np.int64)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise DataUnavailable(f"{path} is not Covertype: it cannot be read ({error}).") from error
    quantities = len(_COVERTYPE_QUANTITIES)
    if folded.ndim != 2 or folded.shape[1] != quantities + len(_COVERTYPE_CATEGORIES):
        raise DataUnavailable(f"{path} is not Covertype: its X has shape {folded.shape}.")
    if not one_hot:
        return Table(folded, y, (*_COVERTYPE_QUANTITIES, *(name for name, _ in _COVERTYPE_CATEGORIES)))
    parts, names = [folded[:, :quantities]], list(_COVERTYPE_QUANTITIES)
    for column, (name, count) in enumerate(_COVERTYPE_CATEGORIES, start=quantities):
        parts.append(folded[:, column, np.newaxis] == np.arange(1, count + 1))
        names += [f"{name}={value}" for value in range(1, count + 1)]
    return Table(np.concatenate(parts, axis=1), y, names)


def _from_csv(path: Path, title: str, columns: tuple[str, ...], label: str, label_type: type | str) -> Rows:
    with gzip.open(path, "rt", encoding="ascii") as lines:
        header = tuple(lines.readline().strip().split(","))
    if header != (*columns, label):
        raise DataUnavailable(f"{path} is not {title}: its columns are {', '.join(header)}.")
    X = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(len(columns)), ndmin=2)
    y = np.loadtxt(path, delimiter=",", skiprows=1, usecols=len(columns), dtype=label_type, ndmin=1)
    return X, y


def _elec2_from_openml() -> Rows:
    from sklearn.datasets import fetch_openml

    how = (
        f"ELEC2 is not at hand: set THALWEG_DATA to a folder that holds {_ELEC2_FILE}, or allow a connection "
        "to OpenML, from which scikit-learn downloads it once (data set 'electricity', version 1)"
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a failed attempt is reported once, below
            bunch = fetch_openml("electricity", version=1, as_frame=False, parser="liac-arff", n_retries=1, delay=0.1)
    except (OSError, ValueError) as error:  # no network, no such data set, a damaged reply
        raise DataUnavailable(f"{how}; the download failed with: {error}") from error
    if tuple(bunch.feature_names) != _ELEC2_COLUMNS or bunch.data.shape[0] != _ELEC2_ROWS:
        raise DataUnavailable(f"{how}; the download is not ELEC2.")
    return np.array(bunch.data, dtype=np.float64), np.array(bunch.target, dtype="U4")


BENCHMARK_SETS = (
    "banana",
    "breast_cancer",
    "diabetis",
    "flare_solar",
    "german",
    "heart",
    "image",
    "ringnorm",
    "splice",
    "thyroid",
    "titanic",
    "twonorm",
    "waveform",
)
_ARRAYS = ("X", "y", "train", "n_real")


class Split(NamedTuple):
    """Training rows, and all the others to test on.

    Examples
    --------
    >>> X, y = np.zeros((4, 2)), np.array([1, -1, 1, -1])
    >>> split = Split(X[:3], y[:3], X_test=X[3:], y_test=y[3:])
    >>> len(split.y_train), len(split.y_test)
    (3, 1)
    """

    X_train: Floats
    y_train: Labels
    X_test: Floats
    y_test: Labels


@dataclass(frozen=True, eq=False)
class BenchmarkSet:
    """A data set of two classes, -1 and 1, with many splits into training and test rows.

    Attributes
    ----------
    name : str
        One of `BENCHMARK_SETS`.
    X, y : arrays of shape (rows, features) and (rows,)
        All rows. They may not be written to.
    train : array of shape (splits, training rows)
        The rows that each split trains on; it tests on all the others.
    published : int
        So many splits, the first ones, are those that were published; the others are random ones of the same size.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    >>> small = BenchmarkSet("banana", X, y, train=np.array([[0, 1], [2, 3]]), published=2)
    >>> small.n_splits, small.split(1).X_test.ravel().tolist()
    (2, [0.0, 1.0])
    """

    name: str
    X: Floats
    y: Labels
    train: NDArray[np.intp]
    published: int

    def __post_init__(self) -> None:
        for array in (self.X, self.y, self.train):
            array.setflags(write=False)

    @property
    def n_splits(self) -> int:
        """How many splits there are."""
        return len(self.train)

    def split(self, number: int) -> Split:
        """The rows of split ``number``, counted from 0, as copies."""
        if whole_number("BenchmarkSet", "number", number) >= self.n_splits:
            raise InvalidParameter.of("BenchmarkSet", "number", f"be below its {self.n_splits} splits", number)
        chosen = np.zeros(len(self.y), dtype=np.bool_)
        chosen[self.train[number]] = True
        return Split(self.X[chosen], self.y[chosen], self.X[~chosen], self.y[~chosen])

    def splits(self, count: int | None = None) -> Iterator[Split]:
        """The first ``count`` splits, or as many as there are."""
        wanted = self.n_splits if count is None else whole_number("BenchmarkSet", "count", count)
        return (self.split(number) for number in range(min(wanted, self.n_splits)))

    def one_hot(self) -> BenchmarkSet:
        """The same set with an indicator for every value of every column.

        splice and flare_solar hold category codes, between which distances mean nothing.
        """
        columns = [column[:, np.newaxis] == np.unique(column) for column in self.X.T]
        return replace(self, X=np.concatenate(columns, axis=1).astype(np.float64))


def load_benchmark(name: str) -> BenchmarkSet:
    """One of the thirteen benchmark sets, by its name in `BENCHMARK_SETS`.

    They have 215 to 7,400 rows and 2 to 60 features, as published: all but breast_cancer, flare_solar, splice and
    thyroid have features of mean 0 and standard deviation 1. image and splice have 20 splits, the others 100.

    Raises
    ------
    DataUnavailable
        There is no ``ida/<name>.npz`` in the folder that the environment variable THALWEG_DATA names.

    Examples
    --------
    >>> try:
    ...     features = load_benchmark("banana").X.shape[1]
    ... except DataUnavailable:  # the file is not on this machine
    ...     features = 2
    >>> features
    2
    """
    if name not in BENCHMARK_SETS:
        raise InvalidParameter.of("load_benchmark", "name", f"be among {', '.join(BENCHMARK_SETS)}", name)
    path = in_folder_or_nowhere(f"The benchmark set {name}", f"ida/{name}.npz")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            X, y, train, published = (arrays[key] for key in _ARRAYS)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise DataUnavailable(f"{path} is not a benchmark set: it cannot be read ({error}).") from error
    if X.ndim != 2 or y.shape != X.shape[:1] or train.ndim != 2 or not _are_splits(train, len(y)):
        shapes = ", ".join(str(array.shape) for array in (X, y, train))
        raise DataUnavailable(f"{path} is not a benchmark set: its X, y and train do not belong together ({shapes}).")
    return BenchmarkSet(name, X.astype(np.float64), y.astype(np.int64), train.astype(np.intp), int(published))


def _are_splits(train: NDArray[np.intp], rows: int) -> bool:
    """Whether each split names different rows, and leaves some to test on."""
    ordered = np.sort(train, axis=1)
    within = ordered.size > 0 and ordered[:, 0].min() >= 0 and ordered[:, -1].max() < rows
    return bool(within and train.shape[1] < rows and (np.diff(ordered, axis=1) > 0).all())
