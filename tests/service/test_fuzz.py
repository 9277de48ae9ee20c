"""Whatever a stranger sends: never a failure of ours, and never a changed model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.service import mutated_bodies
from tests.service.server import ARROW, JSON, Server

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
anything = st.recursive(
    plain, lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4)
)
names = st.sampled_from(["default", "river", "nobody", "rival"]) | st.text(max_size=10)
ids = st.builds("{}-{}".format, st.integers(-1, 60), st.integers(-1, 3)) | st.text(max_size=12)


def fields(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that have some of the fields, mostly of the right kind, and sometimes one more."""
    good = st.fixed_dictionaries({}, optional={name: value | anything for name, value in values.items()})
    return good | st.builds(lambda one, more: {**one, **more}, good, st.dictionaries(st.text(max_size=5), anything))


maps = st.dictionaries(
    st.text(max_size=8) | st.integers(-1, 2**31).map(str), st.floats(-1e50, 1e50) | plain, max_size=4
)
rows = st.lists(
    st.dictionaries(st.sampled_from(["x", "day", "when"]), plain | st.sampled_from(["mon", "2024-01-01", "1,5"]))
    | st.dictionaries(st.sampled_from(["words", "at"]), maps | plain, min_size=1)
    | anything,
    max_size=4,
)
columns = st.lists(
    fields(
        name=st.text(max_size=5),
        kind=st.sampled_from(["number", "category", "time", "map"]),
        categories=anything,
        keys=st.sampled_from(["name", "index"]),
    ),
    max_size=3,
)
BODIES: dict[str, st.SearchStrategy[Any]] = {
    "/v1/predict": fields(model=names, rows=rows, row=anything),
    "/v1/label": fields(model=names, labels=st.lists(fields(id=ids, label=plain), max_size=5), revise=st.booleans()),
    "/v1/models": fields(
        name=st.sampled_from(["default", "a", "b", "c", "../d"]),
        kind=st.sampled_from(["oldc", "nse", "trend", "auto", "magic"]),
        parameters=fields(rate=st.floats(), window=anything, adaptive=anything, seed=anything),
        schema=fields(columns=columns, labels=anything),
        challenger_of=names,
    ),
}


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A service that knows something."""
    server = Server("--new", "oldc", data=tmp_path_factory.mktemp("fuzzed"))
    client = server.client()
    asked = client.predict([{"x": 1.0, "day": "mon", "when": "2024-01-01"}, {"x": 2.0, "day": "tue"}])
    client.label([(each["id"], "ab"[i]) for i, each in enumerate(asked)])
    sparse = {"columns": [{"name": "words", "kind": "map"}, {"name": "at", "kind": "map", "keys": "index"}]}
    client.post("/v1/models", {"name": "river", "kind": "auto", "schema": sparse})
    client.label([(client.predict([{"at": {"3": 1}}], model="river")[0]["id"], "a")], model="river")
    yield server
    assert server.stop() == 0


few = examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.mark.parametrize("path", BODIES)
@few
@given(data=st.data(), media=st.sampled_from([JSON] * 8 + [ARROW, "text/plain", ""]))
def test_a_fuzzed_body_never_gives_a_500_and_what_is_refused_changes_nothing(path, busy, data, media):
    body = data.draw(BODIES[path] | anything)
    client = busy.client()
    before = client.settled()
    status, answer, _ = client.call("POST", path, json.dumps(body).encode(), media=media)
    assert status < 500, answer
    if status >= 400:
        assert list(answer) == ["error"]
        assert client.settled() == before
    client.close()


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/label"])
@few
@given(body=st.binary(max_size=200), media=st.sampled_from([JSON, ARROW]))
def test_any_bytes_are_refused(path, busy, body, media):
    client = busy.client()
    status, answer, _ = client.call("POST", path, body, media=media)
    assert (400 <= status < 500, list(answer)) == (True, ["error"])
    client.close()


@few
@given(path=st.text(max_size=30), key=st.text(max_size=30), last=st.text(max_size=5))
def test_any_path_and_header_is_answered(path, busy, key, last):
    client = busy.client()
    quoted = "".join(f"%{byte:02x}" for byte in path.encode("utf-8", "surrogatepass"))
    for target in (f"/v1/models/{quoted}", f"/v1/models/{quoted}/course", f"/{quoted}"):
        assert client.call("GET", target)[0] in (200, 307, 400, 404, 405), target
    header = "".join(letter for letter in key if letter.isprintable() and ord(letter) < 256)
    assert client.call("POST", "/v1/predict", {"row": {"q": 1}}, idempotency_key=header)[0] == 422
    client.close()


def test_the_service_still_works(busy):
    client = busy.client()
    [asked] = client.predict([{"x": 1.0}])
    assert client.label([(asked["id"], "a")])["learned"] == 1


def test_mutated_bodies_are_refused_and_nothing_else_happens(start):
    server = start("--new", "oldc")
    mutated_bodies.prepare(server.client())
    statuses = mutated_bodies.trial(server, first=1_000_000, count=200)
    assert statuses[422] > 100
    assert statuses[200]
