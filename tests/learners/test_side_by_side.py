"""Blocks on all cores, and a bar for those who wait."""

from __future__ import annotations

import io
import math
import sys

import pytest
from threadpoolctl import ThreadpoolController

from thalweg.learners.kernel_mean import parzen
from thalweg.learners.kernel_mean.backend import side_by_side


def product_threads():
    return [library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers]


@pytest.mark.parametrize("worth_threads", [False, True])
def test_every_block_is_worked_on_and_the_library_gets_its_threads_back(worth_threads):
    before, within, done, shares = product_threads(), [], set(), []

    def work(block):
        done.add(block)
        within.append(product_threads())
        if block == 3:  # a model inside a model
            side_by_side(done.add, [100, 101], worth_threads)

    side_by_side(work, range(8), worth_threads, shares.append)
    assert done == {*range(8), 100, 101}
    assert all(threads == [1] * len(before) for threads in within)
    assert shares == [k / 8 for k in range(1, 9)]

    def fail(block):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        side_by_side(fail, range(4), worth_threads)
    assert product_threads() == before


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_drawn_for_long_work_on_a_terminal_only(monkeypatch):
    for patience, stream, wanted, drawn in [
        (-1.0, Terminal(), True, True),
        (math.inf, Terminal(), True, False),
        (-1.0, Terminal(), False, False),
        (-1.0, io.StringIO(), True, False),
    ]:
        monkeypatch.setattr(parzen, "PATIENCE", patience)
        monkeypatch.setattr(sys, "stderr", stream)
        with parzen.bar("tuning", wanted) as tell:
            tell(0.5)
        assert ("tuning" in stream.getvalue()) == drawn
