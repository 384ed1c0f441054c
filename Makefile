# Everything a person or a CI job does here is one target. Needs python3 >= 3.11 and make.

PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
UNFINISHED := $(VENV)/.unfinished

NEWER_PYTHON := import sys; sys.exit(sys.version_info < (3, 11))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(READY) ## install into .venv, if what it is made from changed
	@echo "ready: $(BIN)/steadyframe"

# The mark of an unfinished set-up stays if this is interrupted. Such a .venv, or one without a
# working Python, is made anew: pip would take half a package for a whole one. -qq shows errors only.
$(READY): pyproject.toml constraints.txt backend/planned/native.c
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "$(PYTHON) not found: install Python 3.11 or later, or call make PYTHON=..." >&2; exit 1; }
	@"$(PYTHON)" -c "$(NEWER_PYTHON)" || { \
	  echo "$$("$(PYTHON)" --version) is too old: call make PYTHON=... with 3.11 or later" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make a venv: install its venv package (python3-venv on Debian)" >&2; exit 1; }
	@echo "installing into $(VENV), a few minutes the first time"
	@if [ -e $(UNFINISHED) ] || ! $(BIN)/python -c "$(NEWER_PYTHON)" 2>/dev/null; then \
	  rm -rf $(VENV); fi
	@mkdir -p $(VENV) && rm -f $(READY) && touch $(UNFINISHED)
	@"$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check \
	  -c constraints.txt -e '.[test]'
	@rm -f $(UNFINISHED) && touch $(READY)

.PHONY: report
report: $(READY) ## verify the shipped models on a real video, reports in reports/
	@$(BIN)/steadyframe report

.PHONY: gate
gate: $(READY) ## hold every case's exact counts against reports/baseline.json
	@$(BIN)/steadyframe gate

# Two at a time: the counts that the tests measure do not depend on load.
.PHONY: test
test: $(READY) ## run the tests
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not soak"

.PHONY: lint
lint: $(READY) ## check style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

# make soak SECONDS=600 draws for so long, where it would draw 27,000 workloads otherwise.
.PHONY: soak
soak: $(READY) ## run the long tests, and generated examples by the thousand or for SECONDS=N
	@HYPOTHESIS_PROFILE=soak SOAK_SECONDS=$(SECONDS) $(BIN)/python -m pytest -q -n 2 --dist worksteal

.PHONY: selftest
selftest: $(READY) ## find every planted fault, and accuse none that is right
	@$(BIN)/steadyframe selftest

.PHONY: inject
inject: $(READY) ## have each operation of the reference backend fail in turn
	@$(BIN)/steadyframe inject reference
	@$(BIN)/steadyframe inject reference --arg mode=async --arg nireq=4
	@$(BIN)/steadyframe inject delay --arg mode=async --arg nireq=4

# make bench ONLY=harness,backend runs some sections: see docs/bench.md.
.PHONY: bench
bench: $(READY) ## measure speed and cost beside others, or ONLY=SECTION,...: 15 min, the matrix 20
	@$(BIN)/python -W ignore -m harness.bench --only "$(ONLY)"

.PHONY: clean
clean: ## remove .venv, caches and generated reports
	@rm -rf $(VENV) build dist *.egg-info backend/planned/*.so .hypothesis .pytest_cache .mypy_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@[ ! -d reports ] || find reports -mindepth 1 ! -name baseline.json ! -name README.md -delete
