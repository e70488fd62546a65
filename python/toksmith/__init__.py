"""Byte-level BPE: train, encode and decode, exactly and fast.

>>> import toksmith
>>> tokenizer = toksmith.train_from_iterator(["low low lower lowest"], 260, special_tokens=["<|endoftext|>"])
>>> tokenizer.decode(tokenizer.encode("lower<|endoftext|>"))
'lower<|endoftext|>'
"""

from .streaming import DecodeStream
from .tokenizer import Tokenizer

TYPE_CHECKING = False  # not from `typing`, which takes as long to import as all of this package

if TYPE_CHECKING:
    from .counts import PretokenCounts, count_pretokens, count_pretokens_from_iterator
    from .training import train, train_bpe, train_from_iterator

__version__ = "0.1.0"

__all__ = [
    "DecodeStream",
    "PretokenCounts",
    "Tokenizer",
    "count_pretokens",
    "count_pretokens_from_iterator",
    "train",
    "train_bpe",
    "train_from_iterator",
]


def __getattr__(name: str) -> object:
    """Import what trains on first use: who only encodes does not wait for it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import counts, training

    value = getattr(training, name, None) or getattr(counts, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
