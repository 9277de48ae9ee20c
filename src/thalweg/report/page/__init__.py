"""The report of a run as one HTML page."""

from thalweg.report.page.page import build, require_jinja

__all__ = ["build", "require_jinja"]
