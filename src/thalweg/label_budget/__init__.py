"""Which rows to have labelled where labels cost money, and the error over all rows estimated from those that were."""

import lazy_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.label_budget.model import LabelBudget as LabelBudget

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={"model": ["LabelBudget"]})
