"""Numbers and parameters as a reader wants to see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from thalweg.run_metrics import Known, LowestCoverage, is_regression, loss_of

_SPACE = "\N{NO-BREAK SPACE}"
UNKNOWN = "–"


def count(number: int) -> str:
    """A whole number, in thousands.

    Examples
    --------
    >>> count(45312)
    '45,312'
    """
    return f"{number:,}"


def capital(words: str) -> str:
    """Words that begin a sentence."""
    return f"{words[0].upper()}{words[1:]}"


def counted(number: int, thing: str) -> str:
    """So many of a thing, whose name takes an s.

    Examples
    --------
    >>> counted(1, "row"), counted(45312, "row")
    ('1 row', '45,312 rows')
    """
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def listed(words: Sequence[str]) -> str:
    """Words one after the other, with "and" before the last.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def percent(share: Known) -> str:
    r"""A share, as one speaks of it; small ones keep two digits.

    Examples
    --------
    >>> percent(0.14671), percent(0.00042), percent(0.0), percent(None)
    ('14.7\xa0%', '0.042\xa0%', '0\xa0%', '–')
    """
    return UNKNOWN if share is None else f"{per_hundred(share)}{_SPACE}%"


def per_hundred(share: float) -> str:
    """How many in a hundred, without its sign.

    Examples
    --------
    >>> per_hundred(-0.073), per_hundred(0.0004), per_hundred(0.0)
    ('7.3', '0.04', '0')
    """
    hundredfold = abs(100.0 * share)
    if hundredfold == 0.0:
        return "0"
    return f"{hundredfold:.1f}" if hundredfold >= 0.95 else f"{hundredfold:.2g}" if hundredfold >= 1e-4 else "< 0.0001"


def plain(number: Known, digits: int = 3) -> str:
    """A number without a unit, with a true minus sign.

    Examples
    --------
    >>> plain(-1.8942), plain(-0.0001), plain(None)
    ('−1.894', '0.000', '–')
    """
    return UNKNOWN if number is None else f"{round(number, digits) + 0.0:.{digits}f}".replace("-", "−")


def short(number: Known) -> str:
    """A number of any size, to four digits.

    Examples
    --------
    >>> short(1234567.0), short(0.0012345), short(12.5)
    ('1,234,567', '0.001234', '12.5')
    """
    if number is None:
        return UNKNOWN
    written = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
    return written.replace("-", "−")


def written(form: str, number: Known) -> str:
    """A value of a metric, in the form that its declaration says."""
    return percent(number) if form == "share" else short(number) if form == "amount" else plain(number)


def loss_words(metrics: Mapping[str, Any], value: Known) -> str:
    r"""The metric by which models are compared, with its value.

    Examples
    --------
    >>> loss_words({"task": "classification"}, 0.104), loss_words({"task": "regression"}, 3.25)
    ('error 10.4\xa0%', 'mean absolute error 3.25')
    """
    loss = loss_of(metrics)
    return f"{'mean ' if is_regression(metrics) else ''}{loss.title_in_full} {written(loss.form, value)}"


def rounded(number: Known) -> Known:
    """To five digits: more cannot be seen in a chart, and would only make the page large."""
    return None if number is None else float(f"{number:.5g}")


def in_words(value: Any) -> str:
    """A saved parameter: models by their class with their own parameters, yes and no, lists without brackets.

    Examples
    --------
    >>> in_words({"class": "OnlineLDC", "parameters": {"rate": 0.9, "warmup": 10}}), in_words(True), in_words(None)
    ('OnlineLDC(rate=0.9, warmup=10)', 'yes', '–')
    >>> in_words({"rate": "ErrorDriven", "start": 0.02, "window": 10})
    'ErrorDriven(start=0.02, window=10)'
    >>> in_words({"mapping": [["fn", 50], ["fp", 1]]})
    'fn → 50, fp → 1'
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
    if "mapping" in value:
        return ", ".join(f"{in_words(key)} → {in_words(words)}" for key, words in value["mapping"])
    kind = next(key for key in ("class", "scikit-learn", "rate") if key in value)
    parameters = {key: item for key, item in value.items() if key != kind} if kind == "rate" else value["parameters"]
    return f"{value[kind]}({', '.join(f'{key}={in_words(item)}' for key, item in parameters.items())})"


def lateness(options: Mapping[str, Any], thing: str) -> str:
    """How late labels or targets came; empty where they came with their rows.

    Examples
    --------
    >>> lateness({"delay": 10}, "label"), lateness({"delay": 0, "label_time": "paid"}, "target"), lateness({}, "label")
    ('labels came 10 rows late', 'targets came at the times in column paid', '')
    """
    if options.get("label_time"):
        return f"{thing}s came at the times in column {options['label_time']}"
    return f"{thing}s came {counted(int(options['delay']), 'row')} late" if options.get("delay") else ""


def lowest_coverage(lowest: LowestCoverage | None, block_rows: int) -> str:
    r"""The sentence about the block of rows whose sets or intervals held the truth least often; empty without one.

    Examples
    --------
    >>> lowest_coverage({"coverage": 0.873, "row": 11001}, 1000)
    ' Of the blocks of 1,000 rows, the lowest coverage was 87.3\xa0%, from scored row 11,001 on.'
    """
    if lowest is None:
        return ""
    where = f"{percent(lowest['coverage'])}, from scored row {count(lowest['row'])} on."
    return f" Of the blocks of {count(block_rows)} rows, the lowest coverage was {where}"
