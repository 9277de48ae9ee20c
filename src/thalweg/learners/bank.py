"""The bank of forgetting rates that `OnlineLDC` and `AutoClassifier` share."""

from __future__ import annotations

#: Memories of about 3,333, 1,000, 333, 100, 33, 10 and 3 rows.
BANK_RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
#: Share of a feature's variance that is added to the covariance, so that no memory is too short for it.
BANK_RIDGE = 1e-3
#: How losses of the rates fade, and how strongly they tell: weights exp(-sharpness L), L <- discount L + [mistake].
BANK_DISCOUNT, BANK_SHARPNESS = 0.995, 0.5
