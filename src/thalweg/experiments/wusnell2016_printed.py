"""What Wu & Snell (2016) print of their simulations, misprints included."""

from __future__ import annotations

import numpy as np

#: "So the true weight coefficients are given by"; the formula a line above has 1 for the fifth.
WEIGHTS = (1.0, -1.0, 0.5, -0.5, 2.0)
#: "a mean zero normal distribution with variance 0.01"
NOISE = 0.1
#: Rows of each simulation.
ROWS = 1000
#: "They increase very slowly after 50 steps, indicating the decisions become near optimal."
NEAR_OPTIMAL_AFTER = 50

CLASS_MEANS = ((-1.0, -1.0), (1.0, 1.0))
#: "a classification accuracy of 92.14 percent"
OPTIMAL_ACCURACY = 0.9214
#: "The optimal separating line is x1 - x2 = 0", as its normal. The line between the means is x1 + x2 = 0.
OPTIMAL_LINE = (1.0, -1.0)

CENTRE = (1.0, 1.0, 1.0, 1.0, 1.0)
COVARIANCE = np.diag([4.0, 1.0, 0.2, 0.2, 0.2])
COVARIANCE[0, 1] = COVARIANCE[1, 0] = -1.0
#: "The first principal component is"; two digits are swapped in the first entry.
FIRST_COMPONENT = (0.9517, -0.2898, 0.0, 0.0, 0.0)
