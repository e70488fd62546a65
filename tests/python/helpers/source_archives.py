"""Source distributions of other libraries, which have their tests."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest


def source_archive(package: str, config: pytest.Config, folder: Path, wanted: str | None = None) -> Path:
    """Return the source distribution of a package: of a version, or of the one that is installed.

    It is downloaded once, into the cache of pytest; without a cache into `folder`.
    The test is skipped if the download fails.
    """
    cache = getattr(config, "cache", None)
    kept = cache.mkdir(f"{package}-sources") if cache else folder
    wanted = wanted or version(package)
    name = f"{package}-{wanted}.tar.gz"
    if not (kept / name).exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", package]
        options = [f"{package}=={wanted}", "--dest", str(folder)]
        done = subprocess.run([*pip, *options], capture_output=True, text=True, check=False, timeout=300)
        archives = list(folder.glob("*.tar.gz"))
        if not archives:
            pytest.skip(f"pip could not download the source distribution of {package}: {done.stderr.strip()[-200:]}")
        archives[0].replace(kept / name)
    return kept / name
