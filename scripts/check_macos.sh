#!/usr/bin/env bash
# Compiles and links the core and the extension for macOS, on ARM64 and on x86-64: `scripts/check_macos.sh`. A warning is an
# error. Needs Debian 12 on x86-64, and root or sudo for what is missing of its packages. Zig is compiler of C and linker,
# and the standard library is built from its sources.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

use_debian_rust rust-web-src
install_tools

# As maturin does: symbols of Python are looked up when the interpreter loads the extension.
export CARGO_TARGET_DIR=$PWD/target/macos RUSTC_BOOTSTRAP=1
export PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CROSS_PYTHON_VERSION=3.11
export SDKROOT=$CARGO_TARGET_DIR/none # Zig has what a program is linked with; without a path rustc warns
mkdir -p "$SDKROOT"
export CARGO_PROFILE_DEV_OPT_LEVEL=0 # nothing runs
export RUSTFLAGS="-Clink-arg=-undefined -Clink-arg=dynamic_lookup"
for target in aarch64-apple-darwin x86_64-apple-darwin; do
    for package in toksmith toksmith-python; do
        echo "$target, $package"
        cargo-zigbuild zigbuild --quiet --locked --lib --target $target --package $package \
            -Zbuild-std=std,panic_unwind -Zwarnings --config 'build.warnings="deny"'
    done
done
