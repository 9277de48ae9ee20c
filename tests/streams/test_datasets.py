"""ELEC2 from the folder, from OpenML, or not at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets

from thalweg.errors import DataUnavailable, InvalidParameter
from thalweg.streams import load_elec2

COLUMNS = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")
ELEC2 = Path(os.environ.get("THALWEG_DATA", "")) / "elec2.csv.gz"
needs_elec2 = pytest.mark.skipif(
    "THALWEG_DATA" not in os.environ or not ELEC2.is_file(),
    reason="THALWEG_DATA names no folder with elec2.csv.gz",
)


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
