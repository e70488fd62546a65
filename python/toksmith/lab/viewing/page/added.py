"""The steps that a text goes through before it is cut, as plain data: added tokens, normalizer, a space in front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import normalization

if TYPE_CHECKING:
    from ....formats.huggingface.pipeline import AddedToken
    from ....formats.parts import Parts


def unknown(parts: Parts) -> list[str]:
    """Return the names of the steps before the cut that a page cannot run."""
    pipeline = parts.pipeline
    if pipeline is None or pipeline.is_plain:
        return []
    if pipeline.merges_characters:
        return ["merging of characters instead of bytes"]
    steps = normalization.unknown(pipeline.steps.normalizer)
    names = [token.content for token in pipeline.added_tokens if not token.is_plain][:3]
    return [
        *([f"the normalizer ({', '.join(steps)})"] if steps else []),
        *(["a change of each part of the text"] if pipeline.steps.has_prefix is None else []),
        *([f"added tokens with conditions ({', '.join(map(repr, names))})"] if names else []),
    ]


def tokens(parts: Parts) -> list[dict[str, Any]]:
    """Return the added tokens: content, id, whether each is found in normalized text, and by which other text."""
    pipeline = parts.pipeline
    if pipeline is None or pipeline.is_plain:
        return [_row(name, id, name, False, True) for name, id in parts.special_tokens.items()]
    normalize = pipeline.steps.normalize

    def found_by(token: AddedToken) -> str:
        return normalize(token.content) if token.normalized else token.content

    return [
        _row(token.content, token.id, found_by(token), token.normalized, token.special)
        for token in pipeline.added_tokens
    ]


def _row(content: str, id: int, found_by: str, is_normalized: bool, is_special: bool) -> dict[str, Any]:
    row = {"content": content, "id": id, "isNormalized": is_normalized, "isSpecial": is_special}
    return row if found_by == content else {**row, "foundBy": found_by}


def steps(parts: Parts) -> list[normalization.Step]:
    """Return the steps of the normalizer, none of them `unknown`."""
    return [] if parts.pipeline is None else [*map(normalization.step, parts.pipeline.steps.normalizer)]


def has_prefix(parts: Parts) -> bool:
    """Return whether a text that begins with no space gets one."""
    return parts.pipeline is not None and parts.pipeline.steps.has_prefix is True
