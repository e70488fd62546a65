#!/usr/bin/env bash
# Runs Python tests on an extension that was built with AddressSanitizer, inside the ordinary interpreter.
#
# Every read and write of the binding and of the core is checked, also those in memory that CPython allocated. Arguments
# go to pytest; without any, the tests of `tests/python` run, but for those that limit or measure memory. Needs Linux on
# x86-64, gcc, and `make build` before.
#
# Rust links the sanitizer's runtime into executables only. The interpreter is none of ours, so the runtime becomes a
# shared library that is loaded before everything else. Its name must not contain "libasan.so": the runtime takes a
# library of that name for a second runtime, and ends the process.
set -euo pipefail
cd "$(dirname "$0")/.."

target=x86_64-unknown-linux-gnu
folder=$PWD/target/asan-python
python=$PWD/.venv/bin/python
runtime=$folder/libaddress_sanitizer.so

mkdir -p "$folder/runtime" "$folder/package"
if [ ! -e "$runtime" ]; then
    archive=$(echo "$(rustc --print sysroot)/lib/rustlib/$target/lib/"librustc-*_rt.asan.a)
    (cd "$folder/runtime" && ar x "$archive" && rm -f asan_preinit*.o)
    gcc -shared -o "$runtime" "$folder"/runtime/*.o -lpthread -ldl -lrt -lm -lgcc_s
fi
RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Zexternal-clangrt" PYO3_PYTHON=$python \
    cargo build --quiet --locked --package toksmith-python --target $target --target-dir "$folder"
rm -rf "$folder/package/toksmith"
cp -r python/toksmith "$folder/package/"
rm -f "$folder"/package/toksmith/_core.*.so
cp "$folder/$target/debug/lib_core.so" \
    "$folder/package/toksmith/_core$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"

# Memory of the interpreter comes from malloc, so that the sanitizer sees each object's bounds. What is alive at the
# interpreter's end is no leak. A request that is too large is an error of the caller, as without the sanitizer. The
# runtime ends the process at an exception of C++, such as those of pyarrow, unless the library of C++ is there at its
# start.
cpp=$(gcc -print-file-name=libstdc++.so.6)
export LD_PRELOAD=$runtime:$cpp PYTHONMALLOC=malloc PYTHONPATH=$folder/package
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=1
[ $# -gt 0 ] || set -- tests/python -m 'not long and not memory'
exec "$python" -m pytest "$@"
