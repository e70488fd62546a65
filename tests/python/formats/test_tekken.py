"""tekken.json, and objects of other libraries: the ids of `mistral_common` and `tiktoken`."""

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from helpers.own_data import sample

import toksmith
from toksmith import Tokenizer, patterns

tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
SAMPLE = sample("guides.txt.gz")[:20_000]
CHARACTERS = sorted(set(SAMPLE)) + list("<s>[INST]\x00\u0130\U0001f600ßé中한ंก")
NAMES = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"]
SPECIALS = 10


def content(pattern: str = patterns.NAMED["tekken"], names: list[str] | None = NAMES) -> dict[str, Any]:
    trained = toksmith.train(iter([SAMPLE]), 1000, pattern="tekken")
    tokens = [token for _, token in sorted(trained.vocab.items())]
    rows = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": pattern,
        "num_vocab_tokens": len(rows),
        "default_vocab_size": 900,
        "default_num_special_tokens": SPECIALS if names is not None else 24,
        "version": "v11" if names is not None else "v3",
    }
    listed = [{"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(names or [])]
    return {"config": config, "vocab": rows, "special_tokens": listed if names is not None else None}


def written(folder: Path, content: dict[str, Any]) -> Path:
    path = folder / "tekken.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("pattern", [patterns.NAMED["tekken"], r" ?\p{L}+|\p{N}|[^\r\n\p{L}\p{N}]+|[\r\n]+"])
@pytest.mark.parametrize("names", [NAMES, None])
def test_ids_are_those_of_mistral_common(tmp_path: Path, pattern: str, names: list[str] | None) -> None:
    path = written(tmp_path, content(pattern, names))
    ours, theirs = Tokenizer.from_pretrained(path), tekken.Tekkenizer.from_file(path)
    assert (ours.vocab_size, ours.token_id("<s>")) == (theirs.n_words, theirs.bos_id)
    assert list(ours.special_tokens) == [theirs.id_to_piece(id) for id in range(theirs.num_special_tokens)]
    rng = random.Random(1)
    texts = [SAMPLE, *("".join(rng.choices(CHARACTERS, k=rng.randrange(1, 30))) for _ in range(2000))]
    for text in texts:
        assert ours.encode(text, special=False) == theirs.encode(text, False, False), text
    assert ours.encode("<s>a")[0] == theirs.bos_id
    assert Tokenizer.from_pretrained(theirs) == ours
    assert Tokenizer.from_pretrained(tmp_path) == ours


def test_a_saved_file_is_read_by_both(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_pretrained(written(tmp_path, content()))
    copy = tmp_path / "copy.json"
    tokenizer.save(copy, format="tekken")
    assert Tokenizer.from_pretrained(copy) == tokenizer
    assert tekken.Tekkenizer.from_file(copy).encode(SAMPLE, False, False) == tokenizer.encode(SAMPLE, special=False)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"ids": toksmith.IdOrder("last")}, "special tokens the ids from 0 on"),
        ({"ids": toksmith.IdOrder(single_bytes="gpt2")}, "has the 256 bytes, in order"),
        ({"pattern": None}, "None is not known to mean the same"),
    ],
)
def test_other_layouts_are_refused(tmp_path: Path, options: dict[str, Any], reason: str) -> None:
    tokenizer = toksmith.train(iter(["low lower"] * 3), 262, special_tokens=["<s>"], **options)
    with pytest.raises(ValueError, match=reason):
        tokenizer.save(tmp_path / "tekken.json", format="tekken")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file["vocab"][7].update(rank=8), r"\$\.vocab\[7\]\.rank: expected 7, got 8"),
        (lambda file: file["vocab"][7].update(token_bytes="Y"), r'\$\.vocab\[7\]\.token_bytes: "Y" is not base64'),
        (lambda file: file["vocab"].clear(), r"\$\.vocab: 0 tokens, fewer than the \d+"),
        (lambda file: file.update(special_tokens=None), r"\$\.special_tokens: no list"),
        (lambda file: file["special_tokens"][1].update(rank=0), r"\$\.special_tokens: the ranks are not 0, 1, 2"),
        (lambda file: file["special_tokens"].pop(0), r"\$\.special_tokens: the ranks are not 0, 1, 2"),
        (
            lambda file: file["config"].update(default_num_special_tokens=901),
            r"\$\.config\.default_num_special_tokens: 901 special",
        ),
        (lambda file: file["config"].update(version=7), r"\$: invalid type"),
    ],
)
def test_errors_name_file_and_place(change: Callable[[Any], object], message: str, tmp_path: Path) -> None:
    broken = content()
    change(broken)
    path = written(tmp_path, broken)
    with pytest.raises(ValueError, match=rf"tekken\.json: {message}"):
        Tokenizer.from_pretrained(path)


def test_an_encoding_of_tiktoken_is_a_tokenizer() -> None:
    trained = toksmith.train(iter([SAMPLE]), 600, pattern="cl100k")
    ranks = {token: id for id, token in trained.vocab.items()}
    specials = {"<|a|>": 600, "<|b|>": 605, "<|c|>": 605}
    theirs = tiktoken.Encoding(
        "test", pat_str=patterns.NAMED["cl100k"], mergeable_ranks=ranks, special_tokens=specials
    )
    ours = Tokenizer.from_pretrained(theirs)
    assert ours.special_tokens == {"<|a|>": 600, "<|b|>": 605}
    assert ours.encode(f"{SAMPLE}<|b|>") == theirs.encode(f"{SAMPLE}<|b|>", allowed_special="all")
    with pytest.raises(ValueError, match="own pattern"):
        Tokenizer.from_pretrained(theirs, pattern="gpt2")
    with pytest.raises(TypeError, match=r"a tokenizer is a name, a path, .* not list"):
        Tokenizer.from_pretrained([])
