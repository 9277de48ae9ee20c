"""The report of a run as one HTML page."""

from thalweg.report.page.page import build

__all__ = ["build"]
