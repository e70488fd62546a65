"""The option --html of `toksmith view`: a page in place of a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .._internal.numbers import size
from ..lab.viewing.page.document import document
from ..lab.viewing.spans import visible
from . import streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tokenizer import Tokenizer


def write(path: str, tokenizers: Sequence[tuple[str, Tokenizer]], text: str) -> None:
    """Write the page of some tokenizers, each with the name that it was given by, and say how large it is.

    Raises:
        OSError, ValueError: As `viewing.page.write`.
    """
    named: dict[str, Tokenizer] = {}
    for source, tokenizer in tokenizers:
        named[_new_name(source, named)] = tokenizer
    written = streams.write(path, [document(named, text).encode()])
    streams.say_written(path, f"{size(written)}, {visible(', '.join(named))}")


def _new_name(source: str, named: dict[str, Tokenizer]) -> str:
    """Return the name for what was given as `-t`: of a path its last part, with a number where it is taken.

    >>> _new_name("models/one/tokenizer.json", {}), _new_name("o200k_base", {})
    ('one/tokenizer.json', 'o200k_base')
    """
    path = Path(source)
    generic = path.name in ("tokenizer.json", "vocab.json", "merges.txt")
    name = "/".join(path.parts[-2:]) if generic else path.name or source
    number = 2
    while name in named:
        name = f"{name.partition(' (')[0]} ({number})"
        number += 1
    return name
