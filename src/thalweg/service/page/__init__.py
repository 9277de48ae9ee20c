"""A PAGE TO WATCH BY: how every model of a service is doing, as it happens. It asks the service, and nobody else."""

from __future__ import annotations

from thalweg.service.page.pages import routes

__all__ = ["routes"]
