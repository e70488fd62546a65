"""The characters that a part of a pattern matches, for the core: `regex` itself is run on all code points.

So the tables of the compiled engine are those of the installed `regex`, whatever its version of Unicode, with its own
rules of `(?i)` and of set operations.
"""

import functools

from .messages import shown

Ranges = tuple[tuple[int, int], ...]
"""Code points; the end of each range is exclusive."""

CODE_POINTS = 0x110000


@functools.lru_cache(maxsize=1)
def all_characters() -> str:
    """Return all code points in order, surrogates included: 4 MB, made in 3 ms."""
    in_utf32 = bytearray(4 * CODE_POINTS)  # the lowest byte of each first; the highest is zero
    in_utf32[0::4] = bytes(range(256)) * (CODE_POINTS >> 8)
    in_utf32[1::4] = b"".join(bytes([byte]) * 256 for byte in range(256)) * (CODE_POINTS >> 16)
    in_utf32[2::4] = b"".join(bytes([plane]) * 65536 for plane in range(CODE_POINTS >> 16))
    return in_utf32.decode("utf-32-le", "surrogatepass")


@functools.lru_cache(maxsize=256)
def matched(source: str, among: str | None = None) -> Ranges:
    """Return the ranges of code points that a pattern of exactly one character matches, with its flags written in it.

    With `among` these are places in that text instead. Raises `ValueError` for a pattern that `regex` refuses. Cost:
    some milliseconds to some tens without `among`, once for each `source`.

    >>> matched("[a-cx]"), matched("(?i:k)"), matched("[a-c]", "xab")
    (((97, 100), (120, 121)), ((75, 76), (107, 108), (8490, 8491)), ((1, 3),))
    """
    import regex

    try:
        matches = regex.compile(f"{source}+", cache_pattern=False).finditer(
            all_characters() if among is None else among
        )
    except (regex.error, OverflowError) as error:  # the latter for a property that is an infinite number
        raise ValueError(f"the expression {shown(source)} is broken: {error}") from None
    return tuple(match.span() for match in matches)


def tokenizer_class(model_type: str) -> str | None:
    """Return the class of the installed `transformers` for the tokenizers of a type of model; None if it has none."""
    try:
        from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES
    except ImportError:
        return None
    name: str | tuple[str | None, str | None] | None = TOKENIZER_MAPPING_NAMES.get(model_type)
    return name[-1] or name[0] if isinstance(name, tuple) else name
