"""The metrics read as Prometheus reads them, and the dashboard asks for none that are not told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from prometheus_client import parser

from thalweg.evaluate.metrics import METRICS
from thalweg.evaluate.number_baselines import NumberBaselines
from thalweg.service.metrics import text

DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana" / "thalweg-serve.json"
UNITS = ("_total", "_seconds", "_ratio", "_rows", "_length", "_in_work", "_info", "_ready", "_up")
#: In units of the loss, which is another one for each kind of model, of labels or of costs.
UNITS = (*UNITS, "_importance", *(f"_{name}" for name, metric in METRICS.items() if metric.form == "amount"))


def page() -> str:
    return text(counted()).decode()


def counted() -> dict[str, Any]:
    """As a service that has a model with a hostile name, and one that has just been made."""
    of_labels = {"model": {"error": 0.125, "recent_error": 0.25}, "no_change": {"error": None, "recent_error": 0.5}}
    learner = {"model_labels_total": 70, "scores": of_labels, "model_label_delay_seconds": 3600.5} | {
        "model_family_weight_ratio": {"linear": 0.75, "tilings": 0.25}
    }
    new = dict.fromkeys(learner) | {"model_labels_total": 0, "scores": {"model": {"error": None, "recent_error": None}}}
    scores = {"mae": 1.5, "recent_mae": 1.25, "coverage": 0.875, "recent_coverage": 0.75, "r2": None}
    of_numbers = {"model": scores} | {name: {"recent_mae": 3.0} for name in NumberBaselines().names}
    return {
        "requests": {("predict", 200): 40, ("label", 429): 2},
        "durations": {
            "predict": {"counts": [30, 9, 1], "seconds": 0.25},
            "label": {"counts": [0, 2, 0], "seconds": 0.01},
        },
        "buckets": (0.001, 0.01),
        "rows_total": 90,
        "labels_total": 70,
        "revisions_total": 1,
        "commits_total": 33,
        "requests_in_work": 3,
        "queue_length": {"writer": 2, "learner": 0},
        "ready": True,
        "start_time_seconds": 1.79e9,
        "info": {"1": 1},
        "feeds": {"redis:rows": {"feed_up": True, "feed_messages_total": 12, "feed_refused_total": 3}},
        "models": {
            'a "rain"\\\n': {
                "model_rows_total": 90,
                "model_waiting_rows": 20,
                "model_snapshot_age_seconds": 12.5,
                "importance": {"price": 0.25, "hour": 0.125},
                "input_changes_total": 3,
                "learners": {"a": learner, "b": learner},
            },
            "numbers": {
                "model_rows_total": 5,
                "model_waiting_rows": 1,
                "model_snapshot_age_seconds": None,
                "importance": {},
                "input_changes_total": 0,
                "learners": {"numbers": new | {"scores": of_numbers}},
            },
            "new": {"model_rows_total": 0, "model_waiting_rows": 0, "model_snapshot_age_seconds": None}
            | {"importance": {}, "input_changes_total": None, "learners": {"new": new}},
        },
    }


def test_prometheus_reads_what_was_counted():
    families = {family.name: family for family in parser.text_string_to_metric_families(page())}
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families.values()
        for sample in family.samples
    }
    assert samples["thalweg_requests_total", ("kind", "label"), ("status", "429")] == 2
    assert samples["thalweg_request_seconds_bucket", ("kind", "predict"), ("le", "0.01")] == 39
    assert samples["thalweg_request_seconds_bucket", ("kind", "predict"), ("le", "+Inf")] == 40
    assert samples["thalweg_request_seconds_count", ("kind", "predict")] == 40
    assert samples["thalweg_model_waiting_rows", ("model", 'a "rain"\\\n')] == 20
    for predictor, error in (("model", 0.25), ("no_change", 0.5)):
        of = ("learner", "b"), ("model", 'a "rain"\\\n'), ("predictor", predictor)
        assert samples["thalweg_model_recent_error_ratio", *of] == error
    family = ("thalweg_model_family_weight_ratio", ("family", "tilings"), ("learner", "b"), ("model", 'a "rain"\\\n'))
    assert samples[family] == 0.25
    assert samples["thalweg_model_labels_total", ("learner", "new"), ("model", "new")] == 0
    of_new = ("learner", "new"), ("model", "new"), ("predictor", "model")
    assert ("thalweg_model_error_ratio", *of_new) not in samples  # not known is not zero
    of_numbers = ("learner", "numbers"), ("model", "numbers"), ("predictor", "model")
    assert samples["thalweg_model_recent_mae", *of_numbers] == 1.25
    assert samples["thalweg_model_coverage_ratio", *of_numbers] == 0.875
    assert not {("thalweg_model_recent_error_ratio", *of_numbers), ("thalweg_model_r2_ratio", *of_numbers)} & set(
        samples
    )
    assert samples["thalweg_importance", ("column", "price"), ("model", 'a "rain"\\\n')] == 0.25
    assert samples["thalweg_input_changes_total", ("model", 'a "rain"\\\n')] == 3
    assert samples["thalweg_queue_length", ("queue", "writer")] == 2
    assert samples["thalweg_feed_up", ("feed", "redis:rows")] == 1
    assert families["thalweg_request_seconds"].type == "histogram"
    assert all(family.documentation for family in families.values())


def test_every_name_says_its_unit_and_comes_once():
    names = re.findall(r"^# TYPE (\S+) \w+$", page(), flags=re.MULTILINE)
    assert len(names) == len(set(names)) > 15
    assert not [name for name in names if not name.endswith(UNITS)]


def test_the_dashboard_asks_only_for_what_is_told():
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    queries += [each["query"]["query"] for each in board["templating"]["list"] if each["type"] == "query"]
    asked = {name for query in queries for name in re.findall(r"\bthalweg_\w+", query)}
    told = {line.split(" ")[0].split("{")[0] for line in page().splitlines() if not line.startswith("#")}
    assert len(asked) >= 12
    assert asked <= told
    by_labels = {
        label for query in queries for part in re.findall(r"by \(([^)]*)\)", query) for label in part.split(", ")
    }
    assert by_labels <= {"kind", "status", "le", "queue"}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    cells = [
        (panel["gridPos"]["y"] + row, panel["gridPos"]["x"] + column)
        for panel in board["panels"]
        for row in range(panel["gridPos"]["h"])
        for column in range(panel["gridPos"]["w"])
    ]
    assert len(cells) == len(set(cells)), "panels lie on one another"
