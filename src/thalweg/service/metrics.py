"""What a service counts while it runs, and the same in the text format that Prometheus reads.

The format is a handful of lines, so no library writes it. Names end in their unit; what only grows ends in ``_total``.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any, Literal

from thalweg import __version__

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
Labels = Mapping[str, str]
#: Upper ends of the classes of durations, in seconds.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
#: Seconds over which the throughput is told.
_RECENT = 10


@dataclass
class Durations:
    """A histogram: how many took at most so long, the last class being open."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds


@dataclass
class Feed:
    """A stream that is read: whether it could be when it was last tried, and its messages."""

    up: bool = False
    read: int = 0
    refused: int = 0


class Counters:
    """For the event loop only."""

    def __init__(self) -> None:
        #: By kind of request and status.
        self.requests: Counter[tuple[str, int]] = Counter()
        self.durations: dict[str, Durations] = {}
        self.rows = self.labels = self.revisions = 0
        self.feeds: dict[str, Feed] = {}
        self._recent: deque[list[int]] = deque(maxlen=_RECENT + 1)  # seconds and the rows answered in them

    def request(self, kind: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self.requests[kind, status] += 1
        self.durations.setdefault(kind, Durations()).add(seconds)

    def answered(self, rows: int) -> None:
        """So many rows were answered."""
        self.rows += rows
        now = int(time.monotonic())
        if self._recent and self._recent[-1][0] == now:
            self._recent[-1][1] += rows
        else:
            self._recent.append([now, rows])

    @contextmanager
    def feed(self, name: str) -> Iterator[Feed]:
        """A stream that is open, until it is lost."""
        counted = self.feeds.setdefault(name, Feed())
        try:
            yield counted
        finally:
            counted.up = False

    def told(self) -> dict[str, Any]:
        """As plain numbers."""
        return {
            "requests": dict(self.requests),
            "durations": {
                kind: {"counts": list(each.counts), "seconds": each.seconds} for kind, each in self.durations.items()
            },
            "buckets": BUCKETS,
            "rows": self.rows,
            "labels": self.labels,
            "revisions": self.revisions,
            "throughput": self.throughput(),
            "feeds": {name: asdict(feed) for name, feed in self.feeds.items()},
        }

    def throughput(self) -> float:
        """Rows answered a second, over the last ten whole seconds."""
        now = int(time.monotonic())
        return sum(rows for second, rows in self._recent if now - _RECENT <= second < now) / _RECENT


@dataclass(frozen=True, slots=True)
class Sample:
    """One number; what ends its name, and the labels it stands under."""

    value: float
    labels: Labels
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """All numbers of one name."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    samples: list[Sample]

    def lines(self) -> Iterator[str]:
        """As they are written; nothing where there is no number."""
        if self.samples:
            yield f"# HELP {self.name} {self.about}"
            yield f"# TYPE {self.name} {self.kind}"
        for sample in self.samples:
            written = ",".join(f'{key}="{_escaped(value)}"' for key, value in sample.labels.items())
            yield (
                f"{self.name}{sample.suffix}{{{written}}} {_number(sample.value)}"
                if written
                else (f"{self.name}{sample.suffix} {_number(sample.value)}")
            )


def text(counted: Mapping[str, Any]) -> str:
    r"""The whole page.

    Parameters
    ----------
    counted : mapping
        As `Service.counters` gives it.

    Examples
    --------
    >>> durations = {"predict": {"counts": [7, 2, 1], "seconds": 0.5}}
    >>> counted = {"requests": {("predict", 200): 10}, "durations": durations, "buckets": (0.01, 0.1), "rows": 40,
    ...            "labels": 12, "revisions": 1, "commits": 9, "in_work": 2, "queue": {"writer": 1, "learner": 0},
    ...            "ready": True, "started": 1.8e9, "feeds": {}, "models": {}}
    >>> print(*text(counted).splitlines()[:11], sep="\n")
    # HELP thalweg_requests_total Requests answered, by kind and status.
    # TYPE thalweg_requests_total counter
    thalweg_requests_total{kind="predict",status="200"} 10
    # HELP thalweg_request_seconds Time to answer a request, by kind.
    # TYPE thalweg_request_seconds histogram
    thalweg_request_seconds_bucket{kind="predict",le="0.01"} 7
    thalweg_request_seconds_bucket{kind="predict",le="0.1"} 9
    thalweg_request_seconds_bucket{kind="predict",le="+Inf"} 10
    thalweg_request_seconds_sum{kind="predict"} 0.5
    thalweg_request_seconds_count{kind="predict"} 10
    # HELP thalweg_rows_total Rows answered since the start.
    """
    return "".join(f"{line}\n" for family in _families(counted) for line in family.lines())


def _families(counted: Mapping[str, Any]) -> Iterator[Family]:
    models = [({"model": name}, told) for name, told in counted["models"].items()]
    learners = [
        ({**model, "learner": name}, learner) for model, told in models for name, learner in told["learners"].items()
    ]
    yield Family(
        "thalweg_requests_total",
        "counter",
        "Requests answered, by kind and status.",
        [
            Sample(number, {"kind": kind, "status": str(status)})
            for (kind, status), number in counted["requests"].items()
        ],
    )
    yield Family(
        "thalweg_request_seconds",
        "histogram",
        "Time to answer a request, by kind.",
        [
            sample
            for kind, spent in counted["durations"].items()
            for sample in _histogram({"kind": kind}, counted["buckets"], spent["counts"], spent["seconds"])
        ],
    )
    yield _single("thalweg_rows_total", "counter", "Rows answered since the start.", counted["rows"])
    yield _single("thalweg_labels_total", "counter", "Labels learned since the start.", counted["labels"])
    yield _single("thalweg_revisions_total", "counter", "Labels revised since the start.", counted["revisions"])
    yield _single("thalweg_commits_total", "counter", "Commits to the journal since the start.", counted["commits"])
    yield _single("thalweg_requests_in_work", "gauge", "Requests that are being answered.", counted["in_work"])
    yield Family(
        "thalweg_queue_length",
        "gauge",
        "Pieces of work that wait for the writer or the learner.",
        [Sample(length, {"queue": name}) for name, length in counted["queue"].items()],
    )
    yield _single("thalweg_ready", "gauge", "1 while requests are accepted, else 0.", float(counted["ready"]))
    yield _single("thalweg_start_time_seconds", "gauge", "When the service started, since 1970.", counted["started"])
    yield Family("thalweg_info", "gauge", "The version, in a label.", [Sample(1, {"version": __version__})])
    feeds = [({"feed": name}, told) for name, told in counted["feeds"].items()]
    yield _by(feeds, "up", "thalweg_feed_up", "gauge", "1 if a stream could be read when last tried, else 0.")
    yield _by(feeds, "read", "thalweg_feed_messages_total", "counter", "Messages of a stream that were done with.")
    yield _by(feeds, "refused", "thalweg_feed_refused_total", "counter", "Those of them that were refused.")
    yield _by(models, "rows", "thalweg_model_rows_total", "counter", "Rows that a model has answered.")
    yield _by(models, "waiting", "thalweg_model_waiting_rows", "gauge", "Rows whose label may still come.")
    yield _by(
        models,
        "snapshot_age",
        "thalweg_model_snapshot_age_seconds",
        "gauge",
        "Time since the last snapshot of a model.",
    )
    yield _by(learners, "labels", "thalweg_model_labels_total", "counter", "Labels that a model has learned.")
    yield _by(learners, "error", "thalweg_model_error_ratio", "gauge", "Share of wrong answers, over all labels.")
    yield _by(
        learners, "recent", "thalweg_model_recent_error_ratio", "gauge", "Share of wrong answers, over the last labels."
    )
    yield _by(
        learners,
        "no_change",
        "thalweg_model_no_change_error_ratio",
        "gauge",
        "Share of wrong answers that repeating the last label would have given, over the last labels.",
    )
    yield _by(learners, "delay", "thalweg_model_label_delay_seconds", "gauge", "Time from a row to its label, of late.")


def _single(name: str, kind: Literal["counter", "gauge"], about: str, value: float) -> Family:
    return Family(name, kind, about, [Sample(value, {})])


def _by(
    told: Iterable[tuple[Labels, Mapping[str, Any]]],
    field: str,
    name: str,
    kind: Literal["counter", "gauge"],
    about: str,
) -> Family:
    """One number of each; what is not known yet is left out."""
    return Family(name, kind, about, [Sample(each[field], labels) for labels, each in told if each[field] is not None])


def _histogram(labels: Labels, buckets: Iterable[float], counts: list[int], seconds: float) -> Iterator[Sample]:
    """Counts up to each limit, as the format wants them; the last class is open."""
    up_to = list(accumulate(counts))
    for limit, number in zip([*map(_number, buckets), "+Inf"], up_to, strict=True):
        yield Sample(number, {**labels, "le": limit}, "_bucket")
    yield Sample(seconds, labels, "_sum")
    yield Sample(up_to[-1], labels, "_count")


def _number(value: float) -> str:
    """The shortest text that reads as the same number; whole ones without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
