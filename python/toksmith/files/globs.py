"""Globs, in which `**` enters each folder once, however many symbolic links lead to it."""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Iterator

_SEPARATORS = re.escape(os.sep + (os.altsep or ""))
_RECURSIVE = re.compile(rf"(?:^|(?<=[{_SEPARATORS}]))(?:\*\*[{_SEPARATORS}]+)*\*\*(?:[{_SEPARATORS}]+|$)")

is_glob = glob.has_magic


def matches(pattern: str) -> list[str]:
    """Return the files and folders of a glob, in any order; those that begin with a dot only if it names them.

    A file that `**` reaches by several ways through links to folders is there once, without a link if possible.
    `glob.glob` follows a circle of links until the system refuses, and two circles practically for ever.
    """
    if _RECURSIVE.search(pattern) is None:
        return glob.glob(pattern)
    real = functools.cache(os.path.realpath)
    ways: dict[tuple[str, str], list[str]] = {}
    for path in _matches(pattern):
        folder, name = os.path.split(path)
        ways.setdefault((real(folder), name), []).append(path)

    def rank(path: str) -> tuple[bool, str]:
        folder = os.path.dirname(path)
        return real(folder) != os.path.abspath(folder), path

    return [min(paths, key=rank) for paths in ways.values()]


def _matches(pattern: str) -> Iterator[str]:
    stars = _RECURSIVE.search(pattern)
    if stars is None:
        yield from glob.iglob(pattern)
        return
    head, tail = pattern[: stars.start()], pattern[stars.end() :]
    if not tail and stars[0].endswith("*"):
        tail = "*"
    for top in glob.iglob(head) if head else [""]:
        for folder in _folders(top):
            yield from _matches(os.path.join(glob.escape(folder), tail))


def _folders(top: str) -> Iterator[str]:
    """Yield a folder and those inside it, each once. Links are followed last, so that a folder has its own name."""
    seen: set[str] = set()
    links = [top]
    while links:
        start = links.pop(0)
        for folder, names, _ in os.walk(start or os.curdir):
            real = os.path.realpath(folder)
            if real in seen:
                names.clear()
                continue
            seen.add(real)
            shown = folder if start else folder[len(os.curdir + os.sep) :]
            yield shown
            names[:] = sorted(name for name in names if not name.startswith("."))
            links += (path for name in names if os.path.islink(path := os.path.join(shown, name)))
