"""The virtual environment of the peers, under `target/peers`: pinned packages, and toksmith of this working tree."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "benches" / "requirements.txt"
WORK = ROOT / "target" / "peers"
VENV = WORK / "venv"
PRERELEASES = WORK / "prereleases"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

# Peer → distribution, in the order of the tables. A peer is named like its module; `tokenizers_next` is a release
# candidate of tokenizers, in a folder of its own.
MODULES = {
    "toksmith": "toksmith",
    "gigatoken": "gigatoken",
    "tokenizers_next": "tokenizers",
    "fastokens": "fastokens",
    "snaptokens": "snaptokens",
    "basetenkenizer": "basetenkenizer",
    "quicktok": "quicktok-v1",
    "tuetoken": "tuetoken",
    "toktok": "toktok-rs",
    "riptoken": "riptoken",
    "rs_bpe": "rs-bpe",
    "tiktoken": "tiktoken",
    "tokenizers": "tokenizers",
    "tokie": "tokie",
    "morpheme": "morpheme",
}


def module_of(peer: str) -> str:
    """The module that a peer imports."""
    return peer.removesuffix("_next")


def search_path(peer: str) -> dict[str, str]:
    """The variables of the environment with which a process imports this version of a peer."""
    return {"PYTHONPATH": str(PRERELEASES)} if peer.endswith("_next") else {}


def say(message: str) -> None:
    """Print how far it is; the tables alone go to standard output."""
    print(message, file=sys.stderr, flush=True)


def run(*command: str | Path, **env: str) -> "subprocess.CompletedProcess[str]":
    environ = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | env
    return subprocess.run([str(part) for part in command], env=environ, capture_output=True, text=True, check=False)


def checked(what: str, *command: str | Path, **env: str) -> None:
    done = run(*command, **env)
    if done.returncode:
        sys.exit(f"{what} failed:\n{done.stdout}{done.stderr}")


def pip(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return run(PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", *arguments)


def install() -> dict[str, str]:
    """Install every pinned package; returns what could not be installed, with pip's reason."""
    if sys.version_info < (3, 11):
        sys.exit("benches/requirements.txt pins versions for CPython 3.11 and later")
    stamp = WORK / "installed"
    pinned = REQUIREMENTS.read_bytes() + REQUIREMENTS.with_name("prereleases.txt").read_bytes()
    wanted = hashlib.sha256(pinned + sys.version.encode()).hexdigest()
    if stamp.is_file() and stamp.read_text().startswith(wanted):
        missing: dict[str, str] = json.loads(stamp.read_text()[len(wanted) :])
        return missing
    say("installing the pinned packages …")
    WORK.mkdir(parents=True, exist_ok=True)
    checked("making the virtual environment", sys.executable, "-m", "venv", "--clear", VENV)
    missing = {}
    pip("--upgrade", "--target", PRERELEASES, "-r", REQUIREMENTS.with_name("prereleases.txt"))
    if pip("-r", REQUIREMENTS).returncode:
        # One of them has no wheel here: find out which, and do without.
        for line in REQUIREMENTS.read_text().splitlines():
            if line and not line.startswith("#"):
                done = pip(line)
                if done.returncode:
                    missing[line.partition("==")[0]] = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    stamp.write_text(wanted + json.dumps(missing))
    return missing


def build() -> None:
    """Build the working tree as users get it, a wheel of the release profile, and install it."""
    say("building toksmith …")
    wheels = WORK / "wheels"
    for old in wheels.glob("*.whl"):
        old.unlink()
    maturin = PYTHON.with_name("maturin" + PYTHON.suffix)
    manifest = ROOT / "src/python/Cargo.toml"
    checked(
        "building toksmith",
        *(maturin, "build", "--release", "--quiet", "--locked", "--manifest-path", manifest),
        *("--interpreter", PYTHON, "--out", wheels),
    )
    done = pip("--force-reinstall", *wheels.glob("*.whl"))
    if done.returncode:
        sys.exit(f"installing toksmith failed:\n{done.stderr}")


def importable(missing: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Import each peer alone; return the versions of those that work, and why the others do not."""
    versions, broken = {}, {}
    for peer, package in MODULES.items():
        if package in missing:
            broken[peer] = missing[package]
            continue
        code = f"import {module_of(peer)}, importlib.metadata as m; print(m.version({package!r}))"
        done = run(PYTHON, "-c", code, **search_path(peer))
        if done.returncode:
            broken[peer] = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        else:
            versions[peer] = done.stdout.strip().splitlines()[-1]
    return versions, broken


def versions(packages: list[str]) -> dict[str, str]:
    """Return the installed version of each package."""
    code = "import importlib.metadata as m, json, sys; print(json.dumps({p: m.version(p) for p in sys.argv[1:]}))"
    found: dict[str, str] = json.loads(run(PYTHON, "-c", code, *packages).stdout)
    return found


def prepare(rebuild: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Make everything ready; returns versions by peer, and reasons by peer that is left out."""
    missing = install()
    if rebuild or not list((WORK / "wheels").glob("*.whl")):
        build()
    return importable(missing)
