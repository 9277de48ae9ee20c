"""Pictures and tables of `benchmarks.md`, made of the results in `benchmarks/` and of nothing else.

On the page, a line ``<!-- ratios NAME: RATIO -->`` becomes a table of that ratio, model by setting; a line
``<!-- found NAME -->`` what follows from the records, beside its targets; ``<!-- machine -->`` where it was measured.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from figures import inks, neighbours_importable, write
from kept import ROOT, folder_of
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

with neighbours_importable(ROOT / "benchmarks"):
    from benchmarks.records import place
    from benchmarks.results import Results, read
    from benchmarks.suites import NAMES, suite_of
    from benchmarks.tables import number

if TYPE_CHECKING:
    from collections.abc import Iterable

FILES = ROOT / "docs" / "benchmarks"
MARK = re.compile(r"^<!-- (?P<kind>ratios|found|machine)(?: (?P<name>\w+))?(?:: (?P<ratio>[^>]+?))? -->$", re.MULTILINE)
VERDICTS = {True: "met", False: "**missed**", None: ""}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Each suite's pictures become files of the site."""
    code = sorted((ROOT / "benchmarks").rglob("*.py"))
    for path in sorted(FILES.glob("*.json")):
        recipe = [path, *code, Path(__file__), Path(__file__).with_name("figures.py")]
        for drawn in sorted(folder_of(f"benchmarks/{path.stem}", recipe, partial(draw, path)).glob("*.svg")):
            files.append(File.generated(config, f"figures/{drawn.name}", abs_src_path=str(drawn)))
    return files


def draw(path: Path, folder: Path) -> None:
    """The pictures of one file of results."""
    results = read(path)
    with inks():
        for stem, figure in suite_of(results.suite).plot(results.records).items():
            write(figure, folder, f"benchmark_{stem}")


def on_page_markdown(markdown: str, **_: object) -> str:
    """Marks become tables."""
    return MARK.sub(_made, markdown)


def _made(mark: re.Match[str]) -> str:
    if mark["kind"] == "machine":
        return machine([read(FILES / f"{name}.json") for name in NAMES if (FILES / f"{name}.json").exists()])
    results = read(FILES / f"{mark['name']}.json")
    return found(results) if mark["kind"] == "found" else ratios(results, mark["ratio"])


def found(results: Results) -> str:
    """What follows from the records, beside its target."""
    if all(finding.met is None for finding in results.findings):
        plain = [(finding.what, number(finding.value, finding.unit)) for finding in results.findings]
        return table(("", "found"), plain)
    lines = []
    for finding in results.findings:
        bound, word = (finding.at_most, "at most") if finding.at_least is None else (finding.at_least, "at least")
        target = "" if bound is None else f"{word} {number(bound, finding.unit)}"
        lines.append((finding.what, number(finding.value, finding.unit), target, VERDICTS[finding.met]))
    return table(("", "found", "target", ""), lines)


def ratios(results: Results, ratio: str) -> str:
    """One ratio of the work that comes first: a line for each model, a column for each setting."""
    own = [record for record in results.records if record.work == results.records[0].work]
    settings = list(dict.fromkeys(place(record.setting) for record in own))
    by_model: dict[str, dict[str, str]] = {}
    for record in sorted(own, key=lambda record: record.best):
        name = f"**{record.model}**" if record.side == "ours" else record.model
        if ratio in record.ratios:
            by_model.setdefault(name, {})[place(record.setting)] = number(record.ratios[ratio], "")
    lines = ((model, *(cells.get(setting, "") for setting in settings)) for model, cells in by_model.items())
    return table((ratio, *settings), lines)


def machine(everything: list[Results]) -> str:
    """The machine, and how busy it was."""
    first = max((results.machine for results in everything), key=lambda told: sum(map(bool, told.values())))
    loads = [load for results in everything for load in results.load if load is not None]
    told = ", ".join(f"{name} {value}" for name, value in first.items() if value)
    busy = f"between {min(loads):.1f} and {max(loads):.1f} processes wanted a core while it ran, itself included"
    return f"{told}; {busy}."


def table(headers: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """A table in Markdown; numbers to the right."""
    headers = list(headers)
    ruler = ["---", *["--:"] * (len(headers) - 1)]
    return "\n".join(_line(cells) for cells in (headers, ruler, *lines))


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
