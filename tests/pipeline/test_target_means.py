"""A regressor behind wide categories: the laws of regressors with one target, and means that follow their targets."""

from __future__ import annotations

import numpy as np
import pytest

from tests import regressor_laws
from tests.laws import chunks_do_not_matter, fit_forgets, nothing_is_shared, saving_is_the_identity
from tests.test_store import forged, header_and_arrays
from thalweg import AutoRegressor, OnlineLDC, OnlineLinearRegression, PredictionIntervals
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.pipeline import TargetEncodedClassifier, TargetEncodedRegressor
from thalweg.store import dumps, loads

MODELS = {
    "linear": TargetEncodedRegressor(PredictionIntervals(OnlineLinearRegression(solver="rls", penalty=0.1)), ((1, 2),)),
    "auto": TargetEncodedRegressor(AutoRegressor(curved=False), ((0, 1), (2, 1))),
}
LAWS = (
    chunks_do_not_matter,
    fit_forgets,
    nothing_is_shared,
    saving_is_the_identity,
    regressor_laws.predicting_changes_nothing,
    regressor_laws.predict_then_learn_is_the_loop,
    regressor_laws.a_refused_call_changes_nothing,
)


def rows(count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(count, 4))
    X[:, :3] = rng.integers(-1, 5, size=(count, 3))
    return X, X[:, 1] + 0.1 * rng.normal(size=count)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_laws(name: str, law) -> None:
    law(MODELS[name], *rows())


def test_the_feature_is_the_mean_target_of_the_cell_so_far() -> None:
    X = np.array([[3.0, 0.0], [3.0, 0.0], [7.0, 0.0], [-1.0, 0.0], [3.0, 0.0]])
    y = np.array([1.0, 3.0, 8.0, 100.0, 0.0])
    model = MODELS["auto"].__class__(AutoRegressor(curved=False), ((0, 1),)).partial_fit(X, y)
    found = model._core._encoded(np.array([[3.0, 0.0], [7.0, 0.0], [9.0, 0.0], [-1.0, 0.0]]))[0][:, 0]
    mean = (1 + 3 + 8 + 0) / 4  # a row without a category counts for none
    np.testing.assert_allclose(found, [3 / 8 * (4 / 3 - mean), 1 / 6 * (8 - mean), 0.0, 0.0])


def test_what_cannot_be_is_refused() -> None:
    X, y = rows()
    for learner, columns in ((OnlineLinearRegression(), ((0, 1),)), (AutoRegressor(), ((2, 3),))):
        with pytest.raises(InvalidParameter):
            TargetEncodedRegressor(learner, columns).partial_fit(X, y)
    with pytest.raises(InvalidInput, match="one target behind wide categories, got 2"):
        TargetEncodedRegressor(AutoRegressor(), ((0, 1),)).partial_fit(X, np.column_stack([y, y]))
    forged = TargetEncodedRegressor(AutoRegressor(curved=False), ((0, 1),)).partial_fit(X, y)
    forged._core.columns[0].whole = [1.0, float("nan")]
    with pytest.raises(ModelFileError):
        loads(dumps(forged))


def test_a_file_with_numbers_of_another_type_is_refused() -> None:
    X, y = rows()
    model = TargetEncodedClassifier(OnlineLDC(0.1), ((0, 1),)).partial_fit(X, y > 2.0)
    header, arrays = header_and_arrays(dumps(model))
    assert loads(forged(header, arrays)).predict(X).tolist() == model.predict(X).tolist()
    for name in ("target_slots", "target_counts_0"):
        with pytest.raises(ModelFileError):
            loads(forged(header, arrays | {name: arrays[name].astype(np.float32)}))
    header["parameters"]["columns"]["tuple"][0]["tuple"][0] = float("nan")
    with pytest.raises(ModelFileError, match="be rising places"):
        loads(forged(header, arrays))
