"""The majority baseline: the most frequent label so far. O(c) a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.kernels import compiled
from thalweg.kernels._base import Core
from thalweg.learners.base.catalogue_entry import CatalogueEntry, GuideRow
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities
from thalweg.learners.base.estimator import LooksAtNoFeature

if TYPE_CHECKING:
    from thalweg.merging.summable import CountSums


class MajorityClass(LooksAtNoFeature, WithProbabilities, StreamClassifier):
    """Answers the most frequent label so far, the lowest at a tie; looks at no feature.

    Examples
    --------
    >>> from thalweg import MajorityClass
    >>> MajorityClass().predict_then_learn([[0], [0], [0], [0]], [1, 2, 2, 1]).tolist()
    [0, 1, 1, 2]
    """

    _catalogue = CatalogueEntry(
        name="majority", about="the most frequent label so far", when="the other baseline to beat"
    )
    _guide = (
        GuideRow(
            page="baselines",
            learner="MajorityClass()",
            when="always, as a baseline to beat",
            not_when="–",
            to_choose="nothing",
            probabilities="yes",
            cost="1",
        ),
    )

    def _make_core(self, features: int) -> Core:
        return compiled.majority(features)

    def _sums(self) -> CountSums:
        from thalweg.merging.summable import CountSums

        return CountSums()
