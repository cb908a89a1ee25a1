# floatgate: `make` alone says what there is. The same commands serve people and CI.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
ON_LINUX := $(filter Linux,$(shell uname -s))
# The stages of .venv: the builder, the packages of runs and reports, floatgate itself, the packages of tests.
BUILDER := .venv/.builder
PACKAGES := .venv/.packages
INSTALLED := .venv/.installed
DEVELOPING := .venv/.developing
DIST := dist
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
EXTENSION := python/floatgate/_core.abi3.so
RUST := Cargo.toml Cargo.lock $(wildcard crates/*/Cargo.toml studies/*/Cargo.toml) \
	$(wildcard crates/*/build.rs crates/*/build/*.rs) \
	$(shell find crates/*/src studies/*/src -name '*.rs') $(shell find presets -name '*.toml' 2>/dev/null)

# A Rust that `make setup` has fetched is found, and one Python serves every build.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Tests with real traces run where these are, and skip with a reason where they are not.
ifeq ($(origin FLOATGATE_TRACES),undefined)
ifneq ($(wildcard ../shared/traces/.),)
export FLOATGATE_TRACES := $(abspath ../shared/traces)
endif
endif

# Those of Rust are ignored by `cargo test`, with the reason; this trace stands for the set they need.
REAL := $(firstword $(wildcard $(addsuffix /cloudphysics-vm-2h.vscsi.zst,$(subst :, ,$(FLOATGATE_TRACES)))))

##@ Use

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ready-to-develop ## Check the tools, make .venv, build floatgate into it
	@echo "floatgate is ready: $(BIN)/floatgate --help"

.PHONY: demo
demo: ready-to-run ## Set up, reproduce AGCR (FAST 2016) in its quick form, name the report
	@FLOATGATE_CACHE=target/states $(BIN)/floatgate reproduce agcr --quick --out floatgate-results/demo

##@ Develop

# Cargo compiles one crate after another, which leaves a core idle: Rust and Python are tested side by side,
# and checked so. One that fails does not stop the other; lines of output stay whole.
BESIDE := $(MAKE) -j2 --keep-going --output-sync=line

.PHONY: test test-rust test-python
test: ready-to-develop ## Run every test of the Rust crates and of the Python package
	@$(BESIDE) test-rust test-python
test-rust:
	cargo test --workspace --profile fast --no-fail-fast
	$(if $(REAL),cargo test --workspace --profile fast --tests real:: -- --ignored)
test-python:
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

.PHONY: lint lint-rust lint-python
lint: ready-to-develop ## Check format, lints, types, English; BENCH=1: instructions as well
	@$(BESIDE) lint-rust lint-python
	$(if $(BENCH),scripts/bench-count --baseline)
lint-rust:
	@# `cargo fmt` does not see modules that a list declares through a macro.
	cargo fmt --all --check
	rustfmt --check $(shell find crates/policies/src crates/workload/src crates/ssd/src/result -name '*.rs')
	cargo clippy --workspace --all-targets --features floatgate-ssd/bench,floatgate-ldpc/bench --profile fast -- -D warnings
lint-python:
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest floatgate._core --mypy-config-file scripts/stubtest.ini
	$(BIN)/python scripts/licences.py > /dev/null
	$(BIN)/python scripts/prose.py

.PHONY: verify
verify: ready-to-develop ## Compare with theory and with the papers at full length (long)
	cargo test -p floatgate-ssd --profile release --features verify
	$(if $(REAL),cargo test -p floatgate-ssd --profile release --features verify --test main real:: -- --ignored)
	cargo test --workspace --profile fast --test main -- units:: model:: slc:: separation:: oracle:: agreement:: --ignored
	cargo test --workspace --profile fast --lib -- throttle:: standin:: --ignored
	cargo test --workspace --profile fast --features floatgate-live/verify --test main -- power:: served::
	cargo test -p floatgate-c --profile release --test main -- --include-ignored
	$(BIN)/pytest -m verify

.PHONY: bench
bench: ## Measure simulated page operations per second (wall clock)
	cargo bench -p floatgate-ssd --features bench

.PHONY: bench-count
bench-count: ## Count instructions per page operation; BASELINE=1 compares, STORE=1 commits to them
	@scripts/bench-count $(if $(BASELINE),--baseline) $(if $(STORE),--store)

.PHONY: bench-peers
bench-peers: wheel ## Run the same jobs beside MQSIM=program and SSDSIM=program, which you built
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target target/peers dist/floatgate-*.whl
	$(BIN)/python scripts/peers/run.py --floatgate target/peers --mqsim "$(MQSIM)" \
		--ssdsim "$(SSDSIM)" --rounds $(or $(ROUNDS),3) --traces "$(FLOATGATE_TRACES)"

.PHONY: bench-separation
bench-separation: ready-to-develop ## Compare write amplification with SSDIQ=program and SEPBIT=folder, which you built
	$(BIN)/python scripts/peers/separation.py --ssdiq "$(SSDIQ)" --sepbit "$(SEPBIT)" --traces "$(FLOATGATE_TRACES)"

.PHONY: fuzz
fuzz: ready-to-develop ## Feed damaged files to every reader, by coverage where a nightly Rust can
	scripts/fuzz 120
	$(BIN)/python tests/fuzz.py --seconds 30
	$(BIN)/python tests/damage.py

.PHONY: roam
roam: ready-to-develop ## Run random drives for SECONDS; a finding is shrunk and stored (long)
	$(BIN)/python tests/roam.py --seconds $(or $(SECONDS),600)

.PHONY: mutants
mutants: $(BIN)/python ## Change our own code in N places, which SEED picks; what do tests miss? (long)
	$(BIN)/python scripts/mutants/run.py --n $(or $(N),300) --seed $(or $(SEED),1)

##@ Renew what is committed

.PHONY: golden
golden: ## Rewrite the golden results; review the difference, say why in CHANGELOG
	FLOATGATE_BLESS=1 cargo test --workspace --profile fast --test main -- golden:: sixty::

.PHONY: screenshots
screenshots: ready-to-develop ## Picture every page, narrow to wide, light and dark; renew the one in README
	FLOATGATE_CACHE=target/states $(BIN)/python scripts/screenshots.py floatgate-results/screenshots \
		--small docs/reports/report.png

.PHONY: papers
papers: ready-to-develop ## Run every study's quick form, and renew docs/papers.md
	$(BIN)/python scripts/papers.py

.PHONY: pages
pages: ready-to-develop ## Rewrite the parts of docs/ that come from the declaration of results
	$(BIN)/python scripts/pages.py

.PHONY: notebook
notebook: ready-to-develop ## Run the example notebook and store what its cells show
	$(BIN)/python scripts/notebook.py

.PHONY: measure-drives
measure-drives: ready-to-develop ## Measure IOPS, MB/s and TBW of the included drives anew
	$(BIN)/python scripts/measure_drives.py

.PHONY: schema
schema: $(BIN)/python ## Rewrite the JSON schema of drive files, and the table of their keys
	FLOATGATE_BLESS=1 cargo test --workspace --profile fast --test main config::presets::the_schema
	@$(BIN)/python scripts/since.py
	PYTHONPATH=scripts $(BIN)/python -m docsite --keys docs/reference/drive-files.md

##@ Ship

.PHONY: docs
docs: ready-to-develop ## Build the site of the documentation, and the pages of the Rust crates
	PYTHONPATH=scripts $(BIN)/python -m docsite target/site
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

.PHONY: wheel
wheel: $(BUILDER) ## Build an optimised wheel into dist/, for every Linux since 2014
	@scripts/ensure-rust
	$(if $(ON_LINUX),@$(PIP) ziglang)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --out $(DIST) $(if $(ON_LINUX),--zig --compatibility manylinux2014)

# The C interface: both libraries, and what tells compilers where they are.
.PHONY: lib
lib: ## Build libfloatgate for C, shared and static, into target/release
	@scripts/ensure-rust
	cargo build --release --locked -p floatgate-c
	@sed -e 's|@PREFIX@|$(CURDIR)|' -e 's|@VERSION@|$(VERSION)|' include/floatgate.pc.in > target/release/floatgate.pc
	@echo "target/release: libfloatgate.so, libfloatgate.a, floatgate.pc; the header is include/floatgate.h"

.PHONY: sdist
sdist: $(BUILDER) ## Build a source distribution into dist/
	$(BIN)/maturin sdist --out $(DIST)

.PHONY: clean
clean: ## Remove everything that was built; results stay
	rm -rf target dist .venv $(EXTENSION) .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

# What setup does, each step only when something it depends on has changed.

$(BIN)/python:
	@scripts/ensure-cc
	@python=$$(scripts/find-python) && echo "Making .venv with $$python" && \
		"$$python" -m venv --clear .venv

# Nobody waits for downloads while the compiler could work: pip and cargo run side by side.
.PHONY: ready-to-run ready-to-develop
ready-to-run:
	@$(MAKE) -j2 $(PACKAGES) $(EXTENSION)
	@$(MAKE) $(INSTALLED)
ready-to-develop:
	@$(MAKE) -j2 $(DEVELOPING) $(EXTENSION)
	@$(MAKE) $(INSTALLED)

PINS := pyproject.toml constraints.txt scripts/requirements.py
PIP := $(BIN)/python -m pip install --quiet --constraint constraints.txt

$(BUILDER): $(BIN)/python $(PINS)
	@$(PIP) maturin
	@touch $@

$(PACKAGES): $(BUILDER)
	@echo "Installing the Python packages that runs and reports use"
	@$(PIP) $$($(BIN)/python scripts/requirements.py report)
	@touch $@

$(DEVELOPING): $(PACKAGES)
	@echo "Installing the Python packages that tests use"
	@# Python compiles what is loaded; most of these packages are loaded by a few tests.
	@$(PIP) --no-compile $$($(BIN)/python scripts/requirements.py all dev)
	@touch $@

$(INSTALLED): $(PACKAGES) | $(EXTENSION)
	@PIP_CONSTRAINT=constraints.txt $(BIN)/maturin develop --quiet --profile fast --extras report
	@touch $@

$(EXTENSION): $(BUILDER) $(RUST)
	@scripts/ensure-rust
	@$(BIN)/maturin develop --profile fast --skip-install
	@# Also where PYTHONDONTWRITEBYTECODE is set, which would compile all anew for each command.
	@$(BIN)/python -m compileall -q python
	@touch $@
