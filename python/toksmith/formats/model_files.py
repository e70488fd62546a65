"""SentencePiece's `.model` files and the metadata of GGUF files: writing. The core reads them."""

from __future__ import annotations

import base64
import functools
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..files import whole_files
from . import verification
from .huggingface import read
from .huggingface.characters import BYTE_NAMES, Spelling
from .huggingface.write import merges_of
from .parts import Parts
from .spelling import spell

_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED = range(1, 5)
_BYTE = 6
_PRE = {"gpt2": "gpt-2", "r50k": "gpt-2", "qwen2": "qwen2", "qwen3.5": "qwen35", "o200k": "gpt-4o"}
_PRE_OF_RANKS = {"cl100k_old": "llama-bpe", "llama3": "llama-bpe", "tekken": "tekken"}
_PRE_OF_MERGES = {"cl100k_old": "dbrx", "llama3": "dbrx"}
"""Llama.cpp's pre-tokenizers of named patterns; the last two where whole pretokens are not merged, or are."""

Rows = list[tuple[str, float, int]]


def save_sentencepiece(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a SentencePiece `.model`. See `Tokenizer.save`."""
    rules, rows = _rules(parts), _rows(parts)
    assert parts.pipeline is not None
    if parts.pipeline.template is not None:
        raise ValueError("a SentencePiece model holds no template; save() keeps everything")
    if any(not token.special and not token.normalized for token in parts.pipeline.added_tokens):
        raise ValueError("a SentencePiece model finds symbols after normalization; save() keeps everything")
    trainer = b"".join(
        [_number(3, 2), _number(24, rules["treat_whitespace_as_suffix"]), _number(35, _falls_back(rows))]
    )
    flags = [rules[name] for name in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")]
    charsmap = base64.b64decode(rules["precompiled_charsmap"])
    normalizer = _bytes(2, charsmap) + b"".join(_number(at, flag) for at, flag in enumerate(flags, 3))
    pieces = (
        _bytes(1, _bytes(1, text.encode()) + b"\x15" + struct.pack("<f", score) + _number(3, kind))
        for text, score, kind in rows
    )
    content = [*pieces, _bytes(2, trainer), _bytes(3, normalizer)]
    check = functools.partial(_verify, parts, read.read_sentencepiece)
    whole_files.write(path, content, check if verify else None)


def save_gguf(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a GGUF file of the tokenizer alone. See `Tokenizer.save`."""
    fields: dict[str, Any] = {"general.architecture": "llama"}
    own = _byte_level_fields(parts) if parts.core.characters() is None else _spm_fields(parts)
    fields |= {f"tokenizer.ggml.{name}": value for name, value in (own | _template_fields(parts)).items()}
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields))
    content = [head, *(_text(name) + _value(value) for name, value in fields.items())]
    check = functools.partial(_verify, parts, read.read_gguf)
    whole_files.write(path, content, check if verify else None)


def _verify(parts: Parts, load: Any, paths: list[Path]) -> None:
    loaded = verification.reread("the file", lambda: load(paths[0]))
    verification.compare_texts("the file", parts, loaded.core)
    if loaded.special_tokens != parts.special_tokens:
        raise ValueError("the file, read back, has other special tokens: nothing was written")


def _rules(parts: Parts) -> dict[str, Any]:
    """Return the normalizer of a SentencePiece model."""
    characters = parts.core.characters()
    if parts.pipeline is None or characters is None or not characters[3]:
        raise ValueError(
            "only a tokenizer from a SentencePiece model or a GGUF file has SentencePiece's order of merges, in "
            "which all pairs that make one piece have one rank; save() keeps everything"
        )
    normalizer = parts.pipeline.spec["normalizer"]
    if normalizer["type"] == "SentencePiece":
        return dict(normalizer)
    return {
        "precompiled_charsmap": "",
        "add_dummy_prefix": normalizer["type"] == "Sequence",
        "remove_extra_whitespaces": False,
        "escape_whitespaces": True,
        "treat_whitespace_as_suffix": False,
    }


