"""The encoder against the reference on random bytes, random vocabularies, and lengths beside every threshold."""

import itertools
import random
from collections.abc import Iterator

import pytest
import tiktoken
from published_data import assert_ids, on

from toksmith import Tokenizer, patterns, reference

PATTERNS = ("gpt2", "cl100k", "cl100k_old", "qwen2", "nanochat", "o200k", "qwen3.5", "tekken")
SEMANTICS = ("merges", "ranks")

BYTES = {byte: bytes([byte]) for byte in range(256)}

Vocab = dict[int, bytes]
Merges = list[tuple[bytes, bytes]]

# Bytes of text that patterns, the cache and the merges treat in their own ways, in UTF-8.
LETTERS = [
    "ab ",
    "ab",
    "aé日 ",
    "日本語。",
    "é\u0301ñ",
    "A1a ",
    "'s ll",
    " \n\r\t",
    "0123 ",
    ".,! /\n",
    "😀a中 ",
    "\x00\xff\u3000",
]


# Bytes


def broken(rng: random.Random) -> bytes:
    """What is no UTF-8: cut and overlong characters, surrogates, characters past the last, stray bytes."""
    return rng.choice(
        [
            b"\xe2\x82",
            b"\xf0\x9f\x91",
            b"\xc3",
            b"\xc0\xaf",
            b"\xe0\x80\xaf",
            b"\xed\xa0\x80",
            b"\xed\xbf\xbf",
            b"\xf4\x90\x80\x80",
            b"\xf8\x88\x80\x80\x80",
            b"\xff\xfe",
            b"\x80",
            bytes([rng.randrange(0x80, 0x100)]),
        ]
    )


