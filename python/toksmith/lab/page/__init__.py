"""One HTML file in which people type and see the tokens of tokenizers: `write`."""

from .document import write

__all__ = ["write"]
