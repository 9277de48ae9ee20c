"""TABLES OF OTHER LIBRARIES: pandas, polars and Arrow as rows, without a copy where memory allows it."""
