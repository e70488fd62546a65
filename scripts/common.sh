# shellcheck shell=bash
# Functions for scripts, which source this file in the root of the repository.

# Prints the interpreter of a version: from the path, or one that pyenv has.
interpreter() {
    if "python$1" --version > /dev/null 2>&1; then
        command -v "python$1"
    elif command -v pyenv > /dev/null; then
        ls "$(pyenv root)/versions/$1."*/bin/python 2> /dev/null | sort -V | tail -n 1 || true
    fi
}

# Runs tests, and says in the end how many passed, by what cargo or pytest print: `counted "ARM64, core" cargo test`. Fails
# at a warning of the compiler too.
counted() {
    local name=$1 log
    shift
    log=$(mktemp)
    "$@" 2>&1 | tee "$log" || { echo "$name: failed"; return 1; }
    ! grep -q '^warning: ' "$log" || { echo "$name: there are warnings"; return 1; }
    echo "$name: $(grep -oE '[0-9]+ passed' "$log" | awk '{ sum += $1 } END { print sum + 0 }') passed, 0 failed"
    rm "$log"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs those of Debian's packages that are missing: `install_packages wine64 libc6:arm64`.
install_packages() {
    local package missing=()
    for package in "$@"; do
        dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "Installing from Debian: ${missing[*]}"
    as_root dpkg --add-architecture arm64
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "${missing[@]}"
}

# Installs Debian's Rust and finds it first. It has the standard library of ARM64, and the sources of the standard library
# for every other system. Of the ordinary Rust it changes nothing.
use_debian_rust() {
    install_packages cargo-web rustc-web "$@"
    export PATH=/usr/bin:$PATH
}

# Installs the tools of scripts/tools.txt into a folder of their own, and finds them first.
install_tools() {
    local folder=$PWD/target/tools
    if [ ! -e "$folder/.installed" ] || [ scripts/tools.txt -nt "$folder/.installed" ]; then
        echo "Installing from PyPI: $(grep -o '^[^#=]*==[^ ]*' scripts/tools.txt | tr '\n' ' ')"
        .venv/bin/pip install --quiet --no-deps --upgrade --target "$folder" -r scripts/tools.txt
        touch "$folder/.installed"
    fi
    export PATH=$folder/bin:$PATH PYTHONPATH=$folder
}
