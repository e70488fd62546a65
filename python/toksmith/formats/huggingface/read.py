"""Reading a `tokenizer.json`: files from strangers take bounded memory."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

from ... import _core
from ...files import reading, text_files
from .. import verification
from ..parts import Parts
from . import auto, characters, origin, write
from .checks import Json
from .pipeline import AddedToken, Pipeline

MAX_BYTES = 100 << 20
"""Most bytes of a `tokenizer.json`. The largest published ones have 35 MB."""


def read(source: object, seed: int | None = None) -> Parts:
    """Read a `tokenizer.json`, or an object that gives one. `seed` is that of the model's dropout."""
    data, name = _content_of(source)
    with text_files.naming(name):
        file, files = _core.HuggingFaceModel(data), origin.files_of(source)
        if isinstance(source, (str, os.PathLike)):
            rows = [dict(zip(AddedToken._fields, row, strict=True)) for row in file.added]
            changed = auto.changed(_values(file.parts, "$"), rows, lambda: json.loads(data), files)
            if changed is not None:
                file, files = _core.HuggingFaceModel(json.dumps(changed).encode()), auto.kept(files, changed)
        return _parts_of(file, files, seed)


def _content_of(source: object) -> tuple[bytes, str]:
    """Return the content of a `tokenizer.json` and its name.

    `source` is its path, or the path of a folder with one; a `tokenizers.Tokenizer`; or a `transformers` fast
    tokenizer.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.is_dir():
            path /= "tokenizer.json"
        return reading.read(path, MAX_BYTES), os.fspath(path)
    kind = type(source).__name__
    inner = getattr(source, "backend_tokenizer", source)
    to_str = getattr(inner, "to_str", None)
    if not callable(to_str):
        raise TypeError(
            "expected the path of a tokenizer.json, a tokenizers.Tokenizer or a fast tokenizer of transformers, "
            f"not {kind}"
        )
    if getattr(inner, "encode_special_tokens", False):
        raise ValueError(f"{kind}: encode_special_tokens is set: unset it, and give special=False when encoding")
    with verification.peer(kind):
        return str(to_str()).encode(), kind


def read_sentencepiece(path: str | os.PathLike[str]) -> Parts:
    """Read a SentencePiece `.model` of type BPE."""
    data = reading.read(path, MAX_BYTES)
    with text_files.naming(path):
        return _parts_of(_core.HuggingFaceModel.of_sentencepiece(data), None)


def read_beside(content: Json, folder: str | os.PathLike[str], files: origin.Files) -> Parts:
    """Return the tokenizer of a vocabulary, as the content of a `tokenizer.json`, and of the files beside it."""
    with text_files.naming(folder):
        rows = content["added_tokens"]
        parts = {name: content.get(name) for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder")}
        changed = auto.changed(parts, rows, lambda: content, files, has_file=False) or content
        return _parts_of(_core.HuggingFaceModel(json.dumps(changed).encode()), auto.kept(files, changed, rows))


def read_sentencepiece_beside(path: str | os.PathLike[str], files: origin.Files) -> Parts:
    """Read a SentencePiece `.model` of type BPE, and the files beside it."""
    parts = read_sentencepiece(path)
    if auto.class_of(files) is None and not {auto.ADDED, origin.SPECIALS, origin.CONFIG} & set(files):
        return parts
    auto.warn_of_no_class(files)
    try:
        makes_parts = auto.makes_parts(files)
        content = characters.content_of_pieces(parts) if makes_parts else write.tokenizer_object(parts)
        return read_beside(content, Path(path).parent, files)
    except ValueError as error:
        reason = str(error).partition("; save(")[0]
        warnings.warn(f"{path}: what the files beside it say is not applied: {reason}", stacklevel=5)
        return parts


def read_gguf(path: str | os.PathLike[str], pre: object = None) -> Parts:
    """Read the tokenizer in the metadata of a GGUF file. `pre` is its pre-tokenizer if the file names none."""
    with text_files.naming(path):
        if not isinstance(pre, str | None):
            raise ValueError(f"the pattern is the name of a pre-tokenizer of llama.cpp, not {pre!r:.80}")
        file = _core.HuggingFaceModel.of_gguf(path, pre)
        config = _values(file.config, "$")
        return _parts_of(file, {origin.CONFIG: config} if config else None)


def parts_of(content: Json, files: origin.Files | None = None, keep_ids: bool = False) -> Parts:
    """Return the tokenizer of the content of a `tokenizer.json`, and of the files beside it.

    `keep_ids`: whether the ids of added tokens that the model does not have are those of their rows, since the rows
    come from no file.
    """
    return _parts_of(_core.HuggingFaceModel(json.dumps(content).encode(), keep_ids), files or {})


def _parts_of(file: _core.HuggingFaceModel, files: origin.Files | None, seed: int | None = None) -> Parts:
    for warning in file.warnings:
        warnings.warn(warning, stacklevel=5)
    parts, options = _values(file.parts, "$"), _values(file.options, "$.model")
    names = AddedToken._fields
    rows = [dict(zip(names, row, strict=True)) for row in file.added]
    spec = {
        "added_tokens": rows,
        **{part: parts.get(part) for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder")},
        **{part: parts[part] for part in ("truncation", "padding") if parts.get(part) is not None},
    }
    flags = {name: options.get(name) is True for name in ("byte_fallback", "fuse_unk")}
    spec["characters"] = {"unk_token": options.get("unk_token"), **flags}
    pipeline = Pipeline(spec, file.kept())
    core = file.tokenizer(pipeline.steps, seed)
    came_from = None if files is None else origin.Origin.of({**parts, "model": options}, rows, file.beside, files)
    if pipeline.is_trivial:
        return Parts(core, pipeline.pattern, None, None, came_from)
    return Parts(core.with_pipeline(pipeline.steps), pipeline.pattern, pipeline, None, came_from)


def _values(fields: dict[str, str], place: str) -> Json:
    return {name: text_files.parse(text, f"{place}.{name}", "tokenizer.json") for name, text in fields.items()}
