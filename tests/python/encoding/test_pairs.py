"""Borders between texts, and cuts by tokens, against their definitions: `encode_pair`, `append`, `mask_of_spans`,
`truncate` on both sides, `text_of`."""

import json
import random
import tempfile
import unicodedata
from pathlib import Path

import character_cases
import numpy as np
import pytest
import tokenizers

import toksmith
from toksmith import Continuations, Tokenizer

ALPHABET = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())

PIECES = (
    *("low", "lower", " low", " lowest", "er", "e", "l", "ow", " ", "  ", "\n", "é", "中", "中é", "!", "?!"),
    *("'s", "12", "345", "<s>", "<", "s>", "\u0301", "\ufb01", "t", "\U0001f600", "LOW", "Lo"),
)
TEXT = [
    "low lower lowest <s> low's 中é lower!\n",
    "lower é 12345 Low LOWEST ?! lowest\n\n",
    "中中 é\u0301 \U0001f600 low",
] * 3


def byte_level(pattern: str) -> Tokenizer:
    return toksmith.train(iter(TEXT), 280, pattern=pattern, special_tokens=["<s>"])


def with_parts(**parts: object) -> Tokenizer:
    """A byte-level tokenizer with other parts of a `tokenizer.json`."""
    with tempfile.TemporaryDirectory() as folder:
        byte_level("gpt2").save_huggingface(folder, verify=False)
        content = json.loads(Path(folder, "tokenizer.json").read_text())
        Path(folder, "tokenizer.json").write_text(json.dumps(content | parts))
        return Tokenizer.from_huggingface(folder)


SPACE = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
TOKENIZERS = {
    "gpt2": byte_level("gpt2"),
    "o200k": byte_level("o200k"),
    "bytes": Tokenizer(None, None, ["<s>"], pattern=None),
    "characters": Tokenizer.from_huggingface(character_cases.make("llama")),
    "a space in front": with_parts(pre_tokenizer=SPACE),
    "NFKC": with_parts(normalizer={"type": "NFKC"}),
}


def random_text(rng: random.Random, pieces: int = 6) -> str:
    return "".join(rng.choices(PIECES, k=rng.randint(0, pieces)))


