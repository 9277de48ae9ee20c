"""The report that a tutorial tells of: the page's own commands are run, and what they write is shown on it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from kept import folder_of
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGE = Path(__file__).parents[1] / "tutorials" / "from-a-csv-file-to-a-report.md"
#: What the page calls the report, and where the command puts it.
PLACE, WRITTEN = "reports/run.html", "thalweg-run/report.html"
PROMPT = "$ thalweg "
COMMAND = [sys.executable, "-c", "from thalweg.cli import main; main()"]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the report to the site."""
    folder = folder_of("reports", [PAGE, Path(__file__)], run)
    files.append(File.generated(config, PLACE, abs_src_path=str(folder / WRITTEN)))
    return files


def run(folder: Path) -> None:
    """Run the page's commands until the report is there."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith(PROMPT) and not (folder / WRITTEN).exists():
            command = [*COMMAND, *shlex.split(line.removeprefix(PROMPT))]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
