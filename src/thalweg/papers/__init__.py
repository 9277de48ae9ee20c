"""The papers, each in a folder of its own: printed numbers, experiments and figures.

`registry` lists the papers and imports one when it is asked for. `trials` says what is tried and measured, `workers`
spreads the work, `records` puts printed and measured numbers side by side. `auto` is a study of our own.
"""
