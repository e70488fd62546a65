"""A tokenizer as `tokenizers` writes it: the content of a `tokenizer.json`."""

from __future__ import annotations

from ..parts import Parts
from . import characters, file_patterns
from .checks import BPE_OPTIONS, Json

_FIELDS = ("truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder")


def tokenizer_object(parts: Parts) -> Json:
    """Return the content of `tokenizer.json`."""
    fields, options = _fields(parts)
    beside = parts.origin.beside if parts.origin is not None else ()
    specials = [(name, id) for name, id in parts.special_tokens.items() if name not in beside]
    if parts.core.is_spelled() or (parts.pipeline is not None and parts.pipeline.merges_characters):
        return {"version": "1.0", **fields, "model": characters.model_object(parts)}
    # A merge as one string is read by every version; no spelling of a token holds a space.
    merges, ignore_merges = parts.core.listed_merges()
    return {
        "version": "1.0",
        **fields,
        "model": {
            "type": "BPE",
            "dropout": None,
            **options,
            "ignore_merges": ignore_merges,
            "vocab": parts.core.spelled_vocab(specials),
            "merges": merges,
        },
    }


def _fields(parts: Parts) -> tuple[Json, Json]:
    """Return all fields but the model, and the options of the model that have no effect on ids."""
    origin = parts.origin
    if origin is not None and origin.content is not None:
        model = origin.content["model"]
        options = {name: usual if model.get(name) is None else model[name] for name, usual in BPE_OPTIONS.items()}
        return {name: origin.content.get(name) for name in _FIELDS}, options
    if parts.pipeline is not None:
        fields = {name: parts.pipeline.spec.get(name) for name in _FIELDS}
        return {**fields, "decoder": characters.decoder(fields["decoder"])}, BPE_OPTIONS
    return _own_fields(parts), BPE_OPTIONS


def _own_fields(parts: Parts) -> Json:
    """Return all fields but the model, for a tokenizer that has no parts from a `tokenizer.json`."""
    specials = sorted(parts.special_tokens.items(), key=lambda item: item[1])
    return {
        "truncation": None,
        "padding": None,
        "added_tokens": [added(name, id) for name, id in specials],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer(parts),
        "post_processor": None,
        "decoder": _byte_level(),
    }


def _byte_level(use_regex: bool = False) -> Json:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def added(name: str, id: int, special: bool = True) -> Json:
    """Return an added token that is found wherever its name stands."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id, "content": name, **flags, "special": special}


def pre_tokenizer(parts: Parts) -> Json:
    """Return a pre-tokenizer that cuts text at the pattern's places: `ByteLevel`, after a `Split` if need be."""
    pattern = parts.pattern
    if pattern.text is None:
        return _byte_level()
    if pattern.name == "gpt2" and pattern.unmatched == "keep":
        return _byte_level(use_regex=True)
    dropped = pattern.unmatched == "drop"
    split = {
        "type": "Split",
        "pattern": {"Regex": file_patterns.spelling(pattern)},
        "behavior": "Removed" if dropped else "Isolated",
        "invert": dropped,
    }
    return {"type": "Sequence", "pretokenizers": [split, _byte_level()]}
