"""Pipelines: random ones against `tokenizers`; every method that takes text; files, pickles and equality."""

import copy
import functools
import itertools
import json
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from huggingface_cases import ADDED, PIECES, assert_same, byte_level, content, make, sequence, split, text_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, normalizers, pre_tokenizers, processors

import toksmith
from toksmith import Tokenizer, reference

PATTERNS = (
    r"\s+",
    r"\p{L}+",
    r"\p{N}{1,3}",
    r"(?=a)",
    r"[^\s\p{L}]+|'ll",
    r"\w+|[^\w\s]+",
    r"(?i:the|k)",
    "a|",
    r"\s+$",
)
BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")

stages = st.one_of(
    st.builds(split, st.sampled_from(PATTERNS), st.sampled_from(BEHAVIORS), st.booleans()),
    st.builds(
        pre_tokenizers.Split, st.sampled_from(["a", " ", "the", "12"]), st.sampled_from(BEHAVIORS), st.booleans()
    ),
    st.builds(pre_tokenizers.Digits, st.booleans()),
    st.builds(pre_tokenizers.Punctuation, st.sampled_from(BEHAVIORS)),
    st.builds(pre_tokenizers.WhitespaceSplit),
    st.builds(pre_tokenizers.UnicodeScripts),
    st.builds(
        pre_tokenizers.Metaspace,
        st.sampled_from("▁a é"),
        st.sampled_from(["always", "first", "never"]),
        st.booleans(),
    ),
)
pre = st.builds(
    lambda parts, prefix, own: sequence(*parts, byte_level(add_prefix_space=prefix, use_regex=own)),
    st.lists(stages, max_size=3),
    st.booleans(),
    st.booleans(),
)
normalizer = st.one_of(
    *(st.builds(kind) for kind in (normalizers.NFC, normalizers.NFD, normalizers.NFKC, normalizers.NFKD)),
    *(st.builds(kind) for kind in (normalizers.Lowercase, normalizers.StripAccents, normalizers.Nmt)),
    st.builds(normalizers.Strip, st.booleans(), st.booleans()),
    st.builds(normalizers.ByteLevel),
    st.builds(
        normalizers.BertNormalizer, st.booleans(), st.booleans(), st.sampled_from([None, True, False]), st.booleans()
    ),
    st.builds(normalizers.Prepend, st.sampled_from(["a", "é ", "日本"])),
    st.builds(
        normalizers.Replace,
        st.sampled_from(["a", " ", "é", Regex(r"\s+"), Regex("[a-k]")]),
        st.sampled_from(["", "b", "éé"]),
    ),
)
added = st.lists(
    st.builds(
        AddedToken,
        st.sampled_from(["[M]", "<m>", "ing", "the ", "é", "1", "A b"]),
        single_word=st.booleans(),
        lstrip=st.booleans(),
        rstrip=st.booleans(),
        normalized=st.booleans(),
        special=st.booleans(),
    ),
    max_size=4,
    unique_by=lambda token: token.content,
)
texts = st.lists(st.lists(st.sampled_from(PIECES), max_size=10).map("".join), min_size=1, max_size=6)


@settings(suppress_health_check=list(HealthCheck))
@given(
    pre, st.lists(normalizer, max_size=3).map(normalizers.Sequence), added, st.booleans(), st.integers(0, 5), texts
)
def test_random_pipelines(pre: Any, normal: Any, tokens: Any, whole: bool, seed: int, texts: list[str]) -> None:
    made = make(pre, normal, tokens, seed, ignore_merges=whole)
    try:
        ours = Tokenizer.from_huggingface(made)
    except ValueError as error:  # where normalized added tokens become one, or nothing
        assert "$.added_tokens" in str(error)
        return
    loaded = pickle.loads(pickle.dumps(ours))
    for text in texts:
        assert_same(ours, made, text)
        assert loaded.encode(text) == made.encode(text).ids


def hard() -> tuple[Any, Tokenizer]:
    made = make(byte_level(add_prefix_space=False), normalizers.NFC(), ADDED)
    return made, Tokenizer.from_huggingface(made)


