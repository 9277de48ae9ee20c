"""A live model over HTTP: predicts now, learns when the label comes, and loses nothing."""
