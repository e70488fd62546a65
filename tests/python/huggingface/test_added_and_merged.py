"""Added tokens that the model has too: long runs of one character, merges that make them or seem to, random texts."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
import tokenizers

from toksmith import Tokenizer

# Around the sizes where a cache, its keys, a scan and its windows end.
_RUNS = (2, 3, 7, 8, 14, 15, 16, 17, 20, 31, 33, 63, 64, 65, 70, 130, 1023, 1024, 1025, 1100)
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def file_of(kind: str, merges: list[list[str]], tokens: list[str], added: list[dict[str, Any]]) -> dict[str, Any]:
    """The content of a `tokenizer.json` that merges characters, bytes, or bytes with `ignore_merges`."""
    characters = kind == "characters"
    names = ["<unk>", *_BYTES] if characters else sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: id for id, token in enumerate(dict.fromkeys([*names, *tokens]))}
    new = [row["content"] for row in added if row["content"] not in vocab]
    ids = {**vocab, **{token: len(vocab) + i for i, token in enumerate(new)}}
    model = {"type": "BPE", "unk_token": "<unk>" if characters else None, "byte_fallback": characters}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "added_tokens": [{"id": ids[row["content"]], **row} for row in added],
        "pre_tokenizer": None if characters else level,
        "model": {**model, "ignore_merges": kind == "ignore_merges", "vocab": vocab, "merges": merges},
    }


def row_of(content: str, **flags: bool) -> dict[str, Any]:
    return {"content": content, **dict.fromkeys(_FLAGS, False), **flags}


def random_file(rng: random.Random, kind: str) -> dict[str, Any]:
    letters = "ab" if rng.random() < 0.5 or kind != "characters" else "abcé漢"
    run = lambda: rng.choice(letters) * rng.choice(_RUNS[:10] if rng.random() < 0.7 else _RUNS)  # noqa: E731
    tokens = [*letters, *(run() for _ in range(rng.randrange(3)))]
    merges: list[list[str]] = []
    for _ in range(rng.randrange(1, 9)):
        pair = [rng.choice(tokens), rng.choice(tokens)]
        if pair not in merges and len("".join(pair)) < 2300:
            merges.append(pair)
            tokens.append("".join(pair))
    rng.shuffle(merges)
    contents = [token for token in tokens if len(token) > 1] + [run(), rng.choice(letters) + run()]
    # With `ignore_merges` toksmith never reads text as a special token: see docs/huggingface.md.
    flags = _FLAGS[:-1] if kind == "ignore_merges" else _FLAGS
    added = [
        row_of(content, **{flag: rng.random() < 0.5 for flag in flags})
        for content in dict.fromkeys(rng.sample(contents, min(len(contents), rng.randrange(1, 4))))
    ]
    return file_of(kind, merges, tokens, added)


def texts_of(rng: random.Random, file: dict[str, Any]) -> Iterator[str]:
    own = [token for token in file["model"]["vocab"] if len(token) > 1 and "<" not in token]
    own += [row["content"] for row in file["added_tokens"]]
    for _ in range(6):
        runs = [rng.choice("ab") * rng.randrange(1, 70) for _ in range(4)]
        yield "".join(rng.choice([rng.choice(own), *runs, *"abcx -1"]) for _ in range(rng.randrange(1, 6)))


@pytest.mark.parametrize("kind", ["characters", "bytes", "ignore_merges"])
def test_random_files(kind: str) -> None:
    for seed in range(150):
        rng = random.Random(seed)
        file = random_file(rng, kind)
        theirs = tokenizers.Tokenizer.from_str(json.dumps(file))
        ours = Tokenizer.from_huggingface(theirs)
        for text in texts_of(rng, file):
            for special in (True, False):
                theirs.encode_special_tokens = not special
                for whole in (text, f"{text} " * 30):
                    truth = theirs.encode(whole, add_special_tokens=False).ids
                    assert ours.encode(whole, special=special) == truth, (seed, text)
                    assert ours.count(whole, special=special) == len(truth), (seed, text)


def test_a_token_that_a_merge_seems_to_make() -> None:
    long = "a" + "b" * 15
    merges = [["a", "b"], ["b", "b"], ["a", "b" * 15]]
    tokens = ["a", "b", "c", "b" * 15, "ab", "bb", long]
    file = file_of("characters", merges, tokens, [row_of(long, single_word=True)])
    theirs = tokenizers.Tokenizer.from_str(json.dumps(file))
    ours, ids = Tokenizer.from_huggingface(theirs), file["model"]["vocab"]
    assert ours.encode("c" + long) == theirs.encode("c" + long).ids == [ids["c"], ids["ab"], *[ids["bb"]] * 7]
    assert ours.encode(long) == [ids[long]]


def test_ignore_merges_takes_an_added_token_that_is_not_found_as_one() -> None:
    added = [row_of("aaaa", single_word=True), row_of("bbbb", single_word=True, special=True)]
    file = file_of("ignore_merges", [], ["aaaa", "bbbb"], added)
    theirs = tokenizers.Tokenizer.from_str(json.dumps(file))
    ours, ids = Tokenizer.from_huggingface(theirs), file["model"]["vocab"]
    # The pattern cuts behind a digit, and the digit is the character of a word.
    assert ours.encode("1aaaa") == theirs.encode("1aaaa").ids == [ids["1"], ids["aaaa"]]
    assert theirs.encode("1bbbb").ids == [ids["1"], ids["bbbb"]]
    assert ours.encode("1bbbb") == [ids["1"], *[ids["b"]] * 4], "text never becomes a special token"