@pytest.fixture(params=TOKENIZERS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return TOKENIZERS[request.param]


def test_pairs_are_those_of_their_definitions(tokenizer: Tokenizer) -> None:
    rng, continuations = random.Random(1), Continuations(tokenizer)
    for _ in range(1500):
        prompt, completion, special = random_text(rng), random_text(rng), rng.random() < 0.7
        encode = lambda text, special=special: tokenizer.encode(text, special=special)  # noqa: E731
        whole, spans = tokenizer.encode_with_offsets(prompt + completion, unit="bytes", special=special)
        size = len(prompt.encode())
        border = next((at for at, (_, end) in enumerate(spans) if end > size), len(whole))
        crosses = border < len(whole) and spans[border, 0] < size
        assert tokenizer.encode_pair(prompt, completion, special=special) == (whole, border, crosses)
        ids = encode(prompt)
        both = (ids + encode(completion), len(ids), crosses)
        assert tokenizer.encode_pair(prompt, completion, "split", special=special) == both
        pair = tokenizer.encode_pair(prompt, completion, "heal", special=special)
        keep = continuations.heal(ids)[0]
        assert pair.border <= keep
        assert pair.crosses == crosses
        assert pair.ids[: pair.border] == ids[: pair.border]
        # Names of special tokens, and characters that compose, may lie across.
        decoded = [unicodedata.normalize("NFKC", tokenizer.decode(each)) for each in (pair.ids, whole)]
        assert decoded[0] == decoded[1] or (special and "<s>" in completion + prompt)
        places = tokenizer.encode_with_offsets(prompt, unit="bytes", special=special)[1]
        end = size if pair.border == len(ids) else int(places[pair.border, 0]) if pair.border else 0
        rest = prompt.encode()[end:].decode()
        if not pair.border or tokenizer.pipeline is None:
            assert pair.ids[pair.border :] == encode(rest + completion)


def test_healed_prompts_end_where_tokens_can_go_on() -> None:
    tokenizer = TOKENIZERS["gpt2"]
    assert tokenizer.encode_pair("a low", "er", "heal").ids == tokenizer.encode("a lower")
    assert tokenizer.encode_pair("a low", "er", "split").ids != tokenizer.encode("a lower")

    nested = Tokenizer(special_tokens=["<|end", "<|endoftext|>"])
    pair = nested.encode_pair("a<|end", "oftext|>b", "heal")
    assert (nested.decode(pair.ids), pair.border, pair.crosses) == ("a<|endoftext|>b", 2, True)


@pytest.mark.parametrize("runs", [[" " * n for n in range(8, 1, -1)], ["word"]])
def test_healing_loses_no_text_at_added_tokens(runs: list[str]) -> None:
    model = tokenizers.Tokenizer(tokenizers.models.BPE({c: i for i, c in enumerate(ALPHABET)}, []))
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    model.add_tokens([tokenizers.AddedToken(run, single_word=run.isalpha(), special=False) for run in runs])
    tokenizer = Tokenizer.from_huggingface(model)
    for prompt, completion in [("f():    ", "    return"), ("word", "語"), ("a  ", "b"), ("word", "")]:
        assert tokenizer.decode(tokenizer.encode_pair(prompt, completion, "heal").ids) == prompt + completion


def test_appending_keeps_all_ids(tokenizer: Tokenizer) -> None:
    rng = random.Random(2)
    ids_of = [*tokenizer.vocab]
    for _ in range(1500):
        text, special = random_text(rng), rng.random() < 0.7
        ids = tokenizer.encode(random_text(rng)) if rng.random() < 0.5 else rng.choices(ids_of, k=rng.randint(0, 5))
        if rng.random() < 0.3:
            ids.insert(rng.randint(0, len(ids)), tokenizer.max_id + rng.randint(1, 9))
        pair = tokenizer.append(iter(ids), text, special=special)
        assert pair.ids[: pair.border] == ids
        assert pair.border == len(ids)
        if tokenizer.pipeline is None:
            assert pair.ids[pair.border :] == tokenizer.encode(text, special=special)
            ordinary = {*ids_of} - {*tokenizer.special_tokens.values()}
            first = next((at + 1 for at in reversed(range(len(ids))) if ids[at] not in ordinary), 0)
            before = tokenizer.decode_bytes(ids[first:])
            whole = before + text.encode()
            tokens = tokenizer.encode(whole, special=special)
            ends = np.cumsum([0, *(len(tokenizer.token_bytes(id)) for id in tokens)])
            assert pair.crosses == (len(before) not in ends)
        elif ids and ids[-1] <= tokenizer.max_id:
            line = tokenizer.encode_pair("\n", text, special=special)
            assert line.crosses or pair.ids[pair.border :] == line.ids[line.border :], "no space is put in front"


def test_what_crosses_behind_a_special_token_is_no_beginning() -> None:
    model = tokenizers.models.BPE(
        {"<s>": 0, "▁": 1, "a": 2, "aa": 3, "▁a": 4}, [("▁", "a"), ("a", "a")], unk_token="<s>"
    )
    first = tokenizers.Tokenizer(model)
    first.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="first")
    first.add_special_tokens(["<s>"])
    tokenizer = Tokenizer.from_huggingface(first)
    assert [tokenizer.encode(text) for text in ("<s>a", "<s>aa", "a", "aa")] == [[0, 2], [0, 3], [4], [4, 2]]
    assert tokenizer.append([0, 2], "a") == ([0, 2, 2], 2, True)
    assert tokenizer.append([4], "a") == ([4, 2], 1, False)


def test_text_and_ids_that_cannot_be_joined_are_named() -> None:
    tokenizer = TOKENIZERS["gpt2"]
    for boundary in ("joint", "split", "heal"):
        with pytest.raises(ValueError, match="lone surrogate at character 1"):
            tokenizer.encode_pair("low", "a\ud83d", boundary)
    with pytest.raises(ValueError, match="lone surrogate at character 0"):
        tokenizer.append([1], "\ud83d")
    for id in (-1, 2**32, 2**70):
        with pytest.raises(KeyError, match="at index 1"):
            tokenizer.append([1, id], "low")
    assert tokenizer.append(np.array([1, 2], np.uint16), "low") == tokenizer.append([1, 2], "low")


def test_masks_of_spans(tokenizer: Tokenizer) -> None:
    rng = random.Random(3)
    for _ in range(300):
        text = random_text(rng, 10)
        spans = [sorted((rng.randint(0, len(text)), rng.randint(0, len(text)))) for _ in range(rng.randint(0, 3))]
        ids, mask = tokenizer.mask_of_spans(text, [(start, end) for start, end in spans])
        known, places = tokenizer.encode_with_offsets(text)
        chosen = {at for start, end in spans for at in range(start, end)}
        assert ids == known
        assert mask.tolist() == [any(at in chosen for at in range(*place)) for place in places.tolist()]
    with pytest.raises(ValueError, match=r"span \(1, 9\) is not within the 2 characters"):
        tokenizer.mask_of_spans("ab", [(1, 9)])


