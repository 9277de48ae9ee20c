"""The kernel mean machine (Bounsiar, Beauseroy & Grall)."""
