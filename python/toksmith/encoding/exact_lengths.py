"""Texts of exactly so many tokens, for load tests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from .. import _core
from .._internal.messages import counted

_ATTEMPTS = 100


def text_of(core: _core.Tokenizer, tokens: int, text: str | None, seed: int) -> str:
    """Return a text of exactly so many tokens. See `Tokenizer.text_of`."""
    pieces = _random_pieces(core, seed) if text is None else itertools.repeat(text)
    tokens_of_piece = 1 if text is None else core.count(text, True)
    if not tokens_of_piece:
        raise ValueError("text has no tokens: give another, or None for random ones")
    made, count = "", 0
    for _ in range(_ATTEMPTS):
        while count < tokens:
            more = -(-(tokens - count) // tokens_of_piece)
            made += "".join(itertools.islice(pieces, more))
            count = core.count(made, True)
        made = core.truncate(made, tokens, True, False)
        count = core.count(made, True)
        if count == tokens:
            return made
    raise ValueError(f"no text of exactly {counted(tokens, 'token')} was found in {_ATTEMPTS} attempts")


def _random_pieces(core: _core.Tokenizer, seed: int) -> Iterator[str]:
    """Yield the texts of random tokens that can be read, and that are one token each."""
    ids, rng = list(core.vocab()), random.Random(seed)
    for id in iter(lambda: rng.choice(ids), None):
        text = core.decode([id], "replace")
        if text.isprintable() and core.encode(text, False) == [id]:
            yield text
