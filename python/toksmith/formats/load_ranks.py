"""Loading tiktoken's rank files. It imports little, since the core reads such a file in milliseconds."""

from __future__ import annotations

import os

from .. import patterns
from .._core import Tokenizer as CoreTokenizer
from .._internal import arguments
from ..files import reading
from .parts import Parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .._internal.choices import Unmatched

    Specials = list[tuple[str, int | None]]


def load(
    path: str | os.PathLike[str],
    pattern: Any,
    special_tokens: Iterable[str] | Mapping[str, int] | None,
    unmatched: Unmatched | None,
) -> Parts:
    """Load a rank file. See `Tokenizer.from_tiktoken`.

    Warns if it is a published file and special tokens of it are missing, unless `special_tokens` is given and empty.
    """
    resolved = patterns.of_tiktoken(pattern, unmatched)
    specials = arguments.special_list(special_tokens)
    data = reading.read(path)
    core = core_from(data, specials, resolved)
    if core is None:
        from ..files import text_files
        from . import rank_file

        vocab = rank_file.parse(text_files.text_of(data, path), f"{os.fspath(path)}, ")
        with text_files.naming(path):
            core = CoreTokenizer(vocab, None, specials, resolved.core())
    if special_tokens is None:
        from .published.special_tokens import warn_of_missing

        warn_of_missing(path, data, resolved.name, stacklevel=3)
    return Parts(core, resolved)


def core_from(data: bytes, specials: Specials, pattern: patterns.Pattern) -> CoreTokenizer | None:
    """Return the core of a rank file in the usual spelling.

    Returns None for a file that is spelled differently, or wrong: `rank_file.parse` takes every spelling, and names
    the line of an error.
    """
    try:
        return CoreTokenizer.from_ranks(data, specials, pattern.core())
    except ValueError:
        return None
