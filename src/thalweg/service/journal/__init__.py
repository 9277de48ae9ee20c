"""WHAT HAPPENED, IN ORDER: an append-only journal in a database; everything else can be built from it again."""
