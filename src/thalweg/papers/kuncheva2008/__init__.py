"""Kuncheva & Plumpton (2008), Adaptive learning rate for online linear discriminant classifiers."""
