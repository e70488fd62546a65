"""Values and numbers in messages: always short, whatever a file or a caller gives."""

from collections.abc import Sequence

MAX_SHOWN = 80
"""Maximum number of characters of a value in a message; longer values are cut and their length is added."""


def shown(value: object, max_length: int = MAX_SHOWN) -> str:
    r"""Return a value as an error shows it: its `repr`, or the beginning of that with the length of the value.

    Cost: bounded, whatever the size of the value.

    >>> shown(b"th"), shown("a" * 1000)[-24:]
    ("b'th'", 'aaaaa… (1000 characters)')
    """
    if isinstance(value, (str, bytes, bytearray)):
        text = repr(value[:max_length])
        if len(value) <= max_length and len(text) <= 2 * max_length:
            return text
        return f"{text[:max_length]}… ({len(value)} {'characters' if isinstance(value, str) else 'bytes'})"
    if isinstance(value, int) and value.bit_length() > 8 * MAX_SHOWN // 3:
        return f"a whole number of {value.bit_length()} bits"
    import reprlib

    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = max_length
    try:
        text = short.repr(value)
    except Exception:  # raised by a stranger's __repr__, or by a number with too many digits inside a list
        text = f"<{type(value).__name__}>"
    return text if len(text) <= max_length else f"{text[:max_length]}…"


def printable(text: str) -> str:
    r"""Return a text with an escape for each character that a terminal could obey; backslashes stay as they are.

    >>> printable("a\x1b[2J \\d"), printable("é")
    ('a\\x1b[2J \\d', 'é')
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def counted(count: int, name: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "document"), counted(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def size(count: float) -> str:
    """Return a number of bytes in the largest unit.

    >>> size(1), size(999), size(33_500_000), size(3.4e9)
    ('1 byte', '999 bytes', '33.5 MB', '3.4 GB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return counted(round(count), "byte")


def aligned(rows: Sequence[Sequence[str]], *, words_last: bool = False) -> str:
    """Return rows as lines of columns. One column holds words, the first or the last; numbers are right-aligned.

    >>> print(aligned([("split", "tokens"), ("val", "3")]))
    split  tokens
    val         3
    >>> print(aligned([("12", "1", "a.txt"), ("3", "10", "b")], words_last=True))
    12  1 a.txt
     3 10 b
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words, between = (len(widths) - 1, " ") if words_last else (0, "  ")
    lines = (
        between.join(
            cell if words_last and place == words else cell.ljust(width) if place == words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line if words_last else line.rstrip() for line in lines)
