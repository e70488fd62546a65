# Two commands do everything: `make demo` shows toksmith at work, `make test` runs every check.
# Both need Rust and Python (3.10 or later), and install the rest into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Modules are compiled once for all processes of the tests, of which there are hundreds: it is half of the time that one
# takes to start. What is compiled lies in `target`.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/target/pycache

.PHONY: demo test dev check test-rust test-python test-pythons test-long test-distributed test-asan test-asan-python \
	fuzz fuzz-build bench-peers bench-train build build-dev clean

demo: build
	@$(BIN)/python scripts/demo.py

test: check test-rust test-python

# While one works: builds what changed in seconds, without link-time optimisation, and runs the tests that belong to the
# changed files. `make dev SINCE=main` takes all that differs from `main`.
SINCE := HEAD

dev: build-dev
	@$(BIN)/python scripts/touched_tests.py $(SINCE)

$(VENV)/.installed: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-deps -r requirements.txt
	touch $@

# The extension as users get it: release profile, installed into the virtual environment.
build: $(VENV)/.installed
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet

# Optimised, with debug assertions and checks of overflow: what the tests run on. It is built in less than half the time,
# and shares what it is made of with `cargo test`.
build-dev: $(VENV)/.installed
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --quiet

# The checks that run nothing of the project: formatting, lints, types.
check: $(VENV)/.installed
	cargo fmt --check
	cargo clippy --quiet --locked --all-targets -- -D warnings
	cargo clippy --quiet --locked --lib -- -D warnings
	cargo clippy --quiet --locked --lib --no-default-features -- -D warnings
	@! cargo tree --locked --no-default-features --edges no-dev --target all | grep -e '-sys v' || \
		(echo 'without features nothing is to compile C'; false)
	PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo clippy --quiet --locked --all-targets --features python -- -D warnings
	RUSTDOCFLAGS="-D warnings" PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo doc --quiet --locked --no-deps \
		--document-private-items --features python
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --target-dir target/crate-doc
	@! grep -rlE '\bpyo3\b' src --include='*.rs' | grep -v '^src/python/' || (echo 'pyo3 belongs to src/python/ alone'; false)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The examples are built here, and run by tests/python/formats/test_rust_crate.py.
test-rust:
	cargo test --quiet --locked
	cargo run --quiet --locked --example train 300 target/example.json README.md > target/example.txt

# Two tests at a time; then, each by itself, those that measure time, memory or what the whole machine has.
WORKERS := 2

test-python: build-dev
	$(BIN)/python -m mypy.stubtest toksmith._core
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not long and not alone"
	$(BIN)/pytest -m "alone and not long" $$(grep -rlE 'mark\.alone' tests --include='*.py')

# The same tests on other versions of Python, of which those that are not installed are skipped.
# `make test-pythons PYTHONS=3.12 ARGS=tests/python/core`
PYTHONS := 3.10 3.12 3.13

test-pythons:
	ARGS="$(ARGS)" scripts/test_pythons.sh $(PYTHONS)

# What takes minutes, on the extension as users get it; and programs that use tiktoken, on toksmith. Those that cannot be
# installed are skipped.
test-long: build
	-$(BIN)/pip install --quiet --no-deps --upgrade --target target/consumers -r tests/consumers.txt
	$(BIN)/pytest -m long
	$(BIN)/pytest -m "hypothesis and not long" --hypothesis-profile=thorough

# Tests with libraries of data frames, datasets and engines, which are installed into a folder of their own.
test-distributed: build-dev
	$(BIN)/pip install --quiet --no-deps --upgrade --target target/engines -r tests/engines.txt
	PYTHONPATH=target/engines $(BIN)/pytest tests/python/arrow tests/python/engines

# The Rust tests under AddressSanitizer: every read and write of the unsafe leaves is checked. Needs Linux on x86-64.
# Tests ask for more memory than there is, which is to fail as it does without the sanitizer.
test-asan:
	ASAN_OPTIONS=allocator_may_return_null=1 RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test --quiet --locked --lib --tests \
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
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --quiet
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
