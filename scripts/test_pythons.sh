#!/usr/bin/env bash
# The Python tests on other versions of Python: `scripts/test_pythons.sh 3.10 3.12 3.13`. A version that is not installed is
# skipped, and said so. Each has a virtual environment of its own, .venv-VERSION, with what requirements.txt pins for it.
# The variable ARGS is for pytest: `ARGS=tests/python/core scripts/test_pythons.sh 3.12` runs these tests alone.
set -euo pipefail
cd "$(dirname "$0")/.."

# Prints the interpreter of a version: from the path, or one that pyenv has.
interpreter() {
    if "python$1" --version > /dev/null 2>&1; then
        command -v "python$1"
    elif command -v pyenv > /dev/null; then
        ls "$(pyenv root)/versions/$1."*/bin/python 2> /dev/null | sort -V | tail -n 1 || true
    fi
}

for version in "$@"; do
    python=$(interpreter "$version")
    if [ -z "$python" ]; then
        echo "Python $version: not installed, skipped"
        continue
    fi
    venv=.venv-$version
    if [ ! -e "$venv/.installed" ] || [ requirements.txt -nt "$venv/.installed" ]; then
        "$python" -m venv "$venv"
        "$venv/bin/pip" install --quiet --no-deps -r requirements.txt
        touch "$venv/.installed"
    fi
    echo "Python $version"
    # Where it does not take the place of what was built for .venv.
    CARGO_TARGET_DIR=$PWD/target/pythons PIP_QUIET=1 VIRTUAL_ENV=$PWD/$venv "$venv/bin/maturin" develop --quiet
    # shellcheck disable=SC2086
    "$venv/bin/pytest" -n 2 --dist worksteal -m "not long and not alone" ${ARGS:-}
done
