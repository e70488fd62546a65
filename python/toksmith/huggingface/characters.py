"""Models that merge characters, as SentencePiece's do: reading and writing them.

Merging begins with the characters of a text. A character that is no token falls back to the tokens of its bytes
(`<0x0A>`), or to the unknown token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from . import model as byte_level
from .checks import field, refused, shown
from .decoders import META, byte_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..parts import Parts
    from ..patterns import Pattern
    from .added import AddedToken

BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]
"""How the tokens of the bytes are spelled."""

Ids = tuple[list[int], int | None, list[int]]


class CharacterModel(NamedTuple):
    """The arguments that the core is made of; see `_core.Tokenizer.of_characters`."""

    vocab: dict[int, bytes]
    merges: list[tuple[int, int]]
    bytes: list[int]
    unknown: int | None
    outside: list[int]
    specials: list[tuple[str, int | None]]

    def core(self, pattern: Pattern) -> _core.Tokenizer:
        """Return the core."""
        return _core.Tokenizer.of_characters(*self, pattern.core())


def merges_characters(content: dict[str, Any]) -> bool:
    """Whether the model of a file merges characters: it has no ByteLevel, and a rule for unknown characters."""
    model = content["model"]
    has_fallback = model.get("byte_fallback") is True or model.get("unk_token") is not None
    return has_fallback and not _has_byte_level(content.get("pre_tokenizer"))


def _has_byte_level(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    rows = part.get("pretokenizers")
    return part.get("type") == "ByteLevel" or (isinstance(rows, list) and any(map(_has_byte_level, rows)))


def options_of(model: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the model that decide what becomes of unknown characters.

    Raises:
        ValueError: One is malformed, or cannot be honoured.
    """
    byte_level.check_options(model)
    if field(model, "ignore_merges", bool, "$.model", False):
        raise refused("$.model.ignore_merges", "with a model that merges characters it is not read; set it to false")
    flags = {name: bool(model.get(name)) for name in ("byte_fallback", "fuse_unk")}
    return {"unk_token": model.get("unk_token"), **flags}


def read(
    model: dict[str, Any],
    vocab: dict[str, int],
    added: list[AddedToken],
    are_plain: bool,
    normalized: Callable[[str], str],
) -> CharacterModel:
    """Return the arguments that the core is made of.

    Args:
        model: The model of the file.
        vocab: Its vocabulary.
        added: The added tokens.
        are_plain: Whether the core has a plain space for each U+2581.
        normalized: The normalizer.

    Raises:
        ValueError: A merge is malformed or of unknown tokens, or unknown characters are treated in a way that
            toksmith does not have.
    """
    pairs = byte_level.merges_of(model, vocab)
    if are_plain and META not in vocab:
        raise refused("$.model.vocab", "U+2581, which stands for spaces here, is no token")
    needed = {token for left, right in pairs for token in (left, right, left + right)}
    in_bytes = [name for name in BYTE_NAMES if name in vocab] if model.get("byte_fallback") else []
    unknown = None if len(in_bytes) == 256 else _unknown(model, vocab, in_bytes)
    _check_needed(needed.intersection([*in_bytes, *(model.get("unk_token"),) * (unknown is not None)]))
    tokens: dict[int, bytes] = {}
    outside = []
    contents = {token.content: token for token in added}
    for text, id in vocab.items():
        if byte_of(text) is not None and text not in BYTE_NAMES:
            raise refused(f"$.model.vocab[{shown(text)}]", "a token for a byte that is not spelled as <0x0A> is")
        if are_plain and " " in text:
            if text in needed or text not in contents:
                raise refused(f"$.model.vocab[{shown(text)}]", "holds a space, and no text has one when it is merged")
            outside.append(id)
        found = contents.get(text)
        free = found is not None and text not in needed and len(text) > 1 and id != unknown
        shown_as = normalized(text) if found is not None and free and found.normalized else text
        tokens[id] = plain(shown_as, are_plain)
    for byte, name in enumerate(in_bytes):
        tokens[vocab[name]] = bytes([byte])
    for text, id in byte_level.new_tokens(added, vocab):
        tokens[id] = plain(normalized(text) if contents[text].normalized else text, are_plain)
        outside.append(id)
    return CharacterModel(
        tokens,
        [(vocab[left], vocab[right]) for left, right in pairs],
        [vocab[name] for name in in_bytes],
        unknown,
        outside,
        [(token.content, token.id) for token in added],
    )


def plain(text: str, are_plain: bool) -> bytes:
    """Return the bytes that the core has for a token."""
    return (text.replace(META, " ") if are_plain else text).encode()


def _unknown(model: dict[str, Any], vocab: dict[str, int], in_bytes: list[str]) -> int:
    if in_bytes:
        missing = next(name for name in BYTE_NAMES if name not in vocab)
        raise refused("$.model.vocab", f"with byte_fallback only some bytes have a token, {missing} is missing")
    name = model.get("unk_token")
    if name is None:
        raise refused("$.model.unk_token", "there is none, and a character without a token would be left out")
    if name not in vocab:
        raise refused("$.model.unk_token", f"{shown(name)} is no token of the vocabulary")
    return vocab[name]


def _check_needed(names: set[str]) -> None:
    if names:
        raise refused(
            "$.model.merges", f"a merge takes or makes {shown(min(names))}, which stands for what is unknown"
        )


class Spelling:
    """How the file spells the tokens of a core that merges characters."""

    __slots__ = ("_are_plain", "_bytes", "_core", "_names")

    def __init__(self, core: _core.Tokenizer, are_plain: bool, names: dict[int, str]) -> None:
        in_bytes = (core.characters() or ([], None, []))[0]
        self._core, self._are_plain, self._names = core, are_plain, names
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
        if self._bytes and byte_of(text) is not None:
            return next((id for id, name in self._bytes.items() if name == text), None)
        try:
            id = self._core.token_id(plain(text, self._are_plain))
        except KeyError:
            return None
        return id if self.of_id(id) == text else None


def model_object(parts: Parts) -> dict[str, Any]:
    """Return the model of a `tokenizer.json` for a tokenizer that merges characters."""
    assert parts.pipeline is not None and parts.pipeline.spaces is not None
    names = {token.id: token.content for token in parts.pipeline.added_tokens}
    spelling = Spelling(parts.core, parts.pipeline.spaces.are_plain, names)
    beside = _beside(parts)
    vocab = {spelling.of_id(id): id for id in sorted(parts.vocab) if id not in beside}
    pairs = [(spelling.of_id(left), spelling.of_id(right)) for left, right in parts.core.merges()]
    merges: list[Any] = [f"{left} {right}" for left, right in pairs]
    if any(" " in text for pair in pairs for text in pair):
        merges = [list(pair) for pair in pairs]
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
    found = parts.core.characters()
    assert found is not None
    return set(found[2])
