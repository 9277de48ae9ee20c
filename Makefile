# Three commands do everything on a machine with Python 3.11+, a C++ compiler and make:
#   make demo   set up, then learn a drifting stream and draw what happened
#   make test   set up with the development extras, then lint, types, layers, doctests and tests
#   make docs   build the documentation into site/, figures and reports included
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(wildcard src/thalweg/kernels/*.cpp src/thalweg/kernels/*.hpp) CMakeLists.txt
WORKERS ?= 2
# Where there is Java, what Spark needs is installed and its tests run, too.
DEV_EXTRAS := dev$(shell command -v java >/dev/null 2>&1 && echo ,spark)
DEV := $(VENV)/.$(DEV_EXTRAS)

.PHONY: help setup demo test lint types layers doctest unit bench bench-guard docs docs-serve clean

help:
	@sed -n '2,4p' Makefile | cut -c3-

setup: $(VENV)/.base
demo: $(VENV)/.base
	$(BIN)/thalweg demo --out demo

test: lint types layers doctest unit

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "thalweg needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@touch $@

# What the kernels are built with stays in the environment, so that a second build is incremental.
$(VENV)/.build: $(VENV)/.python constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt scikit-build-core nanobind cmake ninja
	@touch $@

$(VENV)/.base: $(VENV)/.build pyproject.toml $(KERNELS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[plot,files]'
	@touch $@

# PySpark comes as sources, which are packed in an environment of their own.
$(DEV): $(VENV)/.base
	$(if $(findstring spark,$(DEV_EXTRAS)),$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pyspark)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[$(DEV_EXTRAS)]'
	@touch $@

$(VENV)/.bench: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[bench]'
	@touch $@

$(VENV)/.docs: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[docs]'
	@touch $@

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
types: $(DEV)
	$(BIN)/mypy
layers: $(DEV)
	$(BIN)/lint-imports
doctest: $(DEV)
	$(BIN)/python -m pytest -q --doctest-modules src/thalweg
unit: $(DEV)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup --hypothesis-profile=repeatable

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(BENCH)
bench-guard: $(VENV)/.base
	$(BIN)/python benchmarks/guard.py

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
docs-serve: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

clean:
	rm -rf $(VENV) build demo site
