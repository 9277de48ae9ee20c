"""Pages that stand at the root of the repository, for those who read it there, are pages of the site too."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "LICENSE": "license.md",
}
NAMES = "|".join(map(re.escape, PAGES))
INTO_THE_DOCS = re.compile(r"\]\(docs/")
TO_THE_ROOT = re.compile(rf"\]\((?:\.\./)?({NAMES})(?=[)#])")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add them, with their links as seen from the folder of the documentation."""
    for name, place in PAGES.items():
        text = INTO_THE_DOCS.sub("](", (ROOT / name).read_text(encoding="utf-8"))
        if not name.endswith(".md"):
            text = f"# {name.capitalize()}\n\n```text\n{text}```\n"
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links to the root's files lead to their pages."""
    return TO_THE_ROOT.sub(lambda link: f"]({PAGES[link[1]]}", markdown)
