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
    if parts.pipeline is not None and "SentencePiece" in parts.pipeline.steps.normalizer:
        raise ValueError("tokenizer.json cannot hold SentencePiece's normalizer; save() keeps everything")
    if parts.core.ties():
        raise ValueError(
            "tokenizer.json ranks merges, and cannot hold pieces of one score, of which the leftmost in a text "
            'comes first; save("NAME.toksmith") keeps everything, and so does save(path, format="sentencepiece")'
        )
    if (model := parts.core.spelled_model()) is not None:
        return model
    assert parts.pipeline is not None
    names = _names(parts)
    beside = _beside(parts)
    vocab = {name: id for id, name in names.items() if id not in beside}
    pairs = [(names[left], names[right]) for left, right in parts.core.merges()]
    return {
        "type": "BPE",
        "dropout": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        **parts.pipeline.spec["characters"],
        "ignore_merges": False,
        "vocab": vocab,
        "merges": _spelled_merges(pairs),
    }


def content_of_pieces(parts: Parts) -> Json:
    """Return the content of a `tokenizer.json` for the pieces of a `.model`, as classes of transformers take them.

    These ignore scores and the types of pieces: a merge ranks by the id that it makes, whatever pieces it joins.
    """
    assert parts.pipeline is not None
    unknown = parts.pipeline.spec["characters"]["unk_token"]
    rows = [row for row in parts.pipeline.spec["added_tokens"] if row["content"] != unknown]
    vocab = {name: id for id, name in _names(parts).items()}
    pairs: list[tuple[str, str]] = []
    for name in vocab:
        cuts = ((name[:at], name[at:]) for at in range(1, len(name)))
        pairs += [(left, right) for left, right in cuts if left in vocab and right in vocab]
    return {
        "version": "1.0",
        "added_tokens": [{**row, "normalized": False} for row in rows],
        "model": {"type": "BPE", "vocab": vocab, "merges": _spelled_merges(pairs)},
    }


def _names(parts: Parts) -> dict[int, str]:
    """Return the tokens as the file spells them, in the order of ids."""
    assert parts.pipeline is not None
    added = {token.id: token.content for token in parts.pipeline.added_tokens}
    return {id: added.get(id) or parts.core.spelled(id) for id in sorted(parts.vocab)}


def _spelled_merges(pairs: list[tuple[str, str]]) -> list[str] | list[list[str]]:
    if any(" " in text for pair in pairs for text in pair):
        return [list(pair) for pair in pairs]
    return [" ".join(pair) for pair in pairs]


def _beside(parts: Parts) -> set[int]:
    """Return the ids that the vocabulary of the model does not have."""
    if parts.origin is not None and parts.origin.content is not None:
        return {parts.special_tokens[name] for name in parts.origin.beside}
    characters = parts.core.characters()
    assert characters is not None
    highest = max(parts.vocab.keys() - {*characters[2]})
    return {id for id in characters[2] if id > highest}  # others would get another id there
