"""Forks: a process forks only while no other thread imports what the child may need, or is in a `no_fork` block.

An import holds the lock of its module, and a thread that imports the same module waits for the lock. A child has a
copy of the lock, but not the thread that holds it: without these functions it would wait for ever at the first use of
a module that another thread of its parent was importing. The same holds for locks inside functions of the standard
library, which are therefore called in a `no_fork` block.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import RLock, get_ident

# Modules that toksmith imports at their first use, besides those of the standard library.
_PACKAGES = frozenset(
    {"toksmith", "numpy", "regex", "rich", "typer", "pyarrow", "fsspec", "tiktoken", "tiktoken_ext"}
)
# Most seconds that a fork waits: longer than an import takes on a busy machine. There must be a limit, since another
# thread may wait, in the middle of its import, for the thread that forks.
_SECONDS = 10.0
# `with no_fork:` lets other threads fork only after the block, which must be short. It is a lock that a thread that
# forks takes too; the thread in the block may take it twice, so it may fork itself.
no_fork = RLock()


def _is_ours(module: str) -> bool:
    package = module.partition(".")[0]
    return package in _PACKAGES or package in sys.stdlib_module_names


def _others_import() -> bool:
    """Return whether another thread imports a module that toksmith may import later."""
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", None)
    if not isinstance(locks, dict):
        return False
    for module, reference in list(locks.items()):
        lock = reference()
        if isinstance(module, str) and _is_ours(module) and getattr(lock, "owner", None) not in (None, get_ident()):
            return True
    return False


def _before() -> None:
    """Wait, before a fork, until no other thread imports such a module or is in a `no_fork` block."""
    end = time.monotonic() + _SECONDS
    while True:
        no_fork.acquire()
        if not _others_import() or time.monotonic() >= end:
            return
        no_fork.release()
        time.sleep(0.001)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=no_fork.release, after_in_child=no_fork.release)
