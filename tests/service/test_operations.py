"""What an operator does: tokens that change, logs for machines, options from files and the environment."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import signal
from pathlib import Path

import pytest

from tests.waiting import wait_until
from thalweg import cli
from thalweg.service import server as service_server
from thalweg.service.auth import SCOPES, make_token
from thalweg.service.options import ServeOptions

ROW = {"x": 1.0}
DEPLOY = Path(__file__).parents[2] / "deploy"


def test_tokens_have_scopes_and_are_read_again_at_a_signal(start, tmp_path):
    made = {scope: make_token(f"the-{scope}", scope) for scope in SCOPES}
    file = tmp_path / "tokens"
    file.write_text(made["learn"][1] + "\n")
    server = start("--new", "oldc", "--token-file", str(file))
    clients = {scope: server.client(authorization=f"Bearer {token}") for scope, (token, _) in made.items()}

    def statuses() -> dict[str, list[int]]:
        asked = (("GET", "/v1/models", None), ("POST", "/v1/predict", {"row": ROW}), ("POST", "/v1/models", {}))
        return {scope: [client.call(*each)[0] for each in asked] for scope, client in clients.items()}

    assert statuses() == {"read": [401] * 3, "learn": [200, 200, 403], "admin": [401] * 3}
    file.write_text("\n".join(line for _, line in made.values()))
    os.kill(server.process.pid, signal.SIGHUP)
    wait_until(lambda: clients["admin"].call("GET", "/v1/models")[0] == 200)
    assert statuses() == {"read": [200, 403, 403], "learn": [200, 200, 403], "admin": [200, 200, 422]}
    for path in ("default/archive", "default/restore", "default/promote"):
        status, answer, _ = clients["learn"].call("POST", f"/v1/models/{path}")
        assert (status, answer) == (403, {"error": "this token may only learn: one of scope admin is needed"})
    file.write_text("nonsense\n")
    os.kill(server.process.pid, signal.SIGHUP)
    wait_until(lambda: "the tokens from before stay" in server.log.read_text())
    assert clients["admin"].call("GET", "/v1/models")[0] == 200


def test_a_log_of_json_has_a_line_and_an_id_for_each_request(start):
    server = start("--new", "oldc", "--log-format", "json")
    client = server.client()
    own = client.call("POST", "/v1/predict", {"row": ROW}, x_request_id="from-the-proxy")[2]["x-request-id"]
    other = client.call("GET", "/nowhere", x_request_id="two words")[2]["x-request-id"]
    assert (own, len(other)) == ("from-the-proxy", 16)

    def logged() -> list[dict]:
        lines = [json.loads(line) for line in server.log.read_text().splitlines()]
        return [line for line in lines if line["message"] == "request"] if len(lines) > 2 else []

    first, second = wait_until(logged)
    assert (first["request_id"], first["method"], first["path"], first["status"]) == (own, "POST", "/v1/predict", 200)
    assert (second["request_id"], second["status"], second["client"]) == (other, 404, "127.0.0.1")


@pytest.fixture
def options(monkeypatch):
    """What `thalweg serve` would run with."""
    found: list[ServeOptions] = []
    monkeypatch.setattr(service_server, "serve", lambda options, tell: found.append(options))

    def run(*arguments: str) -> ServeOptions:
        with pytest.raises(SystemExit) as ended:
            cli.main(["serve", *arguments])
        assert ended.value.code == 0
        return found.pop()

    return run


def test_options_come_from_a_file_the_environment_and_the_command_line(options, tmp_path, monkeypatch):
    file = tmp_path / "thalweg.toml"
    file.write_text(
        '[serve]\nlisten = "127.0.0.1:9000"\nmax-rows = 7\nmax-body = 5\ninsecure = true\n'
        'from = ["redis://one/a", "redis://one/b"]\nlog-format = "json"\n'
    )
    monkeypatch.setenv("THALWEG_SERVE_MAX_BODY", "6")
    monkeypatch.setenv("THALWEG_SERVE_MAX_ROWS", "8")
    found = options("--config", str(file), "--max-rows", "9")
    assert (found.listen.port, found.max_rows, found.max_body) == (9000, 9, 6)
    assert (found.insecure, found.sources, found.log_json) == (True, ("redis://one/a", "redis://one/b"), True)
    monkeypatch.setenv("THALWEG_SERVE_CONFIG", str(file))
    monkeypatch.setenv("THALWEG_SERVE_FROM", "redis://two/c")
    found = options()
    assert (found.listen.port, found.max_rows, found.sources) == (9000, 8, ("redis://two/c",))


def test_a_misspelt_variable_is_named_and_those_of_others_are_not(options, monkeypatch, capsys):
    monkeypatch.setenv("THALWEG_SERVE_MAX_ROW", "8")
    monkeypatch.setenv("THALWEG_SERVE_PORT", "tcp://10.0.0.1:80")  # Kubernetes, for a service called thalweg-serve
    monkeypatch.setenv("THALWEG_SERVE_MAX_BODY", "6")
    assert options().max_body == 6
    told = "thalweg: the environment variable THALWEG_SERVE_MAX_ROW is ignored: did you mean THALWEG_SERVE_MAX_ROWS?"
    assert told in capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[serve", "cannot be read"),
        ("listen = 1", "unknown entry 'listen'"),
        ("[serve]\nlisen = 1", "unknown entry 'lisen'"),
        ("[serve]\nfrom = 'redis://one/a'", "from must be a list of texts"),
        ("[serve]\nlisten = ['a']", "listen must be a text"),
        ("[serve]\nmax-rows = 'many'", "'--max-rows'"),
        ("[serve]\nmax-rows = 0", "'--max-rows'"),
    ],
)
def test_a_bad_file_of_options_is_refused_in_one_line(content, told, tmp_path, capsys):
    file = tmp_path / "thalweg.toml"
    file.write_text(content)
    with pytest.raises(SystemExit) as ended:
        cli.main(["serve", "--config", str(file), "--data", str(tmp_path / "data")])
    error = capsys.readouterr().err
    assert (ended.value.code, told in error, error.count("\n")) == (2, True, 1), error


def test_what_is_deployed_names_options_that_exist(options):
    """The files under deploy/ are read as far as that can be done without their programs."""
    yaml = pytest.importorskip("yaml", reason="manifests are YAML")
    assert options("--config", str(DEPLOY / "thalweg.toml")).log_json
    command = cli.parser().commands["serve"]
    known = {f"THALWEG_SERVE_{name.upper()}" for each in command.params if (name := each.name)}
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    service, stateful = yaml.safe_load_all((DEPLOY / "kubernetes" / "thalweg.yaml").read_text())
    container = stateful["spec"]["template"]["spec"]["containers"][0]
    assert {*re.findall(r"THALWEG_SERVE_\w+", dockerfile)} | {each["name"] for each in container["env"]} <= known
    assert options(*container["args"]).trusted_proxy == (ipaddress.ip_network("10.0.0.0/8"),)
    assert service["spec"]["selector"] == stateful["spec"]["template"]["metadata"]["labels"]
    mounted = {each["name"] for each in container["volumeMounts"]}
    spec = stateful["spec"]
    volumes = [*spec["template"]["spec"]["volumes"], *(each["metadata"] for each in spec["volumeClaimTemplates"])]
    assert mounted == {each["name"] for each in volumes}
    assert "--config /etc/thalweg/thalweg.toml" in (DEPLOY / "thalweg.service").read_text()
