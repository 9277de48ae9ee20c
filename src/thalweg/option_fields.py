"""Options as fields of a dataclass, each declared once: the command line, TOML files and the checks read them there."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from thalweg.errors import InvalidParameter


@dataclass(frozen=True)
class OptionInfo:
    """What is declared of an option beside its name, type and default."""

    help: str
    metavar: str | None = None
    #: The smallest number that is allowed.
    least: float | None = None
    #: The end of the sentence that refuses other words, where it does not list the choices.
    rule: str | None = None
    #: Whether it names a file or a folder to write.
    path: bool = False
    #: Its value, from the text that is typed.
    read: Callable[[str], Any] | None = None
    #: Its name at the command line, where the field has another.
    typed: str | None = None
    #: Whether it has a meaning with ``--engine spark``.
    on_spark: bool = False


def option_field(default: Any = dataclasses.MISSING, **info: Any) -> Any:
    """A field of a class of options; ``info`` are fields of `OptionInfo`."""
    return dataclasses.field(default=default, metadata={"info": OptionInfo(**info)})


def declared(options: type[Any]) -> dict[str, OptionInfo]:
    """What is declared of the options of a class, by the name of the field."""
    return {field.name: field.metadata["info"] for field in dataclasses.fields(options)}


def check_declared(options: Any) -> None:
    """An `InvalidParameter` where a value is below its least, or not one of its choices."""
    kinds = get_type_hints(type(options))
    for name, info in declared(type(options)).items():
        value, members = getattr(options, name), (kinds[name], *get_args(kinds[name]))
        if info.least is not None and value is not None:
            whole = float not in members
            fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
            if not fits or value < info.least:
                number = "a whole number of at least" if whole else "at least"
                raise InvalidParameter.of_option(name, f"be {number} {info.least:g}", value)
        choices = [word for member in members if get_origin(member) is Literal for word in get_args(member)]
        if choices and value not in (*choices, getattr(type(options), name)):
            raise InvalidParameter.of_option(name, info.rule or f"be one of {', '.join(choices)}", value)


#: Units of time in microseconds, as clocks count them.
UNITS = {"minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000, "week": 604_800_000_000}
_PER = re.compile(rf"(\d+)/(?:(\d+) ?rows|({'|'.join(UNITS)}))")


def parse_per(text: str) -> tuple[int, int | None, str | None] | None:
    """So many in a number of rows, or in a unit of time; None where a text says neither, or 0.

    Examples
    --------
    >>> parse_per("100/10000rows"), parse_per("5/hour"), parse_per("5/0rows")
    ((100, 10000, None), (5, None, 'hour'), None)
    """
    match = _PER.fullmatch(text.strip())
    if match is None or int(match[1]) == 0 or (match[2] and int(match[2]) == 0):
        return None
    return int(match[1]), int(match[2]) if match[2] else None, match[3]


def parse_costs(text: str) -> dict[str, float]:
    """The costs of a false positive and of a false negative, both of which are needed.

    Examples
    --------
    >>> parse_costs("fp=1,fn=50")
    {'fp': 1.0, 'fn': 50.0}
    >>> parse_costs("fp=1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    thalweg.errors.InvalidParameter: --costs must name both mistakes, such as fp=1,fn=50; ..., got 'fp=1'
    """
    costs: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if name.strip() not in ("fp", "fn") or name.strip() in costs or not 0.0 <= value < math.inf:
            raise InvalidParameter.of_option("costs", "be numbers of at least 0, such as fp=1,fn=50", text)
        costs[name.strip()] = value
    if len(costs) < 2:
        rule = "name both mistakes, such as fp=1,fn=50; fp=0 or fn=0 says that one costs nothing"
        raise InvalidParameter.of_option("costs", rule, text)
    return costs
