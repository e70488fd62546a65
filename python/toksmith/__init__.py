"""Byte-level BPE: train, encode and decode, exactly and fast.

>>> import toksmith
>>> tokenizer = toksmith.train_from_iterator(["low low lower lowest"], 260, special_tokens=["<|endoftext|>"])
>>> tokenizer.decode(tokenizer.encode("lower<|endoftext|>"))
'lower<|endoftext|>'
"""

from .encoding.decode_stream import DecodeStream
from .tokenizer import Tokenizer

TYPE_CHECKING = False  # not from `typing`, which takes as long to import as all of this package

if TYPE_CHECKING:
    from .compat.tiktoken.core import Encoding
    from .compat.tiktoken.registry import encoding_for_model, get_encoding, list_encoding_names
    from .corpus import Corpus
    from .data.tokenize import tokenize
    from .formats.published.models import encoding_name_for_model
    from .lab.comparison.compare import compare
    from .lab.explanation import explain
    from .lab.inspection.inspect import inspect
    from .lab.view import view
    from .shrinking import shrink
    from .training.counting import count_pretokens, count_pretokens_from_iterator
    from .training.counts import PretokenCounts
    from .training.train import train, train_bpe, train_from_iterator

__version__ = "0.1.0"

__all__ = [
    "Corpus",
    "DecodeStream",
    "Encoding",
    "PretokenCounts",
    "Tokenizer",
    "compare",
    "count_pretokens",
    "count_pretokens_from_iterator",
    "encoding_for_model",
    "encoding_name_for_model",
    "explain",
    "get_encoding",
    "inspect",
    "list_encoding_names",
    "shrink",
    "tokenize",
    "train",
    "train_bpe",
    "train_from_iterator",
    "view",
]


# The modules of the names that are imported on first use, so that encoding alone does not wait for them.
_LAZY = {
    "Corpus": "corpus",
    "Encoding": "compat.tiktoken.core",
    "PretokenCounts": "training.counts",
    "compare": "lab.comparison.compare",
    "count_pretokens": "training.counting",
    "count_pretokens_from_iterator": "training.counting",
    "encoding_for_model": "compat.tiktoken.registry",
    "encoding_name_for_model": "formats.published.models",
    "explain": "lab.explanation",
    "get_encoding": "compat.tiktoken.registry",
    "inspect": "lab.inspection.inspect",
    "list_encoding_names": "compat.tiktoken.registry",
    "shrink": "shrinking",
    "tokenize": "data.tokenize",
    "train": "training.train",
    "train_bpe": "training.train",
    "train_from_iterator": "training.train",
    "view": "lab.view",
}
# Packages that are attributes before somebody imports them: `toksmith.compat.tiktoken`, `toksmith.data.open`.
_PACKAGES = {"compat", "data", "engines", "lab"}


def __getattr__(name: str) -> object:
    """Import a name on first use."""
    if name not in _LAZY and name not in _PACKAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    if name in _PACKAGES:
        return importlib.import_module(f".{name}", __name__)
    value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
