#!/usr/bin/env bash
# Builds the source distribution into dist: `scripts/build_sdist.sh`. With VENDOR=1 another one in dist/vendored that holds
# all crates, and builds without a network. Both are built once, in an empty folder and without optimisation; the second
# one with an empty CARGO_HOME.
set -euo pipefail
cd "$(dirname "$0")/.."

# Builds a source distribution offline or not, and encodes with the result.
check() {
    local sdist=$1 folder=$PWD/target/sdist
    rm -rf "$folder/check"
    mkdir -p "$folder/check/home"
    echo "Building a wheel from $sdist"
    (
        export CARGO_TARGET_DIR=$folder/target CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0
        export CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 PATH=$PWD/.venv/bin:$PATH
        [ "$2" = online ] || export CARGO_HOME=$folder/check/home CARGO_NET_OFFLINE=true
        .venv/bin/pip wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir "$folder/check" "$sdist"
    )
    .venv/bin/pip install --quiet --no-index --no-deps --target "$folder/check/installed" "$folder"/check/*.whl
    (cd "$folder" && PYTHONPATH=check/installed ../../.venv/bin/python -c "
import toksmith
assert 'sdist' in toksmith.__file__, toksmith.__file__
print(toksmith.train(iter(['low low lower']), 260).encode('lower'))")
}

rm -rf dist/toksmith-*.tar.gz dist/vendored
.venv/bin/maturin sdist --out dist 2> /dev/null
sdist=$(echo dist/toksmith-*.tar.gz)
check "$sdist" online
[ -n "${VENDOR:-}" ] || exit 0

echo "Adding all crates"
mkdir -p dist/vendored target/sdist
rm -rf target/sdist/source
mkdir target/sdist/source
tar -xzf "$sdist" -C target/sdist/source
(cd target/sdist/source/* && mkdir -p .cargo && cargo vendor --locked 2> /dev/null > .cargo/config.toml)
tar -czf "dist/vendored/$(basename "$sdist")" -C target/sdist/source "$(ls target/sdist/source)"
check "dist/vendored/$(basename "$sdist")" offline
