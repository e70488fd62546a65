"""Byte-level BPE: train, encode and decode, exactly and fast.

>>> import toksmith
>>> tokenizer = toksmith.train_from_iterator(["low low lower lowest"], 260, special_tokens=["<|endoftext|>"])
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
    from ._core import align as align
    from ._core import retokenization as retokenization
    from ._core import vocab_map as vocab_map
    from .compat.tiktoken.core import Encoding as Encoding
    from .compat.tiktoken.registry import encoding_for_model as encoding_for_model
    from .compat.tiktoken.registry import get_encoding as get_encoding
    from .compat.tiktoken.registry import list_encoding_names as list_encoding_names
    from .corpus import Corpus as Corpus
    from .data.tokenize import tokenize as tokenize
    from .formats.published.models import encoding_name_for_model as encoding_name_for_model
    from .lab.comparison.compare import compare as compare
    from .lab.explanation import explain as explain
    from .lab.inspection.inspect import inspect as inspect
    from .lab.view import view as view
    from .surgery.change import VocabChange as VocabChange
    from .surgery.extending import extend as extend
    from .surgery.extending import replace_tokens as replace_tokens
    from .surgery.pruning import prune as prune
    from .surgery.pruning import shrink as shrink
    from .tokenizer import Tokenizer as Tokenizer
    from .tokenizer import merge_counts as merge_counts
    from .training.counting import count_pretokens as count_pretokens
    from .training.counting import count_pretokens_from_iterator as count_pretokens_from_iterator
    from .training.counts import PretokenCounts as PretokenCounts
    from .training.superwords import Superwords as Superwords
    from .training.train import train as train
    from .training.train import train_bpe as train_bpe
    from .training.train import train_from_iterator as train_from_iterator

__version__ = "0.1.0"

# The module of each name: modules are imported on first use, so that no program waits for what it does not use.
_MODULES = {
    "Continuations": "_core",
    "Corpus": "corpus",
    "DecodeStream": "_core",
    "DecodeStreams": "_core",
    "Document": "_core",
    "Encoding": "compat.tiktoken.core",
    "PrefixCache": "_core",
    "PretokenCounts": "training.counts",
    "Superwords": "training.superwords",
    "Tokenizer": "tokenizer",
    "VocabChange": "surgery.change",
    "align": "_core",
    "compare": "lab.comparison.compare",
    "count_pretokens": "training.counting",
    "count_pretokens_from_iterator": "training.counting",
    "encoding_for_model": "compat.tiktoken.registry",
    "encoding_name_for_model": "formats.published.models",
    "explain": "lab.explanation",
    "extend": "surgery.extending",
    "get_encoding": "compat.tiktoken.registry",
    "inspect": "lab.inspection.inspect",
    "list_encoding_names": "compat.tiktoken.registry",
    "merge_counts": "tokenizer",
    "prune": "surgery.pruning",
    "replace_tokens": "surgery.extending",
    "retokenization": "_core",
    "shrink": "surgery.pruning",
    "tokenize": "data.tokenize",
    "train": "training.train",
    "train_bpe": "training.train",
    "train_from_iterator": "training.train",
    "view": "lab.view",
    "vocab_map": "_core",
}
__all__ = [*_MODULES]
# Modules that are attributes before somebody imports them: `toksmith.compat.tiktoken`, `toksmith.data.open`.
_PACKAGES = {"compat", "data", "engines", "lab", "patterns", "reference"}


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
