from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment
from tests.examples import examples
from tests.sample_metrics import sample_metrics

from thalweg.errors import MissingExtra
from thalweg.report.page import build, require_jinja
from thalweg.report.page.page import _template, merged_confusion
from thalweg.report.page.verdict import findings, headline, standing, tone
from thalweg.report.run_figures import figures

VOID = {"meta", "link", "br", "col"}
#: Addresses that name something and load nothing: a namespace, and where the chart library comes from.
NAMES_ONLY = {"http://www.w3.org/2000/svg", "https://github.com/leeoniya/uPlot"}


class Outline(HTMLParser):
    """A page's elements in order, and the texts and scripts it holds; elements that do not nest are an error."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.ids: list[str] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        given = dict(attrs)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        self.links += [str(given[name]) for name in ("src", "href", "action", "srcset") if name in given]
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def test_it_holds_every_part_and_says_what_happened() -> None:
    page = Outline(build(sample_metrics()))
    parts = "theme verdict scores error changes rate memory members means predictions rows columns model run data"
    assert " ".join(page.ids) == parts
    better = "Better than no-change, the best baseline: error 10.0 %, 10.0 fewer mistakes in 100 rows."
    assert f"{better} Labels came 10 rows late." in page.text
    assert "10.0 % of 6,000 rows wrong" in page.text
    assert "(95 % interval: 8.0 to 12.0 fewer), and 30.0 fewer than majority" in page.text
    assert "thalweg run data/river.csv.gz --target state" in page.text
    assert "what every score counts; labels came 10 rows late" in page.text
    assert "Permission is hereby granted" in page.text  # uPlot's notice goes where uPlot goes


def test_it_loads_nothing_and_runs_only_its_own_scripts() -> None:
    html = build(sample_metrics())
    page = Outline(html)
    assert set(re.findall(r"https?://[\w./-]+", html)) == NAMES_ONLY
    assert all(link.startswith("data:") for link in page.links)
    data, *scripts = page.scripts
    assert json.loads(data)["charts"]
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    hashes = [f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts]
    assert (
        policy == f"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src {' '.join(hashes)}"
    )


def test_it_is_small_and_always_the_same() -> None:
    metrics = sample_metrics(
        600,
        {
            "labels": [f"class {place}" for place in range(40)],
            "members": [f"member {place}" for place in range(40)],
            "features": ["a", "b", "c", "d"],
        },
    )
    html = build(metrics)
    assert len(html.encode()) < 400_000
    assert build(json.loads(json.dumps(metrics))) == html


TEXTS = st.one_of(
    st.sampled_from(
        [
            "</script><b>",
            "<!--<script>",
            "\"'><img src=x onerror=alert(1)>",
            "]]>",
            "{{ run }}",
            "{% endif %}",
            "&lt;",
            " ",
        ]
    ),
    st.text(min_size=1, max_size=12),
)


@examples(40)
@given(
    texts=st.lists(TEXTS, min_size=5, max_size=5),
    distinct=st.lists(TEXTS.filter(bool), min_size=8, max_size=8, unique=True),
)
def test_no_name_changes_the_page_it_stands_in(texts: list[str], distinct: list[str]) -> None:
    names = dict(zip(("source", "target", "title", "column", "text"), texts, strict=True))
    lists = {"labels": distinct[:3], "members": distinct[3:6], "features": distinct[6:]}
    page = Outline(build(sample_metrics(20, {**names, **lists})))
    plain = Outline(build(sample_metrics(20)))
    assert page.elements == plain.elements
    assert page.scripts[1:] == plain.scripts[1:]
    lines = {
        chart["key"]: [line["name"] for line in chart["lines"][0]] for chart in json.loads(page.scripts[0])["charts"]
    }
    assert lines["memory"] == lists["labels"]
    assert lines["members"] == lists["members"]


def test_the_compiled_template_is_kept_and_a_damaged_one_does_no_harm(tmp_path, monkeypatch) -> None:
    metrics = sample_metrics(0)
    page = build(metrics)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for damage in (None, 0, 40, 2000):
        for kept in tmp_path.rglob("*.page"):
            kept.write_bytes(kept.read_bytes()[:damage])
        _template.cache_clear()
        assert build(metrics) == page
        [kept] = tmp_path.rglob("*.page")
        assert kept.stat().st_size > 2000
    monkeypatch.setattr(Environment, "compile", None)  # from here on it is read
    _template.cache_clear()
    assert build(metrics) == page


def test_what_a_run_has_not_is_left_out() -> None:
    metrics = sample_metrics()
    metrics["course"].update(rate=None, effective_rows=None, weights=None, means=None)
    metrics.update(calibration=None, changes=[])
    page = Outline(build(metrics))
    assert not {"rate", "memory", "members", "means"} & set(page.ids)
    assert "None: the error showed no lasting change beyond chance." in page.text
    assert "Calibration" not in page.text


def test_a_memory_that_is_not_kept_by_class_is_one_line() -> None:
    metrics = sample_metrics()
    metrics["course"]["effective_rows"] = {"all rows": metrics["course"]["rate"]}
    page = Outline(build(metrics))
    [memory] = [chart for chart in json.loads(page.scripts[0])["charts"] if chart["key"] == "memory"]
    assert (memory["title"], [line["name"] for line in memory["lines"][0]], len(memory["views"][0])) == (
        "Memory",
        ["all rows"],
        1,
    )
    assert "most frequent of" not in page.text


def test_changes_that_are_not_listed_are_counted() -> None:
    metrics = sample_metrics()
    assert "The error changed twice. Charts over time mark these moments." in Outline(build(metrics)).text
    assert "2,100 2,190 10.0 % 30.0 % 20.0 %" in Outline(build(metrics).replace("</t", " </t")).text
    metrics["changes_left_out"] = 5
    page = Outline(build(metrics)).text
    assert "The error changed 7 times." in page
    assert "Of 7 changes, the largest and the latest 2 are listed." in page


def test_a_short_rise_is_not_denied() -> None:
    """Page's test finds rises that ADWIN, whose changes are lasting, does not."""
    metrics = sample_metrics() | {"changes": []}
    rise = {"row": 900, "at": 900, "found_at": 911, "before": 0.1, "after": 1.0, "short": True}
    cause = rise | {"columns": [], "changed": [], "cause": "concept"}
    drift = {"columns": [], "changes": [], "not_watched": [], "predictions": [], "targets": []}
    drift["targets"] = [{"name": "target", "kind": "category", "changes": [], "then": _EMPTY, "now": _EMPTY}]
    page = Outline(build(metrics | {"inputs": drift | {"causes": [cause]}})).text
    assert "The error showed no lasting change beyond chance. It rose for a short time once: see Inputs." in page
    assert "The error rose at row 900 for a short time from 10.0 % to 100.0 % over 12 rows" in page


