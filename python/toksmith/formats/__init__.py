"""Names, folders and objects that are tokenizers, and files that are saved, verified beside other libraries.

The core reads and writes the files (src/formats). A module is imported on first use: `formats.saving`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import saving as saving
    from . import sources as sources


def __getattr__(name: str) -> ModuleType:
    """Import a module on first use."""
    if name not in ("saving", "sources"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)
