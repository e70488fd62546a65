"""What may come next: tokens by their first bytes, a prompt that is cut off, ids that stay an encoding."""

from __future__ import annotations

import random

import continuations_oracle
import numpy as np
import pytest

import toksmith
from toksmith import Continuations, Tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:no pair is left")

TEXTS = ["low low lower lowest newer", "é中é the theme 中中", "aaaa bbb ab abab", "\n\n  x  \n", "it's 12345 isn't"]
PIECES = [*"abelow r中é\n12", "low", "<s>", " the", "'s", "  "]


def random_tokenizer(rng: random.Random) -> Tokenizer:
    pattern = rng.choice(("gpt2", "o200k", "llama3", r"\w+|[^\w]", None))
    sizes = (258, 264, 285, 320)
    made = toksmith.train(
        iter(rng.sample(TEXTS, 3) * 2), rng.choice(sizes), special_tokens=["<s>", "<s>x"], pattern=pattern
    )
    return Tokenizer(made.vocab, None, made.special_tokens, pattern=pattern) if rng.random() < 0.3 else made


def sequence(rng: random.Random, tokenizer: Tokenizer) -> list[int]:
    """Return ids of a text, sometimes with others among them, or cut off."""
    ids = tokenizer.encode("".join(rng.choices(PIECES, k=rng.randrange(12))))
    if rng.random() < 0.3:
        ids.insert(rng.randrange(len(ids) + 1), rng.choice([*tokenizer.vocab]))
    return ids[: rng.randrange(len(ids) + 1)] if rng.random() < 0.3 else ids


@pytest.mark.parametrize("seed", range(12))
def test_continuations_are_as_defined(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        tokenizer = random_tokenizer(rng)
        ordinary = {id: token for id, token in tokenizer.vocab.items() if id not in tokenizer.special_tokens.values()}
        continuations = Continuations(tokenizer)
        for _ in range(12):
            ids = sequence(rng, tokenizer)
            prefix = rng.choice(["", *TEXTS])[: rng.randrange(4)].encode()[: rng.randrange(5)]
            assert continuations.prefix_ids(prefix).tolist() == continuations_oracle.prefix_ids(prefix, ordinary)
            keep, allowed = continuations.heal(np.array(ids, np.int64))
            assert (keep, None if allowed is None else allowed.tolist()) == continuations_oracle.heal(ids, ordinary)
            mask = continuations.next_mask(ids)
            assert mask.dtype == bool
            assert mask.tolist() == continuations_oracle.next_mask(ids, tokenizer.vocab, tokenizer.encode)


def test_healing() -> None:
    tokenizer = toksmith.train(iter(["https://a http:// https://b"] * 3), 275, special_tokens=["<s>"])
    continuations = Continuations(tokenizer)
    ids = tokenizer.encode("see http:")
    keep, allowed = continuations.heal(ids)
    assert tokenizer.decode(ids[:keep]) == "see http"
    assert allowed is not None
    assert {tokenizer.decode([id]) for id in allowed.tolist()} == {":", ":/", "://"}
    special = tokenizer.token_id("<s>")
    assert continuations.heal([*ids, special]) == (len(ids) + 1, None)
    assert continuations.heal([]) == (0, None)
    assert continuations.prefix_ids("<s").tolist() == continuations.prefix_ids(b"<s").tolist() == []
    # In SentencePiece's models special tokens are in the vocabulary.
    named = Continuations(Tokenizer({**{i: bytes([i]) for i in range(256)}, 256: b"</s>"}, [], ["</s>"]))
    assert named.heal(list(b"a</")) == (3, None)


def test_an_encoding_can_always_go_on() -> None:
    """Each id of an encoding is allowed after those before it, unless it makes the text before it another."""
    tokenizer = toksmith.train(iter(TEXTS * 2), 300, special_tokens=["<s>"], pattern="qwen2")
    continuations = Continuations(tokenizer)
    ids = tokenizer.encode("the lower theme<s>it's 12 aaab")
    for count in range(len(ids)):
        if tokenizer.encode(tokenizer.decode_bytes(ids[: count + 1])) == ids[: count + 1]:
            assert continuations.next_mask(ids[:count])[ids[count]]


def test_errors() -> None:
    tokenizer = Tokenizer(pattern=r"(?V1)(?<=a)b|.")
    continuations = Continuations(tokenizer)
    assert continuations.next_mask(b"ab").sum() == 256
    with pytest.raises(ValueError, match="nothing is known of where the last 4096 bytes of the text can be cut"):
        continuations.next_mask(b"a" * 5000)
    with pytest.raises(KeyError, match=r"there is no token of id 300 \(at index 1\)"):
        continuations.heal([97, 300])
    with pytest.raises(KeyError, match=r"there is no token of id 300 \(at index 1\)"):
        continuations.next_mask([97, 300])
    with pytest.raises(TypeError, match="a prefix is bytes or a str, not int"):
        continuations.prefix_ids(1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"tokenizer is a Tokenizer, the name or path of one, .* not NoneType"):
        Continuations(None)  # type: ignore[arg-type]
