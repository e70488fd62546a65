"""How a text is encoded, merge by merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .tokenizer import Tokenizer


@dataclass(frozen=True)
class Explanation:
    """One pretoken, or one special token, on its way to ids.

    `steps` are the merges in the order in which they happen, each with the pair, its rank, and the
    pieces after it; none for a special token. Under rank semantics, and where merges are ignored, a
    pretoken that is a token stands for itself: `whole` says that this happened, and then there are no steps.
    """

    text: bytes
    ids: list[int]
    steps: list[reference.Step]
    special: bool = False
    whole: bool = False


def explain(tokenizer: Tokenizer, text: str, special: bool) -> list[Explanation]:
    """Return the explanation of each pretoken and special token of `text`, in order."""
    tokenizer._core.count(text, special)  # fails where encoding would, and says why
    if tokenizer.pipeline is not None:
        tokenizer.pipeline.check_unchanged(tokenizer._core, text, special, "explain")
    special_ids = set(tokenizer.special_tokens.values())
    ids = {token: id for id, token in tokenizer.vocab.items() if id not in special_ids}
    has_merges, wholes = tokenizer._core.has_merges(), tokenizer._core.ignores_merges()
    ranks = tokenizer._cached("ranks", lambda: reference.rank_function(tokenizer.merges if has_merges else ids))
    return list(_explain(tokenizer, text, special, ids, ranks, wholes))


def _explain(
    tokenizer: Tokenizer, text: str, special: bool, ids: dict[bytes, int], ranks: Any, wholes: bool
) -> Iterator[Explanation]:
    specials = tokenizer.special_tokens if special else {}
    split = tokenizer._pattern.core().split
    for piece, is_special in reference.split_special(text, specials):
        if is_special:
            yield Explanation(piece.encode(), [specials[piece]], [], special=True)
            continue
        for pretoken in split(piece.encode()):
            if wholes and pretoken in ids:
                yield Explanation(pretoken, [ids[pretoken]], [], whole=True)
                continue
            steps = list(reference.encode_steps(pretoken, ranks))
            pieces = steps[-1].pieces if steps else [bytes([byte]) for byte in pretoken]
            yield Explanation(pretoken, [ids[piece] for piece in pieces], steps)
