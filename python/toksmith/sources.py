"""Where texts to train on come from: paths, globs and folders."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def expand(files: Any) -> list[Path]:
    """Return the files behind a path, a glob, a folder, or a list of them, in a fixed order."""
    if isinstance(files, (str, bytes, os.PathLike)):
        return _one(files)
    if not isinstance(files, Iterable):
        raise TypeError(f"files are paths, not {type(files).__name__}; for text use train_from_iterator")
    found = [path for one in files for path in _one(one)]
    if not found:
        raise ValueError("no file is given to train on")
    return found


def _one(file: Any) -> list[Path]:
    if not isinstance(file, (str, bytes, os.PathLike)):
        raise TypeError(f"files are paths, not {type(file).__name__}; for text use train_from_iterator")
    name = os.fsdecode(file)
    path = Path(name)
    if not name:
        raise ValueError("a path is empty: for the current folder give '.'")
    if "\0" in name:
        raise ValueError(f"a path cannot hold a null character: {name!r}")
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and not _is_hidden(p.relative_to(path)))
        if not found:
            raise FileNotFoundError(f"the folder {name!r} holds no file")
        return found
    if path.exists() or not glob.has_magic(name):
        return [path]
    found = sorted(Path(match) for match in glob.glob(name, recursive=True))
    found = [match for match in found if match.is_file()]
    if not found:
        raise FileNotFoundError(f"no file matches {name!r}")
    return found


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
