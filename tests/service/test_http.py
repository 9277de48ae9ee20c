"""The protocol: what is refused, in one sentence and before anything changes; what every answer has; tokens; limits."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.service.rows import SCHEMA
from tests.service.server import JSON, Client, Server
from tests.waiting import PATIENCE, wait_until
from thalweg import cli
from thalweg.service import intake
from thalweg.service.auth import Authorizer
from thalweg.service.commands import Refused
from thalweg.service.options import ServeOptions

ROW = {"x": 1.0}


@pytest.fixture(scope="module")
def numbers(common: Server) -> Server:
    """The service of this file, whose model knows one column."""
    common.client().predict([ROW] * 10)  # more than the strange rows below: no label has settled the columns yet
    return common


REFUSED = {
    "no JSON": (422, b"{", "the body is not JSON"),
    "no object": (422, b"[]", "must be an object of JSON"),
    "no rows": (422, {}, "one of row, rows"),
    "both": (422, {"row": ROW, "rows": [ROW]}, "one of row, rows"),
    "empty": (422, {"rows": []}, "1 to 100000 rows, got 0"),
    "rows that are none": (422, {"rows": 3}, "rows must be a list"),
    "a row that is none": (422, {"rows": [ROW, 3]}, "row 1: it must be an object"),
    "a word": (422, {"rows": [ROW, {"x": "much"}]}, "row 1, column 'x': 'much' is not a number"),
    "a truth value": (422, {"row": {"x": True}}, "row 0, column 'x': 'true' is not a number"),
    "a list": (422, {"row": {"x": [1]}}, "row 0, column 'x': a cell must be"),
    "too large": (422, {"row": {"x": 1e300}}, "row 0, column 'x': '1e+300' is beyond the numbers"),
    "a long word": (422, {"row": {"x": "1" * 2000}}, "row 0, column 'x': a text may have at most 1000 letters"),
    "no column": (422, {"rows": [ROW, {}]}, "row 1: it has none of the columns that the model learns from"),
    "another column": (422, {"rows": [ROW, {"x": 1, "y": 2}]}, "row 1, column 'y': the model has no such column"),
    "another field": (422, {"row": ROW, "modle": "default"}, "there is no field 'modle'"),
    "a model that is none": (404, {"row": ROW, "model": "nobody"}, "there is no model 'nobody'"),
    "a name that is none": (422, {"row": ROW, "model": 3}, "the model must be a name"),
    "too many rows": (413, {"rows": [{}] * 100_001}, "1 to 100000 rows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_request_is_refused_before_anything_changes(case, numbers):
    client = numbers.client()
    before = client.settled()
    status, body, told = REFUSED[case]
    found, answer, _ = client.call("POST", "/v1/predict", body)
    assert (found, list(answer)) == (status, ["error"])
    assert told in answer["error"]
    assert client.settled() == before


LABELS = {
    "no list": ({"labels": 3}, "labels must be a list"),
    "no id": ({"labels": [{"label": "a"}]}, "label 0: it must be an object with an id"),
    "no labels": ({}, "labels must be a list"),
    "a number as id": (
        {"labels": [{"id": "1-0", "label": "a"}, {"id": 1, "label": "a"}]},
        "label 1: it must be an obj",
    ),
    "another field": ({"labels": [{"id": "1-0", "label": "a", "` - at `$.model": 1}]}, "label 0: it must be an obj"),
    "another field outside": ({"labels": [3], "lable": 1}, "no field 'lable' here; there are labels, model, revise"),
    "null": ({"labels": [{"id": "1-0", "label": None}]}, "label 0: it must be a text, a number"),
    "empty": ({"labels": [{"id": "1-0", "label": " "}]}, "label 0: it must have 1 to 1000 letters"),
    "none": ({"labels": []}, "1 to 100000 labels"),
    "no truth": ({"labels": [{"id": "1-0", "label": "a"}], "revise": 1}, "revise must be true or false"),
}


@pytest.mark.parametrize("case", LABELS)
def test_bad_labels_are_refused(case, numbers):
    body, told = LABELS[case]
    status, answer, _ = numbers.client().call("POST", "/v1/label", body)
    assert (status, told in answer["error"]) == (422, True), answer


MODELS = {
    "no name": ({"kind": "oldc"}, 422, "must have a name and a kind"),
    "null as name": ({"name": None, "kind": "oldc"}, 422, "must have a name and a kind"),
    "parameters that are none": ({"name": "m", "kind": "oldc", "parameters": [1]}, 422, "parameters must be an object"),
    "a schema that is none": ({"name": "m", "kind": "oldc", "schema": "s"}, 422, "schema must be an object"),
    "a champion that is none": ({"name": "m", "kind": "oldc", "challenger_of": 1}, 422, "challenger_of must be a text"),
    "a path": ({"name": "../../etc/passwd", "kind": "oldc"}, 422, "a name must have"),
    "no such kind": ({"name": "m", "kind": "magic"}, 422, "the kind must be one of auto, auto-linear, oldc"),
    "no such parameter": ({"name": "m", "kind": "oldc", "parameters": {"speed": 1}}, 422, "no parameter 'speed'"),
    "a bad parameter": ({"name": "m", "kind": "oldc", "parameters": {"rate": 7}}, 422, "rate"),
    "a word as parameter": ({"name": "m", "kind": "oldc", "parameters": {"rate": "fast"}}, 422, "cannot be 'fast'"),
    "the same name": ({"name": "default", "kind": "oldc"}, 409, "there is a model 'default' already"),
    "no champion": ({"name": "m", "kind": "oldc", "challenger_of": "n"}, 404, "there is no model 'n'"),
    "no columns": ({"name": "m", "kind": "oldc", "schema": {"columns": []}}, 422, "a list of 1 to"),
    "twice": (
        {"name": "m", "kind": "oldc", "schema": {"columns": SCHEMA["columns"] * 2}},
        422,
        "'level' is there twice",
    ),
    "no kind": ({"name": "m", "kind": "oldc", "schema": {"columns": [{"name": "a"}]}}, 422, "the kind of column 'a'"),
}


@pytest.mark.parametrize("case", MODELS)
def test_bad_models_are_refused(case, numbers):
    body, status, told = MODELS[case]
    found, answer, _ = numbers.client().call("POST", "/v1/models", body)
    assert (found, told in answer["error"]) == (status, True), answer
    assert len(numbers.client().get("/v1/models")["models"]) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [({"expected": 1}, "expected must be a text"), ({"force": None}, "force must be true or false"), ([], "an object")],
    ids=["expected", "force", "no object"],
)
def test_a_bad_promotion_is_refused(body, told, numbers):
    status, answer, _ = numbers.client().call("POST", "/v1/models/default/promote", body)
    assert (status, told in answer["error"]) == (422, True), answer


def test_paths_and_methods_that_are_not_served(client):
    assert client.call("GET", "/v1/predict")[0] == 405
    assert client.call("GET", "/v3")[:2] == (404, {"error": "there is nothing at /v3"})
    assert client.call("GET", "/v1/models/..%2f..%2fetc%2fpasswd")[0] == 404
    assert client.call("POST", "/v1/predict", b"{}", media="text/plain")[0] == 415
    assert client.call("GET", "/v1/models", host="evil.example")[0] == 421


@pytest.mark.parametrize("host", ["127.0.0.5", "[::1]", "LOCALHOST"])
def test_a_service_answers_at_the_address_that_it_announces(host, start):
    try:
        socket.create_server((host.strip("[]"), 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        pytest.skip(f"this machine does not listen at {host}: {error}")
    server = start("--new", "oldc", "--listen", f"{host}:0")
    announced = f"http://{host.lower()}:{server.port}"
    assert server.log.read_text() == f"thalweg serves at {announced}\n"
    for name, expected in ((None, 200), ("LocalHost:80", 200), ("evil.example", 421), ("[evil.example]", 421)):
        asked = urllib.request.Request(f"{announced}/v1/models", headers={"host": name} if name else {})
        try:
            status = urllib.request.urlopen(asked, timeout=PATIENCE).status
        except urllib.error.HTTPError as refused:
            status = refused.code
        assert (name, status) == (name, expected)


FROM_ELSEWHERE = {
    "another site": {"origin": "http://evil.example"},
    "no origin that is told": {"origin": "null"},
    "another port": {"origin": "http://127.0.0.1:1"},
    "another scheme": {"origin": "https://127.0.0.1:{port}"},
    "across sites": {"sec_fetch_site": "cross-site"},
    "a neighbour": {"origin": "http://127.0.0.1:{port}", "sec_fetch_site": "same-site"},
}


@pytest.mark.parametrize("case", FROM_ELSEWHERE)
def test_a_page_of_another_site_changes_nothing(case, client):
    headers = {name: value.format(port=client.port) for name, value in FROM_ELSEWHERE[case].items()}
    for path, body in (("models/default/archive", None), ("predict", {"row": ROW}), ("models", {"name": "m"})):
        status, answer, _ = client.call("POST", f"/v1/{path}", body, **headers)
        assert (status, answer) == (403, {"error": "requests from pages of other sites may not change anything"})
    assert client.get("/v1/models/default")["archived"] is False


def test_the_service_s_own_page_may_ask(client):
    own = {"origin": f"HTTP://127.0.0.1:{client.port}", "sec_fetch_site": "same-origin"}
    assert client.call("POST", "/v1/predict", {"row": ROW}, **own)[0] == 200
    assert client.call("POST", "/v1/predict", {"row": ROW}, sec_fetch_site="none")[0] == 200
    assert client.call("GET", "/v1/models", sec_fetch_site="cross-site", origin="null")[0] == 200


def test_a_page_behind_a_proxy_with_https_may_ask(start, tmp_path):
    own = {"origin": "https://127.0.0.1", "host": "127.0.0.1", "x_forwarded_proto": "https"}
    assert start("--new", "oldc").client().call("POST", "/v1/predict", {"row": ROW}, **own)[0] == 200
    stranger = start("--trusted-proxy", "10.0.0.0/8", data=tmp_path / "other").client()
    assert stranger.call("POST", "/v1/predict", {"row": ROW}, **own)[0] == 403


def test_names_of_the_service_that_are_asked_for_take_no_memory():
    admit = Authorizer([], frozenset({"127.0.0.1"})).admit
    admit({b"host": b"127.0.0.1:65535"}, "read", "http")
    with pytest.raises(Refused) as refused:
        admit({b"host": b"127.0.0.1:" + b"1" * 20_000}, "read", "http")
    assert (refused.value.status, len(refused.value.sentence) < 200) == (421, True)


def test_files_are_for_their_owner_alone(start, tmp_path, capsys):
    before = os.umask(0o022)
    try:
        with pytest.raises(SystemExit):
            cli.main(["serve", "--make-token", "app", "--token-file", str(tmp_path / "tokens")])
        server = start("--new", "oldc")
        server.client().predict([ROW])
    finally:
        os.umask(before)
    found = {path.name: oct(path.stat().st_mode & 0o777) for path in (*server.data.iterdir(), tmp_path / "tokens")}
    assert {*found.values()} == {"0o600"}, found
    assert {"tokens", "journal.sqlite3", "journal.sqlite3-wal"} <= found.keys()


def test_every_answer_has_the_headers_that_browsers_heed(client):
    for path in ("/v1/models", "/nowhere", "/healthz", "/readyz", "/openapi.json"):
        headers = client.call("GET", path)[2]
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers.get_all("content-security-policy") == [headers["content-security-policy"]]


def test_a_retried_request_is_answered_again_and_not_done_again(client):
    first = client.post("/v1/predict", {"row": ROW}, idempotency_key="p")
    before = client.settled("/v1/models/default")["rows"]
    assert client.post("/v1/predict", {"row": ROW}, idempotency_key="p") == first
    assert client.settled("/v1/models/default")["rows"] == before
    labels = {"labels": [{"id": first["predictions"][0]["id"], "label": "a"}]}
    told = client.post("/v1/label", labels, idempotency_key="l")
    assert (told["learned"], client.post("/v1/label", labels, idempotency_key="l")) == (1, told)
    status, answer, _ = client.call("POST", "/v1/predict", {"row": {"x": 2.0}}, idempotency_key="p")
    assert (status, answer) == (409, {"error": "the Idempotency-Key was used before, with another request"})
    assert client.call("POST", "/v1/predict", {"row": ROW}, idempotency_key="k" * 201)[0] == 422


def test_retries_that_come_together_are_one(client, common):
    before = client.settled("/v1/models/default")["rows"]
    answers = []

    def ask() -> None:
        mine = Client(common.port)
        answers.append(json.dumps(mine.post("/v1/predict", {"row": ROW}, idempotency_key="together")))
        mine.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert len(set(answers)) == 1
    assert client.settled("/v1/models/default")["rows"] == before + 1


def test_a_key_outlives_the_process(start):
    server = start("--new", "oldc")
    first = server.client().post("/v1/predict", {"row": ROW}, idempotency_key="p")
    server.kill()
    assert start("--new", "oldc").client().post("/v1/predict", {"row": ROW}, idempotency_key="p") == first


def test_bodies_beyond_the_limit_are_not_read(start):
    server = start("--new", "oldc", "--max-body", "1000", "--max-rows", "3")
    client = server.client()
    assert client.call("POST", "/v1/predict", b" " * 1001)[0] == 413
    assert client.call("POST", "/v1/predict", {"rows": [ROW] * 4})[0] == 413
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as plain:  # a body whose length nobody tells
        plain.sendall(b"POST /v1/predict HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n")
        plain.sendall(
            b"transfer-encoding: chunked\r\n\r\n" + b"258\r\n" + b" " * 600 + b"\r\n" + b"258\r\n" + b" " * 600
        )
        assert plain.recv(100).startswith(b"HTTP/1.1 413")
    assert server.client().predict([ROW])


def test_too_much_at_once_is_put_off(start):
    server = start("--new", "oldc", "--max-waiting", "1")
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as slow:
        slow.sendall(b"POST /v1/predict HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n")
        slow.sendall(b"content-length: 20\r\n\r\n{")
        client = server.client()

        def put_off() -> bool:
            return client.call("POST", "/v1/predict", {"row": ROW})[0] == 429

        wait_until(put_off)
        _, answer, headers = client.call("POST", "/v1/predict", {"row": ROW})
        assert (headers["retry-after"], list(answer)) == ("1", ["error"])
        assert client.get("/healthz") == {"status": "alive"}
    wait_until(lambda: not put_off())
    assert client.predict([ROW])


HEAD = b"POST /v1/predict HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"


def test_bodies_count_by_what_has_come_of_them_and_do_not_hold_up_the_end(start):
    server = start("--new", "oldc")
    client = server.client()
    lengths = [b"transfer-encoding: chunked", b"content-length: 16000000"] * 20  # all together more than may be in work
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE)) for _ in lengths]
        for plain, length in zip(silent, lengths, strict=True):
            plain.sendall(HEAD + length + b"\r\n\r\n")
        wait_until(lambda: b"thalweg_requests_in_work 41.0\n" in client.get("/metrics"))
        assert client.predict([ROW])
        log = server.log.read_text()
        kept = os.open(server.log, os.O_RDONLY)
        assert server.stop() == 0
        assert all(plain.recv(100).startswith(b"HTTP/1.1 503") for plain in silent)
        assert os.read(kept, 10_000).decode() == log  # no word of it
        os.close(kept)


def test_clients_that_do_not_read_hold_up_the_end_for_a_second(start):
    server = start("--new", "oldc")
    client = server.client()
    body = json.dumps({"rows": [ROW] * 100_000}).encode()  # five megabytes come back
    with ExitStack() as stack:
        for _ in range(2):
            deaf = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE))
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(body) + body)
        wait_until(lambda: b"thalweg_rows_total 200000.0\n" in client.get("/metrics"))
        wait_until(lambda: b"thalweg_requests_in_work 1.0\n" in client.get("/metrics"))
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 10  # 1.4 s; it was 30


def test_a_body_must_come_in_time(monkeypatch):
    monkeypatch.setattr(intake, "_BODY_SECONDS", 0.1)
    pieces = [b"{", b'"row"', b":"]

    async def stalled() -> dict:
        if not pieces:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": pieces.pop(0), "more_body": True}

    async def read() -> None:
        desk = intake.Intake(ServeOptions())
        place = desk.enter(0)
        with pytest.raises(Refused, match="the body did not arrive within") as refused:
            await desk.read(place, stalled)
        assert (refused.value.status, desk.bytes) == (408, place.bytes)
        assert place.bytes == 7
        desk.leave(place)
        assert (desk.requests, desk.bytes) == (0, 0)

    asyncio.run(read())


def test_tokens_are_needed_and_hashed_and_have_a_scope(start, tmp_path, capsys):
    file = tmp_path / "tokens"
    tokens = {}
    for name, scope in (("page", "read"), ("app", "learn")):
        with pytest.raises(SystemExit):
            cli.main(["serve", "--make-token", name, "--scope", scope, "--token-file", str(file)])
        tokens[scope] = capsys.readouterr().out.split(": ")[1].split()[0]
        assert tokens[scope] not in file.read_text()
    server = start("--new", "oldc", "--token-file", str(file))
    assert server.client().call("GET", "/v1/models")[0] == 401
    assert server.client(authorization="Bearer wrong").call("GET", "/v1/models")[0] == 401
    assert server.client(authorization=f"Basic {tokens['learn']}").call("GET", "/v1/models")[0] == 401
    reading, learning = (server.client(authorization=f"Bearer {tokens[scope]}") for scope in ("read", "learn"))
    assert reading.get("/v1/models")
    assert reading.call("POST", "/v1/predict", {"row": ROW})[0] == 403
    assert learning.predict([ROW])
    assert server.client().get("/healthz")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--listen", "0.0.0.0:0"], "without tokens lets everyone in"),
        (["--listen", "nowhere"], "--listen must be a host and a port"),
        (["--expire", "soon"], "--expire must be a time"),
        (["--database", "mysql://there"], "--database must begin with postgresql://"),
        (["--new", "magic"], "the kind must be one of"),
        (["--model", "no.such.file"], "no.such.file cannot be read"),
        (["--schema", "no.such.file"], "--schema no.such.file cannot be read"),
        (["--schema", __file__], "is not JSON"),
        (["--schema", "no.such.file", "--model", "no.such.file"], "leave out --schema"),
    ],
    ids=["beyond the machine", "nowhere", "expiry", "database", "kind", "file", "schema", "not JSON", "two schemas"],
)
def test_what_cannot_be_served_is_told_in_one_line(arguments, told, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", *arguments])
    error = capsys.readouterr().err
    assert (ended.value.code, told in error, error.count("\n")) == (2, True, 1), error


def test_a_port_that_is_taken(common, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["serve", "--data", str(tmp_path / "data"), "--listen", f"127.0.0.1:{common.port}"])
    told = capsys.readouterr().err
    assert (ended.value.code, told.count("\n"), "Address already in use" in told) == (2, 1, True), told
    assert not (tmp_path / "data").exists()


def test_a_folder_has_one_service(start, tmp_path, capsys):
    start("--new", "oldc")
    with pytest.raises(SystemExit):
        cli.main(["serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0"])
    assert "in use by another `thalweg serve`" in capsys.readouterr().err


def test_a_model_of_a_run_goes_on_learning(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{i % 7},{'hot' if i % 7 > 3 else 'cold'}" for i in range(200)]
    Path("table.csv").write_text("\n".join(["heat,state", *lines]))
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", "table.csv", "--target", "state", "--model", "oldc", "--out", "run", "--quiet", "--json"])
    assert ended.value.code == 0
    client = start("--model", "run/model.thalweg").client()
    cold, hot = client.predict([{"heat": 0, "state": None}, {"heat": 6}])
    assert (cold["prediction"], hot["prediction"]) == ("cold", "hot")
    assert client.label([(hot["id"], "hot")])["learned"] == 1


def test_live_views_tell_what_is_new_and_end_with_the_service(start):
    server = start("--new", "oldc")
    client = server.client()
    asked = client.predict([{"x": float(i % 2)} for i in range(100)])
    client.label([(each["id"], str(i % 2)) for i, each in enumerate(asked[:80])])
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as live:
        live.sendall(b"GET /v1/models/default/events HTTP/1.1\r\nhost: 127.0.0.1\r\nlast-event-id: 78\r\n\r\n")
        stream = live.makefile("rb")

        def next_point() -> tuple[int, dict]:
            while not (line := stream.readline()).startswith(b"id: "):
                assert line
            data = stream.readline()
            return int(line[4:]), json.loads(data.removeprefix(b"data: "))

        missed = [next_point() for _ in range(3)]
        assert [number for number, _ in missed] == [79, 80, 80]
        client.label([(asked[80]["id"], "0")])
        number, point = next_point()
        assert number == 81
        course = client.get("/v1/models/default/course")
        points = course["points"]
        assert (course["labels"], course["waiting"], len(points["labels"])) == (81, 19, 81)
        assert {"time", "labels", "scores", "rate", "memory", "half_life", "waiting", "delay", "means"} <= {*point}
        last = {of: {name: told[-1] for name, told in each.items()} for of, each in points["scores"].items()}
        assert point["scores"] == last
        assert point["means"] == {
            label: {column: values[-1] for column, values in columns.items()}
            for label, columns in points["means"].items()
        }
        assert server.stop() == 0
        assert stream.read().endswith(b"0\r\n\r\n")


def test_json_is_what_the_client_reads(client):
    status, _, headers = client.call("GET", "/v1/models")
    assert (status, headers["content-type"]) == (200, JSON)
