"""Ids of one tokenizer beside those of another."""

from __future__ import annotations

import random

import numpy as np
import pytest

import toksmith
from toksmith import Tokenizer

TEXTS = ["low low lower lowest newer", "é中é the theme 中中", "aaaa bbb ab abab", "\n\n  x  \n"]


def two(rng: random.Random) -> list[Tokenizer]:
    return [
        toksmith.train(
            iter(rng.sample(TEXTS, 3) * 2), rng.choice((258, 264, 275)), special_tokens=["<s>"], pattern=pattern
        )
        for pattern in ("gpt2", "o200k")
    ]


def naive(a: Tokenizer, ids_a: list[int], b: Tokenizer, ids_b: list[int]) -> list[list[int]]:
    """Return where tokens of both end, by the definition: the bytes before are the same number."""
    ends_a = {len(a.decode_bytes(ids_a[:count])): count for count in range(len(ids_a) + 1)}
    ends_b = {len(b.decode_bytes(ids_b[:count])): count for count in range(len(ids_b) + 1)}
    return [[ends_a[end], ends_b[end]] for end in sorted(ends_a.keys() & ends_b.keys())]


def pieces(rng: random.Random, tokenizer: Tokenizer, text: str) -> list[int]:
    """Return ids of a text that are not always its own: the text is cut anywhere first."""
    data = text.encode()
    cuts = sorted(rng.sample(range(len(data) + 1), k=min(len(data), rng.randrange(4))))
    return [id for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True) for id in tokenizer.encode(data[a:b])]


@pytest.mark.parametrize("seed", range(10))
def test_alignment_is_as_defined(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(30):
        a, b = two(rng)
        text = "".join(rng.choices([*"abelow r中é\n", "low", "<s>", " the"], k=1 + rng.randrange(60)))
        ids_a, ids_b = pieces(rng, a, text), pieces(rng, b, text)
        ends = toksmith.surgery.align(a, ids_a, b, np.array(ids_b))
        assert ends.dtype == np.int64
        assert ends.tolist() == naive(a, ids_a, b, ids_b)
        other = dict(enumerate(toksmith.surgery.vocab_map(a, b).tolist()))
        equals = {token: id for id, token in b.vocab.items()}
        assert all(other[id] == equals.get(token, -1) for id, token in a.vocab.items())
        assert len(other) == a.max_id + 1
        check_retokenization(a, ids_a)


def check_retokenization(tokenizer: Tokenizer, ids: list[int]) -> None:
    """What differs, put in place of what is there, is what encoding gives; nothing else differs."""
    again = tokenizer.encode(tokenizer.decode_bytes(ids))
    differences = toksmith.surgery.retokenization(tokenizer, ids)
    mended = ids.copy()
    for start, end, new in reversed(differences):
        assert mended[start:end] != new
        assert tokenizer.decode_bytes(new) == tokenizer.decode_bytes(ids[start:end])
        mended[start:end] = new
    assert mended == again
    assert bool(differences) == (ids != again)


def test_special_tokens_have_special_tokens_as_equals() -> None:
    vocab = {byte: bytes([byte]) for byte in range(256)}
    a = Tokenizer(vocab, [], ["<s>", "</s>"])
    b = Tokenizer({**vocab, 256: b"<s"}, [(b"<", b"s")], {"</s>": 300})
    assert toksmith.surgery.vocab_map(a, b)[[97, 256, 257]].tolist() == [97, -1, 300]
    assert toksmith.surgery.vocab_map(b, a)[[256, 299, 300]].tolist() == [-1, -1, 257]


def test_ids_of_other_bytes() -> None:
    a = Tokenizer()
    assert toksmith.surgery.align(a, [], a, []).tolist() == [[0, 0]]
    with pytest.raises(ValueError, match=r"other bytes from byte 2 on, which is in ids_a\[2\] and in ids_b\[2\]"):
        toksmith.surgery.align(a, b"abc", a, b"abd")
    with pytest.raises(ValueError, match="from byte 2 on"):
        toksmith.surgery.align(a, b"ab", a, b"abd")
    with pytest.raises(KeyError, match=r"there is no token of id 300 \(at index 1\)"):
        toksmith.surgery.align(a, [97, 300], a, b"aa")
    with pytest.raises(TypeError, match=r"b is a Tokenizer, the name or path of one, .* not NoneType"):
        toksmith.surgery.vocab_map(a, None)  # type: ignore[arg-type]
