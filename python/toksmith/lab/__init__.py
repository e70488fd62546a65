"""Tokenizers looked at and compared: `explain` a text, `inspect` a vocabulary, `compare` several.

`toksmith.lab.page` is a module of its own, to import: its `write` makes a web page of tokens.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .comparison.compare import compare as compare
    from .explanation import explain as explain
    from .inspection.inspect import inspect as inspect

__all__ = ["compare", "explain", "inspect"]
# Imported on first use: what draws a token needs no NumPy.
_MODULES = {"compare": "comparison.compare", "explain": "explanation", "inspect": "inspection.inspect"}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
