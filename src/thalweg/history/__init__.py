"""Features of a row from the rows and labels before it: their language and what they keep."""
