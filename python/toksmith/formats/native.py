r"""toksmith's own file: one JSON object with all parts of a tokenizer, one token a line.

Tokens are written as text where they are UTF-8; a byte that is not UTF-8 is `\xNN`, a backslash is `\\`. The parts
besides tokens and merges are the head, which pickles and fingerprints hold too.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from .. import _core, patterns
from .._internal.messages import shown
from ..files import text_files, whole_files
from . import verification
from .huggingface.checks import Json, checked_id
from .huggingface.origin import Origin
from .huggingface.pipeline import Pipeline
from .parts import Parts, Record

BEGINNING = re.compile(rb'\s*\{\s*"format"\s*:\s*"toksmith"')
"""The beginning of a file."""
VERSION = 5
"""The version of the form of the file. A reader refuses a later version."""

_OPTIONAL: dict[str, tuple[int, type]] = {
    "ignore_merges": (2, bool),
    "pipeline": (2, dict),
    "huggingface": (2, dict),
    "characters": (3, dict),
    "model": (4, str),
    "ties": (5, list),
}
"""Fields that came after version 1: the version that has them first, and their type. A file is written as the lowest
version that has its fields."""

_FIELDS = {
    "pattern": (str, type(None)),
    "pattern_flags": (int,),
    "unmatched": (str,),
    "unicode": (str, type(None)),
    "special_tokens": (dict,),
    "tokens": (list,),
    "merges": (list, type(None)),
}


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
    content = head_of(parts)
    if parts.core.is_spelled():
        content["model"] = base64.b64encode(parts.core.state()).decode()
    if parts.origin is not None:
        content["huggingface"] = parts.origin.state()
    training = parts.record.state() | {"merge_counts": parts.merge_counts} if parts.record else None
    written = _written(content, parts.core.rows(), training)
    whole_files.write(path, written, functools.partial(_verify, parts) if verify else None)


def _written(head: Json, rows: tuple[bytes, bytes | None], training: Json | None) -> Iterator[bytes]:
    dump = json.JSONEncoder(ensure_ascii=False).encode
    version = max((since for field, (since, _) in _OPTIONAL.items() if field in head), default=1)
    yield b'{\n "format": "toksmith",\n "version": %d' % version
    for key, value in head.items():
        # A pattern may hold lone surrogates, which are no UTF-8: JSON writes them as backslashreplace does.
        yield f",\n {dump(key)}: {dump(value)}".encode(errors="backslashreplace")
    tokens, merges = rows
    yield b',\n "tokens": [\n  ' + tokens + b"\n ]"
    yield b',\n "merges": ' + (b"null" if merges is None else b"[\n  " + merges + b"\n ]")
    if training is not None:
        yield b',\n "training": ' + dump(training).encode()
    yield b"\n}\n"


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
        content = text_files.read_object(path, "toksmith file")
    except IsADirectoryError as error:
        message = "this is a folder: Tokenizer.from_pretrained reads folders"
        raise IsADirectoryError(error.errno, message, os.fspath(path)) from None
    with text_files.naming(path):
        _check_fields(content)
        pattern, pipeline = pattern_and_pipeline(content, os.fspath(path))
        core = _core_of(content, pattern)
        parts = parts_of(core, pattern, pipeline, content.get("training"), content.get("huggingface"))
        counts = parts.record.counts() if parts.record else None
        if counts is not None and content["merges"] is not None and len(counts) != len(content["merges"]):
            raise ValueError(f"there are {len(counts)} counts for {len(content['merges'])} merges")
        return parts


def is_native(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as toksmith's own. A file that cannot be read does not."""
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        return BEGINNING.match(file.read(1 << 12)) is not None
    return False


def _other(content: Json) -> str:
    """Return what a JSON file of another library is, as the end of a message; nothing if that is not known."""
    model = content.get("model", content)
    kind = model.get("type") if isinstance(model, dict) else None
    if kind in ("WordPiece", "Unigram", "WordLevel"):
        return f". It is a model of type {kind}, and toksmith reads BPE"
    if content and all(type(id) is int for id in content.values()):
        return ". It is a vocabulary: name the folder that has it as vocab.json beside merges.txt"
    return ""


def _check_fields(content: Json) -> None:
    if content.get("format") != "toksmith":
        raise ValueError(f'not a toksmith file: it has no "format": "toksmith"{_other(content)}')
    version = content.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ValueError(f"version {shown(version)} of the format; this toksmith reads versions 1 to {VERSION}")
    for field, (since, kind) in _OPTIONAL.items():
        if field in content and (version < since or type(content[field]) is not kind):
            raise ValueError(f"the field {shown(field)} is {type(content[field]).__name__}, in version {version}")
    for field, kinds in _FIELDS.items():
        if field not in content:
            raise ValueError(f"the field {shown(field)} is missing")
        if not isinstance(content[field], kinds) or isinstance(content[field], bool):
            raise ValueError(f"the field {shown(field)} is {type(content[field]).__name__}")
    for special, id in content["special_tokens"].items():
        checked_id(id, f"special token {shown(special)}")


def _core_of(content: Json, pattern: patterns.Pattern) -> _core.Tokenizer:
    specials = list(content["special_tokens"].items())
    if content.get("model") is not None:
        state = base64.b64decode(content["model"], validate=True)
        return _core.Tokenizer.from_state(state, specials, pattern.core())
    tokens = _core.tokens_of_rows(content["tokens"])
    merges = None if content["merges"] is None else _core.merges_of_rows(content["merges"])
    if content.get("characters") is None:
        return _core.Tokenizer(tokens, merges, specials, pattern.core(), content.get("ignore_merges", False))
    ids = _character_ids(content["characters"])
    ties = content.get("ties", [])
    for place in ties:
        checked_id(place, "the field 'ties'")
    return _core.character_tokenizer(tokens, merges or [], *ids, ties, specials, pattern.core())


def _character_ids(content: Json) -> tuple[list[int], int | None, list[int]]:
    """Return the field `characters`: ids of bytes, unknown token, outside merging."""
    in_bytes, unknown, outside = (content.get(name) for name in ("bytes", "unknown", "outside"))
    if not isinstance(in_bytes, list) or len(in_bytes) not in (0, 256) or not isinstance(outside, list):
        raise ValueError(f"the field 'characters' is {shown(content)}, not what save() writes")
    for id in (*in_bytes, *outside, *(() if unknown is None else (unknown,))):
        checked_id(id, "the field 'characters'")
    return in_bytes, unknown, outside
