"""toksmith behind the interfaces of `tokenizers` and `transformers`; needs the package `tokenizers`.

`Tokenizer` is a `tokenizers.Tokenizer` that encodes, decodes and trains with toksmith; `Encoding` is what its
`encode` returns. `pretrained` makes a tokenizer for `transformers`, `ToksmithTokenizer` loads one, and `install` puts
toksmith into every tokenizer that `transformers` makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._core import HuggingFaceEncoding as Encoding
from .tokenizers import ByteLevelBPETokenizer, DecodeStream, Tokenizer

if TYPE_CHECKING:
    from ..transformers import Installed, ToksmithTokenizer, install, pretrained

__all__ = [
    "ByteLevelBPETokenizer",
    "DecodeStream",
    "Encoding",
    "Installed",
    "Tokenizer",
    "ToksmithTokenizer",
    "install",
    "pretrained",
]


def __getattr__(name: str) -> object:
    """Import the names that need `transformers` on first use."""
    if name not in ("Installed", "ToksmithTokenizer", "install", "pretrained"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("toksmith.compat.transformers"), name)
