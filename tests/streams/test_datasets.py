"""Data sets from the folder, ELEC2 also from OpenML, or not at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import sklearn.datasets

from thalweg.errors import DataUnavailable, InvalidParameter
from thalweg.streams import load_covertype, load_elec2, load_sea_concepts, load_weather

if TYPE_CHECKING:
    from collections.abc import Callable

    from thalweg.streams import Table

COLUMNS = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")


def needs(name: str) -> pytest.MarkDecorator:
    at_hand = (Path(os.environ["THALWEG_DATA"]) / name).is_file() if "THALWEG_DATA" in os.environ else False
    return pytest.mark.skipif(not at_hand, reason=f"THALWEG_DATA names no folder with {name}")


needs_elec2 = needs("elec2.csv.gz")


@needs_elec2
def test_elec2_is_the_published_data_set() -> None:
    table = load_elec2()
    X, y = table.take()
    assert table.feature_names == ("day", "period", "nswdemand")
    assert X.shape == (45_312, 3)
    assert (np.count_nonzero(y == "DOWN"), np.count_nonzero(y == "UP")) == (26_075, 19_237)
    assert np.mean(y[1:] == y[:-1]) == pytest.approx(0.8533, abs=1e-4)
    np.testing.assert_allclose(X[0], [1 / 6, 0.0, 0.439155])
    assert (X.min(axis=0).tolist(), X.max(axis=0).tolist()) == ([0.0] * 3, [1.0] * 3)


@needs_elec2
def test_elec2_feature_sets_are_columns_of_the_whole() -> None:
    everything = load_elec2("all")
    whole, _ = everything.take()
    assert everything.feature_names == COLUMNS
    for choice in ("paper", "six"):
        part = load_elec2(choice)
        columns = [everything.feature_names.index(name) for name in part.feature_names]
        np.testing.assert_array_equal(part.take()[0], whole[:, columns])
    assert load_elec2("six").n_features == 6


@needs_elec2
def test_openml_gives_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from_file, labels = load_elec2().take()
    columns, _ = load_elec2("all").take()
    # OpenML's day is a category, which scikit-learn hands out as its position 0 … 6.
    columns[:, 1] = np.rint(6.0 * columns[:, 1])
    bunch = SimpleNamespace(data=columns, target=labels.astype(object), feature_names=list(COLUMNS))
    monkeypatch.delenv("THALWEG_DATA")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *args, **kwargs: bunch)
    X, y = load_elec2().take()
    np.testing.assert_array_equal(X, from_file)
    np.testing.assert_array_equal(y, labels)


@pytest.mark.parametrize("failure", [OSError("no route to host"), ValueError("no such data set")])
def test_without_folder_and_network_the_error_says_how_to_get_it(
    failure: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise failure

    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
    with pytest.raises(DataUnavailable, match=r"set THALWEG_DATA .* elec2\.csv\.gz.* OpenML") as caught:
        load_elec2()
    assert str(failure) in str(caught.value)


def test_another_data_set_is_not_taken_for_elec2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bunch = SimpleNamespace(data=np.zeros((3, 8)), target=np.array(["UP"] * 3), feature_names=COLUMNS)
    monkeypatch.delenv("THALWEG_DATA", raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *args, **kwargs: bunch)
    with pytest.raises(DataUnavailable, match="is not ELEC2"):
        load_elec2()
    with gzip.open(tmp_path / "elec2.csv.gz", "wt") as file:
        file.write("period,class\n0.5,UP\n")
    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    with pytest.raises(DataUnavailable, match="its columns are period, class"):
        load_elec2()


def test_an_unknown_feature_set_is_named() -> None:
    with pytest.raises(InvalidParameter, match="'features' parameter of load_elec2"):
        load_elec2("seven")  # type: ignore[arg-type]


@needs("sea_concepts.csv.gz")
def test_sea_concepts_are_four_thresholds_with_noise() -> None:
    table = load_sea_concepts()
    X, y = table.take()
    assert (X.shape, table.classes.tolist()) == ((50_000, 3), [0, 1])
    for number, threshold in enumerate((8.0, 9.0, 7.0, 9.5)):
        part = slice(12_500 * number, 12_500 * (number + 1))
        against = np.mean(y[part] != (X[part, 0] + X[part, 1] <= threshold))
        assert against == pytest.approx(0.095, abs=0.006)


@needs("noaa_weather.csv.gz")
def test_weather_is_the_published_data_set() -> None:
    table = load_weather()
    X, y = table.take()
    assert (X.shape, table.feature_names[2]) == ((18_159, 8), "sea_level_pressure")
    assert np.bincount(y).tolist() == [12_461, 5_698]
    assert np.count_nonzero(X[:, 2] > 5500) == 2


@pytest.mark.slow
@needs("covertype.npz")
def test_covertype_unfolds_into_indicators() -> None:
    table, folded = load_covertype(), load_covertype(one_hot=False)
    (X, y), (codes, same) = table.take(20_000), folded.take(20_000)
    assert (table.length, table.n_features, folded.n_features) == (581_012, 54, 12)
    assert table.classes.tolist() == [1, 2, 3, 4, 5, 6, 7]
    np.testing.assert_array_equal(y, same)
    np.testing.assert_array_equal(X[:, :10], codes[:, :10])
    assert (X[:, 10:14].sum(axis=1) == 1).all()
    assert (X[:, 14:].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(X[:, 10:14].argmax(axis=1) + 1, codes[:, 10])
    np.testing.assert_array_equal(X[:, 14:].argmax(axis=1) + 1, codes[:, 11])
    assert (table.feature_names[10], table.feature_names[-1]) == ("wilderness_area=1", "soil_type=40")


LOADERS = [
    (load_sea_concepts, "sea_concepts.csv.gz"),
    (load_weather, "noaa_weather.csv.gz"),
    (load_covertype, "covertype.npz"),
]


@pytest.mark.parametrize(("load", "name"), LOADERS)
def test_a_missing_file_is_named_and_so_is_a_wrong_one(
    load: Callable[[], Table], name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("THALWEG_DATA", raising=False)
    with pytest.raises(DataUnavailable, match=f"set THALWEG_DATA to a folder that holds {name}"):
        load()
    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    with pytest.raises(DataUnavailable, match=name):
        load()
    with gzip.open(tmp_path / name, "wt") as file:
        file.write("period,class\n0.5,1\n")
    with pytest.raises(DataUnavailable, match=f"{name} is not "):
        load()


def test_a_covertype_of_another_shape_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    np.savez(tmp_path / "covertype.npz", X=np.zeros((2, 5), dtype=np.int16), y=np.ones(2, dtype=np.int8))
    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    with pytest.raises(DataUnavailable, match=r"its X has shape \(2, 5\)"):
        load_covertype()
