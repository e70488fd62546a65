"""What `Encoding` has beside tiktoken's methods: held against `encode`, and against `Tokenizer`."""

import copy
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Encoding, Tokenizer
from toksmith.compat.tiktoken import registry

SPECIALS = {"<|end|>": 300, "<|start|>": 301, "<|e": 302}
CHOICES: list[dict[str, Any]] = [
    {},
    {"disallowed_special": ()},
    {"allowed_special": "all"},
    {"allowed_special": {"<|end|>"}, "disallowed_special": ()},
    {"allowed_special": {"<|start|>", "<|e"}, "disallowed_special": ()},
    {"allowed_special": {"<|end|>"}},
    {"allowed_special": {"unknown"}, "disallowed_special": {"b "}},
]
Soup = Callable[[random.Random, int], str]


def ranks() -> dict[bytes, int]:
    trained = toksmith.train_from_iterator(["the lowest of the low, the newest of the new " * 3], 270)
    return {token: id for id, token in trained.vocab.items()}


@pytest.fixture(scope="module", params=[r"\w+|\s+", r"\p{L}+| ?[^\s\p{L}]+|\s+"])
def encoding(request: pytest.FixtureRequest) -> Encoding:
    """An encoding; under its first pattern some text is lost."""
    return Encoding("small", pat_str=request.param, mergeable_ranks=ranks(), special_tokens=SPECIALS)


def texts(soup: Soup) -> list[str]:
    rng = random.Random(7)
    made = [soup(rng, rng.randrange(40)) for _ in range(60)]
    names = [*SPECIALS, "<|en", "b "]
    return [*made, *("".join(f"{text[:9]}{rng.choice(names)}" for text in rng.choices(made, k=4)) for _ in range(60))]


def encoded(encoding: Encoding, text: str, options: dict[str, Any]) -> list[int] | None:
    """Return the ids; None for a text with a special token that is not allowed."""
    try:
        return encoding.encode(text, **options)
    except ValueError:
        return None


@pytest.mark.parametrize("options", CHOICES, ids=[f"choice {index}" for index in range(len(CHOICES))])
def test_count_and_truncate_follow_encode(encoding: Encoding, options: Any, soup: Soup) -> None:
    for text in texts(soup):
        ids = encoded(encoding, text, options)
        if ids is None:
            with pytest.raises(ValueError, match="special token"):
                encoding.count(text, **options)
            with pytest.raises(ValueError, match="special token"):
                encoding.truncate(text, 3, **options)
            continue
        assert encoding.count(text, **options) == len(ids)
        for limit in (0, 1, 3, len(ids)):
            piece = encoding.truncate(text, limit, **options)
            assert text.startswith(piece)
            assert len(encoding.encode(piece, **options)) <= limit
        assert encoding.truncate(text, len(ids), **options) == text


def test_the_same_as_the_tokenizer(encoding: Encoding, soup: Soup) -> None:
    tokenizer = encoding.tokenizer
    assert tokenizer is encoding.tokenizer
    assert tokenizer.special_tokens == SPECIALS
    for text in texts(soup):
        for special, options in ((True, CHOICES[2]), (False, CHOICES[1])):
            assert tokenizer.encode(text, special=special) == encoding.encode(text, **options)
            assert tokenizer.truncate(text, 5, special=special) == encoding.truncate(text, 5, **options)


def test_surrogates_are_replaced_as_in_encode(encoding: Encoding) -> None:
    for text in ("a\ud83d b", "\ud83d\udc4d", "\udc00"):
        assert encoding.count(text) == len(encoding.encode(text))
        assert encoding.truncate(text, 100) == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert encoding.encode_parts([(text, True), (text, False)]) == encoding.encode(text) * 2


def test_parts(encoding: Encoding) -> None:
    evil = "the <|end|> low"
    ids = encoding.encode_parts([("<|start|>", True), (evil, False), ("<|end|>", True)])
    ordinary = encoding.encode(evil, disallowed_special=())
    assert ids == [301, *ordinary, 300]
    assert encoding.encode_parts([("<|en", True), ("d|>", True)]) == [300]
    assert 300 not in encoding.encode_parts(
        [("<|en", True), ("d|>", False)], allowed_special={"<|end|>"}, disallowed_special=()
    )
    with pytest.raises(ValueError, match="special token"):
        encoding.encode_parts([("<|start|>", True)], allowed_special={"<|end|>"})
    with pytest.raises(ValueError, match="special token"):
        encoding.encode_parts([("<|en", True), ("d|>", True)], allowed_special=set())
    assert encoding.encode_parts([(evil, False)], allowed_special=set()) == ordinary


def test_wrong_arguments(encoding: Encoding) -> None:
    with pytest.raises(TypeError):
        encoding.count(b"bytes")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        encoding.count("a", allowed_special=["<|end|>"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_tokens"):
        encoding.truncate("a", -1)


def test_special_tokens_that_share_an_id() -> None:
    shared = {"<|a|>": 300, "<|b|>": 300, "<|c|>": 97}
    encoding = Encoding("shared", pat_str=r"\w+|\W", mergeable_ranks=ranks(), special_tokens=shared)
    assert encoding.encode("<|b|>x<|c|>", allowed_special="all") == [300, *b"x", 97]
    assert encoding.count("<|b|>x<|c|>", allowed_special="all") == 3
    assert encoding.truncate("<|a|>low", 1, allowed_special="all") == "<|a|>"
    with pytest.raises(ValueError, match=r"'<\|b\|>' shares its id 300"):
        encoding.truncate("<|b|>", 5, allowed_special="all")
    assert encoding.truncate("<|b|>", 100, disallowed_special=()) == "<|b|>"


def test_copies_have_them_too(encoding: Encoding) -> None:
    encoding.count("a<|end|>", allowed_special={"<|end|>"}, disallowed_special=())
    for made in (pickle.loads(pickle.dumps(encoding)), copy.copy(encoding)):
        assert made.count("a<|end|>", allowed_special={"<|end|>"}, disallowed_special=()) == 2
        assert made.tokenizer == encoding.tokenizer


def test_of_a_published_encoding(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(shared_data / "vocabs"))
    monkeypatch.setattr(registry, "ENCODINGS", {})
    for name in ("cl100k_base", "o200k_harmony"):
        encoding = toksmith.get_encoding(name)
        assert encoding.tokenizer == Tokenizer.from_pretrained(name)
        assert encoding.count("hello <|endoftext|>", allowed_special="all") == 3
        assert encoding.truncate("hello world again", 2) == "hello world"
