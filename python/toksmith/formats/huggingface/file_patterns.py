"""The regular expressions of a `tokenizer.json`: which engine runs each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ... import _core, patterns

NAMED = {name: spelling for spelling, name in reversed(_core.ONIGURUMA_SPELLINGS.items())}
"""Spellings of the named patterns for Oniguruma: the published ones, if Oniguruma reads them as the same pattern."""


def spelling(pattern: patterns.Pattern) -> str:
    r"""Return the spelling of a pattern for Oniguruma; an error names a construct without a proven equal there.

    >>> print(spelling(patterns.resolve(r"\p{N}{1,3}+|\s+$")))
    (?>\p{N}{1,3})|\s+\Z
    """
    return _core.to_oniguruma(pattern.text or "", pattern.flags) if pattern.name is None else NAMED[pattern.name]


def _engine(pattern: str, is_nullable: bool) -> _core.CompiledPattern | patterns.Regex:
    """Return what runs a pattern of `regex`. Only that package finds empty matches."""
    searched = patterns.of_source(pattern, 0, "keep").compiled()
    return searched if is_nullable else patterns.runner(pattern, 0)


_Row = tuple[int, str, bool, bool, bool, bool, bool]


def steps_of(tokens: Sequence[_Row] = (), kept: Iterable[int] = (), **parts: object) -> _core.Pipeline:
    """Return the core's steps of `normalizer`, `pre_tokenizer` and `decoder`, as JSON has them.

    `kept` are the ids of the added tokens that ordinary text can be encoded to as well.
    """
    texts = {name: json.dumps(part) for name, part in parts.items() if part is not None}
    return _core.Pipeline(texts, _engine, tokens, set(kept))
