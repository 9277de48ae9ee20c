"""ROWS AND LABELS FROM ELSEWHERE: streams that a service reads besides its own requests; one kind, one file."""
