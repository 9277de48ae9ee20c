# Set-up, checks and documentation. `make help` lists the targets; Python 3.11+, a C++17 compiler and make are enough.
PYTHON ?= python3
ifeq ($(origin CXX),default)
CXX := c++
endif
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(shell find src/thalweg -name '*.hpp' -o -name '*.cpp') CMakeLists.txt
WORKERS ?= 2
SPARK := $(shell java -version >/dev/null 2>&1 && echo ,spark)
ALL := $(VENV)/.all$(SPARK)
# Byte code is compiled when a module is first imported, not for every module that is installed, and kept: tests start
# many interpreters.
unexport PYTHONDONTWRITEBYTECODE
# The machine's own pip fills the environment where it can: to put one there first takes five seconds.
OWN_PIP := $(PYTHON) -m pip --python $(BIN)/python
PIP := $$([ -x $(BIN)/pip ] && echo $(BIN)/python -m pip || echo $(OWN_PIP)) install \
	--quiet --disable-pip-version-check --no-compile -c constraints.txt
EDITABLE := $(PIP) --no-build-isolation -e
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --hypothesis-profile=repeatable
# File by file, so that a server or an expensive fixture is started once.
QUICK := THALWEG_EXAMPLES=0.1 $(PYTEST) --dist loadfile -m 'not slow'

.PHONY: help setup demo test test-all test-real lint format types stubs layers doctest unit coverage sanitize fuzz \
        wheel-test cross-test cross-compile bench bench-guard docs docs-serve clean

help:  ## List the targets
	@awk -F ':.*  ## ' '/^[a-z-]+:.*  ## / {printf "%-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.base  ## Create .venv with the library, built in place
demo: $(VENV)/.base  ## Set up, run the default on a drifting stream, write the report
	$(BIN)/thalweg demo --out demo

test: $(VENV)/.dev  ## Every check before a commit: about five minutes on two cores
	@$(MAKE) --no-print-directory -j2 unit lint layers types doctest  # the tests leave some of the second core idle
test-all: lint types layers doctest cross-compile $(ALL)  ## All tests, also kills, papers, site, Spark and long streams
	$(PYTEST) --dist loadgroup
test-real: $(ALL)  ## A few tests on a real Spark, PostgreSQL, Redis and Chromium
	$(BIN)/python -m pytest -q -rs --hypothesis-profile=repeatable -m real

