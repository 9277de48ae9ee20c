from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray

class Vocabulary:
    def __init__(self, names: tuple[Hashable, ...], by_mean: bool) -> None: ...
    @property
    def names(self) -> tuple[Hashable, ...]: ...
    def add(self, names: tuple[Hashable, ...]) -> None: ...
    def observe(self, x: dict[Any, float]) -> None: ...
    def means(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...
    def take_means(
        self,
        counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", writable=False)],
        means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", writable=False)],
    ) -> None: ...

class RowReader:
    def __init__(self, features: int) -> None: ...
    def name(self, names: tuple[Hashable, ...] | Vocabulary) -> None: ...
    def read(
        self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None
    ) -> NDArray[numpy.float64]: ...

class Adwin:
    def __init__(self, delta: float) -> None: ...
    def state(self, prefix: str = ...) -> dict[str, NDArray[Any]]:
        """
        What is known, as arrays by name: all of it, or that under names that begin so.
        """

    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...
    def update(
        self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]: ...

class SparseRows:
    @overload
    def __init__(
        self,
        starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        width: int,
    ) -> None: ...
    @overload
    def __init__(
        self,
        starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        width: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, rows: slice) -> SparseRows: ...
    @overload
    def __getitem__(
        self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> SparseRows: ...
    @property
    def n_values(self) -> int: ...
    @property
    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
    def with_values(
        self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> SparseRows:
        """The same columns with other values."""

    @property
    def in_order(self) -> bool: ...
    @property
    def first_bad(self) -> tuple[int, int]: ...

class Core:
    @overload
    def begin(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    @overload
    def begin(
        self,
        X: SparseRows,
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    @overload
    def run(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        answers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")] | None = ...,
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        rates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")] | None = ...,
        shares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
        *,
        unchecked: bool = ...,
    ) -> int: ...
    @overload
    def run(
        self,
        X: SparseRows,
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        answers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")] | None = ...,
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        rates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")] | None = ...,
        shares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
        *,
        unchecked: bool = ...,
    ) -> int: ...
    @overload
    def follow(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        answers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        kept: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
        sets: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    @overload
    def follow(
        self,
        X: SparseRows,
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        answers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        kept: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
        sets: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    @overload
    def learn_then_test(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        test_X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        test_y: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        mistakes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    ) -> None: ...
    @overload
    def learn_then_test(
        self,
        X: SparseRows,
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        test_X: SparseRows,
        test_y: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        mistakes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    ) -> None: ...
    @overload
    def answers(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    ) -> None: ...
    @overload
    def answers(
        self, X: SparseRows, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")]
    ) -> None: ...
    @overload
    def scores(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        kept: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
    ) -> None: ...
    @overload
    def scores(
        self,
        X: SparseRows,
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        kept: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
    ) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def feature_names(self) -> tuple[Hashable, ...]: ...
    def limit_columns(self, width: int) -> None:
        """
        Single rows with a column beyond this width are refused, where rows are sparse.
        """

    def name_features(self, names: tuple[Hashable, ...] | Vocabulary) -> None: ...
    def check_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None) -> None: ...
    def state(self, prefix: str = ...) -> dict[str, NDArray[Any]]:
        """
        What is known, as arrays by name: all of it, or that under names that begin so.
        """

    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def rate(self) -> float: ...
    @property
    def confidence(self) -> float: ...
    @property
    def decides(self) -> bool: ...
    @property
    def may_fail(self) -> bool: ...
    def announce(self, at: int) -> None: ...
    def adapters(self) -> list[Any]: ...
    @property
    def n_posteriors(self) -> int: ...
    @property
    def kept_size(self) -> int: ...
    @property
    def kept_classes(self) -> NDArray[numpy.bool_]: ...
    @property
    def n_members(self) -> int: ...
    def shares(self) -> NDArray[numpy.float64]: ...
    def answer_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None) -> int: ...
    def probabilities_one(
        self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None
    ) -> list[float]: ...
    def learn_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None, k: int) -> None: ...
    def know(self, codes: dict[Any, int], types: object) -> None: ...
    def learn_known(
        self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None, y: object | None
    ) -> bool: ...
    def copy(self) -> Core: ...

class SparseLines:
    @property
    def rows(self) -> int: ...
    @property
    def labels(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]: ...
    @property
    def label_offsets(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...
    @property
    def has_label(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,), writable=False)]: ...
    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...
    @property
    def indices(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...
    @property
    def names(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]: ...
    @property
    def name_offsets(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...
    @property
    def values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]: ...
    @property
    def bad(self) -> list[tuple[int, str, int, int]]:
        """
        Row, reason as a template of `str.format`, and the bytes that it is about.
        """

def read_svmlight(text: bytes) -> SparseLines: ...
def read_vowpal_wabbit(text: bytes) -> SparseLines: ...
def discriminant(
    features: int,
    rate: tuple[int, float, int],
    soft_counts: bool,
    covariance_2008: bool,
    warmup: int,
    ridge: float,
    in_floats: bool = ...,
) -> Core: ...
def perceptron(
    features: int,
    rate: tuple[int, float, int],
    margin: float,
    averaged: bool,
    start_scale: float,
    seed: int,
    intercept: bool = ...,
) -> Core: ...
def winnow(features: int, rate: tuple[int, float, int], seed: int) -> Core: ...
def hiraoka(features: int, rate: tuple[int, float, int], components: int, full_gradient: bool) -> Core: ...
def passive_aggressive(features: int, C: float, second: bool) -> Core: ...
def logistic(
    features: int,
    rate: tuple[int, float, int],
    penalty: float,
    per_feature: bool = ...,
    forgetting: float = ...,
    initial_squares: float = ...,
) -> Core: ...
def logistic_bank(rates: Sequence[float], initial_squares: Sequence[float]) -> Core: ...
def persistence(features: int) -> Core: ...
def no_change(features: int) -> Core: ...
def majority(features: int, keep: float = ..., doubt: float = ...) -> Core:
    """
    Counts of labels are multiplied by `keep` with each row; `doubt` is added to each that is not zero.
    """

def foreign(features: int, adapter: object) -> Core: ...
def rate_bank(
    features: int,
    rates: Sequence[float],
    ridge: float,
    discount: float,
    sharpness: float,
    handicaps: Sequence[float] = ...,
) -> Core: ...
def scaled(inner: Core, sparse: bool = ...) -> Core: ...
def dense_columns(inner: Core) -> Core:
    """
    A learner of sparse rows, of whose first columns a learner of dense rows learns.
    """

def centred_columns(inner: Core, columns: int) -> Core:
    """
    A learner of sparse rows whose first columns are centred and scaled before it.
    """

def products(features: int, inner: Core) -> Core:
    """
    A learner of a row's first features and of the products of any two of them, at unit scale.
    """

def damped(inner: Core) -> Core: ...
def few_classes(inner: Core, most: float) -> Core:
    """A learner that retires where there are more classes."""

def joined(members: Sequence[Core]) -> Core:
    """Learners as one, with the probabilities of them all."""

def committee(
    members: Sequence[Core], discounts: Sequence[float], sharpness: float, loss: str, handicaps: Sequence[float] = ...
) -> Core: ...
def forecaster(
    base: Core, windows: Sequence[int], horizon: int, discount: float, sharpness: float, residual_rate: float
) -> Core: ...
def forecast(core: Core, member: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...
@overload
def expected_costs(
    core: Core,
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
) -> None: ...
@overload
def expected_costs(
    core: Core, X: SparseRows, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]
) -> None: ...
def class_weighted(inner: Core, balanced: bool) -> Core: ...
def set_class_weights(
    core: Core, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
) -> None: ...
def recalibrated(inner: Core, memory: float, delay: int) -> Core: ...
def cost_sensitive(inner: Core, balanced: bool) -> Core: ...
def set_costs(
    core: Core,
    costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> None: ...
def online_threshold(
    inner: Core, objective: int, target: float, false_positive: float, false_negative: float, memory: float, delay: int
) -> Core: ...
def set_positive(core: Core, index: int) -> None: ...
def threshold(core: Core) -> tuple[int, float]:
    """
    Index of the positive class, negative where it is not known; the threshold in log-odds, or NaN.
    """

def prediction_sets(inner: Core, coverage: float, step: float, delay: int) -> Core: ...
def keyed(inner: Core, key_at: int, spread: float, drift: float, budget: int = ..., file: int = ...) -> Core: ...
def key_counts(core: Core) -> tuple[int, int, int]:
    """Keys, those of them in memory, and the bytes that they take there."""

def describe_key(core: Core, key: float) -> tuple[int, int, int, float, float] | None:
    """
    Rows of a key, rows of others since, mistakes, share of recent ones, weight of its own part; none without a row.
    """

def kernel_mean(
    features: int,
    budget: int,
    forgetting: float,
    sigma: float,
    rho: Sequence[float],
    bias: Sequence[float],
    single: bool = ...,
) -> Core: ...
def settle(core: Core, sigma: float, weights: Sequence[float], biases: Sequence[float]) -> None: ...

class FleetCore:
    @overload
    def __init__(self, model: Core, capacity: int = ..., file: int = ...) -> None: ...
    @overload
    def __init__(self, model: RegressionCore, capacity: int = ..., file: int = ...) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def kind(self) -> str: ...
    def __len__(self) -> int: ...
    def name_features(self, names: tuple[Hashable, ...] | Vocabulary) -> None: ...
    def announce(self, at: int) -> None: ...
    def run(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        words: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
        | None,
        answers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")] | None = ...,
    ) -> None: ...
    def answers(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        words: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
        | None,
        out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    ) -> None: ...
    def learn_one(
        self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None, k: int, key: int | str | None
    ) -> None: ...
    def answer_one(
        self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None, key: int | str | None
    ) -> int: ...
    def check_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None) -> None: ...
    def state_of(self, key: int | str | None) -> dict[str, NDArray[Any]] | None: ...
    def __contains__(self, key: object | None) -> bool: ...
    def forget(self, key: int | str | None) -> bool: ...
    def keys(self) -> list[Any]: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...

class SweepRunner:
    def __init__(self, models: Sequence[Core], streams: int) -> None: ...
    def run(
        self,
        first: int,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
        y: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        answers: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order="C", device="cpu")],
        mistakes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    ) -> bool: ...
    def core(self, run: int) -> Core: ...

class RegressionCore:
    @overload
    def begin(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    @overload
    def begin(
        self,
        X: SparseRows,
        Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    @overload
    def run(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        answers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")]
        | None = ...,
        intercepts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
        half_widths: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        coverage: int = ...,
    ) -> None: ...
    @overload
    def run(
        self,
        X: SparseRows,
        Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        answers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")]
        | None = ...,
        intercepts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
        half_widths: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = ...,
        coverage: int = ...,
    ) -> None: ...
    @overload
    def half_widths_of(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        coverage: int,
    ) -> None: ...
    @overload
    def half_widths_of(
        self,
        X: SparseRows,
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        coverage: int,
    ) -> None:
        """The same at each row, for one of the coverages."""

    @overload
    def answers(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    ) -> None: ...
    @overload
    def answers(
        self, X: SparseRows, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")]
    ) -> None: ...
    @overload
    def opinions(
        self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    ) -> NDArray[numpy.float64]: ...
    @overload
    def opinions(self, X: SparseRows) -> NDArray[numpy.float64]:
        """What members and mixtures of them answer: rows x outputs x as many."""

    @overload
    def follow(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        number: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        newest: int,
        answers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        lower: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        upper: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        opinions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        coverage: int,
        by_step: bool = ...,
    ) -> int: ...
    @overload
    def follow(
        self,
        X: SparseRows,
        Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        number: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        newest: int,
        answers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        lower: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        upper: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        opinions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        coverage: int,
        by_step: bool = ...,
    ) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def feature_names(self) -> tuple[Hashable, ...]: ...
    def limit_columns(self, width: int) -> None:
        """
        Single rows with a column beyond this width are refused, where rows are sparse.
        """

    def name_features(self, names: tuple[Hashable, ...] | Vocabulary) -> None: ...
    def check_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None) -> None: ...
    def state(self, prefix: str = ...) -> dict[str, NDArray[Any]]:
        """
        What is known, as arrays by name: all of it, or that under names that begin so.
        """

    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def rate(self) -> float: ...
    @property
    def cuts(self) -> tuple[int, int, float]: ...
    def widen(self, outputs: int) -> None: ...
    def track_intervals(self, coverages: Sequence[float], step: float, local: bool) -> None:
        """
        Track intervals of these coverages from here on; local: of widths that depend on the row.
        """

    @property
    def coverages(self) -> list[float]: ...
    def half_widths(self) -> NDArray[numpy.float64]:
        """
        By how much an interval reaches beyond its answer at a row of usual noise: outputs x coverages.
        """

    @property
    def n_members(self) -> int: ...
    @property
    def n_opinions(self) -> int: ...
    def shares(self) -> NDArray[numpy.float64]: ...
    def answer_one(
        self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None
    ) -> NDArray[numpy.float64]: ...
    def answer_number(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None) -> float: ...
    @overload
    def learn_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None, y: float) -> bool: ...
    @overload
    def learn_one(
        self,
        x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None,
        y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> bool: ...
    def coefficients(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...

def gradient_regression(
    features: int,
    rate: tuple[int, float, int],
    intercept: bool,
    averaged: bool,
    penalty: float,
    forgetting: float,
    per_feature: bool = ...,
) -> RegressionCore: ...
def least_squares(features: int, intercept: bool, penalty: float, forgetting: float) -> RegressionCore: ...
def mixed_regression(
    features: int,
    rates: Sequence[float],
    tilings: Sequence[tuple[int, int, Sequence[float], int, int, float, int]],
    residual: Sequence[tuple[int, int, Sequence[float], int, int, float, int]],
    quadratic: bool,
    baselines: bool,
    robust: bool,
    forests: Sequence[tuple[Sequence[Sequence[float]], int, int, bool]],
) -> RegressionCore:
    """
    Tilings: count, depth, steps, rows between replacements, least age, share replaced, seed.
    Forests: groves, rows, seed, whether for what smooth members leave.
    """

def sparse_mixed_regression(
    rates: Sequence[float], forgetting: Sequence[float], dense: RegressionCore | None, robust: bool
) -> RegressionCore:
    """
    `dense` learns the first columns of the rows; None where none is dense.
    """

def tilings(
    features: int,
    tilings: int,
    depth: int,
    steps: Sequence[float],
    decays: Sequence[float],
    every: int,
    young: int,
    share: float,
    seed: int,
) -> Core: ...
def forest(features: int, groves: Sequence[Sequence[float]], rows: int, seed: int) -> Core: ...

class SparseScalerCore:
    def __init__(self, most_rows: float, clip: float, robust: bool = ...) -> None: ...
    def state(self, prefix: str = ...) -> dict[str, NDArray[Any]]:
        """
        What is known, as arrays by name: all of it, or that under names that begin so.
        """

    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...
    def begin(
        self,
        X: SparseRows,
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    def learn(
        self,
        X: SparseRows,
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    def run(
        self,
        X: SparseRows,
        out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None:
        """Transform each row by what was known before it, then learn it."""

    def transform(
        self, X: SparseRows, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]
    ) -> None: ...
    def learn_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None) -> None: ...
    def check_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None) -> None: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    def name_features(self, names: tuple[Hashable, ...]) -> None: ...
    def transform_one(
        self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None
    ) -> dict[Any, float]: ...

class TransformerCore:
    def state(self, prefix: str = ...) -> dict[str, NDArray[Any]]:
        """
        What is known, as arrays by name: all of it, or that under names that begin so.
        """

    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...
    def begin(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    def learn(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None: ...
    def run(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        masses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = ...,
    ) -> None:
        """Transform each row by what was known before it, then learn it."""

    def transform(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    ) -> None: ...
    def learn_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None) -> None: ...
    def check_one(self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    def name_features(self, names: tuple[Hashable, ...] | Vocabulary) -> None: ...
    def transform_one(
        self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None
    ) -> NDArray[numpy.float64]: ...
    def transform_named(
        self, x: Mapping[Any, float] | Sequence[float] | NDArray[numpy.float64] | None, names: tuple[Hashable, ...]
    ) -> dict[Any, float]:
        """One row transformed, as a dict."""

def scaler(
    features: int, with_mean: bool, with_std: bool, forgetting: float, clip: float, robust: bool = ...
) -> TransformerCore: ...
def principal(features: int, components: int, amnesic: float, forgetting: float, unit: bool) -> TransformerCore: ...
def orthonormal_axes(core: TransformerCore) -> NDArray[numpy.float64]: ...
def random_features(
    outputs: int,
    frequencies: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> TransformerCore: ...
def random_tilings(features: int, tilings: int, depth: int, seed: int) -> TransformerCore: ...

class RecentAuc:
    def __init__(self, rows: int = ..., factor: float = ...) -> None: ...
    def push(
        self,
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        positive: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    def push_and_score(
        self,
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        positive: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)],
        at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Add rows; the ROC AUC after each, and the average precision after those at these places, which rise.
        """

    def roc_auc(self) -> float: ...
    def average_precision(self) -> float: ...
    def rows(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

class FeatureNames:
    def __init__(self, bits: int, limit: int) -> None: ...
    @overload
    def add_texts(
        self,
        offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        analyzer: str,
        low: int,
        high: int,
    ) -> None: ...
    @overload
    def add_texts(
        self,
        offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        analyzer: str,
        low: int,
        high: int,
    ) -> None:
        """Count the n-grams of texts."""

    @overload
    def add_strings(
        self,
        offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    @overload
    def add_strings(
        self,
        offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None:
        """Count whole strings."""

    def names(self) -> list[tuple[int, bytes, int]]:
        """Index, token and count of each feature that has a name, by index."""

    def restore(self, token: bytes, count: int) -> None: ...

@overload
def hash_strings(
    offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bits: int,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int8]]: ...
@overload
def hash_strings(
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bits: int,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int8]]:
    """Index among 2**bits features and sign (1 or -1) of each string."""

@overload
def hash_entries(
    offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bits: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
@overload
def hash_entries(
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bits: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]:
    """
    Rows of named values, given by where each starts, as CSR arrays: indptr, indices, values.
    """

@overload
def hash_texts(
    offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bits: int,
    analyzer: str,
    low: int,
    high: int,
    signed: bool,
    norm: str,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
@overload
def hash_texts(
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bits: int,
    analyzer: str,
    low: int,
    high: int,
    signed: bool,
    norm: str,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]:
    """
    Counts of the hashed n-grams of each text, as CSR arrays: indptr, indices, values.
    """

class PastTable:
    def __init__(self, calls: Sequence[tuple[str, str, int, bool, float, int, int]], most_bytes: int) -> None: ...
    @property
    def keys(self) -> int: ...
    @property
    def most_keys(self) -> int: ...
    def follow(
        self,
        keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        clock: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        now: int,
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    ) -> None:
        """
        Step i writes what is known before row i and adds the row, ~i adds its target; key 0 is that of none.
        """

    def mark(self) -> None:
        """Changes from here on can be taken back."""

    def undo(self) -> None:
        """Take back the changes since `mark`."""

    def state(self) -> NDArray[numpy.int64]: ...
    def restore(
        self, kept: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None: ...

def first_bad(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> tuple[int, int]:
    """
    Row and column of the first value that is not finite or beyond the limit; (-1, -1) where there is none.
    """

def distinct(
    y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> list[int]:
    """
    The labels that occur, sorted; none where they lie too far apart for a table.
    """

def encode(
    y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
) -> int:
    """
    Write each label's place among the sorted values; the index of the first label not there, or -1.
    """

def encode_words(
    y: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
) -> int:
    """The same for words, given as rows of code points padded with zeros."""

def fade(
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    keep: float,
    total: float,
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
) -> None:
    """
    Write the fading sum after each value: what was there times keep, plus the value.
    """

largest_value: float = ...

lanes: int = ...

fused: bool = ...
