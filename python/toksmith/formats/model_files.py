"""SentencePiece's `.model` files and the metadata of GGUF files: writing. The core reads them."""

from __future__ import annotations

import base64
import functools
import os
import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import _core
from .._internal.messages import shown
from ..files import whole_files
from . import verification
from .huggingface import read, templates
from .huggingface.characters import BYTE_NAMES, META, Spelling
from .huggingface.write import merges_of
from .parts import Parts
from .spelling import spell

_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED = range(1, 5)
_BYTE = 6
Rows = list[tuple[str, float, int]]


def save_sentencepiece(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a SentencePiece `.model`. See `Tokenizer.save`."""
    rules, rows = _rules(parts), _rows(parts)
    pipeline = parts.pipeline
    assert pipeline is not None
    if any(not token.special and not token.normalized for token in pipeline.added_tokens):
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
    whole_files.write(path, content, functools.partial(_verify_sentencepiece, parts) if verify else None)
    if pipeline.template is not None and pipeline.template.added():
        warnings.warn(f"{path} holds no template: add the tokens around a text as its library does", stacklevel=4)


def _verify_sentencepiece(parts: Parts, paths: list[Path]) -> None:
    _verify(parts, read.read_sentencepiece, paths)
    module = verification.module("sentencepiece")
    if module is not None:
        model = paths[0].read_bytes()
        other = verification.reread("the file", lambda: module.SentencePieceProcessor(model_proto=model))
        verification.compare(
            "the file", verification.stress_texts(parts), lambda text: parts.core.encode(text, False), other.encode
        )


def save_gguf(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a GGUF file of the tokenizer alone. See `Tokenizer.save`."""
    fields: dict[str, Any] = {"general.architecture": "llama", **_chat_fields(parts)}
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
    pipeline = parts.pipeline
    model = parts.core.spelled_model() or {}
    others = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges")
    if pipeline is None or parts.core.characters() is None or any(map(model.get, others)):
        raise ValueError("only a tokenizer that merges characters, as SentencePiece does; save() keeps everything")
    if not all(token.is_plain for token in pipeline.added_tokens):
        raise ValueError("a SentencePiece model has no added tokens with conditions; save() keeps everything")
    normalizer = pipeline.spec["normalizer"] or {}
    if normalizer.get("type") == "SentencePiece":
        return dict(normalizer)
    if normalizer not in (_ESCAPE, _PREFIX) or pipeline.spec["pre_tokenizer"] is not None:
        raise ValueError(
            "of the steps before the model, a SentencePiece model here has spaces that become U+2581, and one put "
            "before a text (Replace, Prepend); save() keeps everything"
        )
    return {
        "precompiled_charsmap": "",
        "add_dummy_prefix": normalizer == _PREFIX,
        "remove_extra_whitespaces": False,
        "escape_whitespaces": True,
        "treat_whitespace_as_suffix": False,
    }


_ESCAPE = {"type": "Replace", "pattern": {"String": " "}, "content": META}
_PREFIX = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": META}, _ESCAPE]}


def _rows(parts: Parts) -> Rows:
    """Return the pieces by id: text, score and type. The score falls with the rank."""
    assert parts.pipeline is not None
    added = {token.id: token for token in parts.pipeline.added_tokens}
    characters = parts.pipeline.spec["characters"]
    unknown = characters["unk_token"]
    spelling = Spelling(parts.core, parts.pipeline.steps.spelling == "spaces", {})
    names = {id: added[id].content if id in added else spelling.of_id(id) for id in sorted(parts.vocab)}
    if [*names] != [*range(len(names))]:
        raise ValueError("the ids are not 0, 1, 2, …: a list of pieces has no gaps; save() keeps everything")

    def kind(id: int, name: str) -> int:
        if name == unknown or id in added:
            return _UNKNOWN if name == unknown else _CONTROL if added[id].special else _USER_DEFINED
        return _BYTE if name in _BYTES else _NORMAL

    kinds = {id: kind(id, name) for id, name in names.items()}
    pieces = {names[id] for id, kind in kinds.items() if kind == _NORMAL}
    scores = _scores([(names[left], names[right]) for left, right in parts.core.merges()], pieces)
    rows = [(name, scores.get(name, -float(len(scores))), kinds[id]) for id, name in names.items()]
    if not (characters["fuse_unk"] or _falls_back(rows)):
        raise ValueError(
            "in a SentencePiece model unknown characters in a row are one token; save() keeps everything"
        )
    return rows


def _scores(merges: list[tuple[str, str]], pieces: set[str]) -> dict[str, float]:
    """Return the scores of the pieces that merges make.

    SentencePiece merges any two pieces that make one, the best piece first. Of the pairs of one piece only one ever
    meets in a text (see `src/huggingface/sentencepiece.rs`): their order does not matter, if they are in a row.
    """
    scores: dict[str, float] = {}
    last = ""
    for left, right in merges:
        if left + right in scores and left + right != last:
            raise ValueError(f"the merges that make {shown(left + right)} are not in a row; save() keeps everything")
        last = left + right
        scores.setdefault(last, -float(len(scores)))
    known = set(merges)
    for piece in pieces:
        for at in range(1, len(piece)):
            pair = piece[:at], piece[at:]
            if pair not in known and pieces.issuperset(pair):
                raise ValueError(
                    f"SentencePiece would merge {shown(pair[0])} and {shown(pair[1])}, which no merge of this "
                    "tokenizer does; save() keeps everything"
                )
    return scores


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
    pipeline = parts.pipeline
    if pipeline is not None and (
        pipeline.steps.normalizer or pipeline.steps.has_prefix is not False or pipeline.steps.irregular()
    ):
        raise ValueError(f"GGUF cannot hold {' and '.join(pipeline.reasons())}; save() keeps everything")
    merges, ignores_merges = merges_of(parts)
    stages = [*_stages(parts)]
    pre = _core.pre_tokenizer_name(stages, ignores_merges)
    if pre is None:
        whole = " that takes pretokens that are tokens without merging" * ignores_merges
        raise ValueError(f"llama.cpp has no pre-tokenizer{whole} for the pattern {' and '.join(map(shown, stages))}")
    kinds = dict.fromkeys(parts.special_tokens.values(), _CONTROL)
    kinds |= {token.id: _USER_DEFINED for token in pipeline.added_tokens if not token.special} if pipeline else {}
    specials = {id: token for token, id in parts.special_tokens.items()}
    ids = sorted(parts.vocab)
    if ids != [*range(len(ids))]:
        raise ValueError("the ids are not 0, 1, 2, …: a list of tokens has no gaps; save() keeps everything")
    return {
        "model": "gpt2",
        "pre": pre,
        "tokens": [specials.get(id) or spell(parts.vocab[id]) for id in ids],
        "token_type": [kinds.get(id, _NORMAL) for id in ids],
        "merges": [f"{spell(left)} {spell(right)}" for left, right in merges],
    }


def _stages(parts: Parts) -> Iterator[str]:
    """Yield what splits a text: names of patterns, and other expressions in the dialect of Oniguruma."""
    split = parts.pipeline.spec["pre_tokenizer"] if parts.pipeline is not None else None
    if split is None:
        yield parts.pattern.name or parts.pattern.text or "none"
        return
    for row in split.get("pretokenizers", [split]):
        if row["type"] == "Split" and row["behavior"] == "Isolated" and not row["invert"]:
            expression = row["pattern"].get("Regex", "")
            yield _core.ONIGURUMA_SPELLINGS.get(expression, expression)
        elif row["type"] == "Digits" and row["individual_digits"]:
            yield r"\p{N}"
        elif row["type"] != "ByteLevel":
            yield str(row["type"])
        elif row.get("use_regex", True):
            yield "gpt2"


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


def _chat_fields(parts: Parts) -> dict[str, Any]:
    """Return the chat templates, and the ids of the tokens that they begin and end texts with."""
    files = parts.origin.files if parts.origin is not None else {}
    roles = templates.special_tokens(files)
    ids = {f"ggml.{role}_id": parts.special_tokens.get(roles.get(role, "")) for role in ("bos_token", "eos_token")}
    sources = templates.templates(files).items()
    named = {"chat_template" + f".{name}" * (name != "default"): source for name, source in sources}
    return {f"tokenizer.{name}": value for name, value in (ids | named).items() if value is not None}


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
