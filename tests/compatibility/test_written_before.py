"""What earlier versions wrote is loaded and continued: models, a stopped run, and the journal of a service.

The recorded bytes hold for one machine, kernel level and set of libraries. Elsewhere rounding may differ: a loaded file
is still saved as the same bytes, and learning continues.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thalweg
from tests.compatibility.continuing import (
    FINISHED,
    FINISHED_NUMBERS,
    continue_numbers,
    continue_service,
    continue_table,
    finish_run,
    replay,
    replay_sparse,
)
from tests.compatibility.continuing import thalweg as command
from tests.compatibility.recorded import FIXTURES, continued, here, read_record, sha256
from thalweg.fleet import Fleet
from thalweg.store import dumps, loads, read_notes

RECORD = read_record()
FILES = {name: FIXTURES / "models" / f"{name}.thalweg" for name in RECORD["models"]}


def is_of_scikit_learn(path: Path) -> bool:
    """Whether a file holds parameters of scikit-learn's classes, which other versions of it may not have."""
    return b"scikit-learn" in path.read_bytes()


@pytest.fixture(params=FILES)
def path(request: pytest.FixtureRequest) -> Path:
    """A model file."""
    found = FILES[request.param]
    if is_of_scikit_learn(found) and here()["scikit-learn"] != RECORD["on"]["scikit-learn"]:
        pytest.skip(f"written with scikit-learn {RECORD['on']['scikit-learn']}")
    return found


def require(found: dict[str, Any], recorded: dict[str, Any]) -> None:
    """Compare with the recorded digests, which hold where they were recorded."""
    assert found.keys() == recorded.keys()
    if here() != RECORD["on"]:
        pytest.skip(f"continued; the bytes were not compared, since they were recorded with {RECORD['on']}")
    assert found == recorded


def test_every_class_that_can_be_saved_has_a_file() -> None:
    files = [path for path in FILES.values() if not is_of_scikit_learn(path)]
    loaded = [thalweg.load(path) for path in [*files, FINISHED, FINISHED_NUMBERS]]
    stateless = {"TextHasher"}  # `dumps` refuses it
    public = [getattr(thalweg, name) for name in thalweg.__all__ if name not in stateless]
    for kind in [Fleet, *(each for each in public if isinstance(each, type))]:
        assert any(isinstance(each, kind) for each in loaded), f"{kind.__name__} has no fixture"


def test_a_loaded_model_is_saved_as_the_same_bytes(path: Path) -> None:
    content = path.read_bytes()
    assert dumps(loads(content), notes=read_notes(path) or None) == content


def test_a_loaded_model_continues(path: Path) -> None:
    recorded = RECORD["models"][path.stem]
    require({"rows": recorded["rows"]} | continued(thalweg.load(path), recorded["rows"]), recorded)


@pytest.mark.parametrize(
    ("path", "part", "continues"),
    [(FINISHED, "finished", continue_table), (FINISHED_NUMBERS, "finished numbers", continue_numbers)],
    ids=["labels", "numbers"],
)
def test_the_model_of_a_run_continues(path: Path, part: str, continues: Callable[[], dict[str, str]]) -> None:
    content = path.read_bytes()
    assert dumps(loads(content)) == content
    require(continues(), RECORD[part])


@pytest.mark.quick(25)
def test_a_file_can_be_inspected(path: Path) -> None:
    command("inspect", str(path))


@pytest.mark.parametrize("name", RECORD["runs"])
def test_a_stopped_run_is_resumed(name: str, tmp_path: Path) -> None:
    require(finish_run(name, tmp_path), RECORD["runs"][name])


def test_a_journal_of_sparse_rows_is_replayed(tmp_path: Path) -> None:
    require(replay_sparse(tmp_path), RECORD["sparse journal"])


def test_a_journal_is_replayed_and_continued(tmp_path: Path) -> None:
    waiting = RECORD["journal"]["waiting"]
    replayed = replay(tmp_path)
    if (here()["machine"], here()["kernels"]) == (RECORD["on"]["machine"], RECORD["on"]["kernels"]):
        assert (
            replayed["default"] == replayed["default, whole"]
        )  # the snapshot has the bits of the machine that wrote it
    after = continue_service(tmp_path, waiting)
    digests = {name: sha256(content) for name, content in replayed.items()}
    require({"waiting": waiting, "replayed": digests, "after": after}, RECORD["journal"])
