"""HTTP in front of the service."""
