"""Notebooks, kept without their outputs, are executed by Jupyter and become pages with them.

Pages link to the notebook itself, which is there in the repository too; on the site such a link leads to its page.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from figures import write_twins
from kept import folder_of
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
HERE = [Path(__file__), Path(__file__).with_name("figures.py")]
#: Run before a notebook's own cells: figures as drawings in the house style, on no ground.
DRAWN_LIKE_THE_REST = """
%matplotlib inline
%config InlineBackend.figure_formats = ["svg"]
%config InlineBackend.print_figure_kwargs = {"metadata": {"Date": None}}
from thalweg.report import style
in_house_style = style.house_style()
in_house_style.__enter__()
import matplotlib
matplotlib.rcParams.update({"text.color": style.INK, "figure.facecolor": "none", "axes.facecolor": "none"})
"""
#: How cells begin that show a result of ours; those of others have styles that do not go with the site's.
OURS = '<div class="thalweg">'
DOWNLOAD = "[Download this notebook]({name}){{ .md-button }}\n"
LINK = re.compile(r"(\]\([./]*notebooks/[\w-]+)\.ipynb\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """A page for every notebook, and its drawings."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        made = folder_of(f"notebooks/{path.stem}", [path, *HERE], lambda folder, path=path: write_page(path, folder))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", abs_src_path=str(made / f"{path.stem}.md")))
        for drawing in sorted(made.glob("*.svg")):
            files.append(File.generated(config, f"figures/{drawing.name}", abs_src_path=str(drawing)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links to notebooks lead to their pages."""
    return LINK.sub(r"\1.md)", markdown)


def execute(path: Path) -> NotebookNode:
    """The notebook with the outputs of all its cells, run in an empty folder; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(DRAWN_LIKE_THE_REST))
    with TemporaryDirectory() as folder:
        # Through a socket in the file system: nobody else on the machine can listen.
        private = Config(KernelManager={"transport": "ipc", "ip": f"{folder}/kernel"})
        NotebookClient(notebook, config=private, timeout=600, resources={"metadata": {"path": folder}}).execute()
    del notebook.cells[0]
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if output.output_type == "error" or output.get("name") == "stderr":
            raise RuntimeError(f"{path.name} complains: {output.get('evalue', output.get('text'))}")
    return notebook


def write_page(path: Path, folder: Path) -> None:
    """Execute a notebook and write it as a page, with its drawings beside it."""
    parts: list[str] = []
    for cell in execute(path).cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            for output in cell.outputs:
                stem = f"notebook_{path.stem.replace('-', '_')}_{len(parts)}"
                parts.append(_shown(output, cell.metadata.get("alt", ""), folder, stem))
    parts.append(DOWNLOAD.format(name=path.name))
    (folder / f"{path.stem}.md").write_text("\n\n".join(parts), encoding="utf-8")


def _shown(output: NotebookNode, alt: str, folder: Path, stem: str) -> str:
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```"
    if drawing := output.data.get("image/svg+xml"):
        write_twins(drawing, folder, stem)
        return f"![{alt}](../figures/{stem}.svg)"
    if (shown := output.data.get("text/html", "")).startswith(OURS):
        return shown
    return f"```text\n{output.data['text/plain']}\n```"
