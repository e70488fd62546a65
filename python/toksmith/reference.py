r"""Byte-level BPE from text to ids and back, in plain Python: to learn from, and to test against.

Section 1 is the whole algorithm, as short as it can be. The sections after it add what a real tokenizer needs, one
thing at a time: cuts in the text, exact rules for ties, special tokens, vocabularies from elsewhere. Everything fast
in toksmith is compared with these sections, so they are written to be obviously right, and not to be fast.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from regex import Pattern  # type: ignore[import-untyped,unused-ignore]


# 1. The whole algorithm
#
# A text is a row of bytes, and a byte is a number from 0 to 255: its id. Training finds the two ids that stand side
# by side most often, and gives that pair an id of its own, 256. Then it looks again, and 256 may be one of the two.
# After some thousand rounds frequent words are single ids. That is all there is to it.


def tiny_train(text: str, num_merges: int) -> list[tuple[int, int]]:
    """Learn which pairs of ids to merge. The first merge makes id 256, the second 257, and so on.

    >>> tiny_train("low lower lowest", 3)  # l + o, then lo + w, then "low" and the space before it
    [(108, 111), (256, 119), (32, 257)]
    """
    ids = list(text.encode())
    merges: list[tuple[int, int]] = []
    while len(merges) < num_merges and len(ids) > 1:
        counts = Counter(pairwise(ids))
        best = max(counts, key=lambda pair: counts[pair])  # of several, the one that comes first in the text
        ids = tiny_merge(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def tiny_merge(ids: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Put `new_id` wherever `pair` stands, from left to right.

    >>> tiny_merge([1, 2, 3, 1, 2, 2], (1, 2), 9)
    [9, 3, 9, 2]
    """
    merged: list[int] = []
    for id_ in ids:
        merged.append(id_)
        if tuple(merged[-2:]) == pair:
            merged[-2:] = [new_id]
    return merged


