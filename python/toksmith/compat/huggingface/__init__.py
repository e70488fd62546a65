"""toksmith behind the interfaces of `tokenizers` and `transformers`.

`Tokenizer` has the methods that programs call on `tokenizers.Tokenizer`, with the same results; `Encoding` is what
its `encode` returns. `pretrained` makes a tokenizer for `transformers`, and `ToksmithTokenizer` is its class.
"""

from __future__ import annotations

from .added import AddedToken
from .components import BPE
from .encoding import Encoding
from .tokenizers import Tokenizer
from .training import BpeTrainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .for_transformers import ToksmithTokenizer, pretrained

__all__ = ["BPE", "AddedToken", "BpeTrainer", "Encoding", "Tokenizer", "ToksmithTokenizer", "pretrained"]


def __getattr__(name: str) -> object:
    """Import what needs `transformers` on first use."""
    if name not in ("ToksmithTokenizer", "pretrained"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(".for_transformers", __name__), name)
