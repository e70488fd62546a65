"""`encode_iterable` with `arrays`: arrays of ids of text that arrives in pieces, wherever it is cut."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from toksmith import Tokenizer
from toksmith.encoding import text_streaming

Soup = Callable[[random.Random, int], str]
SPECIALS = ["<|endoftext|>", "\n\n---\n\n", "a b", "<|endof"]


def pieces(text: str, rng: random.Random) -> Iterator[str]:
    """Yield a text in pieces of any length, empty ones too."""
    while text:
        size = rng.choice((0, 1, 2, 5, 17, 300))
        yield text[:size]
        text = text[size:]


@pytest.fixture(params=[1, 7, 64, 1000], autouse=True)
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks and tails are small, so that little text has many borders."""
    monkeypatch.setattr(text_streaming, "CHUNK_CHARACTERS", request.param)
    monkeypatch.setattr(text_streaming, "_TAIL_CHARACTERS", max(50, request.param // 2))
    monkeypatch.setattr(text_streaming, "_MAX_SPECIAL_BYTES", 20)
    monkeypatch.setattr(text_streaming, "_ARRAY_IDS", 20)


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "qwen2", "nanochat", r"\w+|\W", None])
def test_the_ids_of_the_whole(pattern: str | None, special: bool, soup: Soup) -> None:
    rng = random.Random(3)
    merges = [(b" ", b"t"), (b"a", b" "), (b"\n", b"\n")]
    vocab = {byte: bytes([byte]) for byte in range(256)} | {256 + i: a + b for i, (a, b) in enumerate(merges)}
    tokenizer = Tokenizer(vocab, merges, SPECIALS, pattern=pattern)
    for _ in range(25):
        parts = [soup(rng, rng.randrange(60)) + rng.choice(["", *SPECIALS]) for _ in range(rng.randrange(6))]
        text = "".join(parts)
        arrays = list(
            tokenizer.encode_iterable(pieces(text, rng), special=special, workers=rng.choice((1, 3)), arrays=True)
        )
        assert all(ids.dtype == np.uint32 and ids.ndim == 1 for ids in arrays)
        assert [id for ids in arrays for id in ids.tolist()] == tokenizer.encode(text, special=special)


def test_it_gives_ids_before_the_text_ends() -> None:
    seen = 0

    def texts() -> Iterator[str]:
        nonlocal seen
        while True:
            seen += 1
            yield "the lowest of the low, " * 100

    arrays = Tokenizer().encode_iterable(texts(), arrays=True)
    assert len(next(arrays)) > 0
    assert seen == 1


def test_a_normalizer_sees_the_whole_text(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    Tokenizer().save_huggingface(tmp_path)
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    other.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.NFC(), tokenizers.normalizers.Strip()])
    tokenizer = Tokenizer.from_huggingface(other)
    text = " e\u0301 a  b " * 30
    arrays = tokenizer.encode_iterable(text, arrays=True)
    assert [id for ids in arrays for id in ids.tolist()] == tokenizer.encode(text)


def test_wrong_input() -> None:
    with pytest.raises(ValueError, match="workers"):
        Tokenizer().encode_iterable([], workers=0, arrays=True)
    with pytest.raises(ValueError, match="surrogate"):
        list(Tokenizer().encode_iterable(["a\ud800"], arrays=True))
    assert list(Tokenizer().encode_iterable([], arrays=True)) == []
    assert list(Tokenizer().encode_iterable([""], arrays=True)) == []