_EMPTY: dict[str, Any] = {"missing": 0.0, "shares": {}}


def test_with_times_rows_have_dates() -> None:
    """Days of 100 rows: in the change table, below the charts, and for the script; without times rows stay numbers."""
    metrics = sample_metrics()
    rows = [1, *metrics["curve"]["rows"]]
    times = [1_704_067_200 + 864 * (row - 1) for row in rows]
    points = {"labels": rows, "rows": rows, "times": times}
    page = Outline(build(metrics | {"times": {"column": "when", "kind": "time", **points}}).replace("</t", " </t"))
    change = metrics["changes"][0]
    minute = str(datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=864 * (change["row"] - 1)))[:16]
    assert f"{minute} {change['row']:,} 2024-01-22 21:21 10.0 %" in page.text
    data = json.loads(page.scripts[0])
    assert (data["times"]["name"], data["times"]["isTime"], data["times"]["digits"]) == ("when", True, 16)
    assert (data["times"]["rows"][-1], data["times"]["times"][-1]) == (rows[-1], times[-1])
    assert page.text.count("when row") > 4  # the headers of the tables below charts
    counter = Outline(
        build(metrics | {"times": {"column": "step", "kind": "counter", **points}}).replace("</t", " </t")
    )
    assert f"{times[rows.index(change['row'])]:,} {change['row']:,} " in counter.text


def test_a_run_without_any_label_has_a_page_too() -> None:
    metrics = sample_metrics(0)
    unknown: dict[str, Any] = {"error": None, "recent_error": None, "kappa": None, "kappa_temporal": None}
    metrics["scores"] = dict.fromkeys(metrics["scores"], unknown)
    none = {"difference": None, "low": None, "high": None, "level": 0.95, "blocks": 0, "block_rows": 1}
    metrics["verdict"] = {"no_change": {"error": none}, "majority": {"error": none}}
    metrics["confusion"] = {"classes": [], "counts": [], "unpredicted": 0}
    page = Outline(build(metrics))
    assert "No row had a label that could be compared, so nothing can be said." in page.text
    assert "There were too few rows for a curve." in page.text


