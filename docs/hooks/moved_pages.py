"""Pages that moved: the old address leads to the new one, with its anchor, so that links from elsewhere still work."""

from __future__ import annotations

import os
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

#: Old address, new address; both without their ending.
MOVED = {
    "alerts": "guides/alerts",
    "api/interop": "api/river",
    "api/parts": "api/merging",
    "gpu-fleets": "guides/gpu",
    "input-drift": "guides/input-drift",
    "serve-operations": "guides/production",
    "sparse-rows-and-text": "guides/text-and-sparse-rows",
    "tutorials/a-billion-keys": "guides/spark",
    "tutorials/at-home-in-river": "coming-from/river",
    "tutorials/frames-and-files": "guides/frames-and-files",
    "tutorials/labels-come-a-week-late": "guides/late-labels",
    "tutorials/models-that-add-up": "guides/merge-models",
    "tutorials/on-spark": "guides/spark",
    "tutorials/one-million-rows-a-second": "guides/speed",
    "tutorials/one-model-per-key": "guides/one-model-per-key",
    "tutorials/predict-a-number": "guides/regression",
    "tutorials/which-forgetting-do-i-need": "explanations/forgetting",
    "why": "guides/explain-a-model",
}
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{to}">
<script>location.replace("{to}" + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url={to}"></noscript>
</head>
<body><p>This page has moved: <a href="{to}">{to}</a></p></body>
</html>
"""


def on_post_build(config: MkDocsConfig) -> None:
    """Write a page at each old address; relative links, so that the site can be opened from a folder."""
    for old, new in MOVED.items():
        page = Path(config.site_dir, f"{old}.html")
        page.parent.mkdir(parents=True, exist_ok=True)
        to = os.path.relpath(Path(config.site_dir, f"{new}.html"), page.parent).replace(os.sep, "/")
        page.write_text(PAGE.format(to=to), encoding="utf-8")
