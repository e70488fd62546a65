"""One tokenizer in many threads at once."""

import itertools
import pickle
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from conftest import Soup

from toksmith import Tokenizer

EOT = "<|endoftext|>"

Call = Callable[[Tokenizer, str], Any]

CALLS: dict[str, Call] = {
    "encode": lambda t, text: t.encode(text),
    "encode_ordinary": lambda t, text: t.encode(text, special=False),
    "encode_bytes": lambda t, text: t.encode(text.encode() + b"\xff"),
    "encode_to_numpy": lambda t, text: t.encode_to_numpy(text).tolist(),
    "encode_batch": lambda t, text: t.encode_batch([text, "a", text], workers=3),
    "encode_batch_to_numpy": lambda t, text: [a.tolist() for a in t.encode_batch_to_numpy([text, text], workers=2)],
    "encode_iterable": lambda t, text: list(t.encode_iterable(text[at : at + 7] for at in range(0, len(text), 7))),
    "encode_with_offsets": lambda t, text: t.encode_with_offsets(text)[1].tolist(),
    "encode_parts": lambda t, text: t.encode_parts([(text, True), (text, False)]),
    "count": lambda t, text: t.count(text),
    "truncate": lambda t, text: t.truncate(text, 9),
    "split": lambda t, text: t.split(text[:300], 7),
    "decode": lambda t, text: t.decode(t.encode(text)),
    "decode_stream": lambda t, text: list(t.decode_stream(iter(t.encode(text[:300])))),
    "merges": lambda t, text: (len(t.merges), len(t.vocab), t.fingerprint),
    "pickle": lambda t, text: pickle.loads(pickle.dumps(t)).encode(text),
}


@pytest.fixture(scope="module")
def several(small: Tokenizer) -> list[Tokenizer]:
    return [
        Tokenizer(small.vocab, small.merges, [EOT, "<|a|>"]),
        Tokenizer(small.vocab, None, [EOT], pattern="cl100k"),
        Tokenizer(small.vocab, small.merges, pattern=None),
        Tokenizer(small.vocab, small.merges, [EOT], pattern=r"\w+|\W"),
        Tokenizer(small.vocab, small.merges, [EOT], pattern=r"\w+|\W|(?<=a)b"),  # runs in `regex`
    ]


def wrong_results(
    tokenizer: Tokenizer, texts: list[str], expected: dict[tuple[str, int], Any], seed: int
) -> list[tuple[str, int]]:
    """Make all calls in an order of its own; the ones whose result is not the serial one."""
    order = random.Random(seed).sample(sorted(expected), len(expected))
    return [(name, i) for name, i in order if CALLS[name](tokenizer, texts[i]) != expected[name, i]]


def test_thirty_two_threads_of_mixed_calls(several: list[Tokenizer], soup: Soup) -> None:
    rng = random.Random(32)
    texts = [soup(rng, pieces) + EOT + soup(rng, pieces) for pieces in (3, 40, 400)]
    for tokenizer in several:
        # What is expected comes from an equal tokenizer of its own, so that this one has seen nothing before.
        fresh = pickle.loads(pickle.dumps(tokenizer))
        expected = {(name, i): CALLS[name](fresh, text) for name in CALLS for i, text in enumerate(texts)}
        with ThreadPoolExecutor(32) as pool:
            runs = [pool.submit(wrong_results, tokenizer, texts, expected, seed) for seed in range(32)]
            assert [run.result() for run in runs] == [[]] * 32


def test_streams_of_several_threads_do_not_mix(several: list[Tokenizer], soup: Soup) -> None:
    rng = random.Random(33)
    texts = [soup(rng, 200) for _ in range(16)]
    for tokenizer in several:
        expected = [tokenizer.encode(text) for text in texts]

        def stream(i: int, tokenizer: Tokenizer = tokenizer) -> list[int]:
            pieces = (texts[i][at : at + 1 + i] for at in range(0, len(texts[i]), 1 + i))
            return list(tokenizer.encode_iterable(pieces))

        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(stream, range(16))) == expected
        # In one thread too, two streams in turn.
        turns = [tokenizer.encode_iterable(texts[i]) for i in (0, 1)]
        both = list(itertools.zip_longest(*turns))
        assert [[pair[i] for pair in both if pair[i] is not None] for i in (0, 1)] == expected[:2]
