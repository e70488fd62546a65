"""`toksmith.lab.inspect` of tokenizers that merge characters, as SentencePiece makes them, behind their pipelines."""

import collections
import itertools
import random

import pytest

pytest.importorskip("tokenizers")

from character_cases import KINDS, by_definition, make, text_of, vocab_and_merges

import toksmith
from toksmith import Tokenizer

CHECKED = ("llama", "gemma", "metaspace_first_False", "spaces_left", "bare")


@pytest.mark.parametrize("kind", CHECKED)
def test_unreachable_tokens_are_in_no_text(kind: str) -> None:
    assert kind in KINDS
    tokenizer = Tokenizer.from_huggingface(make(kind))
    rng = random.Random(kind)
    texts = [text_of(rng, 40) for _ in range(300)]
    found = toksmith.lab.inspect(tokenizer, iter(texts))
    unreachable = {one.id for one in found.reach.unreachable}
    assert unreachable
    uses = collections.Counter(itertools.chain.from_iterable(map(tokenizer.encode, texts)))
    assert not unreachable & set(uses)
    assert not unreachable & {id for text in texts for id in tokenizer.encode(text, special=False)}
    assert found.usage is not None
    ids = sorted(tokenizer.vocab)
    assert {id: n for id, n in zip(ids, found.usage.counts.tolist(), strict=True) if n} == uses
    assert found.sizes.rule == "characters"
    assert str(found).isprintable() is False  # lines
    assert all(line.isprintable() for line in str(found).split("\n"))


def test_bytes_that_characters_stand_for() -> None:
    """A byte of ASCII that is a token as a character is never a token as a byte; no text has bytes such as 0xFF."""
    found = toksmith.lab.inspect(Tokenizer.from_huggingface(make("bare")))
    vocab, _ = vocab_and_merges()
    reasons = {one.id: one.reason for one in found.reach.unreachable}
    for byte in range(0x80):
        assert (reasons.get(vocab[f"<0x{byte:02X}>"]) == "merges") is (chr(byte) in vocab), byte
    for byte in (0xC0, 0xC1, *range(0xF5, 0x100)):
        assert reasons[vocab[f"<0x{byte:02X}>"]] == "utf8"


def test_merges_are_those_of_the_definition() -> None:
    """The last merge of a token is the one that its characters end with; all pairs that make it are listed."""
    tokenizer = Tokenizer.from_huggingface(make("bare"))
    vocab, merges = vocab_and_merges()
    ids = sorted(tokenizer.vocab)
    left, right = tokenizer._core.last_pairs().T.tolist()
    known = {(vocab[one], vocab[other]): vocab[one + other] for one, other in merges}
    made = {id: (ids[one], ids[other]) for id, one, other in zip(ids, left, right, strict=True) if one >= 0}
    assert all(known[pair] == id for id, pair in made.items())
    for token, id in list(vocab.items())[259::23]:
        pieces = by_definition(token)
        assert (id in made) is (pieces == [id] and len(token) > 1), token
    depths = toksmith.lab.inspect(tokenizer).merging.by_depth
    assert sum(count for depth, count in depths.items() if depth) == len(made)
