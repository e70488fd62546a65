"""Writers of SentencePiece's `.model` files and of the metadata of GGUF files, whose content the core makes."""

from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path

from .. import _core
from ..files import whole_files
from . import verification
from .huggingface import read, templates
from .parts import Parts


def save_sentencepiece(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a SentencePiece `.model`. See `Tokenizer.save`."""
    content = _core.sentencepiece_model(parts.core, *_steps(parts))
    whole_files.write(path, [content], functools.partial(_verify_sentencepiece, parts) if verify else None)
    template = parts.pipeline and parts.pipeline.template
    if template and template.added():
        warnings.warn(f"{path} holds no template: add the tokens around a text as its library does", stacklevel=4)


def _verify_sentencepiece(parts: Parts, paths: list[Path]) -> None:
    _verify(parts, read.read_sentencepiece, paths)
    module = verification.module("sentencepiece")
    if module is not None:
        model = paths[0].read_bytes()
        other = verification.reread("the file", lambda: module.SentencePieceProcessor(model_proto=model))
        verification.compare(
            "the file", verification.stress_texts(parts), lambda text: parts.core.encode(text, False), other.encode
        )


def save_gguf(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a GGUF file of the tokenizer alone. See `Tokenizer.save`."""
    pipeline, pattern = parts.pipeline, parts.pattern
    template = pipeline and pipeline.template
    if pipeline is not None and parts.core.characters() is None:
        steps = pipeline.steps
        if steps.normalizer or steps.has_prefix is not False or steps.irregular():
            raise ValueError(f"GGUF cannot hold {' and '.join(pipeline.reasons())}; save() keeps everything")
    around = template.around() if template else ([], [])
    if around is None:
        raise ValueError("GGUF holds tokens around a text, and no other template; save() keeps everything")
    cuts = pattern.name or pattern.text or "none"
    content = _core.gguf_metadata(parts.core, *_steps(parts), cuts, (*around, *_chat(parts)))
    whole_files.write(path, [content], functools.partial(_verify, parts, read.read_gguf) if verify else None)


def _verify(parts: Parts, load: Callable[[Path], Parts], paths: list[Path]) -> None:
    loaded = verification.reread("the file", lambda: load(paths[0]))
    verification.compare_texts("the file", parts, loaded.core)
    if loaded.special_tokens != parts.special_tokens:
        raise ValueError("the file, read back, has other special tokens: nothing was written")


def _steps(parts: Parts) -> tuple[_core.Pipeline | None, str]:
    """Return the steps around the model for the core: what runs them, and the JSON of their parts."""
    return (None, "{}") if parts.pipeline is None else (parts.pipeline.steps, json.dumps(parts.pipeline.spec))


def _chat(parts: Parts) -> tuple[list[int | None], list[tuple[str, str]]]:
    """Return the ids of the BOS and EOS tokens that chat templates name, and these templates."""
    files = parts.origin.files if parts.origin is not None else {}
    roles = templates.special_tokens(files)
    ids = [parts.special_tokens.get(roles.get(role, "")) for role in ("bos_token", "eos_token")]
    return ids, list(templates.templates(files).items())
