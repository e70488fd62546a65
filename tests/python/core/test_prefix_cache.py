"""`PrefixCache`: conversations that grow, encoded from what is known of them."""

from __future__ import annotations

import random
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from toksmith import PrefixCache, Tokenizer

sys.path.insert(0, str(Path(__file__).parents[3] / "fuzz/python"))
with warnings.catch_warnings():
    import documents


def conversations(rng: random.Random, count: int, turns: int) -> list[str]:
    """Return the prompts of conversations that begin in one of a few ways, all turns mixed."""
    systems = ["".join(rng.choices(documents.PIECES, k=400)) for _ in range(3)]
    prompts = []
    for _ in range(count):
        prompt = rng.choice(systems)
        for _ in range(turns):
            prompt += "<|end|>" + "".join(rng.choices(documents.PIECES, k=rng.randrange(200)))
            prompts.append(prompt)
    rng.shuffle(prompts)
    return prompts


@pytest.mark.parametrize("max_bytes", [0, 3000, 1 << 16, 1 << 20, 1 << 26])
@pytest.mark.parametrize("special", [True, False])
def test_ids_are_those_of_the_tokenizer(max_bytes: int, special: bool) -> None:
    rng = random.Random(max_bytes)
    for kind, number in [("named", 0), ("named", 3), ("compiled", 2), ("none", 0), ("file", 3), ("file", 12)]:
        tokenizer = documents.tokenizer(kind, number)
        if tokenizer is None:
            continue
        cache = PrefixCache(tokenizer, max_bytes, special=special)
        for prompt in conversations(rng, 4, 5):
            expected = tokenizer.encode(prompt, special=special)
            assert cache.encode(prompt) == expected
            assert cache.encode_to_numpy(prompt).tolist() == expected
            assert 0 <= cache.size_bytes <= max_bytes == cache.max_bytes


def test_threads_share_a_cache(gpt2: Tokenizer) -> None:
    prompts = conversations(random.Random(1), 20, 10)
    expected = [gpt2.encode_to_numpy(prompt) for prompt in prompts]
    cache, wrong = PrefixCache(gpt2, 1 << 19), list[int]()

    def work(seed: int) -> None:
        order = random.Random(seed).choices(range(len(prompts)), k=300)
        wrong.extend(at for at in order if not np.array_equal(cache.encode_to_numpy(prompts[at]), expected[at]))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert 0 < cache.size_bytes <= 1 << 19


def test_arguments(gpt2: Tokenizer) -> None:
    with pytest.raises(ValueError, match="max_bytes is at least 0, not -1"):
        PrefixCache(gpt2, -1)
    with pytest.raises(TypeError, match=r"tokenizer is a Tokenizer, the name or path of one, .* not int"):
        PrefixCache(1, 1)  # type: ignore[arg-type]
    cache = PrefixCache(gpt2, 1 << 20)
    with pytest.raises(ValueError, match="lone surrogate"):
        cache.encode("\ud800")
    with pytest.raises(TypeError, match="a text is a str, not bytes"):
        cache.encode(b"")  # type: ignore[arg-type]
    assert (cache.encode(""), cache.size_bytes) == ([], 0)
