"""Loading tokenizers: the checks between the content of a file and the core. Nothing here makes a `Tokenizer`."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any

from .. import _core, patterns
from .._internal import arguments
from .._internal.messages import shown
from ..files import text_files
from . import gpt2 as gpt2_files
from . import head
from . import native as native_file
from .parts import Parts
from .training_record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .._internal.choices import Unmatched

    Specials = Iterable[str] | Mapping[str, int]


def native(path: str | os.PathLike[str]) -> Parts:
    """Load toksmith's own file; warns if its pattern runs under another Unicode version here."""
    content = native_file.read(path)
    with text_files.naming(path):
        pattern, pipeline = head.pattern_and_pipeline(content, os.fspath(path))
        trained = content.get("training")
        record = None if trained is None else Record.of_state(trained)
        merges = content["merges"]
        if record and merges is not None and len(record.counts()) != len(merges):
            raise ValueError(f"there are {len(record.counts())} counts for {len(merges)} merges")
        specials = list(content["special_tokens"].items())
        ignore_merges = content.get("ignore_merges", False)
        if content.get("model") is not None:
            state = base64.b64decode(content["model"], validate=True)
            core = _core.Tokenizer.from_state(state, specials, pattern.core())
        elif content.get("characters") is not None:
            core = _of_characters(content, specials, pattern)
        else:
            core = _core.Tokenizer(content["tokens"], merges, specials, pattern.core(), ignore_merges)
        parts = Parts(head.with_pipeline(core, pipeline), pattern, pipeline, record)
        return head.with_origin(parts, content.get("huggingface"))


def _of_characters(
    content: dict[str, Any], specials: list[tuple[str, int]], pattern: patterns.Pattern
) -> _core.Tokenizer:
    """Return the core of a file whose merges begin with characters."""
    in_bytes, unknown, outside = native_file.character_ids(content["characters"])
    tokens: dict[int, bytes] = content["tokens"]
    apart = {*in_bytes, *outside}
    ids = {token: id for id, token in tokens.items() if id not in apart}
    merges = content["merges"] or []
    for left, right in merges:
        if left not in ids or right not in ids:
            raise ValueError(f"the merge ({shown(left)}, {shown(right)}) is of a token that is not there")
    pairs = [(ids[left], ids[right]) for left, right in merges]
    return _core.character_tokenizer(tokens, pairs, in_bytes, unknown, outside, specials, pattern.core())


def gpt2(
    vocab_path: str | os.PathLike[str],
    merges_path: str | os.PathLike[str],
    special_tokens: Specials | None,
    pattern: Any,
    unmatched: Unmatched,
) -> Parts:
    """Load GPT-2's two files. See `Tokenizer.from_files`."""
    vocab, merges = _read_gpt2(vocab_path, merges_path, special_tokens)
    with text_files.naming(f"{os.fspath(vocab_path)}, {os.fspath(merges_path)}"):
        resolved = patterns.resolve(pattern, unmatched)
        specials = arguments.special_list(special_tokens)
        core = _core.Tokenizer(vocab, arguments.checked_merges(merges), specials, resolved.core())
    return Parts(core, resolved)


def _read_gpt2(
    vocab_path: str | os.PathLike[str], merges_path: str | os.PathLike[str], special_tokens: Specials | None
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Read the two files, and check that every merge is of known tokens, by line."""
    merges = gpt2_files.read_merges(merges_path)
    merged = {token for left, right in merges for token in (left, right, left + right)}
    vocab = gpt2_files.read_vocab(vocab_path, [name for name, _ in arguments.special_list(special_tokens)], merged)
    unknown = merged.difference(vocab.values())
    for (left, right), line in merges.items() if unknown else ():
        for token in (left, right, left + right):
            if token in unknown:
                raise ValueError(
                    f"{os.fspath(merges_path)}, line {line}: the merge ({shown(left)}, {shown(right)}) needs the "
                    f"token {shown(token)}, which is not in {os.fspath(vocab_path)}"
                )
    return vocab, list(merges)
