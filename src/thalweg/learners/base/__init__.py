"""What every learner shares: the estimator contract, labels, rows, sample weights, parameters."""
