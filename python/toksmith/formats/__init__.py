"""File formats: tokenizers in the files that people use.

Each module reads one format into `Parts`, and writes it. Reading checks the form of the file and names the file and
the line; what the data means is checked by `Tokenizer`. A module is imported on first use: `formats.native`.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._internal.choices import FileFormat
    from . import added as added
    from . import gpt2 as gpt2
    from . import identity as identity
    from . import model_files as model_files
    from . import native as native
    from . import ranks as ranks
    from . import sources as sources
    from . import tekken as tekken
    from .huggingface import folder as huggingface_folder  # noqa: F401
    from .huggingface import read as huggingface_reader  # noqa: F401
    from .parts import Parts

_MODULES = {
    "added": "added",
    "gpt2": "gpt2",
    "huggingface_folder": "huggingface.folder",
    "huggingface_reader": "huggingface.read",
    "identity": "identity",
    "model_files": "model_files",
    "native": "native",
    "ranks": "ranks",
    "sources": "sources",
    "tekken": "tekken",
}

_SAVERS = {
    "toksmith": ("native", "save"),
    "gpt2": ("gpt2", "save"),
    "tiktoken": ("ranks", "save"),
    "tekken": ("tekken", "save"),
    "sentencepiece": ("model_files", "save_sentencepiece"),
    "gguf": ("model_files", "save_gguf"),
}
"""The module and the function that write each of `choices.FILE_FORMATS`."""


def save(parts: Parts, path: str | os.PathLike[str], format: FileFormat, verify: bool) -> None:
    """Write a tokenizer in a format. See `Tokenizer.save`."""
    module, function = _SAVERS[format]
    getattr(import_module(f".{module}", __name__), function)(parts, path, verify)


def __getattr__(name: str) -> ModuleType:
    """Import a module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = globals()[name] = import_module(f".{_MODULES[name]}", __name__)
    return module
