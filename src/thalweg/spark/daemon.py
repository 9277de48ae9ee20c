"""The process that Spark's Python workers are forked from: what they all need is loaded before, once.

Left to itself each worker loads NumPy, pandas, scikit-learn and us anew, which takes longer than many a batch.
"""

from __future__ import annotations

import pandas  # noqa: F401
import pyarrow.compute  # noqa: F401
from pyspark.daemon import manager

import thalweg.store  # noqa: F401

if __name__ == "__main__":
    manager()