def test_every_method_that_takes_text(tmp_path: Path) -> None:
    made, ours = hard()
    rng = random.Random(0)
    batch = [text_of(rng, 12) for _ in range(60)]
    truth = [encoding.ids for encoding in made.encode_batch(batch, add_special_tokens=False)]
    assert ours.encode_batch(batch, workers=2) == truth
    ids, starts = ours.encode_batch_to_numpy(batch)
    assert [ids[a:b].tolist() for a, b in itertools.pairwise(starts)] == truth
    for text, expected in zip(batch, truth, strict=True):
        assert ours.encode_to_numpy(text).tolist() == expected
        assert ours.count(text) == len(expected)
        assert ours.encode(text.encode()) == expected
        assert list(ours.encode_iterable(list(text))) == expected
        path = tmp_path / "text"
        path.write_bytes(text.encode())
        found = ours.encode_file(path)
        assert (found.tolist(), found.dtype) == (expected, np.dtype(np.uint32))
        assert ours.encode_file(path, tmp_path / "ids.npy") == len(expected)
        assert np.load(tmp_path / "ids.npy").tolist() == expected


LONG: dict[str, tuple[Any, Any]] = {
    "bert": (byte_level(), normalizers.BertNormalizer()),
    "cased bert": (byte_level(add_prefix_space=True), normalizers.BertNormalizer(True, True, False, False)),
    "bytes": (byte_level(), normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel()])),
    "scripts": (sequence(pre_tokenizers.UnicodeScripts(), byte_level()), None),
    "metaspace": (sequence(pre_tokenizers.Metaspace("_", "first"), byte_level(use_regex=False)), None),
}


@pytest.mark.parametrize("kind", LONG)
def test_long_texts_of_the_parts_of_bert_and_sentencepiece(kind: str, tmp_path: Path) -> None:
    made, rng = make(*LONG[kind], ADDED), random.Random(kind)
    ours = Tokenizer.from_huggingface(made)
    words = [piece for piece in PIECES if "<" not in piece and "[" not in piece]
    for pieces in (words, PIECES):
        text = "".join(rng.choice([*pieces, " ", "the "]) for _ in range(60_000))
        truth = made.encode(text, add_special_tokens=False)
        for workers in (1, 3):
            assert ours.encode(text, workers=workers) == truth.ids
        assert list(ours.encode_iterable(text[at : at + 999] for at in range(0, len(text), 999))) == truth.ids
        ids, spans = ours.encode_with_offsets(text)
        assert (ids, [tuple(span) for span in spans.tolist()]) == (truth.ids, truth.offsets)
        (tmp_path / "text").write_bytes(text.encode())
        assert ours.encode_file(tmp_path / "text").tolist() == truth.ids
        assert "".join(ours.split(text[:5000], 50)) == text[:5000]


def test_offsets_in_bytes() -> None:
    made, ours = hard()
    text = "A\u0316\u0301 é [M]"
    ids, spans = ours.encode_with_offsets(text, unit="bytes")
    characters = [(len(text[:a].encode()), len(text[:b].encode())) for a, b in made.encode(text).offsets]
    assert [tuple(span) for span in spans.tolist()] == characters
    assert len(ids) == len(spans)


def test_what_follows_the_text_as_it_stands() -> None:
    _, ours = hard()
    assert ours.truncate("ab cd", 1) == "ab"[: len(ours.truncate("ab cd", 1))]
    assert "".join(ours.split("ab cd é", 2)) == "ab cd é"
    assert toksmith.lab.explain(ours, "ab")
    assert ours.encode_parts([("ab", True), ("<s>", False)]) == ours.encode("ab<s>", special=False)
    assert ours.encode_parts([("ab<s>", False)]) == ours.encode("ab<s>", special=False)
    with pytest.raises(ValueError, match=r"the normalizer \(NFC\)"):
        toksmith.lab.explain(ours, "e\u0301")
    with pytest.raises(ValueError, match=r"added tokens with conditions \(.*'\[M\]'"):
        toksmith.lab.explain(ours, "a [M]")
    for text in ("e\u0301", "a [M]", "e\u0301 A\u0316\u0301 [M] x"):
        ids = ours.encode(text)
        assert ours.encode_parts([(text, True)]) == ids
        assert ours.truncate(text, len(ids)) == text
        assert "".join(ours.split(text, 4)) == text
        assert all(ours.count(piece) <= 4 for piece in ours.split(text, 4))
    assert ours.encode(b"e\xcc\x81\xff") == [*ours.encode("é"), *ours.encode(b"\xff")]
    with pytest.raises(ValueError, match="lone surrogate"):
        ours.encode("\ud800")


