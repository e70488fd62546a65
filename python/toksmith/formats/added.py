"""A tokenizer with more special tokens, at ids of choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .. import _core
from .._internal import arguments
from .._internal.messages import shown
from .huggingface.checks import Json
from .huggingface.pipeline import Pipeline
from .parts import Parts

_FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def with_special_tokens(parts: Parts, special_tokens: Mapping[str, int]) -> Parts:
    """Return the parts with more special tokens. See `Tokenizer.with_special_tokens`."""
    if not hasattr(special_tokens, "items"):
        raise TypeError(f"special_tokens is a mapping from names to ids, not {type(special_tokens).__name__}")
    named = {name: id for name, id in arguments.special_list(special_tokens) if id is not None}
    known = parts.special_tokens
    more = sorted((id, name) for name, id in named.items() if known.get(name) != id)
    _check_new(parts, more)
    if not more:
        return parts
    core = parts.core.with_special_tokens([(name, id) for id, name in more]) or _rebuilt(parts, more)
    pipeline = parts.pipeline and _pipeline(parts.pipeline, more)
    if pipeline is not None:
        core = core.with_pipeline(pipeline.steps)
    return Parts(core, parts.pattern, pipeline, parts.record, parts.origin and parts.origin.moved())


def _check_new(parts: Parts, more: Iterable[tuple[int, str]]) -> None:
    """Check that no token has the id of a new special token, or its text."""
    ids: dict[int, str | bytes] = dict(parts.vocab)
    texts = {token: id for id, token in ids.items()}
    added = {token.content: token.id for token in parts.pipeline.added_tokens} if parts.pipeline else {}
    for id, name in more:
        if id in ids:
            raise ValueError(f"special token {shown(name)}: id {id} is that of {shown(ids[id])}: choose another id")
        other = added.get(name, texts.get(name.encode()))
        if other is not None:
            raise ValueError(
                f"special token {shown(name)}, id {id}: the tokenizer has a token of this text, id {other}"
            )
        ids[id] = name


def _rebuilt(parts: Parts, more: list[tuple[int, str]]) -> _core.Tokenizer:
    """Return the core with new tokens below its highest id."""
    if parts.core.is_spelled():
        raise ValueError(
            "a tokenizer that merges by the names of its tokens takes no special tokens at ids of choice"
        )
    return _core.relabel(parts.core, [(id, id) for id in parts.vocab], more)


def _pipeline(pipeline: Pipeline, more: list[tuple[int, str]]) -> Pipeline:
    rows: list[Json] = [{"id": id, "content": name, **_FLAGS} for id, name in more]
    return pipeline.with_tokens(rows)
