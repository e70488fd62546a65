"""Where temporary files go."""

from __future__ import annotations

import os
import sys


def folder() -> str:
    """Return what `tempfile.gettempdir()` returns.

    Importing `tempfile` takes longer than to learn a thousand merges, and asking it writes a file: it is asked only
    where no folder that it would try first will do, or where it is there already and may have been told another one.
    """
    if "tempfile" not in sys.modules and os.name == "posix":
        given = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
        first = next(filter(None, given), "/tmp")
        if os.path.isdir(first) and os.access(first, os.R_OK | os.W_OK | os.X_OK):
            return os.path.abspath(first)
    import tempfile

    return tempfile.gettempdir()
