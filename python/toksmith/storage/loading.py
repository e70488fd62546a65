"""From files to what makes a tokenizer, and back: the checks between `formats` and the core."""

from __future__ import annotations

import contextlib
import functools
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core, identity, patterns
from ..common import arguments
from ..common.messages import shown
from ..files import text_files, whole_files
from ..formats import gpt2, native, rank_file
from ..training_record import Record
from . import verification

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..files.whole_files import Check
    from ..huggingface.pipeline import Pipeline
    from ..tokenizer import Tokenizer

Merges = list[tuple[bytes, bytes]]


class Saved(NamedTuple):
    """What a native file holds."""

    vocab: dict[int, bytes]
    merges: Merges | None
    special_tokens: dict[str, int]
    pattern: patterns.Pattern
    pipeline: Pipeline | None
    ignore_merges: bool
    record: Record | None


@contextlib.contextmanager
def of_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the file's name before what is wrong with its content."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


# Reading


def read_gpt2(
    vocab_path: str | os.PathLike[str],
    merges_path: str | os.PathLike[str],
    special_tokens: Iterable[str] | Mapping[str, int] | None,
) -> tuple[dict[int, bytes], Merges]:
    """Read GPT-2's two files, and check that every merge is of known tokens, by line."""
    merges = gpt2.read_merges(merges_path)
    merged = {token for left, right in merges for token in (left, right, left + right)}
    vocab = gpt2.read_vocab(vocab_path, [name for name, _ in arguments.special_list(special_tokens)], merged)
    unknown = merged.difference(vocab.values())
    for (left, right), line in merges.items() if unknown else ():
        for token in (left, right, left + right):
            if token in unknown:
                raise ValueError(
                    f"{os.fspath(merges_path)}, line {line}: the merge ({shown(left)}, {shown(right)}) needs the "
                    f"token {shown(token)}, which is not in {os.fspath(vocab_path)}"
                )
    return vocab, list(merges)


def parse_tiktoken(data: bytes, path: str | os.PathLike[str]) -> dict[int, bytes]:
    """Read the content of a rank file."""
    return rank_file.parse(text_files.text_of(data, path), f"{os.fspath(path)}, ")


def read_native(
    path: str | os.PathLike[str],
) -> Saved:
    """Read a file of `Tokenizer.save`; warns if its pattern runs under another Unicode version here."""
    content = native.read(path)
    with of_file(path):
        pattern, pipeline = as_saved(content, os.fspath(path))
        trained = content.get("training")
        record = None if trained is None else Record.of_state(trained)
        merges = content["merges"]
        if record and merges is not None and len(record.counts()) != len(merges):
            raise ValueError(f"there are {len(record.counts())} counts for {len(merges)} merges")
    ignore_merges = content.get("ignore_merges", False)
    return Saved(content["tokens"], merges, content["special_tokens"], pattern, pipeline, ignore_merges, record)


def behind(core: _core.Tokenizer, pipeline: Pipeline | None) -> Any:
    """Return the core of a tokenizer with a pipeline."""
    if pipeline is None or pipeline.is_plain:
        return core
    from ..huggingface.pipeline_core import PipelineCore

    return PipelineCore(core, pipeline)


def as_saved(head: dict[str, Any], name: str) -> tuple[patterns.Pattern, Pipeline | None]:
    """Return pattern and pipeline of a saved head; warns if the pattern runs under another Unicode version here."""
    pipeline = None
    if head.get("pipeline") is not None:
        from ..huggingface.pipeline import Pipeline

        pipeline = Pipeline.of_spec(head["pipeline"])
        pattern = pipeline.pattern
    else:
        pattern = patterns.of_source(head["pattern"], head["pattern_flags"], head["unmatched"])
    if pattern.unicode != head["unicode"]:
        warnings.warn(
            f"{name} was made under Unicode {head['unicode']}; its pattern runs under {pattern.unicode} here: "
            "characters that changed class between the two may be cut differently",
            stacklevel=4,
        )
    return pattern, pipeline


# Writing


def _check(tokenizer: Tokenizer, check: Callable[[Tokenizer, list[Path]], None], verify: bool) -> Check | None:
    return functools.partial(check, tokenizer) if verify else None