ENDS = st.floats(-1.0, 1.0)


@given(
    no_change=st.tuples(ENDS, ENDS), majority=st.tuples(ENDS, ENDS), harder=st.sampled_from(["no_change", "majority"])
)
def test_the_verdict_is_as_sure_as_the_interval_beside_the_harder_baseline(
    no_change: tuple[float, float], majority: tuple[float, float], harder: str
) -> None:
    metrics = sample_metrics(10)
    metrics["run"]["options"]["delay"] = 0
    metrics["scores"][harder]["error"] = 0.15  # the other's is 0.2 or 0.4
    for name, ends in (("no_change", no_change), ("majority", majority)):
        low, high = sorted(ends)
        metrics["verdict"][name]["error"].update(low=low, high=high, difference=(low + high) / 2)
    low, high = sorted(no_change if harder == "no_change" else majority)
    said = headline(metrics)  # type: ignore[arg-type]
    assert f"{harder.replace('_', '-')}, the best baseline" in said
    assert "error 10.0\N{NO-BREAK SPACE}%" in said
    assert said.startswith("Better") == (high < 0)
    assert said.startswith("Worse") == (low > 0)
    assert ("fewer" in said) == (high < 0)
    assert ("more" in said) == (low > 0)
    assert (tone(metrics) == "worse") == (low > 0)  # type: ignore[arg-type]
    advice = findings(metrics)[2:]  # type: ignore[arg-type]
    assert bool(advice) == (max(no_change) >= 0 or max(majority) >= 0)


def test_without_an_interval_nothing_is_claimed() -> None:
    metrics = sample_metrics(1)
    metrics["verdict"]["no_change"]["error"].update(low=None, high=None)
    assert standing(metrics["verdict"]["no_change"]["error"]) == "unknown"
    said = headline(metrics)  # type: ignore[arg-type]
    assert said.startswith("Too few rows to distinguish it from no-change, the best baseline: error 10.0")


@given(classes=st.integers(1, 40), seed=st.integers(0, 1000))
def test_rare_classes_are_merged_and_no_row_is_lost(classes: int, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 99, (classes, classes))
    metrics: Any = {"confusion": {"classes": [str(place) for place in range(classes)], "counts": counts.tolist()}}
    names, merged = merged_confusion(metrics)
    assert len(names) == len(merged) == min(classes, 16)
    assert np.sum(merged) == counts.sum()
    assert np.trace(merged) >= np.trace(counts)
    for name, line in zip(names, merged, strict=True):
        if not name.endswith("others"):
            assert sum(line) == counts[int(name)].sum()


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_stands_out_from_its_ground_in_light_and_dark() -> None:
    html = build(sample_metrics(1))
    themes = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r"{([^{}]*--ground:[^{}]*)}", html)
    ]
    assert len(themes) == 3
    assert themes[1] == themes[2]  # dark by the system's wish, and by the button
    for theme in themes:
        for ground in ("ground", "raised"):
            for ink in ("ink", "soft", "better", "worse"):
                darker, lighter = sorted((luminance(theme[ground]), luminance(theme[ink])))
                assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (ground, ink)
        for line in ("model", "no-change", "majority", *(f"c{place}" for place in range(8))):
            darker, lighter = sorted((luminance(theme["ground"]), luminance(theme[line])))
            assert (lighter + 0.05) / (darker + 0.05) >= 2.0, line


@pytest.mark.slow
def test_the_figures_are_written_as_files(tmp_path: Path) -> None:
    names = {"labels": ["$x$", "_hidden", "流"], "members": ["$", "_", "a\nb"], "title": "_$"}
    written = figures(sample_metrics(30, names), tmp_path / "figures")
    stems = {"error", "rate", "memory", "members", "means", "confusion", "calibration"}
    assert {path.stem for path in written} == stems
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert all(path.stat().st_size > 1000 for path in written)


def test_without_jinja_no_run_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(MissingExtra, match=r"thalweg\[files\]"):
        require_jinja()


def test_without_matplotlib_no_figure_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"thalweg\[plot\]"):
        figures(sample_metrics(), tmp_path / "figures")
    assert not list(tmp_path.iterdir())
