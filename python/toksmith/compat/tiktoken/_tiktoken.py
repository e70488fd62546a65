"""tiktoken's extension, `_tiktoken`."""

from ...tiktoken.core_bpe import CoreBPE as CoreBPE

__all__ = ["CoreBPE"]