def byte_soup(rng: random.Random, length: int) -> bytes:
    """Random bytes: all of them, of few kinds, or text with some that break it."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(length)
    if kind == 1:
        return bytes(rng.choices(b"a\xe6\x97\xa5 \xc3\xa9\n\xff'1.", k=length))
    parts = []
    while sum(map(len, parts)) < length:
        if kind == 2 and rng.random() < 0.2:
            parts.append(broken(rng))
        elif rng.random() < 0.3:
            parts.append(chr(rng.choice((rng.randrange(0x80), rng.randrange(0x800), rng.randrange(0xD800)))).encode())
        else:
            parts.append("".join(rng.choices(rng.choice(LETTERS), k=rng.randrange(1, 12))).encode())
    return b"".join(parts)


def check_bytes(tokenizer: Tokenizer, vocab: Vocab, merges: Merges | None, pattern: str, data: bytes) -> None:
    expected = reference.encode(data, vocab, merges, pattern=patterns.NAMED[pattern])
    ours = tokenizer.encode(data)
    assert ours == expected, (pattern, merges, {i: token for i, token in vocab.items() if i > 255}, data)
    assert tokenizer.decode_bytes(ours) == data


@pytest.mark.parametrize("times", [50, pytest.param(2000, marks=pytest.mark.long)])
@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_bytes_that_need_not_be_text(
    small: Tokenizer, pattern: str, semantics: str, isa: str | None, times: int
) -> None:
    merges = list(small.merges) if semantics == "merges" else None
    tokenizer, vocab = on(Tokenizer(small.vocab, merges, pattern=pattern), pattern, isa), dict(small.vocab)
    rng = random.Random(f"bytes {pattern} {semantics} {isa}")
    for _ in range(times):
        check_bytes(tokenizer, vocab, merges, pattern, byte_soup(rng, rng.choice((1, 5, 20, 64, 65, 130, 300))))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_place_in_a_block(small: Tokenizer, pattern: str, isa: str | None) -> None:
    # Whatever a scanner reads at once: something at every place of the first blocks, and at the end of the text.
    tokenizer, vocab = on(Tokenizer(small.vocab, None, pattern=pattern), pattern, isa), dict(small.vocab)
    rng = random.Random(f"block {pattern}")
    things = [
        b"'ll",
        b" 'll",
        "日本".encode(),
        "é\u0301".encode(),
        b"  \n",
        b"\r\n\r\n",
        b"12345",
        b"\xff\xe6",
        b"...\n/",
        b"\xf0",
    ]
    for before in range(0, 132, 3):
        thing, filler = rng.choice(things), rng.choice((b"a", b" ", b"1", b".", "é".encode(), "日".encode()))
        pad = (filler * 132)[:before]
        for after in (b"", b" b", b"b"):
            check_bytes(tokenizer, vocab, None, pattern, pad + thing + after)


# Vocabularies


def random_vocabulary(rng: random.Random, letters: str) -> tuple[Vocab, Merges]:
    """Tokens over some bytes: made by merges in any order, and others that no merge makes, with ids in any order."""
    tokens = [bytes([byte]) for byte in sorted(set(letters.encode()))]
    singles, pairs = len(tokens), []
    for _ in range(rng.randrange(2, 40)):
        pair = (rng.choice(tokens), rng.choice(tokens))
        if len(pair[0] + pair[1]) <= 24 and pair not in pairs:
            pairs.append(pair)
            if pair[0] + pair[1] not in tokens:
                tokens.append(pair[0] + pair[1])
    for _ in range(rng.randrange(8)):
        data = "".join(rng.choices(letters, k=rng.randrange(2, 12))).encode()
        start = rng.randrange(len(data) - 1)
        token = data[start : rng.randrange(start + 2, len(data) + 1)]  # perhaps from inside a character
        if token not in tokens:
            tokens.append(token)
    if rng.random() < 0.4:
        rng.shuffle(pairs)
    made = tokens[singles:]
    if rng.random() < 0.5:
        rng.shuffle(made)
    ids = sorted(rng.sample(range(256, 600), len(made)))
    return BYTES | dict(zip(ids, made, strict=True)), pairs


def texts_of(rng: random.Random, letters: str, vocab: Vocab) -> Iterator[bytes]:
    """Strings of the letters of all lengths; tokens alone, side by side, and inside others; the same ones again."""
    tokens = [token for id, token in vocab.items() if id > 255] or [b"a"]
    seen = []
    for _ in range(12):
        kind = rng.randrange(3)
        if kind == 0:
            data = "".join(rng.choices(letters, k=rng.choice((2, 5, 9, 15, 16, 17, 33, 49, 65)))).encode()
        elif kind == 1:
            data = b"".join(rng.choices(tokens, k=rng.randrange(1, 5)))
        else:
            data = rng.choice(seen or [b"a"]) + rng.choice((b"", b" ", *tokens)) + rng.choice(tokens)
        seen.append(data)
        yield data
    yield from seen


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_random_vocabularies(pattern: str, semantics: str) -> None:
    rng = random.Random(f"vocabularies {pattern} {semantics}")
    for _ in range(50):
        letters = rng.choice(LETTERS)
        vocab, pairs = random_vocabulary(rng, letters)
        merges = pairs if semantics == "merges" else None
        tokenizer = Tokenizer(vocab, merges, pattern=pattern)
        for data in texts_of(rng, letters, vocab):
            check_bytes(tokenizer, vocab, merges, pattern, data)


def test_random_ranks_equal_tiktoken() -> None:
    # Also tokens that merging does not reach: alone they are themselves, inside a longer pretoken they never are.
    rng = random.Random("tiktoken")
    unreachable = 0
    for _ in range(200):
        letters = rng.choice(LETTERS)
        vocab, _ = random_vocabulary(rng, letters)
        ranks = {token: id for id, token in vocab.items()}
        other = tiktoken.Encoding("fuzz", pat_str=patterns.GPT2, mergeable_ranks=ranks, special_tokens={})
        tokenizer = Tokenizer(vocab)
        unreachable += len(vocab) - 256 - len(tokenizer.merges)
        for data in texts_of(rng, letters, vocab):
            text = data.decode("utf-8", "ignore")
            assert tokenizer.encode(text) == other.encode_ordinary(text), (vocab, text)
    assert unreachable > 100


# Lengths

LENGTHS = [*range(1, 20), *range(31, 35), *range(47, 51), *range(62, 67), 127, 128, 129, 200, 256, 1000]


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_pretokens_of_every_length(small: Tokenizer, semantics: str) -> None:
    # One pretoken each: of one letter, of few, of many, of characters of two and three bytes; again once it was seen.
    merges = list(small.merges) if semantics == "merges" else None
    tokenizer, vocab = Tokenizer(small.vocab, merges, pattern=None), dict(small.vocab)
    rank = reference.rank_function({t: i for i, t in vocab.items()} if merges is None else merges)
    ids = {token: id for id, token in vocab.items()}
    rng = random.Random(f"lengths {semantics}")
    seen: list[tuple[str, list[int]]] = []
    for length in LENGTHS:
        for letters in ("a", "ab", "the ", "aeiou nrst", "éa", "日本語が", "x\u0301é日😀"):
            data = "".join(rng.choices(letters, k=length)).encode()[:length]
            text = data.decode("utf-8", "ignore")
            pieces = (
                [text.encode()]
                if merges is None and text.encode() in ids
                else reference.encode_word(text.encode(), rank)
            )
            expected = [ids[piece] for piece in pieces] if text else []
            assert tokenizer.encode(text) == expected, (length, text)
            assert tokenizer.encode(data) == reference.encode(data, vocab, merges, pattern=None)
            seen.append((text, expected))
    rng.shuffle(seen)
    for text, expected in seen:
        assert tokenizer.encode(text) == expected
        assert tokenizer.count(text) == len(expected)


# More pretokens than any cache holds


def many_words(rng: random.Random, count: int) -> list[str]:
    """Different words: short ones, ones of several characters beyond ASCII, and long ones."""
    words: dict[str, None] = {}
    while len(words) < count:
        kind = rng.random()
        if kind < 0.7:
            word = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(4, 15)))
        elif kind < 0.85:
            word = "".join(chr(rng.randrange(0x4E00, 0x9FA6)) for _ in range(rng.randrange(1, 7)))
        elif kind < 0.95:
            word = "".join(rng.choices("aeiourstlnм", k=rng.randrange(15, 52)))
        else:
            word = "".join(rng.choices("éñüаяß", k=rng.randrange(2, 12)))
        words[word] = None
    return list(words)


@pytest.mark.parametrize("pattern", ["gpt2", pytest.param("cl100k", marks=pytest.mark.long)])
def test_more_words_than_a_cache_holds(small: Tokenizer, pattern: str) -> None:
    # Twice as many as have room, in one order and another, whole and in batches: the ids of tiktoken each time.
    rng = random.Random(f"many {pattern}")
    words = many_words(rng, 300_000)
    ranks = {token: id for id, token in small.vocab.items()}
    other = tiktoken.Encoding("many", pat_str=patterns.NAMED[pattern], mergeable_ranks=ranks, special_tokens={})
    rank_tokenizer = Tokenizer(small.vocab, None, pattern=pattern)
    list_tokenizer = Tokenizer(small.vocab, small.merges, pattern=pattern)
    for _ in range(2):
        text = " ".join(words)
        expected = other.encode_to_numpy(text)
        for tokenizer in (rank_tokenizer, list_tokenizer):
            assert_ids(tokenizer.encode_to_numpy(text), expected, tokenizer)
            assert tokenizer.count(text) == len(expected)
        texts = [" " + word for word in words[:50_000]]
        batch = rank_tokenizer.encode_batch(texts, workers=2)
        assert_ids(list(itertools.chain.from_iterable(batch)), other.encode_to_numpy("".join(texts)), rank_tokenizer)
        rng.shuffle(words)
        words += words[:1000]
