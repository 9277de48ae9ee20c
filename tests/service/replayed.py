"""A service made of a script: it tells courses as the real one does, and points come when a test says so."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.waiting import PATIENCE, wait_until

BEGIN = 1.79e9  # a day in September 2026


def point(labels: int, classes: tuple[str, ...] = ("dry", "wet"), means: bool = True) -> dict[str, Any]:
    """How a model stood after so many labels: it errs more after each change, every 4,000 labels."""
    since = labels % 4000
    noise = math.sin(labels * 12.9898) * 0.012
    memory = {
        label: min(labels + 1.0, 180.0 + 60.0 * at + 40.0 * math.sin(labels / 700)) for at, label in enumerate(classes)
    }
    turn = labels / 3000
    of_positive = {"pr_auc": 0.4 + 0.1 * math.sin(labels / 900), "roc_auc": 0.9} | {
        "recall": 0.5,
        "precision": 0.6,
        "cost": 0.2 + labels / 1e5,
    }
    return {
        "time": BEGIN + 0.9 * labels,
        "labels": labels,
        "scores": {
            "model": {"error": max(0.02, 0.09 + 0.2 * math.exp(-since / 500) + noise)} | (of_positive if means else {}),
            "no_change": {"error": max(0.05, 0.31 + 0.02 * math.sin(labels / 900) + noise)},
        },
        "rate": 0.05 + 0.1 * math.exp(-since / 300),
        "memory": memory,
        "half_life": {label: rows * math.log(2) for label, rows in memory.items()},
        "waiting": 40 + int(25 * math.sin(labels / 500)) + labels // 300,
        "delay": 3600 * (1.5 + math.sin(labels / 1500)),
        "family_weights": {
            "linear": 0.3 + 0.2 * math.sin(labels / 900),
            "kernel": 0.1,
            "tilings": 0.6 - 0.2 * math.sin(labels / 900),
        }
        if means
        else None,
        "means": {
            label: {"load": 2.0 * math.cos(turn + at) + at, "price": 1.5 * math.sin(turn + at)}
            for at, label in enumerate(classes)
        }
        if means
        else None,
    }


def number_point(labels: int) -> dict[str, Any]:
    """The same of a model that predicts numbers."""
    found = point(labels, classes=(), means=False)
    share, still = (found["scores"][name]["error"] for name in ("model", "no_change"))
    error = 12.0 * share
    scores = {
        "model": {"mae": error, "rmse": 1.3 * error, "r2": 0.8, "skill": 0.7, "coverage": 0.9 + share / 20}
        | {"mean_width": 4.0 * error},
        "last_value": {"mae": 9.0 * still},
        "running_mean": {"mae": 3.5},
        "running_median": {"mae": 3.6},
    }
    weights = {"least squares": 0.5, "tilings": 0.5}
    return found | {"rate": None, "scores": scores, "family_weights": weights}


def last_predictions(labels: int) -> dict[str, list[float]]:
    number = np.arange(max(labels - 199, 1), labels + 1)
    target = 20 + 8 * np.sin(number / 15) + 2 * np.sin(number * 12.9898)
    prediction, half = 20 + 8 * np.sin(number / 15), 2.2 + np.sin(number / 40)
    columns = {"number": number, "target": target, "prediction": prediction}
    return {
        key: values.tolist()
        for key, values in (columns | {"lower": prediction - half, "upper": prediction + half}).items()
    }


def course(name: str, points: list[dict[str, Any]], rows: int | None = None) -> dict[str, Any]:
    """As the service tells it."""

    def columns(values: list[Any]) -> Any:
        known = [value for value in values if value is not None]
        if not known:
            return None
        if not isinstance(known[0], dict):
            return values
        keys = dict.fromkeys(key for value in known for key in value)
        return {key: columns([None if value is None else value.get(key) for value in values]) for key in keys}

    by_name = ("memory", "half_life", "means", "family_weights", "scores")
    fields = ("time", "labels", "rate", "waiting", "delay", *by_name)
    told = {field: columns([each.get(field) for each in points]) or ([] if not points else None) for field in fields}
    labels = points[-1]["labels"] if points else 0
    changes = [{"time": BEGIN + 0.9 * at, "labels": at} for at in range(4000, labels, 4000)]
    waiting = points[-1]["waiting"] if points else (rows or 0)
    regression = bool(points and "last_value" in points[0]["scores"])
    return {
        "task": "regression" if regression else "classification",
        "coverage": 0.9 if regression else None,
        "predictions": last_predictions(labels) if regression else None,
        "name": name,
        "rows": labels + waiting if rows is None else rows,
        "labels": labels,
        "waiting": waiting,
        "version": labels,
        "throughput": 1.14,
        "points": told | {field: told[field] or {} for field in ("memory", "half_life")},
        "changes": changes,
    }


IMPORTANCE = {
    "model": "rain",
    "loss": "log-loss",
    "label": "wet",
    "every": 435,
    "labels": [64, 4000, 8000],
    "columns": [
        {"name": f"column {at}", "increase": 0.4 / (1 + at), "standard_error": 0.01 if at else None, "effect": 0.1}
        | {"increases": [0.1, 0.2, 0.3], "effects": [0.1, None, 0.1]}
        for at in range(11)
    ],
    "columns_left_out": 0,
    "changes": [
        {"labels": 4132, "column": "column 0", "what": "reversed", "before": 0.2, "after": -0.2, "error_changed": True}
    ],
}
INPUTS = {
    "model": "rain",
    "rows": 14_000,
    "columns": [],
    "changes": [
        {"column": "city", "row": 3491, "found": 3712, "what": "category Oslo", "before": 0.2, "after": 0.5},
        {"column": "level", "row": 6001, "found": 6272, "what": "mean", "before": 12.2, "after": None},
    ],
    "changes_left_out": 0,
    "not_watched": ["clock"],
    "outcomes": [
        {"name": "prediction", "kind": "category", "rows": 14_000, "then": {}, "now": {}, "changes_left_out": 0}
        | {"changes": []},
        {"name": "label", "kind": "category", "rows": 13_900, "then": {}, "now": {}, "changes_left_out": 0}
        | {
            "changes": [
                {"column": "label", "row": 7001, "found": 7232, "what": "category wet"} | {"before": 0.2, "after": 0.4}
            ]
        },
    ],
    "causes": [
        {"labels": 4125, "row": 4130, "cause": "concept", "columns": [], "short": True, "alike": None}
        | {"changed": [{"column": "city", "row": 4300, "when": "after"}]},
        {
            "labels": 6003,
            "row": 6010,
            "cause": "inputs",
            "columns": ["level"],
            "short": False,
            "alike": {"rows": 57, "before": 0.08, "after": 0.09},
            "changed": [{"column": "level", "row": 6001, "when": "with"}],
        },
    ],
}


class Replayed:
    """What the service knows; tests change it while it runs."""

    def __init__(self) -> None:
        every = np.linspace(25, 14_000, 320).astype(int).tolist()
        self.courses = {"rain": [point(at) for at in every], "flood": [point(at, means=False) for at in every[:90]]}
        self.rows: dict[str, int] = {}
        self.compared: dict[str, Any] | None = {
            "champion": "rain",
            "challenger": "rain-auto",
            "labels": 3120,
            "difference": 0.021,
            "interval": [0.004, 0.038],
            "level": 0.95,
            "winner": "challenger",
        }
        self.token: str | None = None
        self.away = False
        self.asked: list[str] = []
        self.resumed: list[str | None] = []

    def add(self, name: str, labels: int) -> None:
        """A point has come; whoever listens will hear of it."""
        if course(name, self.courses[name])["task"] == "regression":
            self.courses[name].append(number_point(labels) | {"predictions": last_predictions(labels)})
        else:
            self.courses[name].append(point(labels))

    def app(self) -> Any:
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import JSONResponse, Response, StreamingResponse
        from starlette.routing import Route

        from thalweg.service.http.app import Application
        from thalweg.service.page import routes

        def refused(request: Request) -> Response | None:
            self.asked.append(request.url.path)
            if self.away:
                return JSONResponse({"error": "the service is starting"}, 503)
            if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
                return JSONResponse({"error": "a token is needed"}, 401)
            return None

        async def models(request: Request) -> Response:
            listed = [
                {
                    "name": name,
                    "archived": False,
                    "error": next(iter(points[-1]["scores"]["model"].values())) if points else None,
                    "task": course(name, points)["task"],
                }
                for name, points in self.courses.items()
            ]
            if self.compared:
                listed.append({"name": self.compared["challenger"], "challenger_of": self.compared["champion"]})
            return refused(request) or JSONResponse({"models": listed})

        async def told(request: Request) -> Response:
            name = request.path_params["name"]
            return refused(request) or JSONResponse(course(name, self.courses[name], self.rows.get(name)))

        async def importance(request: Request) -> Response:
            return refused(request) or JSONResponse(IMPORTANCE)

        async def inputs(request: Request) -> Response:
            return refused(request) or JSONResponse(INPUTS)

        async def compare(request: Request) -> Response:
            return refused(request) or JSONResponse(self.compared)

        async def events(request: Request) -> Response:
            points = self.courses[request.path_params["name"]]
            self.resumed.append(request.headers.get("Last-Event-ID"))

            async def lines() -> AsyncIterator[str]:
                yield ": here\n\n"
                sent = len(points)
                while not self.away:
                    for each in points[sent:]:
                        yield f"event: point\nid: {each['labels']}\ndata: {json.dumps(each)}\n\n"
                    sent = len(points)
                    await asyncio.sleep(0.02)

            return refused(request) or StreamingResponse(lines(), media_type="text/event-stream")

        here = "/v1/models/{name}"
        told_by = {"course": told, "compare": compare, "events": events, "importance": importance, "inputs": inputs}
        spoken = [Route("/v1/models", models), *(Route(f"{here}/{what}", act) for what, act in told_by.items())]
        return Application({}, Starlette(routes=[*routes(), *spoken]))


@contextmanager
def listening(app: Any) -> Iterator[str]:
    """Serve an app on a free loopback port; its address."""
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive())
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
