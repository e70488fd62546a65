r"""toksmith's own file: one JSON object with all parts of a tokenizer, one token a line.

Tokens are written as text where they are UTF-8; a byte that is not UTF-8 is `\xNN`, a backslash is `\\`. The parts
besides tokens and merges are the head, which pickles and fingerprints hold too.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import warnings
from pathlib import Path

from .. import _core, patterns
from .._internal.messages import shown
from ..files import reading, text_files, whole_files
from . import verification
from .huggingface.checks import Json
from .huggingface.origin import Origin
from .huggingface.pipeline import Pipeline
from .parts import Parts, Record

# The head


def head_of(parts: Parts) -> Json:
    """Return the head of a tokenizer."""
    head: Json = {
        **parts.pattern.fields(),
        "special_tokens": dict(sorted(parts.special_tokens.items(), key=lambda item: (item[1], item[0]))),
    }
    if parts.core.has_merges() and parts.core.ignores_merges():
        head["ignore_merges"] = True
    if not parts.core.is_spelled() and (characters := parts.core.characters()) is not None:
        head["characters"] = dict(zip(("bytes", "unknown", "outside"), characters, strict=True))
        if ties := parts.core.ties():
            head["ties"] = ties
    if parts.pipeline is not None:
        head["pipeline"] = parts.pipeline.spec
    return head


def state(parts: Parts) -> tuple[bytes, bytes]:
    """Return all parts of a tokenizer's identity: the head as JSON, tokens and merges as the core writes them."""
    return json.dumps(head_of(parts), sort_keys=True).encode(), parts.core.state()


def pattern_and_pipeline(head: Json, name: str) -> tuple[patterns.Pattern, Pipeline | None]:
    """Return pattern and pipeline of a head; warns if the pattern runs under another Unicode version here."""
    pipeline = None if head.get("pipeline") is None else Pipeline.of_spec(head["pipeline"])
    if pipeline is not None:
        pattern = pipeline.pattern
    else:
        pattern = patterns.of_source(head["pattern"], head["pattern_flags"], head["unmatched"])
    if pattern.unicode != head["unicode"]:
        warnings.warn(
            f"{name} was made under Unicode {shown(head['unicode'])}; its pattern runs under {pattern.unicode} here: "
            "characters that changed class between the two may be cut differently",
            stacklevel=4,
        )
    return pattern, pipeline


def parts_of(
    core: _core.Tokenizer, pattern: patterns.Pattern, pipeline: Pipeline | None, record: object, origin: object
) -> Parts:
    """Return a tokenizer of a core, pattern and pipeline, and of the states of its record and origin, or None."""
    if pipeline is not None:
        core = core.with_pipeline(pipeline.steps)
    parts = Parts(core, pattern, pipeline, None if record is None else Record.of_state(record))
    if origin is not None:
        parts.origin = Origin.of_state(origin)
        parts.origin.check(pattern, pipeline, parts.special_tokens)
    return parts


# Writing


def save(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write toksmith's own file. See `Tokenizer.save`."""
    pipeline = {} if parts.pipeline is None else {"pipeline": parts.pipeline.spec}
    origin = {} if parts.origin is None else {"huggingface": parts.origin.state()}
    record = parts.record and {"training": parts.record.state() | {"merge_counts": parts.merge_counts}}
    fields = {**parts.pattern.fields(), **pipeline, **origin, **(record or {})}
    written = _core.native_file(parts.core, [(name, _dumped(value)) for name, value in fields.items()])
    whole_files.write(path, [written], functools.partial(_verify, parts) if verify else None)


def _dumped(value: object) -> str:
    # A pattern may hold lone surrogates, which are no UTF-8: JSON writes them as backslashreplace does.
    return json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace").decode()


def _verify(parts: Parts, paths: list[Path]) -> None:
    loaded = verification.reread("the file", lambda: load(paths[0]))
    verification.compare_texts("the file", parts, loaded.core)
    if state(loaded) != state(parts):
        raise ValueError("the file, read back, differs from this tokenizer: nothing was written")


def escape(token: bytes) -> str:
    """Return the text that stands for a token."""
    return token.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


# Reading


def load(path: str | os.PathLike[str]) -> Parts:
    """Load toksmith's own file. See `Tokenizer.load`."""
    try:
        data = reading.read(path)
    except IsADirectoryError as error:
        message = "this is a folder: Tokenizer.from_pretrained reads folders"
        raise IsADirectoryError(error.errno, message, os.fspath(path)) from None
    with text_files.naming(path):
        file = _core.NativeFile(data)
        fields = {name: text_files.parse(json, f"$.{name}", "toksmith file") for name, json in file.fields.items()}
        pattern, pipeline = pattern_and_pipeline(fields, os.fspath(path))
        core = file.tokenizer(pattern.core())
        parts = parts_of(core, pattern, pipeline, fields.get("training"), fields.get("huggingface"))
        counts = parts.record.counts() if parts.record else None
        if counts is not None and core.has_merges() and len(counts) != len(core.merges()):
            raise ValueError(f"there are {len(counts)} counts for {len(core.merges())} merges")
        return parts


def is_native(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as toksmith's own. A file that cannot be read does not."""
    with contextlib.suppress(OSError, ValueError), Path(path).open("rb") as file:
        return _core.tokenizer_format(file.read(1 << 12)) == "native"
    return False
