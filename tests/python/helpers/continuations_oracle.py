"""Which tokens may follow some ids, by the definition, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


def prefix_ids(prefix: bytes, vocab: Mapping[int, bytes]) -> list[int]:
    """Find the tokens that begin with some bytes.

    >>> from toksmith import reference
    >>> prefix_ids(b"lo", reference.build_vocab([(b"l", b"o"), (b"lo", b"w")]))
    [256, 257]
    """
    return sorted(id_ for id_, token in vocab.items() if token.startswith(prefix))


def heal(ids: Sequence[int], vocab: Mapping[int, bytes]) -> tuple[int, list[int] | None]:
    """Give up as many ids as can begin a longer token; return how many stay, and which tokens may take their place.

    `vocab` has no special tokens: an id that it does not have stays, with all before it. If all ids stay, any token
    may follow: None.

    >>> from toksmith import reference
    >>> heal([97, 108], reference.build_vocab([(b"l", b"o")]))  # "l" may become "lo"
    (1, [108, 256])
    """
    for keep in range(len(ids)):
        if all(id_ in vocab for id_ in ids[keep:]) and (tail := b"".join(vocab[id_] for id_ in ids[keep:])):
            begun = prefix_ids(tail, vocab)
            if any(len(vocab[id_]) > len(tail) for id_ in begun):
                return keep, begun
    return len(ids), None


def next_mask(ids: Sequence[int], vocab: Mapping[int, bytes], encode: Callable[[bytes], list[int]]) -> list[bool]:
    """Say of each id whether `ids` and this id are what encoding their bytes gives."""
    text = b"".join(vocab[id_] for id_ in ids)
    every = range(max(vocab) + 1)
    return [id_ in vocab and encode(text + vocab[id_]) == [*ids, id_] for id_ in every]
