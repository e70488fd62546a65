#!/usr/bin/env bash
# Tests the core on Windows, in Wine: `scripts/test_windows.sh`. Arguments are for cargo, in place of `--lib --tests`. Needs
# Debian 12 on x86-64, and root or sudo for what is missing of its packages. The standard library is built from its sources.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

folder=$PWD/target/windows

use_debian_rust rust-web-src gcc-mingw-w64-x86-64 mingw-w64-x86-64-dev wine64

# Wine 8 has no bcryptprimitives.dll, in which programs of Rust find their random numbers.
mkdir -p "$folder/libraries"
x86_64-w64-mingw32-gcc -shared -o "$folder/libraries/bcryptprimitives.dll" -x c - -ladvapi32 << 'END'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, size); }
END

export WINEPREFIX=$folder/wine WINEDEBUG=-all WINEPATH=$folder/libraries
export CARGO_TARGET_DIR=$folder CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=/usr/lib/wine/wine64
export RUSTC_BOOTSTRAP=1 # for -Zbuild-std
# Less optimised than elsewhere: the standard library is compiled too, and the tests end in two minutes all the same.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_TEST_OPT_LEVEL=1
[ $# -gt 0 ] || set -- --lib --tests
counted "Windows, core" cargo test --quiet --locked --package toksmith -Zbuild-std --target x86_64-pc-windows-gnu "$@"
