"""Load on a service of this machine: requests as text, wrk to send them, and endpoints to compare with."""
