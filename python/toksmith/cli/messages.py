"""Messages of the library for the command line: names of arguments become names of options."""

from __future__ import annotations

import re

_NAMES = (
    "vocab_size|special_tokens|special_ids|byte_order|min_frequency|max_token_length|forced_tokens|memory_limit|"
    "min_pretoken_count|document_separator|max_record_bytes|pattern|unmatched|ties|base|append|workers|field|column|input_format|errors|checkpoint|"
    "log|dtype|shard_size|shuffle_buffer|split|shuffle|on_error|language_field|reference|examples|resamples|seed|template|top"
)
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _NAMES.split("|")} | {"forced_tokens": "--forced-token"}
"""Arguments of the library, with the option that gives each."""

_VALUES = {"True": "", "…": " NAME"}
# A name with a value, as in `errors="replace"`, `field='body'`, `min_pretoken_count=2` and `column=…`; a name with an
# underscore, unless it is part of a path or in quotes; and any name that is the subject of the message.
_ARGUMENT = (
    rf"""(?<![\w./'"-])(?:({_NAMES})=("[^"]*"|'[^']*'|…|[\w.]+)"""
    rf"""|({"|".join(name for name in OPTIONS if "_" in name)})(?!\.?\w|[/:'"=-])"""
    rf"""|\A({_NAMES})(?= (?:is|must be)\b))"""
)


def in_options(message: str) -> str:
    """Return a message with the options of the command line where it names arguments of the library.

    >>> in_options("there is no column 'text': name one with column=…")
    "there is no column 'text': name one with --column NAME"
    >>> in_options('choose append="<|end|>", or append="none"')
    "choose --append '<|end|>', or --append none"
    >>> in_options("they may take 150.0 MB, three quarters of memory_limit. Raise it")
    'they may take 150.0 MB, three quarters of --memory-limit. Raise it'
    """
    return re.sub(_ARGUMENT, _option, message)


def _option(match: re.Match[str]) -> str:
    import shlex  # for errors alone

    option = OPTIONS[match[1] or match[3] or match[4]]
    value = match[2] and match[2].strip("\"'")
    if value == "False":
        return f"--no-{match[1]}"
    return option if value is None else option + _VALUES.get(value, f" {shlex.quote(value)}")
