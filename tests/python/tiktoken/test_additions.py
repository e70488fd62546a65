"""What `Encoding` has beside tiktoken's methods: held against `encode`, and against `Tokenizer`."""

import copy
import pickle
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import toksmith
from toksmith import Encoding, Tokenizer
from toksmith.compat.tiktoken import registry

SPECIALS = {"<|end|>": 300, "<|start|>": 301, "<|e": 302}
Soup = Callable[[random.Random, int], str]


def ranks() -> dict[bytes, int]:
    trained = toksmith.train(iter(["the lowest of the low, the newest of the new " * 3]), 270)
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


def test_the_same_as_the_tokenizer(encoding: Encoding, soup: Soup) -> None:
    tokenizer = encoding.tokenizer
    assert tokenizer is encoding.tokenizer
    assert tokenizer.special_tokens == SPECIALS
    for text in texts(soup):
        for special, options in ((True, {"allowed_special": "all"}), (False, {"disallowed_special": ()})):
            assert tokenizer.encode(text, special=special) == encoding.encode(text, **options)


def test_special_tokens_that_share_an_id() -> None:
    shared = {"<|a|>": 300, "<|b|>": 300, "<|c|>": 97}
    encoding = Encoding("shared", pat_str=r"\w+|\W", mergeable_ranks=ranks(), special_tokens=shared)
    assert encoding.encode("<|b|>x<|c|>", allowed_special="all") == [300, *b"x", 97]
    assert encoding.decode([300, 97]) == "<|a|>a"


def test_copies_have_them_too(encoding: Encoding) -> None:
    for made in (pickle.loads(pickle.dumps(encoding)), copy.copy(encoding)):
        assert made.tokenizer == encoding.tokenizer


def test_of_a_published_encoding(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(shared_data / "vocabs"))
    monkeypatch.setattr(registry, "ENCODINGS", {})
    for name in ("cl100k_base", "o200k_harmony"):
        encoding = toksmith.get_encoding(name)
        assert encoding.tokenizer == Tokenizer.from_pretrained(name)
