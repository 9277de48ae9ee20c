"""What an import costs, in modules: a number that does not depend on the machine, as seconds do."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "sklearn",
    "scipy",
    "pandas",
    "polars",
    "matplotlib",
    "pyarrow",
    "rich",
    "typer",
    "river",
    "safetensors",
    "httpx",
    "pyspark",
}
#: Ours that `import thalweg` may load: the package itself and what loads the rest on first use.
FEW = 8
#: Ours that one learner may need besides: its contract, its kernels, its inputs.
ONE_LEARNER = 29


def added(before: str, then: str) -> list[str]:
    """The modules that a statement loads in a fresh interpreter, after another one."""
    return added_by_each(before, then)[0]


def added_by_each(before: str, *statements: str) -> list[list[str]]:
    """The modules that each statement loads in a fresh interpreter, after those before it."""
    keep = "known = set(sys.modules)"
    tell = "print(json.dumps(list(set(sys.modules) - known)))"
    script = "; ".join([f"import json, sys; {before}", *(f"{keep}; {each}; {tell}" for each in statements)])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def families(modules: list[str]) -> set[str]:
    return {module.split(".")[0] for module in modules}


def test_import_thalweg_costs_next_to_nothing_beyond_numpy():
    modules = added("import numpy", "import thalweg")
    assert len(modules) <= FEW
    assert not HEAVY & families(modules)
    assert not any("kernels" in module for module in modules)


@pytest.mark.quick(2)
@pytest.mark.parametrize("package", ["client", "errors", "rates", "frames", "tables"])
def test_packages_that_need_no_learner_load_no_heavy_library(package):
    assert not HEAVY & families(added("import numpy", f"import thalweg.{package}"))


@pytest.mark.quick(1)
@pytest.mark.parametrize("module", ["run.runner", "service.learning.live_model", "spark.late_labels"])
def test_only_the_needed_parts_of_evaluation_are_loaded(module):
    modules = added("import numpy, sklearn.base", f"import thalweg.{module}")
    names = ["averages", "class_drift", "drift", "label_baselines", "metrics", "record", "task"]
    if module == "run.runner":
        names += ["alert_rules", "alerts"]
    if module in ("run.runner", "service.learning.live_model"):  # they score, watch columns, and look for causes
        names += [
            "block_scores",
            "confusion",
            "error_causes",
            "input_drift",
            "layout",
            "model_history",
            "number_baselines",
            "probability_scores",
            "reference_test",
            "short_rises",
            "stream_watch",
        ]
    light = {f"thalweg.evaluate.{name}" for name in names}
    assert {name for name in modules if name.startswith("thalweg.evaluate.")} <= light
    assert not any(name.startswith(("thalweg.streams", "scipy.stats", "scipy.integrate")) for name in modules)


def test_a_learner_loads_little_beyond_scikit_learn_base_and_a_frame_only_its_own_library():
    modules, _, by_frame, by_river = added_by_each(
        "import numpy, sklearn.base",
        "import thalweg; thalweg.OnlineLDC",
        "import pyarrow",
        'thalweg.OnlineLDC().fit(pyarrow.table({"a": [0.0, 1.0]}), [0, 1])',
        "import thalweg.river",
    )
    ours = [module for module in modules if module.startswith("thalweg")]
    assert len(ours) <= ONE_LEARNER
    assert len(modules) - len(ours) <= 12
    others = {module for module in ours if module.startswith("thalweg.learners.")}
    assert not {f"thalweg.learners.{name}" for name in ("auto", "kernel_mean", "learn_nse", "committee")} & others
    assert not {"polars", "matplotlib", "rich", "typer"} & families(by_frame)
    assert "river" not in families(by_river)


def test_every_public_name_can_be_had_and_is_listed():
    modules = added("import numpy", "import thalweg; assert set(thalweg.__all__) <= set(dir(thalweg))")
    assert not HEAVY & families(modules)
    import thalweg
    from thalweg import evaluate, frames, learners

    for package in (thalweg, learners, frames, evaluate):
        assert all(hasattr(package, name) for name in package.__all__)
        assert set(package.__all__) <= set(dir(package))
        with pytest.raises(AttributeError, match="attribute nothing"):
            _ = package.nothing
