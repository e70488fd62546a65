"""Pre-tokenizers: from the sequences of the file to the stages in which the core splits."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import patterns
from ..regex_dialects import from_oniguruma
from .checks import field, kind_of, refused, shown
from .part_pattern import compiled, pattern_of
from .to_oniguruma import NAMED

MAX_DEPTH = 20
"""Most sequences inside each other."""
MAX_STAGES = 64
"""Most stages in which text is split."""

_BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")

BYTE_LEVEL = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern by which ByteLevel splits (tokenizers, src/pre_tokenizers/byte_level.rs)."""

SPELLINGS: dict[str, str] = {
    # The pattern that ByteLevel has built in; Granite and SmolLM have it in a Split.
    BYTE_LEVEL: "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    # Llama 3, Phi-4, OLMo 2.
    patterns.CL100K_OLD: "cl100k_old",
    # Qwen 2, 2.5 and 3.
    patterns.QWEN2: "qwen2",
    # gpt-oss, GPT-4o.
    patterns.O200K: "o200k",
    # Qwen 3.5.
    patterns.QWEN35: "qwen3.5",
    # Mistral's models with the Tekken tokenizer: Nemo and later.
    patterns.TEKKEN: "tekken",
    # The spellings that `save_huggingface` writes for tiktoken's own patterns, and nanochat's.
    NAMED["cl100k"]: "cl100k",
    NAMED["nanochat"]: "nanochat",
}
"""Spellings in files, with the scanner that is proven equal to Oniguruma's reading of each
(tests/python/huggingface/test_huggingface.py). tiktoken's newer spellings are not here: `{1,3}+` is a repeated
repetition in this dialect."""


class Stage(NamedTuple):
    """A stage of the core's `Pretokenizer.of_stages`."""

    kind: str
    argument: Any
    behavior: str
    invert: bool


class Splits(NamedTuple):
    """How text is split: by `before`, then a space is put before each piece if `prefix`, then by `after`."""

    before: list[Stage]
    prefix: bool
    after: list[Stage]
    sources: list[str | None]
    """The spelling of each of the stages `after`, if it is one pattern."""


def read(part: Any, place: str = "$.pre_tokenizer", is_byte_level: bool = True) -> Splits:
    """Return how text is split.

    Args:
        part: The pre-tokenizer of the file.
        place: Its place there.
        is_byte_level: Whether the model is byte-level, so that ByteLevel must be at the end.

    Raises:
        ValueError: A part is malformed, cannot be reproduced exactly, or ByteLevel is not where it must be; names it.
    """
    rows = [] if part is None else _flat(part, place, 0)
    stages: list[tuple[Stage, str | None]] = []
    for i, (row, where) in enumerate(rows):
        kind = kind_of(row, where)
        if is_byte_level and kind == "ByteLevel":
            return _byte_level(row, where, stages, rows[i + 1 :])
        stages += _stages(kind, row, where)
        if len(stages) > MAX_STAGES:
            raise refused(place, f"more than {MAX_STAGES} stages")
    if is_byte_level:
        raise refused(place, "there is no ByteLevel in it, and the model is byte-level")
    return Splits([], False, [stage for stage, _ in stages], [text for _, text in stages])


def _flat(part: Any, place: str, depth: int) -> list[tuple[Any, str]]:
    if kind_of(part, place) != "Sequence":
        return [(part, place)]
    if depth == MAX_DEPTH:
        raise refused(place, f"more than {MAX_DEPTH} sequences inside each other")
    rows = field(part, "pretokenizers", list, place)
    return [found for i, row in enumerate(rows) for found in _flat(row, f"{place}.pretokenizers[{i}]", depth + 1)]


