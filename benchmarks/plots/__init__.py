"""Pictures of records, one kind a file."""