def test_files_and_pickles_hold_everything(tmp_path: Path) -> None:
    made = make(sequence(split(r"\p{N}{1,3}"), byte_level()), normalizers.NFKC(), ADDED, ignore_merges=True)
    made.post_processor = processors.RobertaProcessing(("<s>", 316), ("<|end|>", 317), trim_offsets=False)
    ours = Tokenizer.from_huggingface(made)
    path = tmp_path / "tokenizer"
    ours.save(path)
    assert json.loads(path.read_text())["version"] == 2
    for loaded in (Tokenizer.load(path), pickle.loads(pickle.dumps(ours)), restored(ours)):
        assert loaded == ours
        assert loaded.pipeline.template is not None
        assert loaded.pipeline.template.added() == 2
        rng = random.Random(1)
        for _ in range(50):
            assert_same(loaded, made, text_of(rng, 10))
    assert copy.deepcopy(ours) is ours
    for save in (functools.partial(ours.save, format=name) for name in ("gpt2", "tiktoken")):
        with pytest.raises(ValueError, match=r"cannot hold the normalizer \(NFKC\).*conditions.*stages"):
            save(tmp_path / "out")


def restored(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer from its state alone, as in another process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toksmith.tokenizer, "_cores", {})
        return pickle.loads(pickle.dumps(tokenizer))


def test_saved_pipelines_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer"
    hard()[1].save(path)
    data = json.loads(path.read_text())
    for change, message in (
        (lambda d: d.update(pipeline=[]), r"\$\.pipeline: expected an object"),
        (lambda d: d.update(version=1), r"\$\.pipeline: version 1 has no such field|\$\.huggingface"),
        (lambda d: d.update(version=6), r"\$\.version: 6"),
        (lambda d: d["pipeline"].pop("kept"), "'kept' is missing"),
        (
            lambda d: d["pipeline"]["added_tokens"][0].pop("id"),
            r"added_tokens\[0\]\.id: expected a whole number below 2\^32, got null",
        ),
        (lambda d: d["pipeline"]["normalizer"].update(type="X"), "the normalizer X"),
    ):
        changed = copy.deepcopy(data)
        change(changed)
        path.write_text(json.dumps(changed))
        with pytest.raises(ValueError, match=message):
            Tokenizer.load(path)


def test_a_plain_file_is_a_plain_tokenizer() -> None:
    data = content(make())
    ours = Tokenizer.from_huggingface(make())
    assert ours.pipeline is None
    assert ours.pipeline is None or ours.pipeline.template is None
    vocab = {id: token for id, token in ours.vocab.items() if id not in ours.special_tokens.values()}
    assert ours == Tokenizer(vocab, ours.merges, ours.special_tokens, pattern=ours.pattern)
    assert len(data["model"]["vocab"]) == len(vocab)


def test_ignored_merges() -> None:
    vocab = {byte: bytes([byte]) for byte in range(256)} | {
        256: b"th",
        257: b"the",
        258: b"he",
        259: b"a long token of it",
    }
    merges = [(b"h", b"e"), (b"t", b"h")]
    plain, whole = (Tokenizer(vocab, merges, pattern=r"\S+|\s+", ignore_merges=flag) for flag in (False, True))
    assert (plain.encode("the then"), whole.encode("the then")) == (
        [116, 258, 32, 116, 258, 110],
        [257, 32, 116, 258, 110],
    )
    assert whole._core.ignores_merges() and not plain._core.ignores_merges()
    assert plain != whole
    assert restored(whole) == whole
    assert [step.whole for step in toksmith.lab.explain(whole, "the then")] == [True, True, False]
    rng = random.Random(0)
    for _ in range(300):
        text = "".join(rng.choices(["the", "he", "th", "t", " ", "a long token of it"], k=6))
        for tokenizer in (plain, whole):
            expected = reference.encode(
                text, vocab, merges, pattern=r"\S+|\s+", ignore_merges=tokenizer._core.ignores_merges()
            )
            assert tokenizer.encode(text) == expected
    with pytest.raises(ValueError, match="does not re-encode to itself"):
        whole.save("/nonexistent/folder", format="gpt2")


def test_ignored_merges_are_saved(tmp_path: Path) -> None:
    vocab = {byte: bytes([byte]) for byte in range(256)} | {256: b"the"}
    tokenizer = Tokenizer(vocab, [], ignore_merges=True)
    tokenizer.save(tmp_path / "t")
    assert Tokenizer.load(tmp_path / "t") == tokenizer
    assert Tokenizer.load(tmp_path / "t").encode("the") == [256]
