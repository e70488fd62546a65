"""Training on several languages by its definition, in plain Python."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import get_args

from toksmith.reference import (
    GPT2_BYTE_ORDER,
    ByteOrder,
    Merge,
    Pair,
    Pieces,
    Ties,
    _bytes_in_order,
    _tie_key,
    _top_pair,
    count_pairs,
    merge_pair,
    pretokens_after,
)


def balanced_merges(
    languages: Mapping[str, Mapping[bytes, int]],
    num_merges: int,
    ties: Ties = "bytes",
    min_frequency: int = 1,
    *,
    dev: Mapping[str, Mapping[bytes, int]] | None = None,
    ratio: Mapping[str, float] | None = None,
    window: tuple[int, float] | None = None,
    byte_order: ByteOrder = "value",
) -> Iterator[Merge]:
    """Train on several languages: each merge is the most frequent pair of the one that is compressed worst.

    With `dev`, the pretokens of one text in all languages, that is the language with most pieces there. With `ratio`,
    it is the one with the fewest bytes to a piece of its own pretokens, divided by its number in `ratio`. Of several,
    the first is taken. A language without a frequent pair drops out. A `window` (n, alpha) passes over languages that
    had more than alpha times their equal share of the last n turns.

    `ties` means what it means to `naive_merges`, in the language whose turn it is; but "huggingface" is the greatest
    pair, where bytes compare by `GPT2_BYTE_ORDER`.

    >>> counts = {"en": {b"low": 5, b"lower": 9}, "sw": {b"chini": 1}}
    >>> [merge.pair for merge in balanced_merges(counts, 3, ratio={"en": 1, "sw": 1})]
    [(b'o', b'w'), (b'n', b'i'), (b'i', b'ni')]
    """
    assert ties in get_args(Ties)
    words = {name: pretokens_after(counts, ()) for name, counts in languages.items()}
    measured = {name: pretokens_after(counts, ()) for name, counts in (dev or languages).items()}
    sizes = {name: _num_pieces(measured[name]) for name in languages}
    ids, turns = _bytes_in_order(ties, byte_order), deque[str](maxlen=window[0] if window else 0)
    tie_key = _spelling_key if ties == "huggingface" else _tie_key(ties, ids)
    live = list(languages)
    while live and len(ids) < 256 + num_merges:
        pieces = {name: _num_pieces(measured[name]) for name in live}
        rates = {name: sizes[name] / pieces[name] / ratio[name] if ratio else -pieces[name] for name in live}
        share = window[0] * window[1] / len(languages) if window else 0
        turn = min([name for name in live if turns.count(name) <= share] or live, key=lambda name: rates[name])
        turns.append(turn)
        merge = _top_pair(count_pairs(words[turn]), tie_key)
        if merge is None or merge.count < max(1, min_frequency):
            live.remove(turn)
            continue
        yield merge
        ids[merge.left + merge.right] = len(ids)
        for texts in (words, measured):
            for name, text in texts.items():
                texts[name] = {merge_pair(word, merge.pair): count for word, count in text.items()}


def _num_pieces(words: Mapping[Pieces, int]) -> int:
    return sum(len(word) * count for word, count in words.items())


def _spelling_key(pair: Pair) -> tuple[list[int], list[int]]:
    left, right = ([GPT2_BYTE_ORDER.index(byte) for byte in piece] for piece in pair)
    return left, right
