# Every command sets itself up: a clone, Python 3.11, g++ and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard src/nullforest/engine/native/*)

.PHONY: help demo test lint figures bench study clean
.DELETE_ON_ERROR:

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Built again whenever the metadata or the native sources change.
$(VENV)/.installed: pyproject.toml $(NATIVE) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	@touch $@

demo: $(VENV)/.installed ## select features on the embedded leukaemia data
	$(BIN)/python -m nullforest demo --out demo --force

test: $(VENV)/.installed lint ## lint, types and the whole test suite
	$(BIN)/python -m pytest

lint: $(VENV)/.installed ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

figures: $(VENV)/.installed ## draw the figures of the documentation anew
	$(BIN)/python docs/make_figures.py

bench: $(VENV)/.installed ## side-by-side timings, as ratios
	$(BIN)/python benchmarks/paper_null.py
	$(BIN)/python benchmarks/tally_sklearn.py

# THICKNESS=file.npz (subjects x vertices) adds the study on a real cortical covariance.
study: study-calibration ## long statistical studies (hours); results land in studies/results

study-calibration: $(VENV)/.installed ## false positive rates reached, with standard errors
	$(BIN)/python -m pip install --quiet --editable '.[study]'
	$(BIN)/python -m studies.calibration $(if $(THICKNESS),--thickness $(THICKNESS))

clean: ## forget the environment and all build products
	rm -rf $(VENV) build dist demo
