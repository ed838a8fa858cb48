# Every recipe uses relative paths, so that a checkout in a folder with spaces works.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
CODE := domain ledger workflows activities workers legato
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONUNBUFFERED := 1

.PHONY: help setup confinement demo check mypy pyright format test docs histories slow soak bench lock build clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

setup: $(STAMP) ## Make .venv with everything pinned in requirements.lock

$(STAMP): pyproject.toml requirements.lock requirements-uv.lock
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": run make setup PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "setup: installing the pinned packages into .venv"
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements-uv.lock
	@$(BIN)/python -m uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock \
	  || { echo "setup: uv could not install, going on with pip (about two minutes)"; \
	       $(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock; }
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@$(MAKE) --no-print-directory confinement
	@touch $(STAMP)

confinement: ## Install bubblewrap where root and apt-get are there (optional)
	@if command -v bwrap >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  { export DEBIAN_FRONTEND=noninteractive; \
	    apt-get install -y -qq --no-install-recommends bubblewrap || { apt-get update -qq && apt-get install -y -qq --no-install-recommends bubblewrap; }; \
	  } </dev/null >/dev/null 2>&1 \
	  || echo "setup: bubblewrap could not be installed; shell commands get the next best confinement (see legato doctor)"; \
	else echo "setup: bubblewrap is not installed; shell commands get the next best confinement (see legato doctor)"; fi

demo: setup ## Run Review+Fix on a small repository, killing the worker twice
	@$(BIN)/legato demo

check: setup ## Formatting, lint, types, import directions
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory --jobs=2 --output-sync mypy pyright

mypy pyright: setup
	$(BIN)/python -m $@

format: setup ## Format the code and apply the safe fixes
	$(BIN)/python -m ruff format .
	$(BIN)/python -m ruff check --fix .

test: setup check ## The checks and the fast tests, by two processes
	$(BIN)/python -m pytest -n 2 --dist loadfile

histories: setup ## Record the golden Temporal histories anew, after a wanted change of the workflow
	PYTHONPATH=. $(BIN)/python -m tests.support.record_histories

docs: setup ## Make the pages anew that are made from the code
	@for maker in docs/make_*.py; do $(BIN)/python "$$maker" || exit 1; done

slow: setup ## The slow tests: kills, restarts, real installs; by two processes
	@$(BIN)/python -m pytest -m slow -n 2 --dist loadfile || { status=$$?; test $$status = 5 || exit $$status; } # 5: no such test yet

soak: setup ## The long counts, once per release
	@$(BIN)/python -m pytest -m soak || { status=$$?; test $$status = 5 || exit $$status; } # 5: no such test yet

bench: setup ## Every figure in one table, beside bare Temporal, a bare insert and the peers
	@$(BIN)/python bench/turns.py --figure all

lock: $(STAMP) ## Resolve requirements.lock anew from pyproject.toml
	$(BIN)/python -m uv pip compile --quiet --upgrade --generate-hashes --no-emit-index-url --extra dev --universal --python-version 3.11 \
	  --custom-compile-command "make lock" pyproject.toml --output-file requirements.lock
	echo uv | $(BIN)/python -m uv pip compile --quiet --upgrade --generate-hashes --no-emit-index-url --no-annotate --universal --python-version 3.11 \
	  --custom-compile-command "make lock" - --output-file requirements-uv.lock

build: setup ## Build the wheel into dist/
	$(BIN)/python -m hatchling build -t wheel

clean: ## Remove caches and build products; .venv stays
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find $(CODE) tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
