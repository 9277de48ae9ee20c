"""Every form of the language, what its messages say, and that a feature's text parses to the feature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.errors import InvalidInput
from thalweg.history.language import (
    TARGET,
    Call,
    Feature,
    Number,
    Operation,
    OwnColumn,
    Window,
    evaluate,
    parse_feature,
    parse_features,
)

# ---------------------------------------------------------------------- forms

HOUR, DAY = 3600.0, 86400.0
CALLS = {
    "count()": Call("count"),
    "count(amount)": Call("count", "amount"),
    "sum(amount) by card": Call("sum", "amount", ("card",)),
    "mean(amount) by card over 7d": Call("mean", "amount", ("card",), Window(7 * DAY, "seconds")),
    "std(x) by a, b fading 1.5 h": Call("std", "x", ("a", "b"), Window(1.5 * HOUR, "seconds", fading=True)),
    "min(x) over 100 rows": Call("min", "x", (), Window(100, "rows")),
    "max(x) over 1 row": Call("max", "x", (), Window(1, "rows")),
    "sum(x) fading 20 rows": Call("sum", "x", (), Window(20, "rows", fading=True)),
    "count() over 2.5": Call("count", None, (), Window(2.5, "numbers")),
    "last(status) by machine": Call("last", "status", ("machine",)),
    "lag(load, 24)": Call("lag", "load", steps=24),
    "lag(load, 24 rows) by site": Call("lag", "load", ("site",), steps=24),
    "lag(load, 1d)": Call("lag", "load", span=DAY),
    "since_last() by card": Call("since_last", None, ("card",)),
    "distinct(country) by card over 1 week": Call("distinct", "country", ("card",), Window(7 * DAY, "seconds")),
    "rate(target) by airport over 3h": Call("rate", TARGET, ("airport",), Window(3 * HOUR, "seconds")),
    "rate(target = late)": Call("rate", TARGET, label="late"),
    "rate(target = -1)": Call("rate", TARGET, label="-1"),
    "rate(target = 'on time') fading 90s": Call("rate", TARGET, (), Window(90, "seconds", fading=True), "on time"),
    'mean("target")': Call("mean", "target"),
    'mean(`the "sum"`) by \'card no\', "by"': Call("mean", 'the "sum"', ("card no", "by")),
    "last(Größe.neu_2)": Call("last", "Größe.neu_2"),
}


@pytest.mark.parametrize("text", CALLS)
def test_a_call(text):
    assert parse_feature(f"name = {text}") == Feature("name", CALLS[text])


@pytest.mark.parametrize(
    ("length", "seconds"),
    {
        **{"250ms": 0.25, "90s": 90, "2 sec": 2, "1 second": 1, "30 min": 1800, "3 minutes": 180, "2 hours": 7200},
        **{"1 day": DAY, "2d": 2 * DAY, "2 w": 14 * DAY, "1e-3 s": 0.001, ".5h": 1800},
    }.items(),
)
def test_a_length_of_time(length, seconds):
    assert parse_feature(f"count() over {length}").calls[0].window == Window(seconds, "seconds")


def test_operators_have_their_usual_order():
    a, b, c = map(OwnColumn, "abc")
    trees = {
        "a - b - c": Operation("-", Operation("-", a, b), c),
        "a - (b - c)": Operation("-", a, Operation("-", b, c)),
        "a + b * c": Operation("+", a, Operation("*", b, c)),
        "(a + b) * c": Operation("*", Operation("+", a, b), c),
        "a / b * -2": Operation("*", Operation("/", a, b), Number(-2)),
        "a / (b / c)": Operation("/", a, Operation("/", b, c)),
        "-a * b": Operation("*", Operation("-", Number(0), a), b),
        "count() over 7 - a": Operation("-", Call("count", window=Window(7, "numbers")), a),
    }
    for text, tree in trees.items():
        assert parse_feature(text).expression == tree


def test_what_a_feature_reads():
    feature = parse_feature("z = (x - mean(x) by a over 1d) / std(x) by a over 1d + y - x * count() by b, a")
    assert [call.function for call in feature.calls] == ["mean", "std", "count"]
    assert (feature.columns, feature.keys) == (("x", "y"), ("a", "b"))
    assert parse_feature("mean(x) + mean(x)").calls == (Call("mean", "x"),)


def test_a_text_of_many_lines():
    text = '# payments\n\n  paid = count() by card over 1h # how often\r\n"a # b" / 2\n'
    assert [feature.name for feature in parse_features(text)] == ["paid", '"a # b" / 2']
    assert parse_features(["a = b", ""]) == (Feature("a", OwnColumn("b")),)
    assert parse_features("") == ()


# ---------------------------------------------------------------------- messages

FUNCTIONS = "count, sum, mean, std, min, max, last, lag, since_last, distinct, rate"
INSIDE = "a call has columns between its parentheses, no other calls or arithmetic"
UNITS = "units are ms, s, min, h, d, w and rows"
#: Of each line, where its message points and what it says to write.
MESSAGES = {
    "": "at its end: expected a column, a number, a call or (",
    "x = men(amount)": f"at 'men(amount)': there is no function 'men'; there are {FUNCTIONS}: did you mean 'mean'?",
    "x = avg(amount)": f"at 'avg(amount)': there is no function 'avg'; there are {FUNCTIONS}: did you mean 'mean'?",
    "mean(amount) over 7 d by card": "at 'by card': write by before over or fading",
    "sum(x) over 1d fading 1d": "at 'fading 1d': a call has one window, with over or with fading",
    "mean(amount) ovr 7d": "at 'ovr 7d': expected +, -, *, /, by, over, fading or the end: did you mean 'over'?",
    "(mean(x) b card)": "at 'b card)': expected an operator or ): did you mean 'by'?",
    "(mean(x) / 2) by card": "at 'by card': by belongs directly behind a call, as in count() by card over 1h",
    "count() over 3 hurs": f"at 'hurs': 'hurs' is no unit; {UNITS}: did you mean 'hours'?",
    "count() over 5m": f"at 'm': 'm' is no unit; {UNITS}: did you mean 'min'?",
    "count() over card": "at 'card': expected a length of time or a number of rows, as in over 7d or over 100 rows",
    "count() over 0s": "at '0s': a length is a number above 0",
    "count() over 1.5 rows": "at '1.5 rows': a number of rows is a whole number above 0",
    "max(x) fading 3h": "at 'fading 3h': max cannot fade: write over, as in max(amount) over 1d",
    "distinct(x) fading 3h": "at 'fading 3h': distinct cannot fade: write over, as in distinct(country) over 1d",
    "last(x) over 3h": "at 'over 3h': last takes neither over nor fading",
    "mean()": f"at ')': write mean(amount); {INSIDE}",
    "mean(a / b)": f"at '/ b)': write mean(amount); {INSIDE}",
    "mean(lag(a, 1))": f"at 'lag(a, 1))': write mean(amount); {INSIDE}",
    "since_last(x)": f"at 'x)': write since_last(); {INSIDE}",
    "lag(load)": f"at ')': write lag(load, 24) for rows or lag(load, 1d) for time; {INSIDE}",
    "lag(load, x)": "at 'x)': expected how far back, as in lag(load, 24) for rows or lag(load, 1d) for time",
    "lag(load, 1.5)": "at '1.5)': a number of rows is a whole number; a length of time needs its unit",
    "rate(x)": "at 'x)': rate is of the target; the mean of a column is mean(x)",
    "rate(target == a)": "at '= a)': expected a label and ): a word, a number, or any label in quotes",
    "rate(target = A-320)": "at '-320)': expected a label and ): a word, a number, or any label in quotes",
    "amount / target": "at 'target': the row's own target is not known: write it in a call, as in last(target)",
    "count() by target": "at 'target': rows cannot be taken by their target, which is not known yet",
    "count() by a, a": "at 'a': the column 'a' is there twice",
    "count() by over 1d": "at 'over 1d': expected a column; one named 'over' needs quotes",
    "a + by": "at 'by': expected a column, a number, a call or (; a column named 'by' needs quotes",
    "a b": "at 'b': expected +, -, *, /, by, over, fading or the end: did you mean 'by'?",
    "a = b = c": "at '= c': expected +, -, *, /, by, over, fading or the end",
    '"" = a': "at '\"\" = a': a feature needs a name before =",
    "x = 3": "at 'x = 3': a feature reads at least one column",
    "a % b": "at '% b': this sign has no meaning here; a column of such a name needs quotes",
    "mean('card no": 'at "\'card no": a name in quotes needs its second quote, in the same line',
    "a * 1e999": "at '1e999': this number is too large",
}


@pytest.mark.parametrize("line", MESSAGES)
def test_a_message_says_where_and_what_to_write(line):
    with pytest.raises(InvalidInput) as caught:
        parse_feature(line)
    assert str(caught.value) == f"feature {line!r}, {MESSAGES[line]}"


def test_messages_about_a_text_have_the_line():
    with pytest.raises(InvalidInput, match=r"^line 2: there is a feature 'a' before; give this one another name$"):
        parse_features("a = b\na = c")
    with pytest.raises(InvalidInput, match=r"^line 3: feature 'x =', at its end: expected a column"):
        parse_features(["a = b", "", "x = "])
    for deep in ("(" * 10_000, "-" * 10_000, "a" + " + a" * 10_000):
        with pytest.raises(InvalidInput, match=r"a feature has at most 200 words, numbers and signs$"):
            parse_feature(deep)


@given(st.text(alphabet="abc = count()lag,byover fading 12.dhrows\"'`#+-*/\n\0²é", max_size=30))
def test_any_text_parses_or_is_refused(text):
    try:
        features = parse_features(text)
    except InvalidInput:
        return
    assert parse_features("\n".join(map(str, features))) == features


# ---------------------------------------------------------------------- text and back

names = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\n\0"), max_size=6) | st.sampled_from(
    ["amount", "target", "by", "over", "count", "card no", "a.b", '"', "'`\"", "7d"]
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
lengths = st.floats(min_value=0.0, exclude_min=True, allow_infinity=False)
rows = st.integers(1, 2**53)
windows = st.builds(Window, lengths, st.sampled_from(["seconds", "numbers"])) | st.builds(
    Window, rows.map(float), st.just("rows")
)
fading_windows = windows.map(lambda window: Window(window.length, window.unit, fading=True))
keys = st.lists(names, max_size=3, unique=True).map(tuple)
columns = names | st.just(TARGET)
calls = st.one_of(
    st.builds(Call, st.sampled_from(["min", "max", "distinct"]), columns, keys, st.none() | windows),
    st.builds(Call, st.sampled_from(["sum", "mean", "std"]), columns, keys, st.none() | windows | fading_windows),
    st.builds(Call, st.just("count"), st.none() | columns, keys, st.none() | windows | fading_windows),
    st.builds(Call, st.just("rate"), st.just(TARGET), keys, st.none() | windows | fading_windows, st.none() | names),
    st.builds(Call, st.just("last"), columns, keys),
    st.builds(Call, st.just("since_last"), st.none(), keys),
    st.builds(Call, st.just("lag"), columns, keys, steps=rows),
    st.builds(Call, st.just("lag"), columns, keys, span=lengths),
)
expressions = st.recursive(
    st.builds(Number, numbers) | st.builds(OwnColumn, names) | calls,
    lambda inner: st.builds(Operation, st.sampled_from("+-*/"), inner, inner),
    max_leaves=8,
)
features = st.builds(Feature, names.filter(bool), expressions).filter(lambda made: made.calls or made.columns)


@given(features)
def test_the_text_of_a_feature_parses_to_it(feature):
    assert parse_feature(str(feature)) == feature
    assert parse_feature(str(feature.expression)) == Feature(str(feature.expression), feature.expression)


# ---------------------------------------------------------------------- values


def test_values_of_an_expression():
    cells = {"a": np.array([1.0, 2.0, np.nan, 1e308, np.inf]), "b": np.array([0.0, 4.0, 1.0, 1e-308, 1.0])}

    def values(leaf):
        return cells[leaf.column if isinstance(leaf, Call) else leaf.name]

    def of(text):
        return evaluate(parse_feature(text).expression, values)

    nan = np.nan
    np.testing.assert_array_equal(of("a / sum(b)"), [nan, 0.5, nan, nan, nan])
    np.testing.assert_array_equal(of("1 / (a / b)"), [nan, 2.0, nan, nan, nan])
    np.testing.assert_array_equal(of("2 * b - -1"), [1.0, 9.0, 3.0, 1.0, 3.0])
    np.testing.assert_array_equal(of("a"), [1.0, 2.0, nan, 1e308, nan])
    assert np.isinf(cells["a"][-1])


def test_integers_are_read_as_numbers():
    assert evaluate(OwnColumn("a"), lambda _: np.array([1, 2])).dtype == np.float64
