"""Every regular expression of the package takes time proportional to its input, so that no input hangs a command.

Python's engine backtracks, and does not hear signals meanwhile. The expressions are found in the sources, compiled or
inline. Each is tried by the methods that it is called by, on inputs that repeat what its own repeats match, and on
those that hurt often. That is done by a process with a limit of processor time.
``python -m tests.ecosystem.test_regular_expressions 100000`` lists them.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import thalweg
from thalweg.tables import number_forms, timestamps

ROOT = Path(thalweg.__file__).parent
CALLS = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
#: Processor seconds of the whole, beyond which it counts as a hang.
LIMIT = 120
PUMPS = (*"0a \t\n,.:|'-", '"', "\\", "1,", "1 ", "1.", "1:1 ", "|a ", "0.0,", "[A")
ENDS = ("", "\x00", "!")
LENGTHS = (1_000, 10_000, 100_000)
#: Ten times the input may take this many times the time, besides some milliseconds of noise.
GROWTH, NOISE = 25.0, 0.005


@dataclass(frozen=True)
class Expression:
    where: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


def expressions() -> Iterator[Expression]:
    """All of them; a NameError where the source does not say what is compiled."""
    for path in sorted(ROOT.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "re." not in source:
            continue
        tree = ast.parse(source)
        name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in [f"re.{call}" for call in CALLS]:
                call = ast.unparse(node.func).removeprefix("re.")
                where = f"{name}:{node.lineno}"
                for pattern in _compiled(name, node, call):
                    yield Expression(where, pattern, _methods(tree, node, call))


#: Expressions that are made of parts, by the name that they are compiled from: all that there are, or the longest.
MADE = {
    "form.expression": [form.expression for form in timestamps.FORMS.values()],
    "FORMS[form].expression": [form.expression for form in timestamps.FORMS.values()],
    "pattern": [number_forms.number_expression(decimal, "USD").pattern for decimal in number_forms.DECIMALS],
}


def _compiled(module: str, node: ast.Call, call: str) -> Iterator[re.Pattern[Any]]:
    """The expressions of a call, whose arguments must be constants of the module, or among those `MADE`."""
    flags = [each for each in node.args[1:] if call == "compile" or "re." in ast.unparse(each)]
    flags += [each.value for each in node.keywords if each.arg == "flags"]
    names = vars(importlib.import_module(module))
    written = ast.unparse(node.args[0])
    given = MADE.get(written) or [eval(written, names)]
    for pattern in given:
        yield re.compile(pattern, *(eval(ast.unparse(each), names) for each in flags))


def _methods(tree: ast.Module, node: ast.Call, call: str) -> tuple[str, ...]:
    """What is called of an expression: search, match or fullmatch; those of a name, where it has one."""
    called = {call}
    if call == "compile":
        names = {
            ast.unparse(target)
            for each in ast.walk(tree)
            if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is node
            for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
        }
        uses = (each for each in ast.walk(tree) if isinstance(each, ast.Attribute) and each.attr in CALLS)
        called = {each.attr for each in uses if ast.unparse(each.value) in names} or {"search", "match", "fullmatch"}
    return tuple(sorted({each if each in ("match", "fullmatch") else "search" for each in called}))


def _signs_of(items: Any) -> list[str]:
    """Some signs of a class."""
    tests = {
        codes.CATEGORY_DIGIT: str.isdigit,
        codes.CATEGORY_SPACE: str.isspace,
        codes.CATEGORY_WORD: lambda sign: sign.isalnum() or sign == "_",
        codes.CATEGORY_NOT_DIGIT: lambda sign: not sign.isdigit(),
        codes.CATEGORY_NOT_SPACE: lambda sign: not sign.isspace(),
        codes.CATEGORY_NOT_WORD: lambda sign: not (sign.isalnum() or sign == "_"),
    }

    def holds(sign: str) -> bool:
        for op, value in items:
            if (
                (op is codes.LITERAL and ord(sign) == value)
                or (op is codes.RANGE and value[0] <= ord(sign) <= value[1])
                or (op is codes.CATEGORY and tests[value](sign))
            ):
                return True
        return False

    negated = bool(items) and items[0][0] is codes.NEGATE
    return [sign for sign in "0aA .,:-_'\"|\\\n[%$é" if holds(sign) != negated][:3] or [
        chr(value if op is codes.LITERAL else value[0]) for op, value in items[:1]
    ]


def _sample(tree: Any) -> str:
    """A short text that an expression matches, but for what lies around."""
    found = ""
    for op, value in tree:
        if op is codes.LITERAL:
            found += chr(value)
        elif op is codes.IN:
            found += _signs_of(value)[0]
        elif op in (codes.ANY, codes.NOT_LITERAL):
            found += "~"
        elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            found += _sample(value[2]) * max(1, value[0])
        elif op is codes.SUBPATTERN:
            found += _sample(value[3])
        elif op is codes.ATOMIC_GROUP:
            found += _sample(value)
        elif op is codes.BRANCH:
            found += _sample(value[1][0])
    return found


def _repeats(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """For each repeat without a bound a text that leads to it, and one that it repeats."""
    for op, value in tree:
        if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if value[1] is codes.MAXREPEAT:
                first = value[2][0]
                for pump in _signs_of(first[1]) if len(value[2]) == 1 and first[0] is codes.IN else [_sample(value[2])]:
                    yield before, pump
            yield from _repeats(value[2], before)
        elif op is codes.SUBPATTERN:
            yield from _repeats(value[3], before)
        elif op is codes.ATOMIC_GROUP:
            yield from _repeats(value, before)
        elif op is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, before)
        before += _sample([(op, value)])


def _inputs(expression: Expression, length: int) -> Iterator[Any]:
    pattern = expression.pattern.pattern
    tree = parser.parse(pattern, expression.pattern.flags & ~re.UNICODE & ~re.DEBUG)
    own = list(dict.fromkeys(pair for pair in _repeats(tree) if pair[1]))
    for (before, pump), end in itertools.product([*own, *(("", pump) for pump in PUMPS)], ENDS):
        text = before + pump * (length // len(pump)) + end
        yield text.encode() if isinstance(pattern, bytes) else text


def _seconds(expression: Expression, method: str, text: Any) -> float:
    began = time.thread_time()  # with a limit of processor time, that of the process moves by ticks
    getattr(expression.pattern, method)(text)
    return time.thread_time() - began


def growing(expression: Expression, longest: int) -> Iterator[str]:
    """The methods and inputs for which the time grows faster than the input."""
    lengths = [length for length in LENGTHS if length <= longest]
    for method in expression.methods:
        for texts in zip(*(_inputs(expression, length) for length in lengths), strict=True):
            for short, text in itertools.pairwise(texts):
                bound = GROWTH * _seconds(expression, method, short) + NOISE
                took = _seconds(expression, method, text)
                if took > bound and min(_seconds(expression, method, text) for _ in range(3)) > bound:
                    yield f"{expression.where} {method} {text[:20]!r}…{text[-3:]!r}: {took:.3f} s"
                    break


def main(longest: int) -> None:
    """Print each expression before it is tried, and exit with those whose time grows faster than their input."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    grown = []
    for expression in expressions():
        print(expression.where, *expression.methods, expression.pattern.pattern, flush=True)
        grown += growing(expression, longest)
    if grown:
        sys.exit("\n".join(["grow faster than their input:", *grown]))


@pytest.mark.parametrize("longest", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_no_input_hangs_an_expression(longest: int) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", __spec__.name, str(longest)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert ended.returncode == 0, (ended.stdout.splitlines()[-1:], ended.stderr)
    assert len(ended.stdout.splitlines()) > 30


@pytest.mark.quick(1)
@pytest.mark.parametrize(("pattern", "method"), [(r"\s+x", "search"), (r"\d+\.?\d*$", "match")])
def test_an_expression_that_backtracks_is_noticed(pattern: str, method: str) -> None:
    assert any(growing(Expression("here", re.compile(pattern), (method,)), 10_000))


if __name__ == "__main__":
    main(int(sys.argv[1]))
