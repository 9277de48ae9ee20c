"""A LIVE MODEL: answers now, learns when the label comes."""
