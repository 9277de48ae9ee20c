"""What a learner says of itself to the command line and the service.

Every learner that `thalweg run` and the service can make has an entry as its class attribute ``_catalogue``. Neither
NumPy nor scikit-learn is imported here, so that the command line can check options before it loads them. A named tuple
takes less time to define than a dataclass, which every start would pay.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from thalweg.errors import InvalidParameter
from thalweg.option_names import option

#: The coverages of intervals that regressors track side by side.
COVERAGES = (0.5, 0.8, 0.9, 0.95, 0.99)
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class CatalogueEntry(NamedTuple):
    """A learner in the catalogue.

    Examples
    --------
    >>> from thalweg import Perceptron
    >>> entry = Perceptron._catalogue
    >>> entry.name, entry.when, entry.has_rate, entry.scaled
    ('perceptron', 'many features, little time', True, True)
    """

    #: Its name on the command line and in the service.
    name: str
    about: str
    when: str
    #: Parameters of the constructor, where the class's own defaults are not what a run should begin with.
    parameters: Mapping[str, Any] = _NOTHING
    #: The learner inside it: a name of `thalweg.learners`, or a scikit-learn classifier that model files can hold.
    base: str | None = None
    #: Option ("rate", "window" or "seed") -> the parameter that it sets; ``base__`` or
    #: ``learner__`` leads to one of the learner inside.
    options: Mapping[str, str] = _NOTHING
    #: The rate where none is given, unless ``parameters`` says otherwise, and the start of an adaptive one; None where
    #: there is none.
    rate: float | None = None
    #: Whether the rate may follow the model's own errors.
    adaptive: bool = True
    #: Further parameters where a rate is given, or is adaptive.
    with_rate: Mapping[str, Any] = _NOTHING
    #: What it is where costs are given, and over sparse rows, if that is something else.
    with_costs: str | None = None
    about_sparse: str | None = None
    #: Whether rows are scaled on line before it, by a step of their own.
    scaled: bool = False
    #: What its targets are: labels ("classification") or numbers ("regression"). A name may stand for a model of each.
    task: str = "classification"

    @property
    def has_rate(self) -> bool:
        return self.rate is not None


def check_model_options(*, rate: float | None, adaptive: bool, seed: int) -> None:
    """Refuse what no model can be made with, whichever it is."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidParameter.of_option("seed", "be a whole number of at least 0", seed)
    if adaptive and rate is not None:
        raise InvalidParameter.of_option("rate", f"be left out with {option('adaptive')}", rate)
