"""Vocabularies of characters get more tokens: by the definition, and with the ids of `tokenizers`."""

import itertools
import json
import random
from collections import Counter
from pathlib import Path

import pytest
import tokenizers
from character_cases import make, text_of, vocab_and_merges

import toksmith
from toksmith import PretokenCounts, Tokenizer
from toksmith.surgery import extend

TEXT = "narrower narrowest wider  widest newer 日本語 日本語 über überall <s> zzz\u0600zzz \n\n" * 3


def words_of(tokenizer: Tokenizer, ids: list[int]) -> Counter[tuple[bytes, ...]]:
    """The words of ids, as tokens: each begins with a space or its stand-in; bytes and added tokens end one."""
    apart = {*range(259), *tokenizer.special_tokens.values()}
    words: Counter[tuple[bytes, ...]] = Counter()
    word: tuple[bytes, ...] = ()
    for id in [*ids, 0]:
        token = tokenizer.vocab[id]
        if id in apart or token.startswith((b" ", "\u2581".encode())):
            words[word] += 1
            word = ()
        if id not in apart:
            word = (*word, token)
    return words


@pytest.mark.parametrize("kind", ["llama", "gemma", "metaspace_first_True", "bare"])
def test_merges_are_those_of_the_definition(kind: str) -> None:
    tokenizer = Tokenizer.from_huggingface(make(kind))
    larger, change = extend(tokenizer, iter([TEXT, TEXT[:60]]), 10)
    words = words_of(tokenizer, tokenizer.encode(TEXT)) + words_of(tokenizer, tokenizer.encode(TEXT[:60]))
    merges = []
    for _ in range(10):
        pairs: Counter[tuple[bytes, bytes]] = Counter()
        for word, count in words.items():
            for pair in itertools.pairwise(word):
                pairs[pair] += count
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        merged: Counter[tuple[bytes, ...]] = Counter()
        for word, count in words.items():
            merged[toksmith.reference.merge_pair(word, best)] += count
        words = merged
    assert larger.merges[: len(tokenizer.merges)] == tokenizer.merges
    assert larger.merges[len(tokenizer.merges) :] == merges
    assert [larger.vocab[id] for id in change.added] == [left + right for left, right in merges]
    assert change.added.tolist() == list(range(tokenizer.max_id + 1, tokenizer.max_id + 11))
    for id in change.added.tolist():
        at = change.added.tolist().index(id)
        pieces = change.pieces[change.starts[at] : change.starts[at + 1]]
        assert b"".join(tokenizer.vocab[piece] for piece in pieces) == larger.vocab[id]
        assert id in larger.encode_batch([TEXT])[0] or larger._core.encode_pretoken(larger.vocab[id]) == [id]


@pytest.mark.parametrize("kind", ["llama", "gemma", "metaspace_first_True"])
def test_tokenizers_has_the_same_ids(kind: str, tmp_path: Path) -> None:
    source, rng = make(kind), random.Random(kind)
    tokenizer = Tokenizer.from_huggingface(source)
    larger, _ = extend(tokenizer, iter([TEXT]), 10)
    content = json.loads(source.to_str())
    names = {id: name for name, id in vocab_and_merges()[0].items()}
    spelled = lambda token: token.decode().replace(" ", "\u2581")  # noqa: E731
    added = {token["id"]: token["content"] for token in content["added_tokens"]}
    content["model"]["vocab"] |= {name: id for id, name in added.items()}  # else these would get other ids
    for id, token in larger.vocab.items():
        if id not in names and id not in added:
            content["model"]["vocab"][spelled(token)] = id
    content["model"]["merges"] += [[spelled(a), spelled(b)] for a, b in larger.merges[len(tokenizer.merges) :]]
    theirs = tokenizers.Tokenizer.from_str(json.dumps(content))
    larger.save_huggingface(tmp_path)  # compares the ids of `tokenizers` with its own
    for text in [TEXT, *(text_of(rng, 12) for _ in range(150)), *(TEXT[at : at + 30] for at in range(0, 300, 7))]:
        assert larger.encode(text) == theirs.encode(text, add_special_tokens=False).ids, text
        assert larger.decode(larger.encode(text)) == theirs.decode(larger.encode(text), skip_special_tokens=False)


def test_options_and_refusals() -> None:
    tokenizer = Tokenizer.from_huggingface(make("llama"))
    larger, _ = extend(tokenizer, iter(["qqq qqq qqqq qqq qqq", "qqq qqqq"]), 2, max_token_length=3)
    assert [larger.vocab[id] for id in (larger.max_id - 1, larger.max_id)] == [b"qq", b" qq"]
    with pytest.warns(UserWarning, match="0 tokens are added"):
        extend(tokenizer, iter(["zz"]), 5, min_frequency=9)
    with pytest.raises(TypeError, match="is extended from texts"):
        extend(tokenizer, PretokenCounts({b" qqq": 5}), 2)
    with pytest.raises(TypeError):
        extend(tokenizer, iter(["zz"]), 5, special_tokens=["<|x|>"])
    with pytest.raises(ValueError, match="merges by the names of its tokens cannot be extended"):
        extend(Tokenizer.from_huggingface(make("llama", byte_fallback=False)), iter(["zz"]), 5)
