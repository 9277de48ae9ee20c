"""What people look at: tables for the terminal, figures for the page.

One kind of figure, one file; all in one house style. A figure is described by plain values (`Panel` and the
like), drawn by ``draw``, and written by `thalweg.report.style.save` as PNG and SVG.
"""
