"""The language of features from earlier rows: one feature a line, parsed, printed and evaluated.

::

    feature     NAME = expression      (or an expression alone, whose own text is then its name)
    expression  + - * / ( ), numbers, columns of the row itself, calls
    call        FUNCTION(arguments) [by COLUMN, …] [over WINDOW | fading WINDOW]
    WINDOW      90s, 30min, 1h, 7d, 2w; 100 rows; 100 (in the units of a time column that holds plain numbers)

A column is a bare word, or any name in quotes (", ' or `; a quote within is doubled). The bare word `target` is the
target column, whatever it is called. A # outside quotes begins a comment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput

__all__ = [
    "OF_WORDS",
    "TARGET",
    "Call",
    "Expression",
    "Feature",
    "Number",
    "Operation",
    "OwnColumn",
    "Window",
    "evaluate",
    "parse_feature",
    "parse_features",
]

#: What a call reads instead of a column: the target. No column can have this name, since a line has no NUL.
TARGET: Final = "\0target"

#: How every function is written.
_FORMS = {
    "count": "count() or count(amount)",
    **{name: f"{name}(amount)" for name in ("sum", "mean", "std", "min", "max")},
    "last": "last(status)",
    "lag": "lag(load, 24) for rows or lag(load, 1d) for time",
    "since_last": "since_last()",
    "distinct": "distinct(country)",
    "rate": "rate(target) or rate(target = late)",
}
_FADING, _WITHOUT_WINDOW = {"count", "sum", "mean", "std", "rate"}, {"last", "lag", "since_last"}
_SECONDS = {
    **{"ms": 0.001, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "min": 60.0, "minute": 60.0, "minutes": 60.0},
    **{"h": 3600.0, "hour": 3600.0, "hours": 3600.0, "d": 86400.0, "day": 86400.0, "days": 86400.0},
    **{"w": 604800.0, "week": 604800.0, "weeks": 604800.0},
}
#: They give back values as they are, numbers or words.
OF_WORDS: Final = ("last", "lag")
_ROWS = ("rows", "row")
#: Words of other systems for what is called otherwise here.
_ELSEWHERE = {"avg": "mean", "average": "mean", "shift": "lag", "nunique": "distinct", "m": "min"}
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2}
_KEYWORDS = ("by", "over", "fading")
_NUMBER, _WORD = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", r"[^\W\d][\w.]*"
_QUOTED = "|".join(f"{quote}(?:[^{quote}]|{quote}{quote})*{quote}" for quote in "\"'`")
_TOKEN = re.compile(rf"(?P<number>{_NUMBER})|(?P<word>{_WORD})|(?P<quoted>{_QUOTED})|(?P<sign>[-+*/(),=])")
#: Of a feature, so that no line exhausts the stack.
_MOST_TOKENS = 200
#: Characters of a line in a message.
_MOST_SHOWN = 300


def _quoted(name: str) -> str:
    quote = next((quote for quote in "\"'`" if quote not in name), '"')
    return quote + name.replace(quote, 2 * quote) + quote


def _column_text(name: str) -> str:
    if name == TARGET:
        return "target"
    bare = re.fullmatch(_WORD, name) and name not in (*_KEYWORDS, "target")
    return name if bare else _quoted(name)


def _number_text(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _time_text(seconds: float) -> str:
    for unit in ("d", "h", "min"):
        count = seconds / _SECONDS[unit]
        if count.is_integer() and count * _SECONDS[unit] == seconds:
            return _number_text(count) + unit
    return _number_text(seconds) + "s"


@dataclass(frozen=True)
class Window:
    """How far back a call reads, or after how long a weight has halved (`fading`)."""

    length: float
    unit: Literal["rows", "seconds", "numbers"]
    fading: bool = False

    def __str__(self) -> str:
        length = _time_text(self.length) if self.unit == "seconds" else _number_text(self.length)
        return f"{'fading' if self.fading else 'over'} {length}{' rows' if self.unit == 'rows' else ''}"


@dataclass(frozen=True)
class Number:
    """A number in an expression."""

    value: float

    def __str__(self) -> str:
        return _number_text(self.value)


@dataclass(frozen=True)
class OwnColumn:
    """The cell of a column in the row itself."""

    name: str

    def __str__(self) -> str:
        return _column_text(self.name)


@dataclass(frozen=True)
class Call:
    """A function of earlier rows or known labels; `steps` and `span` (in seconds) say how far back `lag` reads."""

    function: str
    column: str | None = None
    by: tuple[str, ...] = ()
    window: Window | None = None
    label: str | None = None
    steps: int | None = None
    span: float | None = None

    def __str__(self) -> str:
        inside = "" if self.column is None else _column_text(self.column)
        if self.label is not None:
            bare = re.fullmatch(rf"{_WORD}|-?{_NUMBER}", self.label)
            inside += f" = {self.label if bare else _quoted(self.label)}"
        if self.steps is not None:
            inside += f", {self.steps}"
        if self.span is not None:
            inside += f", {_time_text(self.span)}"
        by = f" by {', '.join(map(_column_text, self.by))}" if self.by else ""
        return f"{self.function}({inside}){by}{'' if self.window is None else f' {self.window}'}"


@dataclass(frozen=True)
class Operation:
    """Two expressions and the sign between them."""

    sign: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        def text(operand: Expression, lowest: int) -> str:
            loose = isinstance(operand, Operation) and _LEVELS[operand.sign] < lowest
            return f"({operand})" if loose else str(operand)

        level = _LEVELS[self.sign]
        return f"{text(self.left, level)} {self.sign} {text(self.right, level + 1)}"


Expression: TypeAlias = Number | OwnColumn | Call | Operation


def _leaves(expression: Expression) -> Iterator[Number | OwnColumn | Call]:
    if isinstance(expression, Operation):
        yield from _leaves(expression.left)
        yield from _leaves(expression.right)
    else:
        yield expression


@dataclass(frozen=True)
class Feature:
    """A named expression; `str` gives the line that parses to it.

    Examples
    --------
    >>> feature = parse_feature("ratio = amount / (mean(amount) by card over 720 h)")
    >>> print(feature)
    ratio = amount / mean(amount) by card over 30d
    >>> feature.columns, feature.keys, [str(call) for call in feature.calls]
    (('amount',), ('card',), ['mean(amount) by card over 30d'])
    """

    name: str
    expression: Expression

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls in their order, without repetitions."""
        return tuple(dict.fromkeys(leaf for leaf in _leaves(self.expression) if isinstance(leaf, Call)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of which the feature reads the row's own cell, outside calls."""
        return tuple(dict.fromkeys(leaf.name for leaf in _leaves(self.expression) if isinstance(leaf, OwnColumn)))

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns after `by` of any call."""
        return tuple(dict.fromkeys(key for call in self.calls for key in call.by))

    def __str__(self) -> str:
        text = str(self.expression)
        return text if text == self.name else f"{_column_text(self.name)} = {text}"


def parse_feature(line: str) -> Feature:
    """Parse `NAME = expression`, or an expression whose own text is then its name.

    Examples
    --------
    >>> print(parse_feature("paid = count() by card over 60 min"))
    paid = count() by card over 1h
    >>> parse_feature("mean(amount) by card").name
    'mean(amount) by card'
    """
    return _Parser(line).feature()


def parse_features(lines: str | Iterable[str]) -> tuple[Feature, ...]:
    r"""Parse the text of a file, or its lines; empty lines and comments are skipped.

    Examples
    --------
    >>> text = "paid = count() by card over 1h  # how often\n\nstep = load - lag(load, 1)"
    >>> [feature.name for feature in parse_features(text)]
    ['paid', 'step']
    """
    features = dict[str, Feature]()
    for number, line in enumerate(lines.split("\n") if isinstance(lines, str) else lines, 1):
        parser = _Parser(line, f"line {number}: ")
        if not parser.is_empty:
            feature = parser.feature()
            if feature.name in features:
                raise InvalidInput(
                    f"line {number}: there is a feature {feature.name!r} before; give this one another name"
                )
            features[feature.name] = feature
    return tuple(features.values())


def evaluate(expression: Expression, values: Callable[[Call | OwnColumn], NDArray[Any]]) -> NDArray[np.float64]:
    """The expression over rows, from the values of its calls and own columns.

    What is not a finite number (such as x / 0) is NaN, and so is everything computed from it.

    Examples
    --------
    >>> import numpy as np
    >>> cells = {"paid": np.array([1.0, 2.0]), "times": np.array([0.0, 4.0])}
    >>> evaluate(parse_feature("paid / times").expression, lambda leaf: cells[leaf.name])
    array([nan, 0.5])
    """
    if isinstance(expression, Number):
        return np.asarray(expression.value, dtype=np.float64)
    if isinstance(expression, Operation):
        left, right = evaluate(expression.left, values), evaluate(expression.right, values)
        operate = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[expression.sign]
        with np.errstate(all="ignore"):
            result = np.asarray(operate(left, right), dtype=np.float64)
    else:
        result = np.asarray(values(expression), dtype=np.float64)
    infinite = np.isinf(result)
    return np.where(infinite, np.nan, result) if infinite.any() else result


@dataclass(frozen=True)
class _Token:
    #: number, word, quoted, end, or the keyword or sign itself
    kind: str
    text: str
    start: int


class _Parser:
    """One line, read from left to right."""

    def __init__(self, line: str, where: str = "") -> None:
        self._line, self._where, self._at = line.strip(), where, 0
        self._tokens = list[_Token]()
        start = 0
        while start < len(self._line) and self._line[start] != "#":
            if self._line[start].isspace() and self._line[start] != "\n":
                start += 1
                continue
            match = _TOKEN.match(self._line, start)
            if match is None or re.search("[\n\0]", match[0]):
                rule = "this sign has no meaning here; a column of such a name needs quotes"
                if self._line[start] in "\"'`":
                    rule = "a name in quotes needs its second quote, in the same line"
                raise self._error(rule, _Token("sign", "", start))
            kind = str(match.lastgroup)
            if kind == "sign" or match[0] in _KEYWORDS:
                kind = match[0]
            text = match[0][1:-1].replace(2 * match[0][0], match[0][0]) if kind == "quoted" else match[0]
            self._tokens.append(_Token(kind, text, start))
            start = match.end()
        self._tokens.append(_Token("end", "", start))
        if len(self._tokens) > _MOST_TOKENS:
            rule = f"a feature has at most {_MOST_TOKENS} words, numbers and signs"
            raise self._error(rule, self._tokens[_MOST_TOKENS])

    @property
    def is_empty(self) -> bool:
        return self._next.kind == "end"

    def feature(self) -> Feature:
        name = None
        if self._next.kind in ("word", "quoted") and self._tokens[1].kind == "=":
            name = self._take().text
            self._take()
            if not name:
                raise self._error("a feature needs a name before =", self._tokens[0])
        expression = self._expression()
        if self._next.kind in _KEYWORDS:
            raise self._error(f"{self._next.kind} belongs directly behind a call, as in count() by card over 1h")
        if self._next.kind != "end":
            raise self._error("expected +, -, *, /, by, over, fading or the end" + _nearest(self._next, _KEYWORDS))
        if all(isinstance(leaf, Number) for leaf in _leaves(expression)):
            raise self._error("a feature reads at least one column", self._tokens[0])
        return Feature(str(expression) if name is None else name, expression)

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._next
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _error(self, rule: str, token: _Token | None = None) -> InvalidInput:
        rest = self._line[(token or self._next).start :][:_MOST_SHOWN]
        place = repr(rest) if rest else "its end"
        return InvalidInput(f"{self._where}feature {self._line[:_MOST_SHOWN]!r}, at {place}: {rule}")

    def _expression(self, lowest: int = 1) -> Expression:
        left = self._operand()
        while (level := _LEVELS.get(self._next.kind, 0)) >= lowest:
            left = Operation(self._take().kind, left, self._expression(level + 1))
        return left

    def _operand(self) -> Expression:
        token = self._next
        if token.kind == "number":
            return Number(self._number())
        if token.kind == "word" and self._tokens[self._at + 1].kind == "(":
            return self._call()
        if token.kind == "word" and token.text == "target":
            raise self._error("the row's own target is not known: write it in a call, as in last(target)")
        if token.kind in ("word", "quoted"):
            return OwnColumn(self._take().text)
        if token.kind == "-":
            self._take()
            operand = self._operand()
            return Number(-operand.value) if isinstance(operand, Number) else Operation("-", Number(0.0), operand)
        if token.kind == "(":
            self._take()
            inner = self._expression()
            if self._next.kind != ")":
                raise self._error("expected an operator or )" + _nearest(self._next, _KEYWORDS))
            self._take()
            return inner
        word = f"; a column named {token.kind!r} needs quotes" if token.kind in _KEYWORDS else ""
        raise self._error(f"expected a column, a number, a call or ({word}")

    def _number(self) -> float:
        value = float(self._next.text)
        if not math.isfinite(value):
            raise self._error("this number is too large")
        self._take()
        return value

    def _call(self) -> Call:
        name = self._take()
        function = name.text
        if function not in _FORMS:
            rule = f"there is no function {function!r}; there are {', '.join(_FORMS)}"
            raise self._error(rule + _nearest(name, _FORMS), name)
        self._take()
        column, label, steps, span = None, None, None, None
        takes_column = function != "since_last" and not (function == "count" and self._next.kind == ")")
        if takes_column and self._next.kind in ("word", "quoted") and self._tokens[self._at + 1].kind != "(":
            token = self._take()
            column = TARGET if token.kind == "word" and token.text == "target" else token.text
            if function == "rate" and column != TARGET:
                raise self._error(f"rate is of the target; the mean of a column is mean({_column_text(column)})", token)
            if function == "rate" and self._next.kind == "=":
                label = self._label()
            elif function == "lag" and self._next.kind == ",":
                steps, span = self._distance()
        incomplete = (takes_column and column is None) or (function == "lag" and steps is None and span is None)
        if incomplete or self._next.kind != ")":
            rule = f"write {_FORMS[function]}; a call has columns between its parentheses, no other calls or arithmetic"
            raise self._error(rule)
        self._take()
        by = self._keys() if self._next.kind == "by" else ()
        window = self._window(function) if self._next.kind in ("over", "fading") else None
        if window is not None and self._next.kind == "by":
            raise self._error("write by before over or fading")
        if window is not None and self._next.kind in ("over", "fading"):
            raise self._error("a call has one window, with over or with fading")
        return Call(function, column, by, window, label, steps, span)

    def _label(self) -> str:
        self._take()
        minus = self._take().text if self._next.kind == "-" else ""
        kinds = ("number",) if minus else ("number", "word", "quoted", *_KEYWORDS)
        if self._next.kind in kinds:
            label = minus + self._take().text
            if self._next.kind == ")":
                return label
        raise self._error("expected a label and ): a word, a number, or any label in quotes")

    def _distance(self) -> tuple[int | None, float | None]:
        self._take()
        start = self._next
        length, unit = self._length(f"expected how far back, as in {_FORMS['lag']}")
        if unit == "seconds":
            return None, length
        if not length.is_integer():
            raise self._error("a number of rows is a whole number; a length of time needs its unit", start)
        return int(length), None

    def _keys(self) -> tuple[str, ...]:
        keys = dict[str, None]()
        while not keys or self._next.kind == ",":
            self._take()
            token = self._next
            if token.kind not in ("word", "quoted"):
                word = f"; one named {token.kind!r} needs quotes" if token.kind in _KEYWORDS else ""
                raise self._error(f"expected a column{word}")
            if token.kind == "word" and token.text == "target":
                raise self._error("rows cannot be taken by their target, which is not known yet")
            if token.text in keys:
                raise self._error(f"the column {token.text!r} is there twice")
            keys[self._take().text] = None
        return tuple(keys)

    def _window(self, function: str) -> Window:
        if function in _WITHOUT_WINDOW:
            raise self._error(f"{function} takes neither over nor fading")
        fading = self._next.kind == "fading"
        if fading and function not in _FADING:
            raise self._error(f"{function} cannot fade: write over, as in {_FORMS[function]} over 1d")
        word = self._take().text
        length, unit = self._length(
            f"expected a length of time or a number of rows, as in {word} 7d or {word} 100 rows"
        )
        return Window(length, unit, fading)

    def _length(self, rule: str) -> tuple[float, Literal["rows", "seconds", "numbers"]]:
        start = self._next
        if start.kind != "number":
            raise self._error(rule)
        length, unit = self._number(), self._take() if self._next.kind == "word" else None
        if unit is not None and unit.text not in (*_SECONDS, *_ROWS):
            rule = f"{unit.text!r} is no unit; units are ms, s, min, h, d, w and rows"
            raise self._error(rule + _nearest(unit, (*_SECONDS, *_ROWS, *_KEYWORDS)), unit)
        in_rows = unit is not None and unit.text in _ROWS
        if unit is not None and not in_rows:
            length *= _SECONDS[unit.text]
        if not 0.0 < length < math.inf or (in_rows and not length.is_integer()):
            kind = "a number of rows is a whole number above 0" if in_rows else "a length is a number above 0"
            raise self._error(kind, start)
        return length, "rows" if in_rows else "numbers" if unit is None else "seconds"


def _nearest(token: _Token, known: Iterable[str]) -> str:
    """The end of a message: the known word that may be meant."""
    word, words = token.text.casefold(), list(known)
    meant = [_ELSEWHERE[word]] if _ELSEWHERE.get(word) in words else get_close_matches(word, words, 1, 0.6)
    return f": did you mean {meant[0]!r}?" if meant else ""
