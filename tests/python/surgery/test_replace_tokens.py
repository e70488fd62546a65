"""New tokens at reserved ids: special ones, and ordinary ones with a merge."""

from pathlib import Path
from typing import Any

import pytest
import tokenizers
from character_cases import make

import toksmith
from toksmith import Tokenizer
from toksmith.surgery import replace_tokens

RESERVED = [f"<|reserved_{number}|>" for number in range(4)]
TEXT = "low lower <|user|>lowest newest<|end|> <|reserved_3|> lowlow"


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return toksmith.train(iter(["low lower newest widest " * 9]), 277, special_tokens=RESERVED)


@pytest.fixture(scope="module")
def ranks(trained: Tokenizer) -> Tokenizer:
    names = {name.encode() for name in RESERVED}
    tokens = [token for _, token in sorted(trained.vocab.items()) if token not in names]
    return Tokenizer(dict(enumerate(tokens)), None, {name: 300 + 2 * at for at, name in enumerate(RESERVED)})


def by_hand(tokenizer: Tokenizer, gone: list[str], names: dict[str, int], merged: dict[bytes, int]) -> Tokenizer:
    """The same vocabulary from scratch; each of `merged` is made of its first part, before the last byte."""
    specials = {name: id for name, id in tokenizer.special_tokens.items() if name not in gone}
    kept = {id: token for id, token in tokenizer.vocab.items() if token not in {name.encode() for name in gone}}
    vocab = {**kept, **{id: token for token, id in merged.items()}}
    merges = None
    if tokenizer._core.has_merges():
        merges = [*tokenizer.merges, *((token[:-1], token[-1:]) for token in merged)]
    return Tokenizer(vocab, merges, {**specials, **names})


@pytest.mark.parametrize("kind", ["trained", "ranks"])
def test_new_tokens_are_at_the_slots(kind: str, request: pytest.FixtureRequest) -> None:
    tokenizer: Tokenizer = request.getfixturevalue(kind)
    slots = [tokenizer.special_tokens[name] for name in RESERVED]
    free = tokenizer.max_id + 5
    replaced, change = replace_tokens(
        tokenizer, [slots[1], slots[0], slots[2], free], ["<|user|>", b" lowx", b" lowxy", "<|end|>"][:4]
    )
    assert replaced == by_hand(
        tokenizer, RESERVED[:3], {"<|user|>": slots[1], "<|end|>": free}, {b" lowx": slots[0], b" lowxy": slots[2]}
    )
    assert slots[2] in replaced.encode("a lowxyz")
    assert {slots[1], free} <= {*replaced.encode(TEXT)}
    assert replaced.decode(replaced.encode(TEXT)) == TEXT
    assert change.added.tolist() == sorted([*slots[:3], free])
    assert {*map(int, change.old_to_new[slots[:3]])} == {-1}
    same = [id for id in tokenizer.vocab if id not in slots[:3]]
    assert change.old_to_new[same].tolist() == same
    at = change.added.tolist().index(slots[1])
    pieces = change.pieces[change.starts[at] : change.starts[at + 1]].tolist()
    assert pieces == tokenizer.encode("<|user|>", special=False)
    assert all(len(token.token) == 1 for token in toksmith.lab.inspect(replaced).reach.unreachable)


def test_tokenizers_has_the_same_ids(trained: Tokenizer, tmp_path: Path) -> None:
    slot = trained.special_tokens[RESERVED[2]]
    replaced, _ = replace_tokens(trained, [slot], ["<|user|>"])
    replaced.save_huggingface(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.encode(TEXT, add_special_tokens=False).ids == replaced.encode(TEXT)


@pytest.mark.parametrize("kind", ["llama", "gemma"])
def test_added_tokens_of_characters_are_replaced(kind: str, tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_huggingface(make(kind))
    assert tokenizer.pipeline is not None
    reserved = tokenizer.pipeline.added_tokens[-1]
    replaced, change = replace_tokens(tokenizer, [reserved["id"], 2], ["<|tool|>", "<|turn|>"])
    assert replaced.special_tokens["<|tool|>"] == reserved["id"]
    ids = replaced.encode("a<|tool|>b<|turn|>")
    assert [id for id in ids if id in (2, reserved["id"])] == [reserved["id"], 2]
    assert reserved["id"] not in replaced.encode(f"a{reserved['content']}b")
    text = "the king of the world"
    assert replaced.encode(text) == tokenizer.encode(text)
    assert change.added.tolist() == sorted([2, reserved["id"]])
    replaced.save_huggingface(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for each in (text, "a<|tool|>b<|turn|>"):
        assert theirs.encode(each, add_special_tokens=False).ids == replaced.encode(each)
    with pytest.raises(ValueError, match="merges characters takes special tokens only"):
        replace_tokens(tokenizer, [2], [b"abc"])


def test_what_cannot_be_replaced_is_refused(trained: Tokenizer, ranks: Tokenizer) -> None:
    slots = [trained.special_tokens[name] for name in RESERVED]
    cases: list[tuple[Tokenizer, list[int], list[Any], str]] = [
        (trained, [trained.token_id("a")], ["<|x|>"], "is that of the ordinary token b'a': it is not reserved"),
        (trained, [slots[0], slots[0]], ["<|x|>", "<|y|>"], "is that of"),
        (trained, [slots[0]], ["<|x|>", "<|y|>"], "slots are 1, and tokens are 2"),
        (trained, [slots[0]], [RESERVED[1]], "has a token of this text"),
        (trained, [slots[0]], [b"xyzw"], "not encoded to two tokens"),
        (trained, [slots[0]], [b"low"], "not encoded to two tokens"),
        (trained, [slots[0]], [b"a b"], "not encoded to two tokens|more than one pretoken"),
        (trained, [slots[0]], [b"w "], "more than one pretoken"),
        (ranks, [302, 300], [b"xy", b"zw"], "the slots of bytes ascend"),
    ]
    for tokenizer, at, tokens, message in cases:
        with pytest.raises(ValueError, match=message):
            replace_tokens(tokenizer, at, tokens)
