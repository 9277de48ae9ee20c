"""THE PROTOCOL: HTTP in front of the service; one kind of request, one file."""