def write_native(tokenizer: Tokenizer, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a native file."""
    merges = tokenizer.merges if tokenizer._core.has_merges() else None
    training = None
    if tokenizer._record:
        training = tokenizer._record.state() | {"merge_counts": list(tokenizer.merge_counts or ())}
    check = _check(tokenizer, verification.native, verify)
    native.write(path, identity.head(tokenizer), tokenizer.vocab.items(), merges, training, check)


def write_gpt2(tokenizer: Tokenizer, folder: str | os.PathLike[str], verify: bool = True) -> None:
    """Write GPT-2's two files."""
    if tokenizer.pipeline is not None:
        tokenizer.pipeline.check_fits("vocab.json and merges.txt")
    spelled: dict[bytes, int] = {}
    for id, token in tokenizer.vocab.items():
        if token in spelled:
            raise ValueError(f"vocab.json cannot hold two ids, {spelled[token]} and {id}, for {shown(token)}")
        spelled[token] = id
    merges = tokenizer.merges
    if tokenizer._core.has_merges() and tokenizer.ignore_merges:
        with _refused("merges.txt holds a merges list, and this tokenizer ignores it for pretokens that are tokens"):
            _prove(tokenizer)
    if not tokenizer._core.has_merges():
        with _refused("merges.txt holds a merges list, and this tokenizer has ranks"):
            as_list = type(tokenizer)(tokenizer.vocab, merges, tokenizer.special_tokens, pattern=None)
            _prove(tokenizer, as_list)
    pattern = tokenizer._pattern
    if pattern.name != "gpt2":
        warnings.warn(
            "vocab.json and merges.txt hold no pattern: load them with "
            f"pattern={shown(pattern.name or pattern.text, 400)}",
            stacklevel=3,
        )
    gpt2.write(folder, tokenizer.vocab, merges, _check(tokenizer, verification.gpt2, verify))


def write_tiktoken(tokenizer: Tokenizer, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a rank file."""
    if tokenizer.pipeline is not None:
        tokenizer.pipeline.check_fits("a rank file")
    special = set(tokenizer.special_tokens.values())
    ordinary = {id: token for id, token in tokenizer.vocab.items() if id not in special}
    if tokenizer._core.has_merges():
        with _refused("a rank file holds ranks, and this tokenizer has a merges list"):
            _check_order(tokenizer)
            _prove(tokenizer, type(tokenizer)(ordinary, None, pattern=None))
    rank_file.write(path, ordinary, _check(tokenizer, verification.tiktoken, verify))


def write_huggingface(
    tokenizer: Tokenizer,
    folder: str | os.PathLike[str],
    roles: Mapping[str, Any],
    chat_template: str | None,
    model_max_length: int | None,
    verify: bool = True,
) -> None:
    """Write the files of `transformers`."""
    from ..huggingface import write

    content = write.files_of(tokenizer, roles, chat_template, model_max_length)
    # The first of the paths that are read back is that of tokenizer.json.
    names = sorted(content, key=lambda name: name != "tokenizer.json")
    check = _check(tokenizer, verification.huggingface, verify)
    whole_files.write_all([(Path(folder, name), [content[name]]) for name in names], check, make_folder=True)


@contextlib.contextmanager
def _refused(why: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{why}: {error}; save() keeps everything") from None


def _check_order(tokenizer: Tokenizer) -> None:
    """Ranks are ids: so the results of merges must have ids that rise with the merges."""
    last = -1
    for left, right in tokenizer.merges:
        id = tokenizer.token_id(left + right)
        if id <= last:
            raise ValueError(
                f"the merge ({shown(left)}, {shown(right)}) makes id {id}, which does not come after {last}"
            )
        last = id


def _prove(*tokenizers: Tokenizer) -> None:
    """Check that every ordinary token re-encodes to itself by merging, under both semantics.

    By the substring property of BPE that, with ranks in the order of merges, makes both the same on all
    text: a pair that one merges and the other does not would be a token that does not re-encode to itself.
    """
    for tokenizer in tokenizers:
        broken = tokenizer._core.first_unreachable()
        if broken is not None:
            raise ValueError(f"token {broken} ({shown(tokenizer.token_bytes(broken))}) does not re-encode to itself")