def test_the_end_of_a_text_by_tokens(tokenizer: Tokenizer) -> None:
    rng = random.Random(4)
    texts, limits = [], []
    for _ in range(400):
        text, limit, special = random_text(rng, rng.choice((4, 60))), rng.randint(0, 8), rng.random() < 0.7
        ids, spans = tokenizer.encode_with_offsets(text, unit="bytes", special=special)
        data, expected = text.encode(), ""
        if len(ids) <= limit:
            expected = text
        else:
            for start, _ in spans[len(ids) - limit :].tolist():
                if data[start] & 0xC0 != 0x80 and tokenizer.count(data[start:].decode(), special=special) <= limit:
                    expected = data[start:].decode()
                    break
        assert tokenizer.truncate(text, limit, special=special, side="left") == expected
        texts.append(text)
        limits.append(limit)
    for side in ("left", "right"):
        for workers in (1, 3):
            cut = tokenizer.truncate_batch(texts, 5, side=side, workers=workers)  # type: ignore[arg-type]
            assert cut == [tokenizer.truncate(text, 5, side=side) for text in texts]  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="side is one of"):
        tokenizer.truncate("a", 1, side="middle")  # type: ignore[arg-type]


def test_the_end_of_a_long_text() -> None:
    tokenizer, text = TOKENIZERS["gpt2"], "lower lowest 中é " * 30_000
    for limit in (1, 10, 1000):
        end = tokenizer.truncate(text, limit, side="left")
        assert text.endswith(end)
        assert tokenizer.encode(end) == tokenizer.encode(text)[-limit:][-tokenizer.count(end) :]
        assert limit - 3 <= tokenizer.count(end) <= limit


def test_texts_of_exact_lengths(tokenizer: Tokenizer) -> None:
    for count in (0, 1, 2, 17, 500):
        for text in (None, "lower 中é!"):
            made = tokenizer.text_of(count, text, seed=count)
            assert tokenizer.count(made) == count
            assert tokenizer.encode(tokenizer.decode(tokenizer.encode(made))) == tokenizer.encode(made)
    assert tokenizer.text_of(30, seed=1) == tokenizer.text_of(30, seed=1) != tokenizer.text_of(30, seed=2)
    with pytest.raises(ValueError, match="text has no tokens"):
        tokenizer.text_of(3, "")


def test_a_text_whose_repetition_adds_no_token_for_long() -> None:
    runs = Tokenizer({**{i: bytes([i]) for i in range(256)}, **{254 + i: b"a" * i for i in range(2, 501)}}, None)
    made = runs.text_of(2, "a")
    assert (runs.count(made), runs.count("a" * 500)) == (2, 1)
    assert len(made) > 500


def test_texts_that_cannot_be_made_are_an_error() -> None:
    model = tokenizers.Tokenizer(tokenizers.models.BPE({"<unk>": 0, "a": 1}, [], unk_token="<unk>", fuse_unk=True))
    unknown = Tokenizer.from_huggingface(model)
    with pytest.raises(ValueError, match="no text of exactly 500 tokens"):
        unknown.text_of(500, "龘")
    dropped = Tokenizer(pattern=r"\d\d\d+", unmatched="drop")
    with pytest.raises(ValueError, match="no text of exactly 17 tokens"):
        dropped.text_of(17)


def test_special_tokens_are_left_out(tokenizer: Tokenizer) -> None:
    rng = random.Random(5)
    special = (
        {*tokenizer.special_tokens.values()}
        if tokenizer.pipeline is None
        else {token["id"] for token in tokenizer.pipeline.added_tokens if token["special"]}
    )
    batch = [rng.choices([*tokenizer.vocab], k=rng.randint(0, 9)) for _ in range(300)]
    batch = [ids + rng.choices([*special], k=1) * rng.randint(0, 1) for ids in batch]
    kept = [[id for id in ids if id not in special] for ids in batch]
    assert tokenizer.decode_batch(batch, skip_special=True) == [tokenizer.decode(ids) for ids in kept]
    for ids, rest in zip(batch, kept, strict=True):
        assert tokenizer.decode(np.array(ids, np.uint32), skip_special=True) == tokenizer.decode(rest)
        assert tokenizer.decode_bytes(iter(ids), skip_special=True) == tokenizer.decode_bytes(rest)
        assert "".join(tokenizer.decode_stream(ids, skip_special=True)) == tokenizer.decode(rest)
    with pytest.raises(KeyError, match="index 2"):
        tokenizer.decode([*special][:1] * 2 + [10**6], skip_special=True)
