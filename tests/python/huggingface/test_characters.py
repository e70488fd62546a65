"""Tokenizers that merge characters, as SentencePiece's do: what `tokenizers` gives, and the definition."""

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from character_cases import KINDS, META, PIECES, assert_same, by_definition, ids_of, make, model, text_of

import toksmith
from toksmith import Tokenizer, train


@pytest.mark.parametrize("fuse_unk", [True, False])
@pytest.mark.parametrize("byte_fallback", [True, False])
def test_the_definition_is_that_of_the_original(byte_fallback: bool, fuse_unk: bool) -> None:
    options = {"byte_fallback": byte_fallback, "fuse_unk": fuse_unk}
    theirs, rng = model(**options), random.Random(1)
    for _ in range(60):
        word = text_of(rng, 8).replace(" ", META)
        assert by_definition(word, **options) == [token.id for token in theirs.tokenize(word)], word


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_ids_are_those_of_the_definition(byte_fallback: bool) -> None:
    options = {"byte_fallback": byte_fallback, "fuse_unk": False}
    ours, rng = Tokenizer.from_huggingface(make("bare", **options)), random.Random(2)
    for _ in range(60):
        text = text_of(rng, 8).replace(" ", META).replace("<", "")
        assert ours.encode(text, special=False) == by_definition(text, **options), text


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_files(kind: str) -> None:
    theirs = make(kind)
    ours, rng = Tokenizer.from_huggingface(theirs), random.Random(3)
    for _ in range(120):
        assert_same(ours, theirs, text_of(rng, 12))
    assert_same(ours, theirs, "".join(PIECES) * 20)
    for _ in range(120):
        ids = ids_of(rng, 6)
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False), ids


@pytest.mark.parametrize("fuse_unk", [True, False])
@pytest.mark.parametrize("kind", ["llama", "gemma", "metaspace_always_True", "metaspace_first_False", "spaces_left"])
def test_without_tokens_for_bytes(kind: str, fuse_unk: bool) -> None:
    theirs = make(kind, byte_fallback=False, fuse_unk=fuse_unk)
    ours, rng = Tokenizer.from_huggingface(theirs), random.Random(4)
    for _ in range(60):
        assert_same(ours, theirs, text_of(rng, 12))


@pytest.mark.parametrize("kind", ["llama", "gemma", "old_llama", "metaspace_first_True"])
def test_special_tokens_as_text(kind: str) -> None:
    theirs = make(kind)
    ours, rng = Tokenizer.from_huggingface(theirs), random.Random(5)
    theirs.encode_special_tokens = True
    for _ in range(60):
        text = text_of(rng, 10)
        assert ours.encode(text, special=False) == theirs.encode(text, add_special_tokens=False).ids, text


@pytest.mark.parametrize("kind", ["llama", "gemma", "metaspace_first_True"])
def test_long_texts_on_threads_and_other_ways_in(kind: str, tmp_path: Path) -> None:
    theirs = make(kind)
    ours, rng = Tokenizer.from_huggingface(theirs), random.Random(6)
    # No token in it is added, then some; letters without a space between them are one stretch of thousands.
    plain = [piece for piece in PIECES if META not in piece and "<" not in piece]
    words = "".join(rng.choice(plain) for _ in range(60_000))
    # Special tokens stand wherever a chunk may begin.
    ends = "".join(rng.choice(("</s>", "<s>", " the", " ", "\n", "a", "b\n", "1")) for _ in range(80_000))
    stretch = "aaaabbbb" * 3000 + "x" * 5000 + words[:999]
    for text in (words, ends, stretch, words[:20_000] + text_of(rng, 2000)):
        truth = theirs.encode(text, add_special_tokens=False).ids
        for workers in (1, 3):
            assert ours.encode(text, workers=workers) == truth
            assert ours.encode_to_numpy(text, workers=workers).tolist() == truth
            assert ours.count(text, workers=workers) == len(truth)
        path = tmp_path / "text.txt"
        path.write_text(text, encoding="utf-8", newline="")
        assert ours.encode_file(path).tolist() == truth
        pieces = [text[at : at + 700] for at in range(0, len(text), 700)]
        assert list(ours.encode_iterable(pieces)) == truth
        assert np.concatenate(list(ours.encode_iterable(pieces, arrays=True))).tolist() == truth
        assert ours.encode(text.encode()) == truth


@pytest.mark.parametrize("kind", ["llama", "gemma", "nfkc"])
def test_batches(kind: str) -> None:
    theirs = make(kind)
    ours, rng = Tokenizer.from_huggingface(theirs), random.Random(7)
    plain = [text_of(rng, 5).replace("<", "").replace(META, "") for _ in range(40)]
    for texts in (plain, [*plain, *(text_of(rng, 5) for _ in range(40))]):
        truth = [theirs.encode(text, add_special_tokens=False).ids for text in texts]
        assert ours.encode_batch(texts) == truth
        ids, starts = ours.encode_batch_to_numpy(texts)
        assert [ids[a:b].tolist() for a, b in itertools.pairwise(starts)] == truth


