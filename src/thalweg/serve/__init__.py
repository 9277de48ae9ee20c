"""A LIVE MODEL: answers now, learns when the label comes, shows what it forgets, and loses nothing."""
