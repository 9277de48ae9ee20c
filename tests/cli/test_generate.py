from __future__ import annotations

import dataclasses
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from thalweg import cli, streams
from thalweg.run import generate
from thalweg.run.generate import GENERATORS, make_stream
from thalweg.streams import ConceptStream
from thalweg.tables import chunks, open_source

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            cli.main(["generate", *map(str, arguments)])
        printed = capfd.readouterr()
        return int(stop.value.code or 0), printed.out, printed.err

    return call


def read(path: Path, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The rows as any reader of files sees them."""
    pytest.importorskip("pyarrow")
    (chunk,) = chunks(open_source(path).blocks(), 1 << 20)
    columns = [np.array(chunk.column(name).to_pylist(), dtype=object) for name in (*names, "label")]
    return np.stack(columns[:-1], axis=1), columns[-1].astype(float)


def test_every_generator_has_a_name_and_is_listed(run: Run) -> None:
    concrete = {
        name
        for name in streams.__all__
        if inspect.isclass(kind := getattr(streams, name))
        and issubclass(kind, ConceptStream)
        and not inspect.isabstract(kind)
    }
    assert {each.kind for each in GENERATORS.values()} == concrete
    _, out, _ = run("--help")
    lines = out.splitlines()
    for name, each in GENERATORS.items():
        assert any(line.split() == [name, *each.about.split()] for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.quick(25)
@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "ndjson"])
def test_what_is_read_back_is_the_stream_to_the_last_bit(
    name: str, ending: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "BLOCK_ROWS", 300)  # several blocks, the last not full
    path = tmp_path / f"rows.{ending}"
    code, out, _ = run(name, "--rows", 700, "--seed", 5, "-o", path)
    assert (code, out.splitlines()[-1][-len(str(path)) :]) == (0, str(path))
    stream = make_stream(name, 5)
    X, y = read(path, stream.feature_names)
    expected_X, expected_y = stream.take(700)
    spelled = GENERATORS[name].spelled
    for feature, got, expected in zip(stream.feature_names, X.T, expected_X.T, strict=True):
        if feature in spelled:
            assert [str(cell).strip('"') for cell in got] == spelled[feature](expected)
        else:
            assert (got.astype(float) == expected).all()
    assert (y == expected_y).all()
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zst", "ndjson.gz"])
def test_files_may_be_packed(ending: str, tmp_path: Path, run: Run) -> None:
    plain, packed = tmp_path / f"rows.{ending.split('.')[0]}", tmp_path / f"rows.{ending}"
    for path in (plain, packed):
        assert run("sea", "--rows", 700, "-o", path)[0] == 0
    names = make_stream("sea", 0).feature_names
    for one, two in zip(read(plain, names), read(packed, names), strict=True):
        assert (one == two).all()
    assert packed.read_bytes()[:2] == (b"\x1f\x8b" if ending.endswith("gz") else b"\x28\xb5")
    assert packed.stat().st_size < plain.stat().st_size


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "parquet", "arrow", "jsonl"])
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(ending: str, tmp_path: Path, run: Run) -> None:
    paths = [tmp_path / f"{number}.{ending}" for number in range(3)]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        run("moving-plane", "--rows", 500, "--seed", seed, "-o", path)
    first, again, other = (path.read_bytes() for path in paths)
    assert first == again != other


def test_the_format_may_be_given_and_rows_may_go_down_a_pipe(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "rows.txt"
    run("stagger", "--format", "csv", "-o", path)
    code, out, _ = run("stagger", "-o", "-")
    assert (code, out) == (0, path.read_text())
    assert len(out.splitlines()) == 1 + make_stream("stagger", 0).length


def test_parameters_of_a_stream_can_be_set(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "rows.csv"
    assert run("stagger", "--set", "rows_per_concept=2", "--rows", 6, "-o", path)[0] == 0
    X, y = dataclasses.replace(streams.Stagger(), rows_per_concept=2).take(6)
    read_X, read_y = read(path, streams.Stagger().feature_names)
    assert (read_X.astype(float) == X).all()
    assert (read_y == y).all()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["wander", "-o", "{folder}/a.csv"], "moving-plane"),
        (["stagger", "-o", "{folder}/a.xls"], "--format"),
        (["stagger", "-o", "{folder}/a.csv", "--format", "xls"], "ndjson"),
        (["stagger", "-o", "{folder}"], "{folder}"),
        (["stagger"], "--out"),
        (["stagger", "-o", "{folder}/a.csv", "--rows", "0"], "--rows"),
        (["stagger", "-o", "{folder}/a.csv", "--set", "speed=3"], "rows_per_concept"),
        (["crossing", "-o", "{folder}/a.csv", "--set", "scenario=3"], "covariance"),
        (["stagger", "-o", "{folder}/a.csv", "--set", "rows_per_concept"], "NAME=NUMBER"),
        (["stagger", "-o", "{folder}/a.csv", "--set", "rows_per_concept=0"], "at least 1"),
        (["linear-response", "-o", "{folder}/a.csv", "--set", "weights=1"], "weights"),
    ],
)
def test_what_cannot_be_written_is_one_line_and_leaves_nothing(
    arguments: list[str], said: str, tmp_path: Path, run: Run
) -> None:
    code, out, err = run(*[part.format(folder=tmp_path) for part in arguments])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said.format(folder=tmp_path) in err
    assert "internal" not in err
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_the_old_file_as_it_was(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.parquet"
    path.write_text("old")

    def interrupted(*_: object) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        yield streams.Stagger().take(5)
        raise KeyboardInterrupt

    monkeypatch.setattr(streams.Stagger, "batches", interrupted)
    assert run("stagger", "-o", path)[0] == 130
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [(path.name, "old")]


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = run("stagger", "-o", tmp_path / "rows.csv")
    assert (code, "thalweg[files]" in err, list(tmp_path.iterdir())) == (2, True, [])
    assert run("stagger", "-o", tmp_path / "rows.ndjson")[0] == 0
