"""Messages of the library for the command line: names of arguments become names of options."""

from __future__ import annotations

import re
import shlex

_NAMES = (
    "vocab_size|special_tokens|special_ids|byte_order|min_frequency|max_token_length|forced_tokens|memory_limit|"
    "min_pretoken_count|document_separator|max_record_bytes|pattern|unmatched|ties|base|append|workers|field|column|input_format|errors|checkpoint|"
    "log|dtype|shard_size|shuffle_buffer|split|shuffle|on_error|language_field|reference|examples|resamples|seed|template|top"
)
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _NAMES.split("|")} | {"forced_tokens": "--forced-token"}
"""Arguments of the library, with the option that gives each."""

_LONG_NAMES = "|".join(name for name in OPTIONS if "_" in name)
# As in `errors="replace"`, `field='body'`, `min_pretoken_count=2` and `column=…`.
_ASSIGNED = re.compile(rf"""(?<![\w./-])({_NAMES})=("[^"]*"|'[^']*'|…|[\w.]+)""")
# As in "leave pattern and unmatched out".
_LEFT_OUT = re.compile(rf"\bleave ((?:{_NAMES})(?:(?:, | and |, and )(?:{_NAMES}))*) out\b")
# A word with an underscore is the name of an argument, unless it is part of a path or in quotes.
_LONG = re.compile(rf"""(?<![\w./'"-])({_LONG_NAMES})(?!\.?\w|[/:'"=-])""")
_SUBJECT = re.compile(rf"\A({_NAMES})(?= (?:is|must be)\b)")


def in_options(message: str) -> str:
    """Return a message with the options of the command line where it names arguments of the library.

    >>> in_options("there is no column 'text': name one with column=…")
    "there is no column 'text': name one with --column NAME"
    >>> in_options('not UTF-8 at byte 7: give errors="replace", or leave pattern and unmatched out')
    'not UTF-8 at byte 7: give --errors replace, or leave --pattern and --unmatched out'
    >>> in_options('choose append="<|end|>", or append="none"')
    "choose --append '<|end|>', or --append none"
    >>> in_options("they may take 150.0 MB, three quarters of memory_limit. Raise it")
    'they may take 150.0 MB, three quarters of --memory-limit. Raise it'
    """
    message = _ASSIGNED.sub(_option_with_value, message)
    message = _LEFT_OUT.sub(lambda match: f"leave {re.sub(_NAMES, _option, match[1])} out", message)
    return _SUBJECT.sub(_option, _LONG.sub(_option, message))


_CHECKS = (
    (re.compile(r"Value error, "), ""),
    (re.compile(r"Input should be a valid integer\b[^()]*"), "not a whole number"),
    (re.compile(r"Input should be a valid number\b[^()]*"), "not a number"),
)
"""What typer writes of a value that is not allowed, with words for it."""


def of_typer(message: str) -> str:
    """Return an error of typer's in plain words.

    >>> of_typer("Invalid value for '--seed': Input should be a valid integer, unable to parse string as an integer")
    "Invalid value for '--seed': not a whole number"
    """
    for pattern, words in _CHECKS:
        message = pattern.sub(words, message)
    return message


def _option(match: re.Match[str]) -> str:
    return OPTIONS[match[0]]


def _option_with_value(match: re.Match[str]) -> str:
    value = match[2].strip("\"'")
    if value in ("True", "False"):
        return OPTIONS[match[1]] if value == "True" else f"--no-{match[1]}"
    return f"{OPTIONS[match[1]]} {'NAME' if value == '…' else shlex.quote(value)}"
