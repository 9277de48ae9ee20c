"""A study of our own: the default classifier beside its members, the baselines and River."""
