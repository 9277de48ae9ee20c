"""Load on a service of this machine: requests as text, wrk or a sender of our own, and endpoints to compare with."""
