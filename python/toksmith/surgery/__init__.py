"""Tokenizers made of others, and ids of one vocabulary beside those of another.

`prune` and `shrink` take tokens away, `extend` adds some, and `replace_tokens` puts new ones in the place of reserved
ones. `align`, `vocab_map` and `retokenization` relate the ids of two tokenizers, or of one before and after a change.
"""

from .._core import align, vocab_map
from .change import VocabChange, retokenization
from .extending import extend, replace_tokens
from .pruning import prune, shrink

__all__ = ["VocabChange", "align", "extend", "prune", "replace_tokens", "retokenization", "shrink", "vocab_map"]
