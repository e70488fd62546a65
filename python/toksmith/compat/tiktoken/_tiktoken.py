"""tiktoken's extension, `_tiktoken`."""

from .core_bpe import CoreBPE as CoreBPE

__all__ = ["CoreBPE"]
