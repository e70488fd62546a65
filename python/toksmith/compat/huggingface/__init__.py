"""toksmith behind the interfaces of `tokenizers` and `transformers`.

`Tokenizer` has the methods that programs call on `tokenizers.Tokenizer`, with the same results; `Encoding` is what
its `encode` returns. `pretrained` makes a tokenizer for `transformers`, and `ToksmithTokenizer` is its class.
"""

from __future__ import annotations

from .encoding import Encoding
from .parts import AddedToken
from .tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .pretrained import ToksmithTokenizer, pretrained

__all__ = ["AddedToken", "Encoding", "Tokenizer", "ToksmithTokenizer", "pretrained"]


def __getattr__(name: str) -> object:
    """Import what needs `transformers` on first use."""
    if name not in ("ToksmithTokenizer", "pretrained"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module(".pretrained", __name__)
    # The function has the module's name: it takes its place here.
    globals().update(ToksmithTokenizer=module.ToksmithTokenizer, pretrained=module.pretrained)
    return globals()[name]