def _byte_level(row: dict[str, Any], place: str, stages: list[tuple[Stage, str | None]], rest: list[Any]) -> Splits:
    if rest:
        raise refused(
            rest[0][1], f"a {kind_of(*rest[0])} behind ByteLevel would split the characters that stand for bytes"
        )
    prefix = field(row, "add_prefix_space", bool, place)
    own = field(row, "use_regex", bool, place, True)
    before = stages if prefix else []
    after = [] if prefix else stages
    if own:
        after = [*after, (Stage("scanner", "gpt2", "Isolated", False), BYTE_LEVEL)]
    return Splits([stage for stage, _ in before], prefix, [stage for stage, _ in after], [text for _, text in after])


def _stages(kind: str, row: dict[str, Any], place: str) -> list[tuple[Stage, str | None]]:
    if kind == "Split":
        return [_split(row, place)]
    found = {
        "Digits": lambda: [Stage("kind", "numeric", _digits(row, place), False)],
        "Punctuation": lambda: [Stage("kind", "punctuation", _behavior(row, place, "Isolated"), False)],
        "WhitespaceSplit": lambda: [Stage("kind", "whitespace", "Removed", False)],
        "Whitespace": lambda: [Stage("words", "", "Removed", True)],
        "BertPreTokenizer": lambda: [
            Stage("kind", "whitespace", "Removed", False),
            Stage("kind", "punctuation", "Isolated", False),
        ],
        "CharDelimiterSplit": lambda: [Stage("literal", _delimiter(row, place), "Removed", False)],
        "FixedLength": lambda: [Stage("length", str(_length(row, place)), "Isolated", False)],
    }
    if kind not in found:
        raise refused(place, f"the pre-tokenizer {kind} is not one that toksmith has here")
    return [(stage, None) for stage in found[kind]()]


def _digits(row: dict[str, Any], place: str) -> str:
    return "Isolated" if field(row, "individual_digits", bool, place) else "Contiguous"


def _delimiter(row: dict[str, Any], place: str) -> str:
    delimiter: str = field(row, "delimiter", str, place)
    if len(delimiter) != 1:
        raise refused(f"{place}.delimiter", f"{shown(delimiter)} is not one character")
    return delimiter


def _length(row: dict[str, Any], place: str) -> int:
    length: int = field(row, "length", int, place, 5)
    if not 0 < length < 2**32:
        raise refused(f"{place}.length", f"{length} is no number of characters")
    return length


def _behavior(row: dict[str, Any], place: str, default: Any = ...) -> str:
    behavior: str = field(row, "behavior", str, place, default)
    if behavior not in _BEHAVIORS:
        raise refused(f"{place}.behavior", f"{shown(behavior)} is none of {', '.join(_BEHAVIORS)}")
    return behavior


def _split(row: dict[str, Any], place: str) -> tuple[Stage, str | None]:
    behavior, invert = _behavior(row, place), field(row, "invert", bool, place)
    name, text = pattern_of(row, place)
    if name == "String":
        return Stage("literal", text, behavior, invert), None
    if text in SPELLINGS:
        return Stage("scanner", SPELLINGS[text], behavior, invert), text
    try:
        translation = from_oniguruma.analyse(text)
        pattern = compiled(translation.pattern, translation.nullable)
    except ValueError as error:
        raise refused(f"{place}.pattern", str(error)) from None
    return Stage("nullable" if translation.nullable else "pattern", pattern, behavior, invert), translation.pattern


def one_pattern(splits: Splits) -> patterns.Pattern | None:
    """Return the one pattern that splits as the stages `after` do; None if there is none."""
    if len(splits.after) > 1:
        return None
    if not splits.after:
        return patterns.resolve(None)
    [stage] = splits.after
    [source] = splits.sources
    keeps_all = stage.behavior == "Isolated"
    keeps_matches = stage.behavior == "Removed" and stage.invert
    if source is None or stage.kind not in ("scanner", "pattern") or not (keeps_all or keeps_matches):
        return None
    if stage.kind == "pattern":
        return patterns.of_source(source, 0, "keep" if keeps_all else "drop")
    # The named patterns match all text, so there is no unmatched text to keep.
    return patterns.resolve(patterns.NAMED[stage.argument])
