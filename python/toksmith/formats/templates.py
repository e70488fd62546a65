"""The source of a chat template."""

import os
from collections.abc import Iterable

from .._internal.messages import shown

ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
"""Variables of a template that may have special tokens."""


def checked_source(source: object, names: Iterable[str] = ()) -> str:
    """Return the source of a template, which is no path and no misspelled name."""
    if isinstance(source, str) and "{" in source:
        return source
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"chat_template is a str, not {type(source).__name__}")
    if isinstance(source, os.PathLike) or source.endswith((".jinja", ".jinja2", ".j2", ".json", ".txt")):
        raise ValueError(
            f"chat_template is the text of a template, not a path: pass Path({str(source)!r}).read_text()"
        )
    known = f": the tokenizer has {', '.join(map(repr, names))}" if names else ""
    raise ValueError(f"chat_template={shown(source)} is neither the name nor the text of a template{known}")
