"""The papers: one paper, one file, its tables and figures as declarations.

`papers` lists them and loads them when asked. `candidates` are what is tried; `held_out`, `next_step` and `one_pass`
how it is measured; `rate_search` how a best rate is found; `laboratory` where that all happens once; `workers` and
`progress` how the work is spread and watched; `outcome` what comes of it. Where a paper's printed numbers or its
explaining figures are many, they have files beside it that begin with its name. `auto` is a study of our own.
"""
