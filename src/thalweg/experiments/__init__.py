"""The papers: one paper, one file, its tables and figures as declarations.

`candidates` are what is tried, `held_out` and `one_pass` how it is measured, `rate_search` how a best rate is
found, `laboratory` where it all happens once, `workers` and `progress` how the work is spread and watched.
"""
