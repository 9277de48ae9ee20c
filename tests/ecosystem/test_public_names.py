"""Every public name explains itself with an example; code, reference, guide and README name the same things."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import is_classifier

import thalweg
from thalweg.conformance import estimators

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "client",
    "errors",
    "evaluate",
    "fleet",
    "frames",
    "learners",
    "pipeline",
    "rates",
    "spark",
    "store",
    "streams",
    "text",
    "transforms",
)
REFERENCE = sorted([*ROOT.glob("docs/api*.md"), *ROOT.glob("docs/api/**/*.md")])


def public_objects():
    for module in ("thalweg", *(f"thalweg.{package}" for package in PACKAGES)):
        package = importlib.import_module(module)
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                yield pytest.param(value, id=f"{module}.{name}")


def test_every_package_says_what_is_public():
    for package in PACKAGES:
        names = importlib.import_module(f"thalweg.{package}").__all__
        assert names
        assert len(names) == len(set(names))


PUBLIC = list(public_objects())
CLASSES = [case for case in PUBLIC if inspect.isclass(case.values[0])]


@pytest.mark.parametrize("value", PUBLIC)
def test_a_public_name_has_an_example_of_its_own(value):
    assert value.__doc__ is not None
    assert ">>>" in value.__doc__


@pytest.mark.parametrize("value", CLASSES)
def test_every_public_method_is_explained(value):
    for name, member in inspect.getmembers(value):
        function = member.fget if isinstance(member, property) else member
        ours = str(getattr(function, "__module__", "")).startswith("thalweg")
        if not name.startswith("_") and callable(function) and ours:
            assert inspect.getdoc(function), f"{value.__name__}.{name} has no docstring"


# ---------------------------------------------------------------------- code, reference and README


def in_reference(texts: list[str]) -> set[str]:
    """The names a reference describes, by its lines ``::: thalweg.Name``.

    A package described as a whole stands for all its names.
    """
    found: set[str] = set()
    for path in re.findall(r"^::: (thalweg[\w.]*)\s*$", "\n".join(texts), flags=re.MULTILINE):
        module = path.removeprefix("thalweg.")
        if module in PACKAGES:
            found |= {f"{path}.{name}" for name in importlib.import_module(path).__all__}
        else:
            found.add(path)
    return found


def disagreements(names: set[str], reference: set[str]) -> list[str]:
    """What one has and the other lacks; names of packages may be left out, but those told must exist."""
    missing = [f"{name} is public and not in the reference" for name in sorted(names - reference)]
    strange = [f"{name} is in the reference and not public" for name in sorted(reference) if not is_public(name)]
    return missing + strange


def is_public(path: str) -> bool:
    """By the package's own list: a function called like its module can be told only by the longer path."""
    parts = path.split(".")
    if any(
        path == f"{base.__module__}.{base.__qualname__}" for case in CLASSES for base in inspect.getmro(case.values[0])
    ):
        return True  # the contract of public classes
    try:
        return parts[-1] in importlib.import_module(".".join(parts[: min(2, len(parts) - 1)])).__all__
    except (ImportError, AttributeError):
        return False


@pytest.fixture
def hook(monkeypatch):
    """What makes the tables and lists of learners."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "hooks")
    return importlib.import_module("learners")


TOP = {f"thalweg.{name}" for name in thalweg.__all__}


def test_disagreements_are_found():
    lines = "\n".join(f"::: {name}" for name in sorted(TOP))
    assert disagreements(TOP, in_reference([lines, "::: thalweg.rates\n    options:\n"])) == []
    assert "thalweg.rates.Constant" in in_reference(["::: thalweg.rates"])
    assert disagreements(TOP, in_reference([lines.replace("::: thalweg.OnlineLDC\n", "")])) == [
        "thalweg.OnlineLDC is public and not in the reference"
    ]
    assert disagreements(TOP, in_reference([lines, "::: thalweg.OfflineLDC"])) == [
        "thalweg.OfflineLDC is in the reference and not public"
    ]


def test_the_reference_tells_every_public_name(hook):
    if not REFERENCE:
        pytest.skip("there is no reference in docs/api yet")
    texts = [hook.on_page_markdown(path.read_text(encoding="utf-8")) for path in REFERENCE]
    assert disagreements(TOP, in_reference(texts)) == []


def test_the_readme_imports_and_recommends_public_names():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for module, names in re.findall(r"^from (thalweg[\w.]*) import (.+)$", text, flags=re.MULTILINE):
        for name in names.split(", "):
            assert is_public(f"{module}.{name.strip()}"), f"the README imports {name} from {module}"
    recommended = re.findall(r"`(?:thalweg\.)?([\w.]+)\(", text.split("## Which learner")[1].split("\n## ")[0])
    assert len(recommended) >= 6
    assert [name for name in recommended if not is_public(f"thalweg.{name}")] == []


def test_the_guide_describes_every_classifier(hook):
    cells = [line.strip("| ").split(" | ") for line in hook.PAGE.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in cells if len(row) == 7 and row[0].startswith("[`")]
    named = [re.fullmatch(r"\[`(\w+)\(.*\)`\]\(([\w-]+)\.md\)", row[0]).groups() for row in rows]
    assert list(dict.fromkeys(name for name, _ in named)) == hook.described()
    classifiers = {name for name, model in estimators().items() if is_classifier(model)} & set(thalweg.learners.__all__)
    assert set(hook.described()) == classifiers
    known = set()
    for (name, page), row in zip(named, rows, strict=True):
        learner = getattr(thalweg.learners, name)
        model = learner._catalogue.name if learner._catalogue and name not in known else ""
        assert row[1].strip() == (model and f"`{model}`")
        assert (ROOT / "docs" / "algorithms" / f"{page}.md").exists()
        assert row[5] in ("as its base", "no") or hasattr(learner, "predict_proba")
        known.add(name)
    assert hook.on_page_markdown(hook.REFERENCE) == hook.reference()
