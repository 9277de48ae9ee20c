"""The page of the command line is what the commands say of themselves."""

from __future__ import annotations

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from thalweg.cli import app

WIDTH = 90
OPENING = """# Command line

What `thalweg --help` and each command's `--help` print. An error is one line and exit code 2; `--debug` shows where it
came from. [From a CSV file to a report](../tutorials/from-a-csv-file-to-a-report.md) walks through a run.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Write it from the commands' own help."""
    files.append(File.generated(config, "api/command-line.md", content=page()))
    return files


def page() -> str:
    """Every command: a heading, its purpose, its help."""
    group = typer.main.get_command(app)
    context = group.context_class(group, info_name="thalweg", max_content_width=WIDTH, terminal_width=WIDTH)
    parts = [OPENING, _block(group.get_help(context))]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = command.context_class(
            command, info_name=name, parent=context, max_content_width=WIDTH, terminal_width=WIDTH
        )
        parts += [f"## thalweg {name}", command.get_short_help_str(WIDTH), _block(command.get_help(inner))]
    return "\n\n".join(parts) + "\n"


def _block(text: str) -> str:
    return f"```text\n{text.strip()}\n```"
