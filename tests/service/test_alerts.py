"""Alerts of a service: posted, signed, tried again, never in the way; and the same rules for Prometheus."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.service.in_process import with_service
from tests.service.server import Server
from tests.service.test_column_watch import DENSE, MOVED, ROWS, created, events_of, rows_and_labels
from tests.waiting import wait_until
from thalweg import cli
from thalweg.errors import InvalidParameter
from thalweg.service.alerts import ServiceAlerts, service_rules
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.options import ServeOptions
from thalweg.service.service import Service
from thalweg.service.webhook import MOST_WAITING, Webhook, read_secret

SECRET = b"known to both of them"


class Receiver(ThreadingHTTPServer):
    """Answers with these statuses, then with 204; keeps what came."""

    daemon_threads = True

    def __init__(self, *statuses: int) -> None:
        self.statuses, self.posts = list(statuses), []
        self.silent = threading.Event()
        self.silent.set()
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts.append((dict(self.headers), body))
        self.server.silent.wait(30)
        status = self.server.statuses.pop(0) if self.server.statuses else 204
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiving() -> Iterator[Callable[..., Receiver]]:
    opened: list[Receiver] = []

    def begin(*statuses: int) -> Receiver:
        opened.append(Receiver(*statuses))
        return opened[-1]

    yield begin
    for each in opened:
        each.silent.set()
        each.shutdown()
        each.server_close()


def is_signed(headers: dict[str, str], body: bytes) -> bool:
    """As a receiver checks it, by the documentation."""
    parts = dict(part.split("=", 1) for part in headers["Thalweg-Signature"].split(","))
    expected = hmac.new(SECRET, parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, parts["v1"]) and abs(time.time() - int(parts["t"])) < 300


def test_posts_are_signed_and_tried_again_under_one_name(receiving: Callable[..., Receiver]) -> None:
    receiver = receiving(503, 429)
    hook = Webhook(receiver.url, SECRET, first_pause=0.01)
    hook.start()
    hook.put({"rule": "error>0.2", "value": 0.25})
    wait_until(lambda: hook.counts["delivered"])
    hook.stop()
    assert len(receiver.posts) == 3
    assert len({headers["Thalweg-Delivery"] for headers, _ in receiver.posts}) == 1
    for headers, body in receiver.posts:
        assert is_signed(headers, body)
        assert not is_signed(headers, body + b" ")
        assert json.loads(body) == {"rule": "error>0.2", "value": 0.25}


@pytest.mark.parametrize("status", [400, 302])
def test_a_refusal_is_final_and_redirects_are_not_followed(receiving: Callable[..., Receiver], status: int) -> None:
    receiver = receiving(status)
    hook = Webhook(receiver.url, SECRET, first_pause=0.01)
    hook.start()
    hook.put({})
    wait_until(lambda: hook.counts["failed"])
    hook.put({})
    wait_until(lambda: hook.counts["delivered"])
    hook.stop()
    assert len(receiver.posts) == 2


def test_a_receiver_that_is_silent_holds_up_nobody(receiving: Callable[..., Receiver]) -> None:
    receiver = receiving()
    receiver.silent.clear()
    hook = Webhook(receiver.url, SECRET)
    hook.start()
    hook.put({"at": -1})
    wait_until(lambda: receiver.posts)
    for at in range(MOST_WAITING + 5):
        hook.put({"at": at})
    assert hook.counts["dropped"] == 5
    receiver.silent.set()
    wait_until(lambda: hook.counts["delivered"] == MOST_WAITING + 1)
    hook.stop()


def test_a_service_posts_when_its_error_rises(
    receiving: Callable[..., Receiver], start: Callable[..., Server], tmp_path: Path
) -> None:
    receiver = receiving(500)
    (tmp_path / "secret").write_bytes(SECRET + b"\n")
    hook = ("--alert-webhook", receiver.url, "--alert-secret-file", str(tmp_path / "secret"))
    server = start("--new", "majority", "--alert", "error>0.3", "--alert", "error>0.9 for 50 rows", *hook)
    client = server.client()

    def learn(label: str, rows: int) -> None:
        answers = client.predict([{"a": float(at)} for at in range(rows)])
        client.label([(answer["id"], label) for answer in answers])

    learn("calm", 150)
    assert not receiver.posts
    learn("storm", 140)
    wait_until(lambda: len(receiver.posts) == 2)
    headers, body = receiver.posts[-1]
    alert = json.loads(body)
    assert is_signed(headers, body)
    assert (alert["rule"], alert["model"]) == ("error>0.3", "default")
    assert alert["value"] > 0.3
    learn("storm", 5)
    metrics = client.get("/metrics").decode()
    assert 'thalweg_alerts_total{rule="error>0.3"} 1.0' in metrics
    assert 'thalweg_alert_posts_total{outcome="delivered"} 1.0' in metrics
    server.stop()


def test_rules_for_prometheus_name_gauges_of_the_service(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    from thalweg.service import metrics

    file = tmp_path / "rules.yml"
    rules = ["error>0.2", "recall<0.5", "precision<=0.1", "mae>3", "rmse>=1e3", "coverage<0.8"]
    given = [part for rule in [*rules, 'input_drift(a "b")'] for part in ("--alert", rule)]
    with pytest.raises(SystemExit) as ended:
        cli.main(["serve", "--prometheus-rules", str(file), "--keep", "20GB", *given])
    assert not ended.value.code
    [group] = yaml.safe_load(file.read_text())["groups"]
    exposed = {f"thalweg_{name}" for name in metrics.ABOUT}
    of_events, *of_service = group["rules"][len(rules) :]
    rule = '{rule="input_drift(a \\"b\\")"}'
    assert (of_events["alert"], of_events["expr"]) == (
        "ThalwegInputDrift",
        f"increase(thalweg_alerts_total{rule}[1h]) > 0",
    )
    names = ["NotReady", "JournalNotWritable", "Drift", "Queue", "DiskFull", "JournalSize"]
    assert [rule["alert"] for rule in of_service] == [f"Thalweg{name}" for name in names]
    for rule in of_service:
        [metric] = re.findall("thalweg_[a-z_]+", rule["expr"])
        assert metric in exposed
    assert of_service[-1]["expr"] == "thalweg_journal_size_bytes > 24000000000"
    for rule, text in zip(group["rules"], rules, strict=False):
        gauge, comparison, bound = rule["expr"].split()
        assert gauge.removesuffix('{predictor="model"}') in exposed
        assert text.startswith(rule["alert"].removeprefix("Thalweg").lower())
        assert text.endswith(comparison + text.split(comparison)[1])
        assert float(bound) == float(text.split(comparison)[1])


def test_rules_of_events_fire_once_for_each_event_and_not_again_after_a_restart() -> None:
    rows, _ = rows_and_labels()
    rows = [{name: row[name] for name in ("price", "hour", "city", "shop")} for row in rows]
    rows[4000]["city"] = "Rome"
    at, rng = np.arange(ROWS), np.random.default_rng(2)
    labels = np.where(rng.random(ROWS) < np.where(at < 3500, 0.8, 0.3), "high", "low")
    wrong = rng.random(ROWS) < np.where(at < 4200, 0.05, 0.5)
    predicted = np.where(wrong, np.where(labels == "high", "low", "high"), labels)
    expected = {
        "input_drift": ["city", "hour", "shop"],
        "input_drift(city)": ["city"],
        "input_drift(nothing)": [],
        "missing(hour)>0.1": [""],
        "missing(hour)>0.1 for 5000 rows": [],
        "new_category(city)": ["city"],
        "prediction_drift": ["prediction"],
        "label_drift": ["label"],
        "error_rise": [""],
    }
    fired: list[dict[str, Any]] = []
    model, rules = created(DENSE, "majority"), service_rules(list(expected))
    alerts = ServiceAlerts(rules, fired.append, [model.publish()])
    events = events_of(DENSE, rows, labels.tolist(), predicted.tolist(), late=2)
    for begin in range(0, len(events), 7):
        model.take(events[begin : begin + 7])
        alerts.check(model.publish())
        if begin == 35:  # before anything happens
            model = LiveModel.from_snapshot(model.snapshot())
            alerts = ServiceAlerts(rules, fired.append, [model.publish()])
    assert {
        rule: sorted(each.get("column", "") for each in fired if each["rule"] == rule) for rule in expected
    } == expected
    first = {each["rule"]: each for each in fired}
    assert first["new_category(city)"]["row"] == 4001
    assert first["new_category(city)"]["what"] == "Rome"
    changed = {"input_drift(city)": MOVED, "label_drift": 3500, "prediction_drift": 3500, "error_rise": 4200}
    for rule, row in changed.items():
        assert abs(first[rule]["row"] - row) < 150
        assert isinstance(first[rule]["seen"], float)
    assert first["missing(hour)>0.1"]["value"] > 0.1
    again: list[dict[str, Any]] = []
    ServiceAlerts(rules, again.append, [model.publish()]).check(model.publish())
    assert {each["rule"] for each in again} == {"missing(hour)>0.1"}  # what happened before is not told again


def test_what_a_service_cannot_do_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="--alert must"):
        service_rules(["error>0.2 over 10 rows"])
    with pytest.raises(InvalidParameter, match="--alert must"):
        service_rules(["mistakes>0.2"])
    with pytest.raises(InvalidParameter, match="THALWEG_ALERT_SECRET"):
        read_secret(None, {})
    with pytest.raises(InvalidParameter, match="16 bytes"):
        read_secret(None, {"THALWEG_ALERT_SECRET": "short"})
    with pytest.raises(InvalidParameter, match="cannot be read"):
        read_secret(tmp_path / "nowhere")
    with pytest.raises(InvalidParameter, match="--alert-webhook must"):
        Webhook("ftp://example.org", SECRET)


def test_a_model_that_was_rolled_back_is_judged_by_a_hundred_labels_of_its_own(tmp_path: Path) -> None:
    async def scenario(service: Service) -> None:
        async def teach(rows: int, turned: bool) -> None:
            signs = [1.0, -1.0] * (rows // 2)
            asked = await service.predict("default", [{"x": sign} for sign in signs])
            labels = [(f"{asked.seq}-{at}", "up" if (sign > 0) != turned else "down") for at, sign in enumerate(signs)]
            await service.label("default", labels)

        await teach(120, turned=False)
        await service.decisions.name_version("default", "good")
        await service.decisions.roll_back("default", "good", None)
        await teach(80, turned=True)
        assert service.models.state("default").learners["default"].view.recent["model"]["error"] > 0.2
        assert service._alerts.fired == {"error>0.2": 0}
        await teach(40, turned=True)
        assert service._alerts.fired == {"error>0.2": 1}

    with_service(tmp_path, scenario, ServeOptions(new="majority", alert=("error>0.2",)))
