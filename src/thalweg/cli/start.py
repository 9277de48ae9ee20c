"""A quick start: a command that learns a small table should not first load what it never uses.

scikit-learn's base imports ``scipy.stats`` for one function of a rare case, and that takes as long as everything else
together. SciPy loads its parts by itself when they are first used, so it is enough to say that this one is there while
scikit-learn is loaded.
"""

from __future__ import annotations

import sys
from types import ModuleType

_LATER = "scipy.stats"


def load_scikit_learn() -> None:
    """Load scikit-learn's base; ``scipy.stats`` comes when somebody uses it.

    Only for a process that has no other threads yet: one that imported ``scipy.stats`` meanwhile would get nothing.
    """
    if _LATER not in sys.modules:
        sys.modules[_LATER] = ModuleType(_LATER)
        try:
            import sklearn.base  # noqa: F401
        finally:
            del sys.modules[_LATER]
