"""Models that merge characters, as SentencePiece's do: how they spell tokens, and writing them."""

from __future__ import annotations

from ... import _core
from ..parts import Parts
from .checks import Json

META = "\u2581"
"""The character for a space in the tokens of SentencePiece."""
BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]
"""How the tokens of the bytes are spelled."""


def plain(text: str, are_plain: bool) -> bytes:
    """Return the bytes that the core has for a token."""
    return (text.replace(META, " ") if are_plain else text).encode()


class Spelling:
    """How the file spells the tokens of a core that merges characters."""

    __slots__ = ("_are_plain", "_bytes", "_core", "_ids", "_names")

    def __init__(self, core: _core.Tokenizer, are_plain: bool, names: dict[int, str]) -> None:
        in_bytes = (core.characters() or ([], None, []))[0]
        model = core.spelled_model()
        self._ids: dict[str, int] | None = None if model is None else model["vocab"]
        self._names = {**{id: name for name, id in (self._ids or {}).items()}, **names}
        self._core, self._are_plain = core, are_plain
        self._bytes = {id: BYTE_NAMES[byte] for byte, id in enumerate(in_bytes)}

    def of_id(self, id: int) -> str:
        """Return the spelling of an id; `KeyError` if it has no token."""
        name = self._names.get(id) or self._bytes.get(id)
        if name is None:
            text = self._core.token_bytes(id).decode()
            name = text.replace(" ", META) if self._are_plain else text
        return name

    def id_of(self, text: str) -> int | None:
        """Return the id that the model has for a spelling, without added tokens; None if there is none."""
        if self._ids is not None:
            return self._ids.get(text)
        if text in BYTE_NAMES and self._bytes:
            return next((id for id, name in self._bytes.items() if name == text), None)
        try:
            id = self._core.token_id(plain(text, self._are_plain))
        except KeyError:
            return None
        return id if self.of_id(id) == text else None


def model_object(parts: Parts) -> Json:
    """Return the model of a `tokenizer.json` for a tokenizer that merges characters."""
    assert parts.pipeline is not None
    if "SentencePiece" in parts.pipeline.steps.normalizer:
        raise ValueError("tokenizer.json cannot hold SentencePiece's normalizer; save() keeps everything")
    if (model := parts.core.spelled_model()) is not None:
        return model
    names = {token.id: token.content for token in parts.pipeline.added_tokens}
    spelling = Spelling(parts.core, parts.pipeline.steps.spelling == "spaces", names)
    beside = _beside(parts)
    vocab = {spelling.of_id(id): id for id in sorted(parts.vocab) if id not in beside}
    pairs = [(spelling.of_id(left), spelling.of_id(right)) for left, right in parts.core.merges()]
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