def test_offsets_in_bytes() -> None:
    ours = Tokenizer.from_huggingface(make("llama"))
    for text in ("éa", " éa", "é", "😀", "a 😀b"):
        spans = ours.encode_with_offsets(text, unit="bytes")[1].tolist()
        whole = ours.encode_with_offsets(text + " <s>", unit="bytes")[1].tolist()
        assert spans == whole[: len(spans)], text
        assert spans[0][0] == 0
        assert spans[-1][1] == len(text.encode())


@pytest.mark.parametrize("kind", ["llama", "gemma"])
def test_bytes_that_are_no_text(kind: str) -> None:
    theirs = make(kind)
    ours = Tokenizer.from_huggingface(theirs)
    at = ours.token_id("a")
    some = [3 + byte for byte in "é".encode()]
    for ids in ([some[0]], [*some, some[1]], [some[0], at, some[1]], [*some, at], [3 + 0x20, 3 + 0x20, at]):
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False), ids
    assert ours.decode_bytes([some[0], at]) == b"\xc3a"
    assert ours.decode([some[0], at], errors="ignore") == "a"
    with pytest.raises(UnicodeDecodeError):
        ours.decode([some[0], at], errors="strict")
    with pytest.raises(KeyError, match="99999"):
        ours.decode([99_999])
    assert ours.decode_batch([[at], [*some, at]]) == [ours.decode([at]), ours.decode([*some, at])]
    joined = np.array([at, *some, at], np.uint32)
    assert ours.decode_batch(joined, starts=[0, 1, 4]) == ours.decode_batch([[at], [*some, at]])


def test_streams_of_ids() -> None:
    ours = Tokenizer.from_huggingface(make("llama"))
    for text in ("Hello  wörld 😀", " x", "", "  ", "\n"):
        ids = ours.encode(text)
        assert "".join(ours.decode_stream(ids)) == ours.decode(ids) == text
        for cut in range(1, len(ids)):
            stream = ours.decode_stream(prompt=ids[:cut])
            rest = "".join(map(stream.push, ids[cut:])) + stream.flush()
            assert ours.decode(ids).endswith(rest)
    ours = Tokenizer.from_huggingface(make("metaspace_always_True"))
    ids = ours.encode("Hello  wörld 😀")
    assert "".join(ours.decode_stream(ids)) == ours.decode(ids)


def test_a_vocabulary_of_its_own() -> None:
    ours = Tokenizer.from_huggingface(make("llama"))
    assert ours.token_bytes(3 + 0x0A) == b"\n"
    assert ours.token_bytes(ours.encode("the")[0]).startswith(b" ")
    assert ours.token_id(b"a") != 3 + ord("a")  # the character goes before the byte
    assert ours.token_id(b"\xff") == 3 + 0xFF


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, path: t.save(path, format="gpt2"), "cannot hold merging of characters"),
        (lambda t, path: t.save(path / "ranks", format="tiktoken"), "cannot hold merging of characters"),
        (lambda t, path: toksmith.surgery.shrink(t, 1000), "cannot shrink a tokenizer that does more"),
        (lambda t, path: toksmith.lab.explain(t, "a"), "explain shows merges of bytes"),
        (lambda t, path: t.encode("\ud800"), "surrogate"),
        (lambda t, path: train(iter(["ab ab"]), 4000, base=t), "the base has merging of characters"),
    ],
)
def test_doors_that_are_refused(call: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        call(Tokenizer.from_huggingface(make("llama")), tmp_path)


@pytest.mark.parametrize("kind", ["llama", "gemma", "metaspace_always_True"])
def test_slices_of_the_corpora(kind: str, corpora: dict[str, str]) -> None:
    _compare_corpora(kind, {name: text[:20_000] for name, text in corpora.items()})


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_megabytes_of_the_corpora(kind: str, corpora: dict[str, str]) -> None:
    _compare_corpora(kind, {name: text[-1_000_000:] for name, text in corpora.items()})


def _compare_corpora(kind: str, texts: dict[str, str]) -> None:
    theirs = make(kind)
    ours = Tokenizer.from_huggingface(theirs)
    for name, text in texts.items():
        truth = theirs.encode(text, add_special_tokens=False)
        ids, spans = ours.encode_with_offsets(text)
        assert ids == truth.ids, name
        assert ours.encode_to_numpy(text, workers=2).tolist() == truth.ids, name
        assert list(map(tuple, spans.tolist())) == truth.offsets, name
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False), name
