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
    from .huggingface import folder as huggingface_folder  # noqa: F401

_MODULES = {"huggingface_folder": "huggingface.folder", "saving": "saving", "sources": "sources"}


def __getattr__(name: str) -> ModuleType:
    """Import a module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = globals()[name] = import_module(f".{_MODULES[name]}", __name__)
    return module
