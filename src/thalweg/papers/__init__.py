"""The papers, each in a folder of its own: printed numbers, experiments, tables and figures.

`registry` lists the papers, imports one when it is asked for, and puts printed and measured numbers side by side.
`trials` says what is tried and measured, and `study` measures it once and spreads the work. `auto` is a study of our
own.
"""
