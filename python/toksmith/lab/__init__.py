"""Tokenizers looked at and compared: `explain` a text, `inspect` a vocabulary, `compare` several; `page.write`.

`parts` is the only module of it that looks inside a tokenizer.
"""

from .comparison.compare import compare
from .explanation import explain
from .inspection.inspect import inspect

__all__ = ["compare", "explain", "inspect"]
