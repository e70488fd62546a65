"""minbpe's and rustbpe's rules in plain Python, straight from their definition: slow, and for the tests alone."""

import itertools
import re as standard_re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

import regex

Pair = tuple[int, int]
Choice = Callable[[dict[Pair, int]], Pair]


def first_of_most_frequent(counts: dict[Pair, int]) -> Pair:
    """minbpe: of equal counts the pair that was counted first, in the order of the text."""
    return max(counts, key=lambda pair: counts[pair])


def smallest_of_most_frequent(counts: dict[Pair, int]) -> Pair:
    """rustbpe: of equal counts the smallest pair of ids."""
    return min(counts, key=lambda pair: (-counts[pair], pair))


def chunks_of(texts: Iterable[str], pattern: str | None) -> list[list[int]]:
    """The bytes of what the pattern matches, in every text; the whole text without a pattern."""
    found = (text if pattern is None else match for text in texts for match in _matches(text, pattern))
    return [list(chunk.encode()) for chunk in found]


def _matches(text: str, pattern: str | None) -> list[str]:
    return [text] if pattern is None else [match[0] for match in regex.finditer(pattern, text)]


def replaced(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """All occurrences of a pair, from the left, as one id."""
    out: list[int] = []
    at = 0
    while at < len(ids):
        is_pair = tuple(ids[at : at + 2]) == pair
        out.append(new if is_pair else ids[at])
        at += 2 if is_pair else 1
    return out


def trained(chunks: list[list[int]], vocab_size: int, choose: Choice) -> tuple[dict[Pair, int], list[int]]:
    """The merges, and how often each pair occurred; fewer than asked where no pair is left."""
    merges: dict[Pair, int] = {}
    seen = []
    for new in range(256, vocab_size):
        counts: dict[Pair, int] = {}
        for chunk in chunks:
            for at in range(len(chunk) - 1):
                pair = (chunk[at], chunk[at + 1])
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = choose(counts)
        merges[best] = new
        seen.append(counts[best])
        chunks = [replaced(chunk, best, new) for chunk in chunks]
    return merges, seen


def encoded(chunks: list[list[int]], merges: Mapping[Pair, int]) -> list[int]:
    """In every chunk the pair with the lowest id merges, again and again."""
    out: list[int] = []
    for ids in chunks:
        while True:
            known = [merges[pair] for pair in itertools.pairwise(ids) if pair in merges]
            if not known:
                break
            pair = next(pair for pair, id in merges.items() if id == min(known))
            ids = replaced(ids, pair, merges[pair])
        out += ids
    return out


def vocab_of(merges: Mapping[Pair, int]) -> dict[int, bytes]:
    vocab = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), new in merges.items():
        vocab[new] = vocab[left] + vocab[right]
    return vocab


def encoded_with_specials(
    text: str, pattern: str, merges: Mapping[Pair, int], special: Mapping[str, int]
) -> list[int]:
    """minbpe's way: the alternatives in the order of registration, each stretch between them on its own."""
    out: list[int] = []
    for part in standard_re.split("(" + "|".join(map(standard_re.escape, special)) + ")", text):
        out += [special[part]] if part in special else encoded(chunks_of([part], pattern), merges)
    return out


def shown(token: bytes) -> str:
    text = token.decode("utf-8", "replace")
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c).startswith("C") else c for c in text)


def files_of(
    pattern: str, special: Mapping[str, int], merges: Mapping[Pair, int], vocab: Mapping[int, bytes]
) -> tuple[str, str]:
    """The contents of minbpe's `.model` and `.vocab`."""
    model = f"minbpe v1\n{pattern}\n{len(special)}\n"
    for name, id in special.items():
        model += f"{name} {id}\n"
    for left, right in merges:
        model += f"{left} {right}\n"
    made = {id: pair for pair, id in merges.items()}
    rows = ""
    for id, token in vocab.items():
        if id in made:
            left, right = made[id]
            rows += f"[{shown(vocab[left])}][{shown(vocab[right])}] -> "
        rows += f"[{shown(token)}] {id}\n"
    return model, rows
