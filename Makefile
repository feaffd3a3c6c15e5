# Every command sets itself up: a clone, Python 3.11, g++ and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard src/nullforest/engine/native/*)

.PHONY: help demo test browser lint figures bench study clean
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

test: $(VENV)/.installed lint browser ## lint, types and the whole test suite
	$(BIN)/python -m pytest -rs

browser: ## chromium, in which the report is tested; installed where that can be done
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    echo "Installing chromium, to test the report ..." && \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } || \
	  echo "NO BROWSER: chromium is not here and cannot be installed, so the report will NOT BE TESTED." >&2

lint: $(VENV)/.installed ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

figures: $(VENV)/.installed browser ## draw the figures of the documentation anew
	$(BIN)/python docs/make_figures.py

bench: $(VENV)/.installed ## side-by-side timings, as ratios
	$(BIN)/python benchmarks/paper_null.py
	$(BIN)/python benchmarks/tally_sklearn.py
	$(BIN)/python benchmarks/report.py

# THICKNESS=file.npz (subjects x vertices) adds the study on a real cortical covariance.
study: study-calibration ## long statistical studies (hours); results land in studies/results

study-calibration: $(VENV)/.installed ## false positive rates reached, with standard errors
	$(BIN)/python -m pip install --quiet --editable '.[study]'
	$(BIN)/python -m studies.calibration $(if $(THICKNESS),--thickness $(THICKNESS))

clean: ## forget the environment and all build products
	rm -rf $(VENV) build dist demo
