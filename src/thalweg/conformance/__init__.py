"""OTHER PROJECTS' CHECKS: what scikit-learn's and River's own conformance suites say of our estimators, counted."""

from thalweg.conformance.estimators import estimators
from thalweg.conformance.river import RIVER
from thalweg.conformance.scikit_learn import SCIKIT_LEARN, expected_failures
from thalweg.conformance.tally import Finding, Suite, Tally

#: Whose checks are run, in this order.
SUITES = (SCIKIT_LEARN, RIVER)

__all__ = ["RIVER", "SCIKIT_LEARN", "SUITES", "Finding", "Suite", "Tally", "estimators", "expected_failures"]
