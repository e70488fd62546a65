#!/usr/bin/env bash
# Builds wheels for Linux into dist, and tests those that run here: `scripts/build_wheels.sh`. Arguments are Rust's names of
# systems, in place of all four; the variable PYTHONS names versions of Python, in place of all.
#
# Needs Debian 12 on x86-64, and root or sudo for what is missing of its packages. Zig is compiler of C and linker, so that
# wheels work with an old libc, and no interpreter of a version is needed. Where there is one, a wheel is tested in a new
# environment, without Rust on the path and without the data beside the repository; one for ARM64 in the emulator, on Python
# 3.11. Those for musl are built and checked only.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

MAX_BYTES=4000000

use_debian_rust rust-web-src libstd-rust-web-dev:arm64
install_tools

# Fails unless a wheel has the platform of its name, by auditwheel, and is small enough.
check() {
    local bytes
    bytes=$(stat -c %s "$1")
    [ "$bytes" -lt $MAX_BYTES ] || { echo "$1 has $bytes bytes, more than $MAX_BYTES"; return 1; }
    .venv/bin/python -m auditwheel show "$1" | tr '\n' ' ' | grep -qE "tag: +\"$2\"" ||
        { .venv/bin/python -m auditwheel show "$1"; return 1; }
    echo "$(basename "$1"): $bytes bytes, $2"
}

# Gives musl's library the name that it has on Alpine and elsewhere: Zig calls it libc.so.
name_musl() {
    local folder=$PWD/target/wheels/unpacked
    rm -rf "$folder"
    .venv/bin/python -m wheel unpack --dest "$folder" "$1" > /dev/null
    patchelf --replace-needed libc.so "libc.musl-$2.so.1" "$folder"/*/toksmith/_core*.so
    .venv/bin/python -m wheel pack --dest-dir "$(dirname "$1")" "$folder"/* > /dev/null
}

# Installs a wheel into a new environment, and runs the command with nothing else on the path; then the tests of the core,
# from a copy of the repository.
try() {
    local folder=$PWD/target/wheels/$2
    rm -rf "$folder"
    mkdir -p "$folder"
    git ls-files -z | xargs -0 cp --parents -t "$folder"
    (
        unset PYTHONPATH
        "$(interpreter "$2")" -m venv "$folder/venv"
        "$folder/venv/bin/pip" install --quiet "$1"
        cd "$folder"
        echo "low low lower lowest" > text.txt
        PATH=$folder/venv/bin toksmith train text.txt --vocab-size 260 --output tokenizer.json
        PATH=$folder/venv/bin toksmith view -t tokenizer.json --text hi
        venv/bin/pip install --quiet --no-deps -r requirements.txt
        counted "Wheel of Python $2" venv/bin/python -m pytest tests/python/core -m "not long and not alone and not memory"
    )
}

[ $# -gt 0 ] || set -- {x86_64,aarch64}-unknown-linux-{gnu,musl}
for target in "$@"; do
    options=()
    case $target in
        *-gnu) platform=manylinux_2_28_${target%%-*} ;;
        *) platform=musllinux_1_2_${target%%-*} options=(-Z build-std) ;;
    esac
    for version in ${PYTHONS:-3.10 3.11 3.12 3.13 3.14}; do
        echo "Building for $target, Python $version"
        rm -f dist/*-cp"${version/./}"-"$platform".whl
        RUSTC_BOOTSTRAP=$([ ${#options[@]} -eq 0 ] || echo 1) CARGO_TARGET_DIR=target/wheels/build .venv/bin/maturin build \
            --quiet --release --locked --zig --target "$target" --compatibility "${platform%_"${target%%-*}"}" \
            --interpreter "python$version" --out dist "${options[@]}"
        wheel=$(echo dist/*-cp"${version/./}"-"$platform".whl)
        [[ $target != *-musl ]] || name_musl "$wheel" "${target%%-*}"
        check "$wheel" "$platform"
        case $platform in
            manylinux_2_28_x86_64) [ -z "$(interpreter "$version")" ] || try "$wheel" "$version" ;;
            manylinux_2_28_aarch64) [ "$version" != 3.11 ] || WHEEL=$wheel scripts/test_arm64.sh tests/python/core ;;
        esac
    done
done
