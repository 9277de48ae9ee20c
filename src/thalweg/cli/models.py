"""``thalweg models``: what `thalweg run --model` takes, and when to use which."""

from __future__ import annotations


def models() -> None:
    """Show the models of `thalweg run`, and when to use which."""
    from rich.console import Console

    from thalweg.report import tables
    from thalweg.run.models import MODELS

    lines = [
        (
            name,
            choice.about + (", rows scaled on line" if choice.scaled else ""),
            choice.when,
            "yes" if choice.rated else "",
        )
        for name, choice in MODELS.items()
    ]
    console = Console(markup=False, highlight=False)
    console.print(tables.words(("model", "what it is", "when to use it", "--rate"), lines))
