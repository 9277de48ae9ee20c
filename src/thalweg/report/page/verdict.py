"""The top of a page: what to make of the run, before any chart."""

from __future__ import annotations

from thalweg.report.page.content import Difference, Known, Metrics, Score
from thalweg.report.page.markup import Markup, joined, tag
from thalweg.report.page.numbers import percent, plain
from thalweg.report.page.words import findings, fine_print, headline, interval, lately, standing, tone


def verdict(metrics: Metrics) -> Markup:
    """Headline, findings, and the differences with their intervals."""
    run, differences = metrics["run"], metrics["verdict"]
    named = metrics["model"]["name"]
    what = tag("b", run["source"]), " · label ", tag("b", run["target"]), " · model ", tag("b", named)
    words = [tag("p", finding, class_="opening" if at == 0 else None) for at, finding in enumerate(findings(metrics))]
    note = fine_print(metrics)
    return tag(
        "section",
        tag("p", *what, class_="eyebrow"),
        tag("h1", *_unbroken(headline(metrics), "no-change"), class_=tone(metrics)),
        *words,
        _intervals({"no-change": differences["no_change"], "majority": differences["majority"]}),
        *([tag("p", note, class_="note")] if note else []),
        id="verdict",
        aria_label="Verdict",
    )


def _unbroken(sentence: str, word: str) -> list[str]:
    """The sentence, with a word that no line may break."""
    before, found, after = sentence.partition(word)
    return [before, tag("span", found, class_="unbroken"), after]


def _intervals(differences: dict[str, Difference]) -> Markup:
    """Each interval as a bar beside zero; the words say the same, so the bars are kept from screen readers."""
    ends = [end for each in differences.values() for end in (each["low"], each["high"]) if end is not None]
    if not ends:
        return Markup("")
    least, most = min(*ends, 0.0), max(*ends, 0.0)
    margin = 0.06 * ((most - least) or 1.0)
    least, most = least - margin, most + margin

    def at(value: float) -> float:
        return 100.0 * (value - least) / (most - least)

    lines = []
    for baseline, each in differences.items():
        if each["low"] is None or each["high"] is None or each["difference"] is None:
            continue
        bar = f"left:{at(each['low']):.2f}%;width:{max(at(each['high']) - at(each['low']), 0.4):.2f}%"
        track = tag(
            "span",
            tag("span", class_="zero", style=f"left:{at(0.0):.2f}%"),
            tag("span", class_=f"bar {standing(each)}", style=bar),
            tag("span", class_=f"dot {standing(each)}", style=f"left:{at(each['difference']):.2f}%"),
            class_="track",
        )
        lines.append(
            tag("div", tag("span", f"against {baseline}"), track, tag("span", interval(each)), class_="interval")
        )
    legend = tag(
        "div",
        tag("span", "mistakes in 100 rows"),
        tag("span", tag("span", "0", style=f"left:{at(0.0):.2f}%"), class_="axis"),
        class_="interval scale",
    )
    return tag("div", *lines, legend, class_="intervals", aria_hidden="true")


def scores(metrics: Metrics) -> Markup:
    """A tile for each metric, the model's number large, the baselines' small."""
    model = metrics["scores"]["model"]
    tiles = [
        _tile("Error", percent(model["error"]), _beside(metrics, "error"), "share of wrong answers, all rows"),
        _tile("Error lately", percent(model["recent"]), _beside(metrics, "recent"), f"of the {lately(metrics)}"),
        _tile("κ", plain(model["kappa"]), _beside(metrics, "kappa"), "above 0 beats guessing by class frequency"),
        _tile(
            "κ temporal",
            plain(model["kappa_temporal"]),
            _beside(metrics, "kappa_temporal"),
            "above 0 beats repeating the last label",
        ),
    ]
    for key, name, meaning in (
        ("log_loss", "Log-loss", "nats a row; less is better"),
        ("brier", "Brier score", "from 0, the best, to 2"),
    ):
        value: Known = model.get(key)  # type: ignore[assignment]
        if value is not None:
            tiles.append(_tile(name, plain(value), "", meaning))
    return tag("section", tag("h2", "Scores", class_="unseen"), tag("dl", *tiles, class_="tiles"), id="scores")


def _beside(metrics: Metrics, key: str) -> str:
    def written(score: Score) -> str:
        value: Known = score[key]  # type: ignore[literal-required]
        return percent(value) if key in ("error", "recent") else plain(value)

    return f"no-change {written(metrics['scores']['no_change'])} · majority {written(metrics['scores']['majority'])}"


def _tile(name: str, value: str, beside: str, meaning: str) -> Markup:
    small = [tag("dd", beside, class_="beside")] if beside else []
    parts = [tag("dt", name), tag("dd", value, class_="value"), *small, tag("dd", meaning, class_="meaning")]
    return tag("div", joined(parts), class_="tile")
