"""Saving tokenizers: checks that a format can hold the tokenizer, and that the written file holds it.

One function for each format, named after it.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core, patterns
from .._internal.messages import shown
from ..files import whole_files
from . import gpt2 as gpt2_files
from . import head, rank_file, verification
from . import native as native_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..files.whole_files import Check
    from .parts import Parts


def native(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write toksmith's own file."""
    training = None
    if parts.record:
        training = parts.record.state() | {"merge_counts": parts.merge_counts}
    check = _check(parts, verification.native, verify)
    content = head.of_parts(parts)
    if parts.core.is_spelled():
        content["model"] = base64.b64encode(parts.core.state()).decode()
    if parts.origin is not None:
        content["huggingface"] = parts.origin.state()
    native_file.write(path, content, parts.core.rows(), training, check)


def gpt2(parts: Parts, folder: str | os.PathLike[str], verify: bool = True) -> None:
    """Write GPT-2's two files."""
    if parts.pipeline is not None:
        parts.pipeline.check_fits("vocab.json and merges.txt")
    spelled: dict[bytes, int] = {}
    for id, token in parts.vocab.items():
        if token in spelled:
            raise ValueError(f"vocab.json cannot hold two ids, {spelled[token]} and {id}, for {shown(token)}")
        spelled[token] = id
    check_merges_list(parts, "merges.txt")
    pattern = parts.pattern
    if pattern.name != "gpt2":
        warnings.warn(
            "vocab.json and merges.txt hold no pattern: load them with "
            f"pattern={shown(pattern.name or pattern.text, 400)}",
            stacklevel=3,
        )
    gpt2_files.write(folder, parts.vocab, parts.merges, _check(parts, verification.gpt2, verify))


def check_merges_list(parts: Parts, kind: str) -> None:
    """Check that the merges as a list, without ranks, give the same ids for every text.

    Args:
        parts: The tokenizer.
        kind: The name of the file with the list in the error.

    Raises:
        ValueError: The ids differ; names the first token that shows it.
    """
    if parts.core.has_merges() and parts.core.ignores_merges():
        with _refused(f"{kind} holds a merges list, and this tokenizer ignores it for pretokens that are tokens"):
            _check_reachable(parts.core)
    if not parts.core.has_merges():
        with _refused(f"{kind} holds a merges list, and this tokenizer has ranks"):
            specials = list(parts.special_tokens.items())
            as_list = _core.Tokenizer(parts.vocab, parts.merges, specials, patterns.resolve(None).core())
            _check_reachable(parts.core)
            _check_reachable(as_list)


def tiktoken(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a rank file."""
    if parts.pipeline is not None:
        parts.pipeline.check_fits("a rank file")
    ordinary = parts.ordinary
    if parts.core.has_merges():
        with _refused("a rank file holds ranks, and this tokenizer has a merges list"):
            _check_order(parts)
            _check_reachable(parts.core)
            _check_reachable(_core.Tokenizer(ordinary, None, [], patterns.resolve(None).core()))
    rank_file.write(path, ordinary, _check(parts, verification.tiktoken, verify))


def huggingface(
    parts: Parts,
    folder: str | os.PathLike[str],
    roles: Mapping[str, Any],
    chat_template: str | None,
    model_max_length: int | None,
    verify: bool = True,
) -> None:
    """Write the files of `transformers`."""
    from .huggingface import folder as huggingface_folder

    content = huggingface_folder.files_of(parts, roles, chat_template, model_max_length)
    # The first of the paths that are read back is that of tokenizer.json.
    names = sorted(content, key=lambda name: name != "tokenizer.json")
    check = _check(parts, verification.huggingface, verify)
    whole_files.write_all([(Path(folder, name), [content[name]]) for name in names], check, make_folder=True)


def _check(parts: Parts, check: Callable[[Parts, list[Path]], None], verify: bool) -> Check | None:
    return functools.partial(check, parts) if verify else None


@contextlib.contextmanager
def _refused(why: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{why}: {error}; save() keeps everything") from None


def _check_order(parts: Parts) -> None:
    """Check that the ids of merged tokens rise with the merges: in a rank file, ids are ranks."""
    last = -1
    for left, right in parts.merges:
        id = parts.core.token_id(left + right)
        if id <= last:
            raise ValueError(
                f"the merge ({shown(left)}, {shown(right)}) makes id {id}, which does not come after {last}"
            )
        last = id


def _check_reachable(core: _core.Tokenizer) -> None:
    """Check that every ordinary token re-encodes to itself by merging.

    If this holds under a merges list and under ranks in the same order, both give the same ids for every text, by the
    substring property of BPE: a pair that one of them merges and the other does not would be a token that does not
    re-encode to itself.
    """
    broken = core.first_unmergeable()
    if broken is not None:
        raise ValueError(f"token {broken} ({shown(core.token_bytes(broken))}) does not re-encode to itself")
