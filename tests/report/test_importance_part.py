"""The part of the page about importance: what is named, ranked and drawn, and that names are escaped."""

import re

from thalweg.report.page.importance import importance_part, top_columns

ODD = "<b>price</b> & co"


def estimate(increase, error=0.01, effect=None):
    return {"increase": increase, "increase_error": error, "effect": effect, "effect_error": None}


def metrics():
    rows = [100 * at for at in range(1, 41)]
    reversed_ = [0.2 if row <= 2000 else -0.2 for row in rows]
    columns = [
        {"name": ODD, "overall": estimate(0.3), "recent": estimate(0.2, effect=-0.2), "effect": reversed_},
        {"name": "kind", "overall": estimate(0.1), "recent": estimate(0.4), "effect": [None] * 40},
        {"name": "noise", "overall": estimate(-0.01), "recent": estimate(0.01), "effect": [0.0] * 40},
    ]
    for column, level in zip(columns, (0.4, 0.2, -0.1), strict=True):
        column |= {"increase": [level] * 40, "error": [0.05] * 40}
    cause = {"row": 2000, "column": ODD, "what": "reversed", "before": 0.2, "after": -0.2, "error_changed": False}
    found = {"loss": "log-loss", "label": "yes", "sample_rows": 8, "every": 100, "rows": rows, "columns": columns}
    return {"rows": {"learned": 4000}, "importance": found | {"columns_left_out": 2, "causes": [cause]}}


def test_columns_are_ranked_by_the_last_rows_and_coloured_by_their_effect():
    part = importance_part(metrics())
    assert [line.name for line in part["lines"]] == ["kind", ODD, "noise"]
    assert [line.rank_before for line in part["lines"]] == ["2", "1", "3"]
    kind, odd, noise = ([cell.tone for cell in line.cells] for line in part["lines"])
    assert set(kind) == {"neither"}
    assert (set(odd[:23]), set(odd[25:]), set(noise)) == ({"raises"}, {"lowers"}, {"raises"})
    assert [max(cell.share for cell in line.cells) for line in part["lines"]] == [50.0, 100.0, 0.0]
    assert part["sentences"][0].startswith(f"The effect of column {ODD} reversed at about row 2,000: larger values ")
    assert top_columns(metrics()) == ["kind", ODD]
    assert importance_part({}) is None


def test_the_page_shows_it(tmp_path):
    from thalweg.report.page import build
    from thalweg.run.metrics import metrics_of
    from thalweg.run.options import RunOptions
    from thalweg.run.runner import Run

    lines = [f"{at % 7},{(at * 31) % 11},{'yes' if (at % 7 > 3) != (at % 9 == 0) else 'no'}" for at in range(600)]
    (tmp_path / "t.csv").write_text("\n".join([f"{ODD},other,y", *lines]) + "\n")
    run = Run(RunOptions(source=str(tmp_path / "t.csv"), target="y", model="oldc", out=str(tmp_path / "out")))
    run.go()
    page = build(metrics_of(run))
    section = re.search(r'<section id="importance">.*?</section>', page, re.DOTALL)[0]
    assert ODD not in section
    assert "&lt;b&gt;price&lt;/b&gt; &amp; co" in section
    assert section.count('style="--shade:') == 2 * 48
