"""The chat templates of a tokenizer, and the special tokens that they may name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..._internal.messages import shown
from .origin import CONFIG, SPECIALS, TEMPLATE, TEMPLATES

ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def templates(files: Mapping[str, Any]) -> dict[str, str]:
    """Return the templates in the files of a Hugging Face folder by name; a single one is "default"."""
    names = {name: name.removeprefix(f"{TEMPLATES}/").removesuffix(".jinja") for name in files}
    named: Any = {stem: files[name] for name, stem in names.items() if name.startswith(TEMPLATES)}
    named |= {"default": files[TEMPLATE]} if TEMPLATE in files else {}
    named = named or files.get(CONFIG, {}).get("chat_template")
    if isinstance(named, list):
        named = {row.get("name"): row.get("template") for row in named if isinstance(row, dict)}
    rows = named if isinstance(named, dict) else {"default": named}
    return {name: source for name, source in rows.items() if isinstance(source, str)}


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


def writes(source: str, token: str) -> bool:
    """Return whether a template writes an added token, which then counts as a special token."""
    return token in source and not token.isspace()


def special_tokens(files: Mapping[str, Any]) -> dict[str, str]:
    """Return the special tokens that the files of a Hugging Face folder give names, such as "bos_token"."""
    fields = {**files.get(SPECIALS, {}), **files.get(CONFIG, {})}
    extra = fields.get("extra_special_tokens")
    rows = {role: fields.get(role) for role in ROLES} | (extra if isinstance(extra, dict) else {})
    contents = {role: row.get("content") if isinstance(row, dict) else row for role, row in rows.items()}
    return {role: content for role, content in contents.items() if isinstance(content, str)}
