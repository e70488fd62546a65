"""The chat templates of a tokenizer, and the special tokens that they may name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def special_tokens(files: Mapping[str, Any]) -> dict[str, str]:
    """Return the special tokens that the files of a Hugging Face folder give names, such as "bos_token"."""
    fields = {**files.get(SPECIALS, {}), **files.get(CONFIG, {})}
    extra = fields.get("extra_special_tokens")
    rows = {role: fields.get(role) for role in ROLES} | (extra if isinstance(extra, dict) else {})
    contents = {role: row.get("content") if isinstance(row, dict) else row for role, row in rows.items()}
    return {role: content for role, content in contents.items() if isinstance(content, str)}
