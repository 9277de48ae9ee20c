"""Real tables, in the forms in which people have them, run as they should."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")

from tests.zoo.checks import BASELINE_WINS, outcomes
from tests.zoo.forms import FORMS, PLAIN, RAW
from tests.zoo.tables import tables, why_no_zoo


def test_every_form_is_used_and_every_name_is_known() -> None:
    used = [form for table in tables().values() for form in table.forms]
    assert set(used) == {*FORMS, RAW} - {PLAIN.name}
    assert min(used.count(form) for form in used) >= 2
    assert tables().keys() >= BASELINE_WINS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", tables())
def test_a_real_table_runs_as_it_should(name: str) -> None:
    if reason := why_no_zoo():
        pytest.skip(reason)
    failures = [f"{each.name}: {failure}" for each in outcomes(name) for failure in each.failures]
    assert not failures, "\n".join(failures)
