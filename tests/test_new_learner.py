"""A learner is added by its own file and its name in `thalweg.learners`: every command and the service then know it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_until
from thalweg import learners

ROOT = Path(__file__).parents[1]

#: What goes into `learners/`: a class over a core, and what the catalogue has to know of it.
LEARNER = """
from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.classifier import StreamClassifier, WithRate
from thalweg.rates import as_rate


class TinyLearner(WithRate, StreamClassifier):
    _catalogue = CatalogueEntry(
        name="tiny",
        about="a learner of a test",
        when="never",
        options={"rate": "speed", "seed": "random_state"},
        rate=0.25,
        scaled=True,
    )

    def __init__(self, speed=0.5, *, random_state=0):
        self.speed = speed
        self.random_state = random_state

    def _make_core(self, features):
        rate = as_rate(self.speed, "TinyLearner", below_one=False)
        return compiled.winnow(features, rate.code(), seed=self.random_state)
"""

#: What goes into `learners/__init__.py`; then commands, each a line of standard input.
COMMANDS = """
import shlex
import sys

from tiny_learner import TinyLearner

from thalweg import learners

learners.__all__.append("TinyLearner")
learners.MODULES["TinyLearner"] = "tiny_learner"
learners.TinyLearner = TinyLearner

from thalweg.cli import main

for line in sys.stdin:
    print(f"$ {line}", end="", flush=True)
    try:
        main(shlex.split(line))
    except SystemExit as end:
        print(f"exit {end.code}", flush=True)
"""


@pytest.fixture
def commands(tmp_path: Path) -> list[str]:
    (tmp_path / "tiny_learner.py").write_text(LEARNER)
    (tmp_path / "commands.py").write_text(COMMANDS)
    rows = "".join(f"{i % 7},{i % 5},{'ab'[i % 7 > 3]}\n" for i in range(200))
    (tmp_path / "rows.csv").write_text("x,z,label\n" + rows)
    return [sys.executable, "commands.py"]


def printed(commands: list[str], folder: Path, *lines: str) -> list[str]:
    """What each command printed; all of them in one process."""
    given = "".join(f"{line}\n" for line in lines)
    wide = os.environ | {"COLUMNS": "200"}
    done = subprocess.run(commands, input=given, cwd=folder, env=wide, capture_output=True, text=True, check=True)
    return re.split(r"^\$ .*\n", done.stdout + done.stderr, flags=re.MULTILINE)[1:]


def test_a_new_learner_is_listed_runs_is_saved_and_loaded(commands: list[str], tmp_path: Path) -> None:
    listed, ran, inspected, predicted, adaptive, refused = printed(
        commands,
        tmp_path,
        "models",
        "run rows.csv --target label --model tiny --rate 0.125 --seed 3 --quiet --out out",
        "inspect out/model.thalweg",
        "predict out/model.thalweg rows.csv -o predicted.csv",
        "run rows.csv --target label --model tiny --adaptive --quiet --json --out adaptive",
        "run rows.csv --target label --model tiny --window 3 --quiet --out refused",
    )
    assert re.search(r"^tiny +a learner of a test, rows scaled on line +never +yes", listed, flags=re.MULTILINE)
    assert ran.endswith("exit 0\n")
    assert "TinyLearner(random_state=3, speed=0.125)" in inspected
    assert "exit 0" in predicted
    assert len((tmp_path / "predicted.csv").read_text().splitlines()) == 201
    assert '"start": 0.25' in adaptive
    assert "exit 2" in refused
    assert "--window must be left out unless the model is trend, got '3'" in refused


@pytest.mark.slow
def test_a_new_learner_is_served(commands: list[str], tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="the service needs uvicorn")
    from tests.service.server import Client

    log = tmp_path / "log"
    with log.open("w") as errors:
        server = subprocess.Popen(commands, cwd=tmp_path, stdin=subprocess.PIPE, stderr=errors, text=True)
    try:
        assert server.stdin is not None
        server.stdin.write("serve --new tiny --listen 127.0.0.1:0 --data data\n")
        server.stdin.close()
        wait_until(lambda: "serves at" in log.read_text() or server.poll() is not None, pause=0.05)
        found = re.search(r"serves at http://\S+:(\d+)\n", log.read_text())
        assert found, log.read_text()
        client = Client(int(found[1]))
        answers = client.predict([{"x": float(i), "z": 1.0} for i in range(4)])
        client.label([(each["id"], "ab"[i % 2]) for i, each in enumerate(answers)])
        client.post("/v1/models", {"name": "other", "kind": "tiny", "parameters": {"rate": 0.5, "seed": 2}})
        assert {each["name"]: each["kind"] for each in client.settled()["models"]} == dict.fromkeys(
            ("default", "other"), "tiny"
        )
        client.close()
    finally:
        server.terminate()
        server.wait()


def listed_in_contributing() -> list[str]:
    """The files in the table of the section on adding a learner."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## How to add a learner")[1].split("\n## ")[0]
    files = re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE)
    assert files
    return files


def test_every_file_that_contributing_names_has_the_learners_that_there_are() -> None:
    for file in listed_in_contributing():
        texts = [
            path.read_text(encoding="utf-8") for path in ROOT.glob(file.replace("FOLDER", "*").replace("NAME", "*"))
        ]
        assert any(re.search("passive[-_]?aggressive", text, flags=re.IGNORECASE) for text in texts), file


def test_no_other_file_lists_all_learners() -> None:
    """A file that names them all is one that a new learner has to be added to."""
    files = listed_in_contributing()
    classes = [name for name in learners.MODULES if name != "OnlineLinearRegression"]
    searched = [ROOT / "pyproject.toml", ROOT / "mkdocs.yml"]
    searched += [path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    lists = {path for path in searched if all(name in path.read_text("utf-8") for name in classes)}
    assert {str(path.relative_to(ROOT)) for path in lists} == {
        file for file in files if file.endswith(("__init__.py", "models.py"))
    }
