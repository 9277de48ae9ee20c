"""Parameters of a model as a reader writes them, from the form in which they are saved."""

from __future__ import annotations

from typing import Any

from thalweg.report.page.numbers import UNKNOWN


def in_words(value: Any) -> str:
    """A saved parameter: models by their class with their own parameters, yes and no, lists without brackets.

    Examples
    --------
    >>> in_words({"class": "OnlineLDC", "parameters": {"rate": 0.9, "warmup": 10}}), in_words(True), in_words(None)
    ('OnlineLDC(rate=0.9, warmup=10)', 'yes', '–')
    >>> in_words({"rate": "ErrorDriven", "start": 0.02, "window": 10})
    'ErrorDriven(start=0.02, window=10)'
    """
    if value is None or value in ([], ""):
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(in_words, value))
    if not isinstance(value, dict):
        return str(value)
    if "tuple" in value:
        return ": ".join(map(in_words, value["tuple"]))
    kind = next(key for key in ("class", "scikit-learn", "rate") if key in value)
    parameters = {key: each for key, each in value.items() if key != kind} if kind == "rate" else value["parameters"]
    return f"{value[kind]}({', '.join(f'{key}={in_words(each)}' for key, each in parameters.items())})"
