# Two commands do everything: `make demo` shows toksmith at work, `make test` runs every check.
# Both need Rust and Python (3.10 or later), and install the rest into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

# Modules are compiled once for all processes of the tests, of which there are hundreds: it is half of the time that one
# takes to start. What is compiled lies in `target`.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/target/pycache
# pip compiles no modules: those that nothing imports are most of them, and take a third of the time of an installation.
export PIP_COMPILE := 0

.PHONY: demo test dev check test-rust test-python test-pythons test-long test-distributed test-asan test-asan-python \
	test-oldest test-arm64 test-windows check-macos wheels sdist fuzz fuzz-build bench-peers bench-train build build-dev clean

demo: build
	@$(BIN)/python scripts/demo.py

# What takes one processor most of the time runs beside other work: tools are installed and checks run beside the tests of
# the core, and the documentation site is built beside the check of the stubs.
test:
	@echo 'Installing the tools of the tests, checking and testing the core: about five minutes with its builds'
	@mkdir -p target; $(MAKE) check > target/check.log 2>&1 & check=$$!; \
		trap "kill $$check; exit 130" INT TERM; $(MAKE) test-rust; status=$$?; \
		wait $$check || { cat target/check.log; exit 1; }; exit $$status
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then $(MAKE) --jobs=2 stubs site; else \
		echo 'Sphinx needs Python 3.11: the documentation site is not built'; $(MAKE) stubs; fi
	@$(MAKE) pytest

# While one works: builds what changed in seconds, and runs the tests that belong to the changed files. `make dev
# SINCE=main` takes all that differs from `main`.
SINCE := HEAD

dev: build-dev
	@$(BIN)/python scripts/touched_tests.py $(SINCE)

# The demo needs maturin alone, which installs what toksmith depends on; the tests need everything.
$(VENV)/.maturin: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint requirements.txt maturin
	touch $@

$(VENV)/.installed: $(VENV)/.maturin
	@echo 'Installing the tools of the tests and the libraries to compare with: a minute or two'
	$(BIN)/pip install --quiet --no-deps -r requirements.txt
	touch $@

MATURIN := PIP_QUIET=1 PIP_CONSTRAINT=$(CURDIR)/requirements.txt VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin

# The extension as users get it: release profile, installed into the virtual environment.
build: $(VENV)/.maturin
	@echo 'Building toksmith with all optimizations: two minutes or three the first time'
	$(MATURIN) develop --release --quiet

# Optimised, with debug assertions and checks of overflow: what the tests run on. It is built in less than half the time,
# and shares what it is made of with `cargo test`.
build-dev: $(VENV)/.installed
	$(MATURIN) develop --quiet

.PHONY: stubs pytest site wheel wheels-in-debian release-readme deny

# The documentation site, in `target/site`. A warning is an error: links that lead nowhere, pages that no page lists.
site: build-dev target/sphinx/.installed
	rm -rf target/site
	PYTHONPATH=target/sphinx $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env --conf-dir docs/site \
		--doctree-dir target/sphinx/doctrees . target/site

target/sphinx/.installed: docs/site/requirements.txt
	$(BIN)/pip install --quiet --no-deps --upgrade --target target/sphinx -r $<
	touch $@

# A wheel for this machine and this Python, in `dist`.
wheel: $(VENV)/.maturin
	$(BIN)/maturin build --release --locked --interpreter $(BIN)/python --out dist

# `make wheels` in a container, on a machine with another system than Debian 12.
wheels-in-debian:
	docker run --rm --volume "$(CURDIR):/toksmith" --workdir /toksmith debian:12 sh -c 'apt-get update -qq && \
		apt-get install -qq --no-install-recommends ca-certificates git make python3-venv && \
		git config --global --add safe.directory /toksmith && make wheels'

# The README as a package index shows it, where relative links lead nowhere: `make release-readme BASE=... IMAGES=...`.
release-readme:
	mkdir -p target
	$(PYTHON) scripts/absolute_links.py "$(BASE)" --images "$(IMAGES)" > target/README.md
	mv target/README.md README.md

# In a folder of their own, lints do not wait for builds.
LINTED := --quiet --locked --target-dir target/check

# The checks that run nothing of the project: formatting, lints, types, workflows.
check: $(VENV)/.installed
	cargo fmt --all --check
	PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo clippy $(LINTED) --workspace --all-targets -- -D warnings
	cargo clippy $(LINTED) --package toksmith --lib -- -D warnings
	@! cargo tree --locked --package toksmith --edges no-dev --target all | grep -e '-sys v' | grep -v -e linux-raw -e windows || \
		(echo 'without features nothing is to compile C'; false)
	RUSTDOCFLAGS="-D warnings" PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo doc $(LINTED) --workspace --no-deps \
		--document-private-items
	RUSTDOCFLAGS="-D warnings" cargo doc $(LINTED) --package toksmith --no-deps
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/jactionlint --strict-exit --no-hints
	@if [ -e $(BIN)/zizmor ]; then $(BIN)/zizmor --offline --quiet --pedantic .github; else \
		echo 'zizmor needs Python 3.11: the workflows are checked by actionlint alone'; fi

# Licences, sources and versions of the crates; advisories need the network: `make deny CHECKS=advisories`.
CHECKS := bans licenses sources

deny: target/cargo-deny/bin/cargo-deny
	$< --locked --all-features check $(CHECKS)
	$< --locked --manifest-path fuzz/Cargo.toml check $(CHECKS)

