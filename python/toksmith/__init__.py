"""Byte-level BPE: train, encode and decode, exactly and fast.

>>> import toksmith
>>> tokenizer = toksmith.train(iter(["low low lower lowest"]), 260, special_tokens=["<|endoftext|>"])
>>> tokenizer.decode(tokenizer.encode("lower<|endoftext|>"))
'lower<|endoftext|>'
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._core import Continuations as Continuations
    from ._core import DecodeStream as DecodeStream
    from ._core import DecodeStreams as DecodeStreams
    from ._core import Document as Document
    from ._core import PrefixCache as PrefixCache
    from .compat.tiktoken.core import Encoding as Encoding
    from .compat.tiktoken.registry import encoding_for_model as encoding_for_model
    from .compat.tiktoken.registry import get_encoding as get_encoding
    from .compat.tiktoken.registry import list_encoding_names as list_encoding_names
    from .corpus import Corpus as Corpus
    from .data.tokenize import tokenize as tokenize
    from .formats.published.encodings import encoding_name_for_model as encoding_name_for_model
    from .lab.view import view as view
    from .tokenizer import Tokenizer as Tokenizer
    from .training.counting import count_pretokens as count_pretokens
    from .training.counts import PretokenCounts as PretokenCounts
    from .training.options import IdOrder as IdOrder
    from .training.parity import Parity as Parity
    from .training.superwords import Superwords as Superwords
    from .training.train import train as train
    from .training.train import train_bpe as train_bpe

__version__ = "0.1.0"

# The names of each module: modules are imported on first use, so that no program waits for what it does not use.
_NAMES = {
    "_core": "Continuations DecodeStream DecodeStreams Document PrefixCache",
    "compat.tiktoken.core": "Encoding",
    "compat.tiktoken.registry": "encoding_for_model get_encoding list_encoding_names",
    "corpus": "Corpus",
    "data.tokenize": "tokenize",
    "formats.published.encodings": "encoding_name_for_model",
    "lab.view": "view",
    "tokenizer": "Tokenizer",
    "training.counting": "count_pretokens",
    "training.counts": "PretokenCounts",
    "training.options": "IdOrder",
    "training.parity": "Parity",
    "training.superwords": "Superwords",
    "training.train": "train train_bpe",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_MODULES)
# Modules that are attributes before somebody imports them: `toksmith.compat.tiktoken`, `toksmith.data.open`.
_PACKAGES = {"compat", "data", "engines", "lab", "patterns", "reference", "surgery"}


def __getattr__(name: str) -> object:
    """Import a name on first use."""
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
