"""What the tests beside tiktoken share: text of characters that both Unicode tables class alike."""

import functools
import random

import regex
import tiktoken

_CLASSES = [r"\p{Lu}", r"\p{Ll}", r"\p{Lt}", r"\p{Lm}", r"\p{Lo}", r"\p{N}", r"\p{M}", r"\s"]


@functools.lru_cache(maxsize=1)
def differing() -> frozenset[str]:
    """The characters that tiktoken's engine and the installed `regex` class differently."""
    every = "".join(chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    ranks = {bytes([byte]): byte for byte in range(256)}
    found: set[str] = set()
    for name in _CLASSES:
        encoding = tiktoken.Encoding("bytes", pat_str=name, mergeable_ranks=ranks, special_tokens={})
        theirs = bytes(encoding.encode_ordinary(every)).decode()
        found ^= set(theirs) ^ set(regex.findall(name, every))
    return frozenset(found)


def fixed(text: str) -> str:
    """A text without such characters."""
    return text.translate(dict.fromkeys(map(ord, differing()), " "))


def _shared_points() -> list[str]:
    rng = random.Random(0)
    points = [chr(point) for point in rng.sample(range(0x80, 0x110000), 4000) if not 0xD800 <= point < 0xE000]
    points += [chr(point) for point in range(0x80, 0x600)]
    return sorted(set(points) - differing())


SHARED_POINTS = _shared_points()
