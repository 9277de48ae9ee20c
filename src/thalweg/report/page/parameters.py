"""The parameters of a model as lines of a table: name, value, and what the class says that it means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import cleandoc
from typing import Any

from thalweg import learners
from thalweg.report.page.formats import in_words

_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=\n\n\S|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^(\w[\w, ]*) : [^\n]*\n((?:[ ]{4}[^\n]*\n?)+)", re.MULTILINE)


def parameter_lines(title: str, parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Of a model of the class of this name.

    Examples
    --------
    >>> for line in parameter_lines("AutoClassifier", {"curved": True, "persistence": False}):
    ...     print(*line, sep=" | ")
    curved | yes | Whether kernel and tiling members take part
    persistence | no | Adds a member that predicts the label which usually follows the last one
    """
    meanings = _meanings(title)
    return [(name, in_words(value), meanings.get(name, "")) for name, value in parameters.items()]


def _meanings(title: str) -> dict[str, str]:
    """The first sentence about each parameter, by its name; nothing of a class that is not ours."""
    written = cleandoc(getattr(learners, title).__doc__ or "") if title in learners.__all__ else ""
    section = _SECTION.search(written)
    if section is None:
        return {}
    meanings: dict[str, str] = {}
    for names, text in _ENTRY.findall(section[1] + "\n"):
        sentence = re.split(r"(?<=[.]) ", " ".join(text.split()), maxsplit=1)[0]
        meanings |= dict.fromkeys(names.split(", "), sentence.rstrip(".").replace("``", "").replace("`", ""))
    return meanings
