"""A PAGE TO WATCH BY: how every model of a service is doing, as it happens. It asks the service, and nobody else."""

from thalweg.serve.page.pages import routes

__all__ = ["routes"]
