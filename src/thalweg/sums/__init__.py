"""WHAT ADDS UP: weighted sums of rows, and covariances as the kernels keep them. Arrays in, arrays out."""
