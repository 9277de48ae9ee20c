"""What the study of the untuned default tries: baselines, each member alone, the bank, the committee, and River."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from thalweg.errors import MissingExtra
from thalweg.evaluate import prequential
from thalweg.kernels import compiled
from thalweg.kernels._base import Core
from thalweg.learners.auto import LINEAR_MEMBERS, AutoClassifier
from thalweg.learners.bank import BANK_DISCOUNT, BANK_RATES, BANK_RIDGE, BANK_SHARPNESS
from thalweg.learners.contract import StreamClassifier
from thalweg.learners.majority import MajorityClass
from thalweg.learners.no_change import NoChange
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.streams import Table

#: Passes a table once, answering each row before its label is learned: the share of mistakes.
Error: TypeAlias = Callable[[Table], float]

AUTO, PERSISTENT, BANK = "AutoClassifier", "Auto, persistence", "O-LDC auto"
NO_CHANGE, MAJORITY = "No change", "Majority class"
RIVER_PA, RIVER_LOGISTIC, RIVER_FOREST = "River scaled PA", "River scaled logistic", "River adaptive forest"


class ScaledMember(StreamClassifier):
    """A member of `AutoClassifier` by itself, behind the same scaling of the rows.

    Parameters
    ----------
    member : str
        Its name. A core's maker is compiled and could not be sent to another process.
    """

    def __init__(self, member: str) -> None:
        self.member = member

    def _make_core(self, features: int) -> Core:
        return compiled.scaled(MEMBER_CORES[self.member](features))


def _one_rate(features: int, rate: float) -> Core:
    return compiled.rate_bank(features, (rate,), BANK_RIDGE, BANK_DISCOUNT, BANK_SHARPNESS)


def _error(make: Callable[[], StreamClassifier], table: Table) -> float:
    records = prequential(make(), table, with_proba=False)
    return sum(int(np.count_nonzero(record.mistakes)) for record in records) / table.length


#: The members of `AutoClassifier`, each by itself: how it is made, and how it is measured.
MEMBER_CORES: Mapping[str, Callable[[int], Core]] = {
    **{f"O-LDC {rate:g}": partial(_one_rate, rate=rate) for rate in BANK_RATES},
    **{name: member.make for name, member in LINEAR_MEMBERS.items()},
}
MEMBERS: Mapping[str, Error] = {name: partial(_error, partial(ScaledMember, name)) for name in MEMBER_CORES}
OURS: Mapping[str, Error] = {
    AUTO: partial(_error, AutoClassifier),
    PERSISTENT: partial(_error, lambda: AutoClassifier(persistence=True)),
    BANK: partial(_error, lambda: OnlineLDC("auto", counts="soft")),
    **MEMBERS,
    NO_CHANGE: partial(_error, NoChange),
    MAJORITY: partial(_error, MajorityClass),
}


@dataclass(frozen=True)
class RiverPeer:
    """A model of River's: binary ones vote one against the rest where there are more than two classes."""

    name: str

    def __call__(self, table: Table) -> float:
        """The share of mistakes; the first row, for which it knows no class, counts as one."""
        classes = table.classes
        model = self._model(len(classes))
        names, mistakes, knows_a_class = table.feature_names, 0, False
        for X, y in table.batches(1024):
            labels = y if len(classes) > 2 else y == classes[-1]  # River's binary models take True and False
            for row, label in zip(X.tolist(), labels.tolist(), strict=True):
                x = dict(zip(names, row, strict=True))
                mistakes += not knows_a_class or model.predict_one(x) != label
                model.learn_one(x, label)
                knows_a_class = True
        return mistakes / table.length

    def _model(self, n_classes: int) -> Any:
        if self.name == RIVER_FOREST:
            return import_module("river.forest").ARFClassifier(n_models=10, seed=0)
        linear_model = import_module("river.linear_model")
        model = linear_model.PAClassifier() if self.name == RIVER_PA else linear_model.LogisticRegression()
        if n_classes > 2:
            model = import_module("river.multiclass").OneVsRestClassifier(model)
        return import_module("river.preprocessing").StandardScaler() | model


def river_peers() -> Mapping[str, Error]:
    """River's linear models; a `MissingExtra` where it is not installed."""
    require_river()
    return {name: RiverPeer(name) for name in (RIVER_PA, RIVER_LOGISTIC)}


def require_river() -> None:
    """Say at once, and clearly, when River cannot be had."""
    try:
        import_module("river")
    except ImportError as error:
        raise MissingExtra.of("River", "bench", "measuring River's models") from error
