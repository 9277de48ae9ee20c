"""The papers, each in a folder of its own: printed numbers, experiments, tables and figures.

`registry` lists the papers and imports one when it is asked for. `trials` says what is tried and measured, `study`
measures it once and spreads the work, and `findings` puts printed and measured numbers side by side. `auto` is a study
of our own.
"""
