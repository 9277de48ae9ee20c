"""Schnackenberg, Ligges & Weihs (2018), Online linear discriminant analysis for data streams with concept drift."""
