"""Bounsiar, Beauseroy & Grall, Fast training and efficient linear learning machine."""
