"""The description of the protocol, set against the service: every path, every example, every answer."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.service.rows import SCHEMA, stream
from thalweg.client.requests import Calls
from thalweg.service.http.openapi import ROUTES, description

jsonschema = pytest.importorskip("jsonschema")
DESCRIBED = description(1000)


def validator(schema):
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "components": DESCRIBED["components"], **schema}
    jsonschema.Draft202012Validator.check_schema(whole)
    return jsonschema.Draft202012Validator(whole)


def operations():
    for path, methods in DESCRIBED["paths"].items():
        for method, operation in methods.items():
            yield pytest.param(path, method, operation, id=f"{method} {path}")


def test_the_service_tells_its_own_description(client):
    told = client.get("/openapi.json")
    assert told == description(100_000)
    assert told["openapi"].startswith("3.1")


def test_every_request_has_a_sentence_and_a_method_of_the_client():
    assert all(each.summary.endswith(".") for each in ROUTES)
    requests = {each.name for each in ROUTES if each.path.startswith("/v1")}
    methods = {name for name in vars(Calls) if not name.startswith("_")}
    assert methods - requests == {"predict_one"}
    assert requests <= methods
    assert len(requests) > 20


def test_the_table_of_requests_has_each_once(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "hooks"))
    endpoints = importlib.import_module("endpoints")
    page = (Path(__file__).parents[2] / "docs" / "api" / "http.md").read_text("utf-8")
    written = re.findall(r"^\| `(\w+) (\S+)` \|", endpoints.on_page_markdown(page), re.MULTILINE)
    described = [(method.upper(), path) for path, methods in DESCRIBED["paths"].items() for method in methods]
    assert sorted(written) == sorted(described)


@pytest.mark.parametrize(("path", "method", "operation"), list(operations()))
def test_examples_are_valid_and_what_is_told_is_served(path, method, operation, client):
    for each in operation.get("requestBody", {}).get("content", {}).values():
        if "example" in each:
            validator(each["schema"]).validate(each["example"])
    for other in {"get", "post", "put", "delete", "patch"} - set(DESCRIBED["paths"][path]):
        status, _, headers = client.call(other.upper(), path.replace("{name}", "default"))
        assert status == 405
        assert {each.lower() for each in headers["allow"].split(", ")} - {"head"} == set(DESCRIBED["paths"][path])


def test_answers_are_as_they_are_described(start):
    client = start("--new", "oldc").client()
    rows, labels = stream(120)

    def ask(method: str, path: str, body=None, *, at: str | None = None, expect: int = 200):
        status, answer, _ = client.call(method.upper(), path, body)
        assert status == expect, answer
        told = DESCRIBED["paths"][at or path][method]["responses"][str(status)]["content"]["application/json"]["schema"]
        validator(told).validate(answer)
        return answer

    one = "/v1/models/{name}"
    ask("get", "/healthz")
    ask("get", "/readyz")
    ask("get", "/v1/models/default", at=one)  # before anything is known of it
    ask("get", "/v1/models/default/course", at=f"{one}/course")
    ask("get", "/v1/models/default/importance", at=f"{one}/importance")
    ask("get", "/v1/models/default/inputs", at=f"{one}/inputs")
    ask("post", "/v1/models", {"name": "river", "kind": "oldc", "schema": SCHEMA}, expect=201)
    ask("post", "/v1/models", {"name": "river", "kind": "oldc"}, expect=409)
    ask("post", "/v1/models", {"name": "rival", "kind": "auto", "challenger_of": "river"}, expect=201)
    ask("get", "/v1/models/rival/compare", at=f"{one}/compare")
    for begin in range(0, 120, 40):
        answers = ask("post", "/v1/predict", {"model": "river", "rows": rows[begin : begin + 40]})["predictions"]
        told = [{"id": each["id"], "label": label} for each, label in zip(answers, labels[begin:], strict=False)]
        ask("post", "/v1/label", {"model": "river", "labels": [*told, {"id": "nobody", "label": 1}]})
    for name in ("river", "rival"):
        details = ask("get", f"/v1/models/{name}", at=one)
        sampled = 200 if name == "river" else 409
        ask("get", f"/v1/models/{name}/importance", at=f"{one}/importance", expect=sampled)
        assert ask("get", f"/v1/models/{name}/inputs", at=f"{one}/inputs")["columns"]
        course = ask("get", f"/v1/models/{name}/course", at=f"{one}/course")
        assert len(course["points"]["labels"]) == 120
        families = course["points"]["family_weights"]
        if name == "river":
            assert course["points"]["means"]
            assert families is details["family_weights"] is None
            continue
        assert list(families) == ["linear", "products", "kernel", "tilings", "trees", "shares"]
        assert {family: weights[-1] for family, weights in families.items()} == details["family_weights"]
        assert sum(details["family_weights"].values()) == pytest.approx(1, abs=1e-3)
        said = client.call("GET", "/metrics")[1].decode()
        weight = 'thalweg_model_family_weight_ratio{family="linear",learner="rival",model="river"}'
        assert f"{weight} {families['linear'][-1]}" in said
        assert 'learner="river",model="river"' not in "".join(
            re.findall(r"^thalweg_model_family.*$", said, re.MULTILINE)
        )
    ask("get", "/v1/models/rival/compare", at=f"{one}/compare")
    [column] = ask(
        "post",
        "/v2/models/river/infer",
        {"inputs": [{"name": "rain", "shape": [1], "datatype": "FP64", "data": [1.5]}]},
        at="/v2/models/{name}/infer",
    )["outputs"][:1]
    assert column["name"] == "id"
    ask("post", "/invocations", {"instances": [{"rain": 1.5}], "params": {"model": "river"}})
    ask("post", "/invocations", {"params": {"model": "river"}}, expect=422)
    for path in ("", "/ready"):
        ask("get", f"/v2/models/river{path}", at="/v2/models/{name}" + path)
    for path in ("/v2", "/v2/health/live", "/v2/health/ready", "/ping"):
        ask("get", path)
    for what in ("promote", "archive", "restore"):
        ask("post", f"/v1/models/rival/{what}", {}, at=f"{one}/{what}")
    ask("post", "/v1/models/river/versions", {"version": "v1"}, at=f"{one}/versions", expect=201)
    ask("post", "/v1/models/river/versions", {"version": "v1"}, at=f"{one}/versions", expect=409)
    assert ask("get", "/v1/models/river/versions", at=f"{one}/versions")["versions"]
    ask("post", "/v1/models/river/rollback", {"version": "v1"}, at=f"{one}/rollback")
    ask("post", "/v1/models/river/rollback", {"seq": "1"}, at=f"{one}/rollback", expect=422)
    [asked] = ask("post", "/v1/predict", {"model": "river", "row": rows[0]})["predictions"]
    ask("post", "/v1/label", {"model": "river", "labels": [{"id": asked["id"], "label": labels[0]}]})
    linear = ask("get", "/v1/models/river/course", at=f"{one}/course")["points"]["family_weights"]["linear"]
    assert [weight is not None for weight in linear] == [False] * 120 + [True]  # since the promotion
    ask("post", "/v1/models/rival/restore", {}, at=f"{one}/restore", expect=409)
    limited = {"name": "asks", "kind": "oldc", "schema": SCHEMA, "label_budget": 0.5, "explore": 0.2}
    ask("post", "/v1/models", limited, expect=201)
    for row, label in zip(rows[:20], labels, strict=False):
        [given] = ask("post", "/v1/predict", {"model": "asks", "row": row})["predictions"]
        assert 0 <= given["ask_probability"] <= 1
        if given["ask"] and label != labels[0]:
            ask("post", "/v1/label", {"model": "asks", "labels": [{"id": given["id"], "label": label}]})
    assert ask("get", "/v1/models/asks/to-label?limit=5", at=f"{one}/to-label")["rows"]
    ask("get", "/v1/models/asks/to-label?limit=0", at=f"{one}/to-label", expect=422)
    ask("get", "/v1/models/river/to-label", at=f"{one}/to-label", expect=409)
    assert ask("get", "/v1/models/asks", at=one)["label_budget"]["asked"]
    ask("get", "/v1/models/asks/course", at=f"{one}/course")
    ask("post", "/v1/models", {"name": "no", "kind": "oldc", "label_budget": "often"}, expect=422)
    ask("get", "/v1/models")
    ask("post", "/v1/predict", {"row": {"wrong": []}}, expect=422)
    ask("get", "/v1/models/nobody", at=one, expect=404)
