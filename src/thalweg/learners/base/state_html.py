"""What a learner has learned, as a notebook shows it below scikit-learn's diagram: rows, memory, classes, members."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Names under which cores count the rows that they learned. Some count none.
_COUNTS = ("rows", "scaler_rows", "member0_scaler_rows", "member0_rows", "member0_window_rows", "total")
_MOST_CLASSES, _MOST_MEMBERS = 20, 12


def state_html(model: Any, state: Mapping[str, NDArray[Any]]) -> str:
    """A folded table about a model with this state; everything in it is escaped."""
    lines = {"rows learned": _rows(state), "memory": f"{sum(array.nbytes for array in state.values()):,} bytes"}
    lines["features"] = f"{model.n_features_in_:,}"
    classes = [str(label) for label in getattr(model, "classes_", ())]
    if classes:
        more = f" and {len(classes) - _MOST_CLASSES:,} more" if len(classes) > _MOST_CLASSES else ""
        lines["classes"] = ", ".join(classes[:_MOST_CLASSES]) + more
    cells = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in lines.items() if value
    )
    return (
        "<details open><summary>Learned state</summary>"
        f'<table><tbody style="text-align:left">{cells}{_members(model)}</tbody></table></details>'
    )


def _rows(state: Mapping[str, NDArray[Any]]) -> str:
    counts = (state[name] for name in _COUNTS if name in state and np.size(state[name]) == 1)
    count = next(counts, None)
    return "" if count is None else f"{float(np.ravel(count)[0]):,.0f}"


def _members(model: Any) -> str:
    """The heaviest members and their weights, each with a bar."""
    members, weights = getattr(model, "members_", None), getattr(model, "weights_", None)
    if members is None or weights is None:
        return ""
    shares = np.atleast_2d(weights).mean(axis=0)
    if len(shares) != len(members):
        return ""
    heaviest = np.argsort(-shares, kind="stable")[:_MOST_MEMBERS]
    lines = "".join(
        f"<tr><td>{escape(_name(members[at]))}</td><td>"
        f'<span style="display:inline-block;height:.7em;width:{100 * shares[at]:.0f}px;background:#1f8bd0"></span> '
        f"{shares[at]:.3f}</td></tr>"
        for at in heaviest
    )
    more = len(members) - len(heaviest)
    head = "member" + (f" (the heaviest {len(heaviest)} of {len(members):,})" if more else "")
    return f"<tr><th>{head}</th><th>weight</th></tr>{lines}"


def _name(member: Any) -> str:
    return member if isinstance(member, str) else " ".join(repr(member).split())
