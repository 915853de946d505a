# Every target sets up what it needs; on a bare Debian machine python3, git and make are enough.

PYTHON ?= python3
# For two cores: tests that drive programs wait for them; with three workers an eighth of the cores was idle.
WORKERS ?= 4
BIN := .venv/bin
READY := .venv/.ready
READY_FOR_DEMO := .venv/.ready-for-demo
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-input
# One line for each package as it comes, instead of silence or pages.
NAMES := sed -unE 's/^Collecting ([^ =<>~!;]+).*/  \1/p; s/^Successfully installed.*/  installed/p'
SHELL := bash
.SHELLFLAGS := -o pipefail -c
BENCHMARKS := $(wildcard benchmarks/*.py)

# The tests start the package some thousand times: it is compiled once, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo check test nightly lint format lock bench clean system mermaid agents

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

demo: $(READY_FOR_DEMO) ## watch one whole loop: real git, real pytest, real journal; no key (the first call installs flyball)
	@tools/setup-debian bwrap:bubblewrap
	$(BIN)/flyball demo

# What lint says is kept back until the tests, which run meanwhile, have said theirs.
check: $(READY) ## the fast part, under two minutes: style, types, import rules, fast tests
	@$(MAKE) --no-print-directory lint >.venv/lint.log 2>&1 & lint=$$!; trap 'kill $$lint 2>/dev/null' EXIT; \
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow and not e2e and not nightly"; tests=$$?; \
	wait $$lint; linted=$$?; cat .venv/lint.log; exit $$((tests | linted))

test: lint system mermaid ## everything: the checks above and every test, with real agents where they can be had
	@tools/install-agents --few
	$(BIN)/python -m pytest -n $(WORKERS) --dist=worksteal

nightly: $(READY) system ## the slow rest: packages nobody here wrote, real models
	$(BIN)/python -m pytest -m nightly

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## rewrite the sources as `make check` wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

agents: ## install every agent the live tests can drive into a cache outside this folder (gigabytes)
	@tools/install-agents

bench: $(READY) system ## measure overhead, start-up and the scenarios
	@set -e; for program in $(BENCHMARKS); do echo "$$program"; $(BIN)/python "$$program"; done

lock: $(READY) ## compile the hash-pinned requirement files anew
	tools/lock

clean: ## remove the virtual environment, caches and build output
	rm -rf .venv dist build .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Programs some tests drive; without them those tests are skipped and say why.
system:
	@tools/setup-debian bwrap:bubblewrap tmux:tmux strace:strace bats:bats chromium:chromium

# Mermaid's parser, where there is npm: `flyball` asks it whether diagrams are right.
mermaid: $(READY)
	@test -d .venv/node/lib/node_modules/mermaid || ! command -v npm >/dev/null || \
		npm install --silent --global --prefix .venv/node --no-audit --no-fund mermaid@11 jsdom@24

# What runs the demo, and no more: flyball and its dependencies.
$(READY_FOR_DEMO): requirements/runtime.txt pyproject.toml
	@tools/setup-debian --python "$(PYTHON)"
	@echo "setup: flyball and its dependencies go into .venv; about half a minute"
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv
	@$(PIP) --require-hashes --requirement requirements/runtime.txt | $(NAMES)
	@$(PIP) --no-deps --editable . | $(NAMES)
	@touch $@

$(READY): requirements/dev.txt pyproject.toml
	@tools/setup-debian --python "$(PYTHON)"
	@echo "setup: flyball and what checks it go into .venv; about a minute"
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv
	@$(PIP) --require-hashes --requirement requirements/dev.txt | $(NAMES)
	@$(PIP) --no-build-isolation --no-deps --editable . | $(NAMES)
	@touch $@ $(READY_FOR_DEMO)