target/cargo-deny/bin/cargo-deny:
	cargo install --quiet --locked --root target/cargo-deny cargo-deny@0.20.2

# The examples are built here, and run by tests/python/formats/test_rust_crate.py.
test-rust:
	cargo test --quiet --locked
	cargo run --quiet --locked --example train 300 target/example.json README.md > target/example.txt

# Two tests at a time; then, each by itself, those that measure time, memory or what the whole machine has.
WORKERS := 2

test-python: stubs
	@$(MAKE) pytest

stubs: build-dev
	$(BIN)/python -m mypy.stubtest toksmith._core

pytest:
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not long and not alone"
	$(BIN)/pytest -m "alone and not long" $$(grep -rlE 'mark\.alone' tests --include='*.py')

# The same tests on other versions of Python, of which those that are not installed are skipped.
# `make test-pythons PYTHONS=3.12 ARGS=tests/python/core`
PYTHONS := 3.10 3.12 3.13

test-pythons:
	ARGS="$(ARGS)" scripts/test_pythons.sh $(PYTHONS)

# The same tests with the oldest versions of the packages that toksmith needs.
test-oldest:
	OLDEST=1 ARGS="$(ARGS)" scripts/test_pythons.sh 3.10

# Other systems, on Debian 12 for x86-64: each script installs what it needs of Debian's packages.
# `make test-arm64 ARGS=tests/python/core/test_decode.py`
test-arm64: $(VENV)/.installed
	scripts/test_arm64.sh $(ARGS)

test-windows:
	scripts/test_windows.sh $(ARGS)

check-macos: $(VENV)/.installed
	scripts/check_macos.sh

# Wheels for Linux in dist, and tests of those that run here. `make wheels WHEEL_PYTHONS=3.12 ARGS=x86_64-unknown-linux-gnu`
wheels: $(VENV)/.installed
	PYTHONS="$(WHEEL_PYTHONS)" scripts/build_wheels.sh $(ARGS)

# The source distribution in dist; with VENDOR=1 also one that holds all crates.
sdist: $(VENV)/.installed
	VENDOR="$(VENDOR)" scripts/build_sdist.sh

# What takes minutes, on the extension as users get it; and programs that use tiktoken, on toksmith. Those that cannot be
# installed are skipped.
test-long: $(VENV)/.installed build
	-$(BIN)/pip install --quiet --no-deps --upgrade --target target/consumers -r tests/consumers.txt
	$(BIN)/pytest -m long
	$(BIN)/pytest -m "(hypothesis or sampled) and not long" --hypothesis-profile=thorough

# Tests with libraries of data frames, datasets and engines, which are installed into a folder of their own.
test-distributed: build-dev
	$(BIN)/pip install --quiet --no-deps --upgrade --target target/engines -r tests/engines.txt
	PYTHONPATH=target/engines $(BIN)/pytest tests/python/arrow tests/python/engines

# The Rust tests under AddressSanitizer: every read and write of the unsafe leaves is checked. Needs Linux on x86-64.
# Tests ask for more memory than there is, which is to fail as it does without the sanitizer.
# Its frames are large, so tests that recurse need a larger stack.
test-asan:
	ASAN_OPTIONS=allocator_may_return_null=1 RUST_MIN_STACK=268435456 RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test --quiet --locked --package toksmith --lib --tests \
		--target x86_64-unknown-linux-gnu --target-dir target/asan

# The Python tests on an extension that was built with AddressSanitizer. `make test-asan-python ARGS=tests/python/core/test_decode.py`
test-asan-python: $(VENV)/.installed
	scripts/test_asan_python.sh $(ARGS)

# Every fuzz target for so many seconds: `make fuzz SECONDS=60`, `make fuzz TARGETS='scanner train'`. See fuzz/README.md.
# `EXECUTIONS=1000000` goes on until a target has had so many inputs, `JOBS=2` runs two targets at a time, `SANITIZER=`
# leaves out AddressSanitizer.
SECONDS := 60
EXECUTIONS := 0
JOBS := 1
SANITIZER := -Zsanitizer=address

fuzz: fuzz-build
	$(BIN)/python fuzz/run.py --seconds $(SECONDS) --executions $(EXECUTIONS) --jobs $(JOBS) $(TARGETS)

# AddressSanitizer, and counters for libFuzzer. The extension with debug assertions. Needs Linux on x86-64 and g++.
fuzz-build: $(VENV)/.installed
	$(BIN)/pip install --quiet -r fuzz/requirements.txt
	$(MATURIN) develop --quiet
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="$(SANITIZER) --cfg fuzzing -Cpasses=sancov-module \
		-Cllvm-args=-sanitizer-coverage-level=3 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
		-Cllvm-args=-sanitizer-coverage-pc-table" cargo build --quiet --locked --release \
		--manifest-path fuzz/Cargo.toml --target x86_64-unknown-linux-gnu --target-dir target/fuzz

# Times toksmith and its peers; see benches/README.md. `make bench-peers ARGS=--quick` for a smoke run.
bench-peers:
	$(PYTHON) benches/peers $(ARGS)

# Times trainers on the same texts; see benches/README.md. `make bench-train ARGS='--size 10000 --rounds 1'` is short.
bench-train:
	$(PYTHON) benches/training $(ARGS)

clean:
	rm -rf target $(VENV)
