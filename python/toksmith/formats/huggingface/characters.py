"""Models that merge characters, as SentencePiece's do: how they spell tokens, and writing them."""

from __future__ import annotations

from ..parts import Parts
from .checks import Json

META = "\u2581"
"""The character for a space in the tokens of SentencePiece."""


def plain(text: str, are_plain: bool) -> bytes:
    """Return the bytes that the core has for a token."""
    return (text.replace(META, " ") if are_plain else text).encode()


def decoder(spec: Json | None) -> Json | None:
    """Return a decoder as a `tokenizer.json` has it: SentencePiece's own as converters write it."""
    if spec is None or spec["type"] != "SentencePiece":
        return spec
    stages: list[Json] = [
        {"type": "Replace", "pattern": {"String": META}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if spec["add_dummy_prefix"]:
        stages.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": stages}


def model_object(parts: Parts) -> Json:
    """Return the model of a `tokenizer.json` for a tokenizer that merges characters."""
    assert parts.pipeline is not None
    if "SentencePiece" in parts.pipeline.steps.normalizer:
        raise ValueError("tokenizer.json cannot hold SentencePiece's normalizer; save() keeps everything")
    if parts.core.ties():
        raise ValueError(
            "tokenizer.json ranks merges, and cannot hold pieces of one score, of which the leftmost in a text "
            'comes first; save("NAME.toksmith") keeps everything, and so does save(path, format="sentencepiece")'
        )
    if (model := parts.core.spelled_model()) is not None:
        return model
    added = {token.id: token.content for token in parts.pipeline.added_tokens}
    names = {id: added.get(id) or parts.core.spelled(id) for id in sorted(parts.vocab)}
    beside = _beside(parts)
    vocab = {name: id for id, name in names.items() if id not in beside}
    pairs = [(names[left], names[right]) for left, right in parts.core.merges()]
    has_spaces = any(" " in text for pair in pairs for text in pair)
    merges = [list(pair) if has_spaces else " ".join(pair) for pair in pairs]
    return {
        "type": "BPE",
        "dropout": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        **parts.pipeline.spec["characters"],
        "ignore_merges": False,
        "vocab": vocab,
        "merges": merges,
    }


def _beside(parts: Parts) -> set[int]:
    """Return the ids that the vocabulary of the model does not have."""
    if parts.origin is not None and parts.origin.content is not None:
        return {parts.special_tokens[name] for name in parts.origin.beside}
    characters = parts.core.characters()
    assert characters is not None
    highest = max(parts.vocab.keys() - {*characters[2]})
    return {id for id in characters[2] if id > highest}  # others would get another id there