lint: $(VENV)/.dev  ## ruff, clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(filter %.hpp %.cpp,$(KERNELS)) $(wildcard benchmarks/limit/*.c docs/demonstration/*.cpp)
format: $(VENV)/.dev  ## Reformat Python and C++
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(filter %.hpp %.cpp,$(KERNELS)) $(wildcard benchmarks/limit/*.c docs/demonstration/*.cpp)
types: $(VENV)/.dev  ## mypy --strict on the package
	$(BIN)/mypy
stubs: $(VENV)/.dev  ## Write the types of the compiled module, src/thalweg/kernels/_base.pyi
	$(BIN)/python -m nanobind.stubgen -q --exclude-values -m thalweg.kernels._base -o src/thalweg/kernels/_base.pyi
	$(BIN)/ruff format -q src/thalweg/kernels/_base.pyi
layers: $(VENV)/.dev  ## Imports point one way
	$(BIN)/lint-imports
doctest: $(VENV)/.dev  ## Examples in docstrings
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q --doctest-modules src/thalweg
unit: $(VENV)/.dev  ## Tests that are not marked slow
	$(QUICK)

coverage: $(VENV)/.dev  ## Lines and branches that `make unit` runs
	$(QUICK) --cov=thalweg --cov-branch --cov-report=term:skip-covered

# The sanitized build lies beside the usual one. An environment with nothing of its own imports it and, without the .pth
# file that would find the usual build, the tools of .venv. The sanitizers' libraries have to be loaded first. Tests of
# memory are left out, since a sanitizer holds freed memory back.
SANITIZED := build/sanitize
SANITIZED_PYTHON = LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	PYTHONPATH="$(CURDIR)/$(SANITIZED)/lib:$(CURDIR):$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	$(SANITIZED)/env/bin/python -m pytest -q -n $(WORKERS) -p no:cacheprovider

$(SANITIZED)/.built: $(VENV)/.dev $(KERNELS) $(shell find src -name '*.py')
	$(BIN)/python -m venv --without-pip $(SANITIZED)/env
	rm -rf $(SANITIZED)/lib
	CXX="$(CXX)" $(PIP) --no-deps --no-build-isolation --target $(SANITIZED)/lib \
		--config-settings build-dir=$(SANITIZED)/cmake --config-settings cmake.define.THALWEG_SANITIZE=ON \
		--config-settings install.strip=false .
	@touch $@
sanitize: $(SANITIZED)/.built  ## Kernel, learner and fuzz tests under ASan and UBSan (GCC, Linux)
	THALWEG_EXAMPLES=0.25 $(SANITIZED_PYTHON) --hypothesis-profile=repeatable -m 'not slow and not memory' \
		tests/kernels tests/learners tests/fleet tests/transforms tests/test_store.py
fuzz: $(SANITIZED)/.built  ## The fuzz tests alone under ASan and UBSan, with 50 times as many examples
	THALWEG_EXAMPLES=50 $(SANITIZED_PYTHON) tests/kernels/test_fuzz.py
wheel-test: $(VENV)/.dev  ## Build a wheel and test it in an environment of its own, in about a minute
	rm -rf build/wheel && mkdir -p build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w build/wheel .
	$(PYTHON) -m venv build/wheel/env
	wheel=$$(ls build/wheel/*.whl) && start=$$(date +%s) && env PATH="$(CURDIR)/build/wheel/env/bin" \
		build/wheel/env/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: \
		-c constraints.txt "$$wheel[files]" pytest hypothesis && \
		echo "$$(du -k $$wheel | cut -f1) kB, installed in $$(($$(date +%s) - start)) seconds where there is no compiler"
	build/wheel/env/bin/thalweg demo --out build/wheel/demo
	build/wheel/env/bin/python -m pytest -q -p no:cacheprovider --hypothesis-profile=repeatable -m 'not slow' -c pyproject.toml tests/kernels
cross-test: $(VENV)/.base  ## Compile for the other processor family, run kernel tests under qemu-user (Debian 12)
	.ci/cross-test

cross-compile: $(VENV)/.dev  ## Compile and link for macOS and Windows, run nothing
	$(PIP) ziglang
	.ci/cross-compile

bench: $(VENV)/.bench  ## Speed side by side with peers, as ratios; BENCH=name for one suite
	$(BIN)/python -m benchmarks $(BENCH)
bench-guard: $(VENV)/.base  ## Instructions per row of the main kernels against those on record (valgrind)
	$(BIN)/python benchmarks/guard.py

docs: $(VENV)/.docs  ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
docs-serve: $(VENV)/.docs  ## Serve the documentation while you write
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

clean:  ## Remove the environment and everything that was built
	rm -rf $(VENV) build demo site .coverage*

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "thalweg needs Python 3.11 or newer")'
	$(PYTHON) -m venv --without-pip $(VENV)
	$(OWN_PIP) --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	@touch $@

# Every level of the kernels is built for the tests; for anything else the best that this machine runs is enough.
NATIVE := $(if $(wildcard $(VENV)/.dev),OFF,ON)
# The kernels are compiled while the dependencies are downloaded and first imported. What the kernels are built with comes
# first and stays in the environment, so that a second build is incremental; CMake and Ninja only where the machine has none.
define REQUIREMENTS
import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
print(*project["dependencies"], *project["optional-dependencies"]["files"], sep="\n")
endef
define TOOLS
from scikit_build_core.build import get_requires_for_build_editable
print(*get_requires_for_build_editable({}))
endef
export REQUIREMENTS TOOLS
$(VENV)/.base: $(VENV)/.python constraints.txt pyproject.toml $(KERNELS)
	$(BIN)/python -c "$$REQUIREMENTS" > $(VENV)/requirements.txt
	$(PIP) scikit-build-core nanobind
	{ $(PIP) pip -r $(VENV)/requirements.txt && $(BIN)/python -c "import scipy.special, sklearn.base"; } & \
		needs=$$!; trap "kill $$needs" INT TERM; tools=$$($(BIN)/python -c "$$TOOLS") && { [ -z "$$tools" ] || $(PIP) $$tools; } && \
		$(EDITABLE) . --no-deps --config-settings cmake.define.THALWEG_NATIVE=$(NATIVE); built=$$?; wait $$needs && exit $$built
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(EDITABLE) '.[dev]' --config-settings cmake.define.THALWEG_NATIVE=OFF
	@touch $@

# Spark needs Java, and comes as sources, which are packed in an environment of their own.
$(ALL): $(VENV)/.dev
	$(if $(SPARK),$(PIP) pyspark)
	$(EDITABLE) '.[dev,dev-all$(SPARK)]'
	@touch $@

$(VENV)/.bench: $(VENV)/.base
	$(EDITABLE) '.[bench,plot]'
	@touch $@

$(VENV)/.docs: $(VENV)/.base
	$(EDITABLE) '.[docs]'
	@touch $@
