"""What a tokenizer is made of beyond its public methods: the one module of the lab that looks inside the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import patterns
from .._core import META, CompiledPattern, character_classes
from ..formats import verification
from ..tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["META", "CompiledPattern", "character_classes"]


def ordinary_tokens(tokenizer: Tokenizer) -> dict[int, bytes]:
    """Return the tokens that are not special, by id."""
    return verification.ordinary(tokenizer._core)


def has_merges(tokenizer: Tokenizer) -> bool:
    """Return whether merges are a list; if not, any pair whose bytes are a token merges, the lowest id first."""
    return tokenizer._core.has_merges()


def ignores_merges(tokenizer: Tokenizer) -> bool:
    """Return whether a pretoken that is a token is encoded to that token before any merge."""
    return tokenizer._core.ignores_merges()


def merges_characters(tokenizer: Tokenizer) -> bool:
    """Return whether merging begins with characters instead of bytes."""
    return tokenizer._core.characters() is not None


def merges_names(tokenizer: Tokenizer) -> bool:
    """Return whether tokens merge by their names, as CLIP's do, or merges are left out at random."""
    return tokenizer._core.is_spelled()


def unknown_token(tokenizer: Tokenizer) -> int | None:
    """Return the token that stands for any character that is no token, if merging begins with characters."""
    characters = tokenizer._core.characters()
    return None if characters is None else characters[1]


def last_merges(tokenizer: Tokenizer) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two parts of each token, as places among all ids in ascending order; -1 if no merge makes it."""
    left, right = tokenizer._core.last_pairs().T
    return left, right


def merged_differently(tokenizer: Tokenizer) -> dict[int, list[int]]:
    """Return the tokens whose bytes alone are merged to other ids, with these ids."""
    return dict(tokenizer._core.unmade())


def pattern(tokenizer: Tokenizer) -> patterns.Pattern:
    """Return the pattern, with its engine and what becomes of text that it does not match."""
    return patterns.of_core(tokenizer._core)


def check_plain(tokenizer: Tokenizer, text: str, special: bool) -> None:
    """Check that a text is encoded as it stands, without a step before the merges that changes it."""
    tokenizer.count(text, special=special)
    if tokenizer.pipeline is not None and not tokenizer._core.leaves(text, special):
        why = " and ".join(tokenizer.pipeline.reasons())
        raise ValueError(f"explain works on texts that are encoded as they stand; this one meets {why}")


def has_chat_template(tokenizer: Tokenizer) -> bool:
    """Return whether `apply_chat_template` has a template by default."""
    return "default" in dict(tokenizer._core.chat()[1])
