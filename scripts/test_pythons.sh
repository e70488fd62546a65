#!/usr/bin/env bash
# The Python tests on other versions of Python: `scripts/test_pythons.sh 3.10 3.12 3.13`. A version that is not installed is
# skipped, and said so. Each has a virtual environment of its own, .venv-VERSION, with what requirements.txt pins for it.
# The variable ARGS is for pytest: `ARGS=tests/python/core scripts/test_pythons.sh 3.12` runs these tests alone. With OLDEST=1
# the packages that pyproject.toml asks for have the oldest version that it allows.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/common.sh

for version in "$@"; do
    python=$(interpreter "$version")
    if [ -z "$python" ]; then
        echo "Python $version: not installed, skipped"
        continue
    fi
    venv=.venv-$version${OLDEST:+-oldest}
    if [ ! -e "$venv/.installed" ] || [ requirements.txt -nt "$venv/.installed" ]; then
        "$python" -m venv "$venv"
        "$venv/bin/pip" install --quiet --no-deps -r requirements.txt
        if [ -n "${OLDEST:-}" ]; then
            oldest=$(grep -oE '"[A-Za-z_]+>=[0-9.]+"' pyproject.toml | tr -d '"' | sed 's/>=/==/')
            # shellcheck disable=SC2086
            "$venv/bin/pip" install --quiet $oldest
        fi
        touch "$venv/.installed"
    fi
    echo "Python $version${OLDEST:+, oldest versions: $("$venv/bin/pip" list --format freeze | grep -iE '^(click|numpy|regex|rich)=' | tr '\n' ' ')}"
    # Where it does not take the place of what was built for .venv.
    CARGO_TARGET_DIR=$PWD/target/pythons PIP_QUIET=1 VIRTUAL_ENV=$PWD/$venv "$venv/bin/maturin" develop --quiet
    # shellcheck disable=SC2086
    "$venv/bin/pytest" -n 2 --dist worksteal -m "not long and not alone" ${OLDEST:+-W default::DeprecationWarning} ${ARGS:-}
done
