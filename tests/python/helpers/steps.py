"""Processes that are killed before a step that changes a folder, whether Python or the core makes it.

A library that is loaded before all others counts calls of the C library that create, rename, remove or sync files.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KILL_BEFORE = """
import ctypes
kill_before = ctypes.CDLL(None).kill_before  # the number of steps that are left
"""
_LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long left = -1;

void kill_before(long steps) { left = steps; }

static void step(void) {
    if (left >= 0 && atomic_fetch_sub(&left, 1) == 0) kill(getpid(), SIGKILL);
}

#define STEP(name, parameters, ...)                                    \
    int name parameters {                                              \
        int(*real) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
        step();                                                        \
        return real(__VA_ARGS__);                                      \
    }

STEP(rename, (const char *from, const char *to), from, to)
STEP(link, (const char *from, const char *to), from, to)
STEP(linkat, (int a, const char *from, int b, const char *to, int flags), a, from, b, to, flags)
STEP(unlink, (const char *path), path)
STEP(unlinkat, (int folder, const char *path, int flags), folder, path, flags)
STEP(mkdir, (const char *path, mode_t mode), path, mode)
STEP(rmdir, (const char *path), path)
STEP(fsync, (int file), file)
STEP(fdatasync, (int file), file)
STEP(ftruncate64, (int file, off_t size), file, size)
"""


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process that `KILL_BEFORE` works in; without Linux or a compiler, skip the test."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("steps are counted on Linux, by a library that a C compiler makes")
    source, library = folder / "steps.c", folder / "steps.so"
    source.write_text(_LIBRARY)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, timeout=60)
    return {**os.environ, "LD_PRELOAD": str(library)}
