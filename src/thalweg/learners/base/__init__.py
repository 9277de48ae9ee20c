"""What learners share: base classes, and checks of rows, labels and sample weights."""
