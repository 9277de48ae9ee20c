"""Baselines that use no feature: the most frequent label so far (O(c) a row), and the last label again (O(1) a row).

On streams whose labels come in runs the last label is hard to beat: on the electricity data it errs on 0.147 of the
rows, less than every model in Kuncheva & Plumpton's table. A report without it flatters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities

if TYPE_CHECKING:
    from thalweg.kernels._base import Core
    from thalweg.merging.models import CountMerging, LastLabelMerging


class _Baseline(WithProbabilities, StreamClassifier, abstract=True):
    """A classifier of which scikit-learn's checks must not expect a good score."""

    _uses_features = False
    _takes_sparse = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class MajorityClass(_Baseline):
    """Predicts the most frequent label so far, the lowest at a tie; uses no feature.

    Examples
    --------
    >>> from thalweg import MajorityClass
    >>> MajorityClass().predict_then_learn([[0], [0], [0], [0]], [1, 2, 2, 1]).tolist()
    [0, 1, 1, 2]
    """

    _catalogue = CatalogueEntry(
        name="majority", about="the most frequent label so far", when="the other baseline to beat"
    )

    def _make_core(self, features: int) -> Core:
        return compiled.majority(features)

    def _merging(self) -> CountMerging:
        from thalweg.merging.models import CountMerging

        return CountMerging()


class NoChange(_Baseline):
    """Predicts the last label it learned; uses no feature.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> NoChange().predict_then_learn([[0], [0], [0], [0]], ["a", "a", "b", "b"]).tolist()
    ['', 'a', 'a', 'b']
    """

    _catalogue = CatalogueEntry(name="no-change", about="the last label again", when="the baseline to beat")

    def _make_core(self, features: int) -> Core:
        return compiled.no_change(features)

    def _merging(self) -> LastLabelMerging:
        from thalweg.merging.models import LastLabelMerging

        return LastLabelMerging()