def tiny_encode(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """Turn a text into ids: do to its bytes what training did, in the same order.

    >>> tiny_encode("slow lowing", [(108, 111), (256, 119), (32, 257)])
    [115, 257, 258, 105, 110, 103]
    """
    ids = list(text.encode())
    for new_id, pair in enumerate(merges, 256):
        ids = tiny_merge(ids, pair, new_id)
    return ids


def tiny_decode(ids: list[int], merges: list[tuple[int, int]]) -> str:
    """Turn ids into text: an id stands for the bytes of the two that it was made of.

    >>> tiny_decode([115, 257, 258, 105, 110, 103], [(108, 111), (256, 119), (32, 257)])
    'slow lowing'
    """
    tokens = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    return b"".join(tokens[id_] for id_ in ids).decode("utf-8", "replace")


# The exact algorithm
#
# From here on tokens are written as their bytes, which say more than ids. The steps are those of section 1:
#
# 2. Text is cut at its special tokens (`split_special`), and what lies between them into pretokens, roughly words
#    (`pretokenize`). No token reaches across these cuts, so equal pretokens are counted, and merged, as one.
# 3. Training works on the counted pretokens. `naive_merges` is `tiny_train` with rules for ties; the same merges come
#    from `incremental_merges`, which touches only what a merge changes.
# 4. Bytes, merges and special tokens get their ids (`build_vocab`), in one of the orders that people use.
# 5. Encoding merges the bytes of each pretoken, one pair at a time, the earliest merge first (`encode_steps`,
#    `encode`). So it also works with vocabularies that have ranks and no list of merges. Decoding joins the bytes of
#    tokens.

Pair = tuple[bytes, bytes]
Pieces = tuple[bytes, ...]
Unmatched = Literal["keep", "drop"]
Ties = Literal["bytes", "ids", "smallest_ids", "first", "huggingface"]
SpecialIds = Literal["first", "after_bytes", "last"]
ByteOrder = Literal["value", "gpt2"]
TieKey = Pair | tuple[int, int] | tuple[list[int], list[int]]
RankFunction = Callable[[bytes, bytes], "int | None"]

GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""How GPT-2 cuts text into pretokens; in the syntax of the `regex` package."""

_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
GPT2_BYTE_ORDER = (*_PRINTABLE, *sorted(set(range(256)) - set(_PRINTABLE)))
"""The 256 byte values in the order of GPT-2's ids: those that print as one character, then the rest."""


# 2. Text to pretokens


def split_special(text: str, special_tokens: Iterable[str]) -> list[tuple[str, bool]]:
    """Cut `text` at its special tokens: a list of (piece, is it a special token) that joins to `text`.

    Where special tokens overlap, the leftmost one wins, and of those that start there the longest. No piece is empty.
    An empty special token, or one that is listed twice, is a ValueError.

    >>> split_special("a<|b|><|b|>c", ["<|b|>"])
    [('a', False), ('<|b|>', True), ('<|b|>', True), ('c', False)]
    """
    # `re` takes the leftmost match and, at one place, the first alternative: so the longest come first.
    longest_first = sorted(_checked_special_tokens(special_tokens), key=len, reverse=True)
    if not longest_first:
        return [(text, False)] if text else []
    alternatives = "|".join(re.escape(token) for token in longest_first)
    pieces = re.split(f"({alternatives})", text)  # text, special token, text, special token, …, text
    return [(piece, index % 2 == 1) for index, piece in enumerate(pieces) if piece]


def pretokenize(text: str, pattern: str | Pattern | None = GPT2_PATTERN, unmatched: Unmatched = "keep") -> list[str]:
    r"""Cut `text` into pretokens: the matches of `pattern`, in order. Empty matches do not count.

    `pattern` is a pattern of the `regex` package or its source; with None the whole text is one pretoken. Text
    between two matches is a pretoken of its own with `unmatched="keep"`; it is lost with `unmatched="drop"`, as
    with `re.findall`.

    >>> pretokenize("some text that i'll pre-tokenize")
    ['some', ' text', ' that', ' i', "'ll", ' pre', '-', 'tokenize']
    >>> pretokenize("low, low", r"\p{L}+"), pretokenize("low, low", r"\p{L}+", unmatched="drop")
    (['low', ', ', 'low'], ['low', 'low'])
    """
    _check_choice("unmatched", unmatched, Unmatched)
    if pattern is None:
        return [text] if text else []
    import regex

    written = regex.compile(pattern)
    # `regex` 2026.11.15 lets the flag of `(?i:…)` leak where it looks for the first character of a match. An
    # alternative that never matches turns that look off.
    searched = regex.compile(f"(?!)|{written.pattern}", written.flags, **written.named_lists)
    pretokens = []
    end = 0  # of the last match
    for match in searched.finditer(text):
        if match.group():
            if unmatched == "keep":
                pretokens.append(text[end : match.start()])
            pretokens.append(match.group())
            end = match.end()
    if unmatched == "keep":
        pretokens.append(text[end:])
    return [pretoken for pretoken in pretokens if pretoken]


def count_pretokens(
    documents: str | Iterable[str],
    special_tokens: Iterable[str] = (),
    pattern: str | Pattern | None = GPT2_PATTERN,
    unmatched: Unmatched = "keep",
) -> dict[bytes, int]:
    """Count how often each pretoken occurs in `documents`, in the order in which they are first seen.

    Each element of `documents` is a document of its own (a `str` is one document), and special tokens separate
    documents: no pretoken reaches across, and special tokens are not counted.

    >>> count_pretokens("low<|end|>low lower lower", ["<|end|>"])
    {b'low': 2, b' lower': 2}
    """
    special_tokens = _checked_special_tokens(special_tokens)
    counts: Counter[bytes] = Counter()
    for document in [documents] if isinstance(documents, str) else documents:
        for piece, is_special in split_special(document, special_tokens):
            if not is_special:
                counts.update(pretoken.encode() for pretoken in pretokenize(piece, pattern, unmatched))
    return dict(counts)


# 3. Training


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge of training: `left` and `right` become one token; they stood side by side `count` times."""

    left: bytes
    right: bytes
    count: int

    @property
    def pair(self) -> Pair:
        """The pair (left, right), as it stands in a list of merges."""
        return self.left, self.right


def merge_pair(pieces: Pieces, pair: Pair) -> Pieces:
    """Replace `pair` in `pieces` by one piece wherever it stands, from left to right without overlap.

    >>> merge_pair((b"a", b"a", b"a", b"b"), (b"a", b"a"))
    (b'aa', b'a', b'b')
    """
    merged = []
    i = 0
    while i < len(pieces):
        if pieces[i : i + 2] == pair:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return tuple(merged)


def count_pairs(words: Mapping[Pieces, int]) -> dict[Pair, int]:
    """Count every pair of neighbours in `words` (pretokens in pieces, each with how often it occurs).

    Overlapping pairs all count. The pairs come in the order in which they are first seen.

    >>> count_pairs({(b"a", b"a", b"a"): 5, (b"a", b"b"): 1})
    {(b'a', b'a'): 10, (b'a', b'b'): 1}
    """
    counts: Counter[Pair] = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
    return dict(counts)


def pretokens_after(counts: Mapping[bytes, int], merges: Iterable[Pair]) -> dict[Pieces, int]:
    """Show the pretokens of `counts` in pieces, as training sees them after these `merges`.

    >>> pretokens_after({b"low": 5, b"lower": 2}, [(b"o", b"w"), (b"l", b"ow")])
    {(b'low',): 5, (b'low', b'e', b'r'): 2}
    """
    if any(count < 0 for count in counts.values()):
        raise ValueError("a pretoken cannot occur fewer than 0 times")
    words = {_single_bytes(pretoken): count for pretoken, count in counts.items() if count}
    for pair in merges:  # two different words stay different, because they still join to different bytes
        words = {merge_pair(word, pair): count for word, count in words.items()}
    return words


def naive_merges(
    counts: Mapping[bytes, int],
    num_merges: int,
    ties: Ties = "bytes",
    min_frequency: int = 1,
    *,
    base: Sequence[Pair] = (),
    max_words: int | None = None,
    byte_order: ByteOrder = "value",
) -> Iterator[Merge]:
    """Train: find up to `num_merges` merges, counting all pairs of the pretokens in `counts` each time.

    The pair that occurs most often is merged. `ties` says which of several: "bytes" the greatest (left, right);
    "ids" the greatest pair of ids, where the 256 bytes come in `byte_order` and the merges follow by age;
    "smallest_ids" the smallest; "huggingface" the smallest where the bytes come in `GPT2_BYTE_ORDER`; "first" the
    one that comes first in the pretokens in their order. Training ends early when no
    pair occurs `min_frequency` times.

    With `base`, training goes on after these merges; then "huggingface" is "smallest_ids". With `max_words`, no pair
    is merged that has more words, which whitespace separates: so superwords are learned, from runs of words.

    >>> for merge in naive_merges({b"low": 5, b"lower": 2}, 3):
    ...     print(merge)
    Merge(left=b'o', right=b'w', count=7)
    Merge(left=b'l', right=b'ow', count=7)
    Merge(left=b'low', right=b'e', count=2)
    """
    _check_choice("ties", ties, Ties)
    words = pretokens_after(counts, base)
    ids = _bytes_in_order("ids" if base else ties, byte_order)
    ids.update((left + right, id_) for id_, (left, right) in enumerate(base, len(ids)))
    for _ in range(num_merges):
        pair_counts = count_pairs(words)
        if max_words is not None:
            pair_counts = {pair: n for pair, n in pair_counts.items() if len(b"".join(pair).split()) <= max_words}
        merge = _top_pair(pair_counts, _tie_key(ties, ids))
        if merge is None or merge.count < max(1, min_frequency):
            return
        yield merge
        ids[merge.left + merge.right] = len(ids)  # always new: the same bytes never arise from two pairs
        words = {merge_pair(word, merge.pair): count for word, count in words.items()}


def incremental_merges(
    counts: Mapping[bytes, int],
    num_merges: int,
    ties: Ties = "bytes",
    min_frequency: int = 1,
    *,
    byte_order: ByteOrder = "value",
) -> Iterator[Merge]:
    """Train like `naive_merges`, with the same results, but much faster.

    A merge changes only the pretokens that contain its pair, so only their pairs are counted again. Pairs are kept by
    their counts, so only the most frequent ones are looked at.

    >>> counts = {b"low": 5, b"lower": 2}
    >>> list(incremental_merges(counts, 9, "ids")) == list(naive_merges(counts, 9, "ids"))
    True
    """
    _check_choice("ties", ties, Ties)
    start = pretokens_after(counts, ())
    words, word_counts = list(start), list(start.values())
    pair_counts = Counter(count_pairs(start))
    words_with: defaultdict[Pair, set[int]] = defaultdict(set)
    for i, word in enumerate(words):
        for pair in pairwise(word):
            words_with[pair].add(i)
    pairs_with: defaultdict[int, set[Pair]] = defaultdict(set)
    for pair, count in pair_counts.items():
        pairs_with[count].add(pair)
    ids = _bytes_in_order(ties, byte_order)

    def first_place(pair: Pair) -> tuple[int, int]:
        """Give minus the word, and the byte in it, where `pair` first stands."""
        i = min(words_with[pair])
        place = next(k for k, neighbours in enumerate(pairwise(words[i])) if neighbours == pair)
        return -i, -sum(len(piece) for piece in words[i][:place])

    tie_key = first_place if ties == "first" else _tie_key(ties, ids)
    for _ in range(num_merges):
        count = max((count for count, pairs in pairs_with.items() if pairs), default=0)
        if count < max(1, min_frequency):
            return
        best = max(pairs_with[count], key=tie_key)
        yield Merge(*best, count)
        ids[b"".join(best)] = len(ids)
        changes: Counter[Pair] = Counter()
        for i in list(words_with[best]):
            before, words[i] = words[i], merge_pair(words[i], best)
            for pair in pairwise(before):
                changes[pair] -= word_counts[i]
                words_with[pair].discard(i)
            for pair in pairwise(words[i]):
                changes[pair] += word_counts[i]
                words_with[pair].add(i)
        for pair, change in changes.items():
            pairs_with[pair_counts[pair]].discard(pair)
            pair_counts[pair] += change
            pairs_with[pair_counts[pair]].add(pair)


def _bytes_in_order(ties: Ties, byte_order: ByteOrder) -> dict[bytes, int]:
    """Give the 256 bytes the ids by which `ties` compares them; merges get the ids after them."""
    order = GPT2_BYTE_ORDER if byte_order == "gpt2" or ties == "huggingface" else range(256)
    return {bytes([value]): id_ for id_, value in enumerate(order)}


def _tie_key(ties: Ties, ids: Mapping[bytes, int]) -> Callable[[Pair], TieKey]:
    """Give the key by which `ties` compares pairs that occur equally often: the greatest key wins."""
    if ties == "bytes":
        return lambda pair: pair
    if ties == "ids":
        return lambda pair: (ids[pair[0]], ids[pair[1]])
    if ties == "first":
        return lambda pair: (0, 0)  # all equal: `max` takes the first of them
    return lambda pair: (-ids[pair[0]], -ids[pair[1]])


def _top_pair(pair_counts: Mapping[Pair, int], tie_key: Callable[[Pair], TieKey]) -> Merge | None:
    """Find the pair that occurs most often, of several the one with the greatest key, of those the first."""
    if not pair_counts:
        return None
    left, right = max(pair_counts, key=lambda pair: (pair_counts[pair], tie_key(pair)))
    return Merge(left, right, pair_counts[left, right])


# 4. Ids


def build_vocab(
    merges: Iterable[Pair],
    special_tokens: Iterable[str] = (),
    special_ids: SpecialIds = "first",
    byte_order: ByteOrder = "value",
) -> dict[int, bytes]:
    r"""Give every token its id, from 0: `special_tokens`, the 256 bytes, and the result of each merge.

    `special_ids` says where the special tokens go: "first", "after_bytes" or "last". `byte_order` is the order of the
    256 bytes: by "value", or as in GPT-2's files ("gpt2").

    >>> vocab = build_vocab([(b"a", b"b")], ["<|end|>"])
    >>> vocab[0], vocab[1], vocab[98], vocab[257]
    (b'<|end|>', b'\x00', b'a', b'ab')
    """
    _check_choice("special_ids", special_ids, SpecialIds)
    _check_choice("byte_order", byte_order, ByteOrder)
    specials = [token.encode() for token in _checked_special_tokens(special_tokens)]
    singles = [bytes([value]) for value in (GPT2_BYTE_ORDER if byte_order == "gpt2" else range(256))]
    merged = [left + right for left, right in merges]
    if special_ids == "first":
        tokens = specials + singles + merged
    elif special_ids == "after_bytes":
        tokens = singles + specials + merged
    else:
        tokens = singles + merged + specials
    return dict(enumerate(tokens))


def train_bpe(
    documents: str | Iterable[str],
    vocab_size: int,
    special_tokens: Iterable[str] = (),
    *,
    pattern: str | Pattern | None = GPT2_PATTERN,
    unmatched: Unmatched = "keep",
    ties: Ties = "bytes",
    min_frequency: int = 1,
    special_ids: SpecialIds = "first",
    byte_order: ByteOrder = "value",
) -> tuple[dict[int, bytes], list[Pair]]:
    r"""Train on `documents` (text, not a path) and return the vocabulary and the merges, as in CS336.

    The vocabulary has `vocab_size` tokens, special tokens and the 256 bytes included, or fewer where no pair is
    left to merge. The other arguments are those of `count_pretokens`, `naive_merges` and `build_vocab`.

    >>> text = "low low low low low lower lower widest widest widest newest newest newest newest newest newest"
    >>> vocab, merges = train_bpe(text, 256 + 6 + 1, ["<|endoftext|>"], pattern=r"\S+", unmatched="drop")
    >>> [(left + b" " + right).decode() for left, right in merges]
    ['s t', 'e st', 'o w', 'l ow', 'w est', 'n e']
    >>> encode("newest<|endoftext|>", vocab, merges, ["<|endoftext|>"])
    [262, 261, 0]
    >>> decode([262, 261, 0], vocab)
    'newest<|endoftext|>'
    """
    special_tokens = _checked_special_tokens(special_tokens)
    num_merges = vocab_size - 256 - len(special_tokens)
    if num_merges < 0:
        raise ValueError(f"vocab_size is {vocab_size}: at least {vocab_size - num_merges} are needed")
    counts = count_pretokens(documents, special_tokens, pattern, unmatched)
    trained = incremental_merges(counts, num_merges, ties, min_frequency, byte_order=byte_order)
    merges = [merge.pair for merge in trained]
    return build_vocab(merges, special_tokens, special_ids, byte_order), merges


# 5. Encoding and decoding


class Step(NamedTuple):
    """One step of encoding: `left` and `right`, whose rank was the lowest, became one of the `pieces`."""

    left: bytes
    right: bytes
    rank: int
    pieces: Pieces


def rank_function(merges_or_ranks: Sequence[Pair] | Mapping[bytes, int] | RankFunction) -> RankFunction:
    """Make the function that gives the rank of a pair, or None where the pair is not merged.

    From a list of merges (CS336, GPT-2's files, Hugging Face): the pair's first place in the list. From ranks
    (tiktoken's files), token → rank: the rank of the token that the two make. Such a function is returned as it is.

    >>> rank_function([(b"o", b"w"), (b"l", b"ow")])(b"l", b"ow")
    1
    >>> rank_function({b"ow": 256, b"low": 257})(b"lo", b"w")
    257
    """
    if callable(merges_or_ranks):
        return merges_or_ranks
    if isinstance(merges_or_ranks, Mapping):
        ranks = merges_or_ranks
        return lambda left, right: ranks.get(left + right)
    places: dict[Pair, int] = {}
    for place, (left, right) in enumerate(merges_or_ranks):
        places.setdefault((left, right), place)
    return lambda left, right: places.get((left, right))


def encode_steps(
    word: bytes,
    merges_or_ranks: Sequence[Pair] | Mapping[bytes, int] | RankFunction,
    drops: Iterator[bool] | None = None,
) -> Iterator[Step]:
    """Merge the bytes of one pretoken, one pair at a time, and show each step.

    Each step merges the pair with the lowest rank, the leftmost where it stands more than once, until no pair has a
    rank. For many words, make the `rank_function` once and pass it on. With BPE-dropout (arXiv:1910.13267), `drops`
    says at each step of each pair that has a rank whether it is left out, in the order of rank and place. The first
    that is not is merged, and merging ends at a step that leaves all out.

    >>> for step in encode_steps(b"lower", [(b"o", b"w"), (b"l", b"ow"), (b"e", b"r")]):
    ...     print(step.rank, step.left, step.right, step.pieces)
    0 b'o' b'w' (b'l', b'ow', b'e', b'r')
    1 b'l' b'ow' (b'low', b'e', b'r')
    2 b'e' b'r' (b'low', b'er')
    """
    rank_of = rank_function(merges_or_ranks)
    pieces = _single_bytes(word)
    while True:
        ranks = [(rank_of(*pair), i) for i, pair in enumerate(pairwise(pieces))]
        candidates = sorted((rank, i) for rank, i in ranks if rank is not None)
        merged = next((each for each in candidates if drops is None or not next(drops)), None)
        if merged is None:
            return
        rank, i = merged
        left, right = pieces[i : i + 2]
        pieces = (*pieces[:i], left + right, *pieces[i + 2 :])
        yield Step(left, right, rank, pieces)


def encode_word(
    word: bytes,
    merges_or_ranks: Sequence[Pair] | Mapping[bytes, int] | RankFunction,
    drops: Iterator[bool] | None = None,
) -> Pieces:
    """Merge the bytes of one pretoken as far as they go: the pieces after the last of `encode_steps`.

    >>> merges = [(b"o", b"w"), (b"l", b"ow"), (b"e", b"r")]
    >>> encode_word(b"lower", merges), encode_word(b"lower", merges, iter([True, False, False, True]))
    ((b'low', b'er'), (b'l', b'ow', b'er'))
    """
    pieces = _single_bytes(word)
    for step in encode_steps(word, merges_or_ranks, drops):
        pieces = step.pieces
    return pieces


def encode(
    text: str | bytes,
    vocab: Mapping[int, bytes],
    merges: Sequence[Pair] | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    *,
    pattern: str | Pattern | None = GPT2_PATTERN,
    unmatched: Unmatched = "keep",
    special: bool = True,
    ignore_merges: bool = False,
    dropout: float = 0.0,
    seed: int = 0,
    number: int = 0,
) -> list[int]:
    """Turn `text` into ids of `vocab`.

    With `merges`, pretokens are merged in the order of that list. Without, `vocab` holds ranks, as tiktoken's files
    do: the pair whose token has the lowest id is merged first, and a pretoken that is itself a token becomes that
    token at once; with `ignore_merges` it does so under merges too. `special_tokens` are names, or name → id; a
    name stands for the one token of `vocab` with its bytes. With `special=False` they are read as ordinary text. In
    bytes that are not UTF-8 an invalid byte is one character that is no letter, digit or space. With a `dropout`,
    the merges of each pretoken are left out by `dropout_draws`; `number` is that of the text among several.

    >>> vocab = build_vocab([(b"o", b"w"), (b"l", b"ow")], ["<|end|>"], "last")
    >>> encode("low<|end|>", vocab, [(b"o", b"w"), (b"l", b"ow")], ["<|end|>"])
    [257, 258]
    >>> encode("low<|end|>", vocab, None, {"<|end|>": 258}, special=False)
    [257, 60, 124, 101, 110, 100, 124, 62]
    """
    special_ids = _special_ids(vocab, special_tokens)
    specials = set(special_ids.values())
    token_ids = {token: id_ for id_, token in vocab.items() if id_ not in specials}
    rank_of = rank_function(token_ids if merges is None else merges)
    errors = "strict"
    if isinstance(text, bytes):
        errors = "surrogateescape"
        text = text.decode("utf-8", errors)
    ids = []
    pretokens = 0
    for piece, is_special in split_special(text, special_ids if special else ()):
        if is_special:
            ids.append(special_ids[piece])
            continue
        for pretoken in pretokenize(piece, pattern, unmatched):
            word = pretoken.encode("utf-8", errors)
            whole = (merges is None or ignore_merges) and word in token_ids and not dropout
            drops = dropout_draws(dropout, seed, number, pretokens) if dropout else None
            tokens = (word,) if whole else encode_word(word, rank_of, drops)
            pretokens += 1
            for token in tokens:
                if token not in token_ids:
                    raise ValueError(f"the vocabulary has no token {token!r}")
                ids.append(token_ids[token])
    return ids


def dropout_draws(rate: float, seed: int, number: int, pretoken: int) -> Iterator[bool]:
    """Say again and again, with probability `rate`, that a merge is left out; the same for the same numbers.

    The numbers are those of SplitMix64. `number` is that of the text, and `pretoken` that of the pretoken in it.

    >>> draws = dropout_draws(0.5, 7, 0, 0)
    >>> [next(draws) for _ in range(8)]
    [True, False, True, True, True, False, True, False]
    """
    state = _mixed(_mixed(_mixed(seed) + number) + pretoken)
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        yield (_mixed(state) >> 11) / 2**53 < rate


def _mixed(state: int) -> int:
    state %= 2**64
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
    return state ^ state >> 31


def decode(ids: Iterable[int], vocab: Mapping[int, bytes], errors: str = "replace") -> str:
    """Join the bytes of `ids` and read them as UTF-8; bytes that are not follow `errors`, as in Python.

    >>> decode([104, 105, 255], build_vocab([]))
    'hi\ufffd'
    """
    return b"".join(vocab[id_] for id_ in ids).decode("utf-8", errors)


def _special_ids(vocab: Mapping[int, bytes], special_tokens: Iterable[str] | Mapping[str, int]) -> dict[str, int]:
    """Find the id of each special token, as `encode` describes."""
    if isinstance(special_tokens, Mapping):
        return dict(special_tokens)
    special_ids = {}
    for name in _checked_special_tokens(special_tokens):
        ids = [id_ for id_, token in vocab.items() if token == name.encode()]
        if len(ids) != 1:
            raise ValueError(f"the vocabulary has {name!r} at {ids}: give special_tokens as name → id")
        special_ids[name] = ids[0]
    return special_ids


def _single_bytes(word: bytes) -> Pieces:
    return tuple(word[i : i + 1] for i in range(len(word)))


def _checked_special_tokens(special_tokens: Iterable[str]) -> list[str]:
    if isinstance(special_tokens, str):
        raise ValueError(f"special_tokens is the text {special_tokens!r}: give a list of texts")
    tokens = list(special_tokens)
    if "" in tokens:
        raise ValueError("a special token is empty")
    for token, count in Counter(tokens).items():
        if count > 1:
            raise ValueError(f"the special token {token!r} is listed {count} times")
    return tokens


def _check_choice(name: str, value: str, choices: object) -> None:
    if value not in get_args(choices):
        raise ValueError(f"{name} is {value!r}: it must be one of {', '.join(get_args(choices))}")