def _rows(parts: Parts) -> Rows:
    """Return the pieces by id: text, score and type. The score falls with the rank."""
    assert parts.pipeline is not None
    added = {token.id: token for token in parts.pipeline.added_tokens}
    unknown = parts.pipeline.spec["characters"]["unk_token"]
    spelling = Spelling(parts.core, parts.pipeline.steps.spelling == "spaces", {})
    names = {id: added[id].content if id in added else spelling.of_id(id) for id in sorted(parts.vocab)}
    if [*names] != [*range(len(names))]:
        raise ValueError("the ids are not 0, 1, 2, …: a list of pieces has no gaps; save() keeps everything")
    scores: dict[str, float] = {}
    for left, right in parts.core.merges():
        scores.setdefault(names[left] + names[right], -float(len(scores)))

    def kind(id: int, name: str) -> int:
        if id in added:
            return _UNKNOWN if name == unknown else _CONTROL if added[id].special else _USER_DEFINED
        return _BYTE if name in _BYTES else _NORMAL

    return [(name, scores.get(name, -float(len(scores))), kind(id, name)) for id, name in names.items()]


_BYTES = frozenset(BYTE_NAMES)


def _falls_back(rows: Rows) -> bool:
    return sum(kind == _BYTE for _, _, kind in rows) == len(BYTE_NAMES)


def _spm_fields(parts: Parts) -> dict[str, Any]:
    rules, rows = _rules(parts), _rows(parts)
    changes = [name for name in ("remove_extra_whitespaces", "treat_whitespace_as_suffix") if rules[name]]
    if changes or rules["precompiled_charsmap"] or not _falls_back(rows):
        changes += ["precompiled_charsmap"] * bool(rules["precompiled_charsmap"])
        raise ValueError(f"llama.cpp does not have {' and '.join(changes) or 'models without tokens for bytes'}")
    texts, scores, kinds = zip(*rows, strict=True)
    return {
        "model": "llama",
        "pre": "default",
        "tokens": list(texts),
        "scores": list(scores),
        "token_type": list(kinds),
        "add_space_prefix": bool(rules["add_dummy_prefix"]),
    }


def _byte_level_fields(parts: Parts) -> dict[str, Any]:
    merges, ignores_merges = merges_of(parts)
    name = parts.pattern.name or ""
    pre = (_PRE | (_PRE_OF_RANKS if ignores_merges else _PRE_OF_MERGES)).get(name)
    if pre is None or (ignores_merges and name in _PRE):
        raise ValueError(f"llama.cpp has no pre-tokenizer for the pattern {name or parts.pattern.text!r}")
    specials = {id: token for token, id in parts.special_tokens.items()}
    ids = sorted(parts.vocab)
    if ids != [*range(len(ids))]:
        raise ValueError("the ids are not 0, 1, 2, …: a list of tokens has no gaps; save() keeps everything")
    return {
        "model": "gpt2",
        "pre": pre,
        "tokens": [specials.get(id) or spell(parts.vocab[id]) for id in ids],
        "token_type": [_CONTROL if id in specials else _NORMAL for id in ids],
        "merges": [f"{spell(left)} {spell(right)}" for left, right in merges],
    }


def _template_fields(parts: Parts) -> dict[str, Any]:
    """Return the tokens that the template adds around a text: BOS before it, EOS behind it."""
    template = parts.pipeline.template if parts.pipeline is not None else None
    ids = template.ids([]) if template is not None else []
    around = template.ids([0]) if template is not None else [0]
    before = around.index(0) if len(ids) <= 2 else 2
    if before > 1 or len(around) - before > 2:
        raise ValueError("GGUF holds at most one token before a text and one behind it; save() keeps everything")
    fields: dict[str, Any] = {"add_bos_token": before == 1, "add_eos_token": len(around) - before == 2}
    if before:
        fields["bos_token_id"] = around[0]
    if len(around) - before == 2:
        fields["eos_token_id"] = around[-1]
    return fields


# The two formats of bytes


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(int(number))


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _value(value: Any) -> bytes:
    if isinstance(value, list):
        kind = 8 if isinstance(value[0], str) else 6 if isinstance(value[0], float) else 5
        return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(_items(value, kind))
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    return struct.pack("<I?", 7, value) if isinstance(value, bool) else struct.pack("<II", 4, value)


def _items(values: list[Any], kind: int) -> Iterator[bytes]:
    if kind == 8:
        yield from map(_text, values)
    else:
        yield struct.pack(f"<{len(values)}{'f' if kind == 6 else 'i'}", *values)
