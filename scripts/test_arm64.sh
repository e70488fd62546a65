#!/usr/bin/env bash
# Tests the core and the extension on ARM64, in an emulator: `scripts/test_arm64.sh`. Arguments are for pytest: these Python
# tests run alone. The variable WHEEL names a wheel to test, in place of one that is built with debug assertions.
#
# Needs Debian 12 on x86-64, and root or sudo for what is missing of its packages. Emulation is some ten times slower.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

folder=$PWD/target/arm64
root=$folder/root
packages=$folder/venv/lib/python3.11/site-packages
python=$folder/venv/bin/python

use_debian_rust libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static

# The kernel starts programs for ARM64 in the emulator, so that tests can start processes.
formats=/proc/sys/fs/binfmt_misc
if [ ! -e $formats/qemu-aarch64 ]; then
    echo "Registering the emulator in $formats"
    [ -e $formats/register ] || as_root mount -t binfmt_misc binfmt_misc $formats
    as_root tee $formats/register < /usr/lib/binfmt.d/qemu-aarch64.conf > /dev/null
fi

# An interpreter for ARM64: Debian's packages, unpacked. Installed, they would take the place of the system's own.
if [ ! -e "$root/.complete" ]; then
    echo "Unpacking Debian's Python 3.11 for ARM64 into $root"
    rm -rf "$root" "$folder/packages"
    mkdir -p "$root" "$folder/packages"
    needed=$(apt-cache depends --recurse --no-{recommends,suggests,conflicts,breaks,replaces,enhances} python3.11:arm64 |
        grep -E '^[a-z].*:arm64$')
    # shellcheck disable=SC2086
    (cd "$folder/packages" && apt-get download -qq -o APT::Sandbox::User=root $needed)
    for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$root"; done
    touch "$root/.complete"
fi
# Where programs for ARM64 find their libraries.
export QEMU_LD_PREFIX=$root

# Installs wheels for ARM64: the host's pip is ten times faster than one in the emulator.
install() {
    .venv/bin/pip install --quiet --no-deps --upgrade --only-binary=:all: --target "$packages" --implementation cp \
        --platform=manylinux_2_{28,24,17}_aarch64 --platform=manylinux2014_aarch64 \
        --platform linux_aarch64 --python-version 311 --abi cp311 --abi abi3 --abi none "$@"
}

if [ requirements.txt -nt "$folder/venv/.installed" ]; then
    echo "Installing the wheels of requirements.txt for ARM64 into $folder/venv"
    rm -rf "$folder/venv"
    "$root/usr/bin/python3.11" -m venv --without-pip "$folder/venv"
    install -r requirements.txt
    touch "$folder/venv/.installed"
fi

export CARGO_TARGET_DIR=$folder CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64-static
if [ $# -eq 0 ]; then
    echo "Building and running the tests of the core"
    counted "ARM64, core" cargo test --quiet --locked --target aarch64-unknown-linux-gnu
    set -- tests/python/{core,formats,training,regex_dialects}
fi
if [ -z "${WHEEL:-}" ]; then
    echo "Building the wheel"
    rm -f "$folder"/wheels/*
    .venv/bin/maturin build --quiet --locked --target aarch64-unknown-linux-gnu --interpreter python3.11 \
        --compatibility linux --out "$folder/wheels"
    WHEEL=$(echo "$folder"/wheels/*.whl)
fi
echo "Running the Python tests on $(basename "$WHEEL")"
rm -rf "$packages"/toksmith*
install "$WHEEL"
counted "ARM64, Python" "$python" -m pytest -n 2 --dist worksteal -m "not long and not alone and not memory" "$@"
