"""Saving tokenizers in the formats of other libraries, each file verified before it takes its name."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import EllipsisType

from .. import _core
from .._internal.messages import shown
from ..files import whole_files
from . import templates, verification

Roles = Mapping[str, str | EllipsisType | None]
"""Special tokens by role; None for none, `...` for the one that the tokenizer came with."""


def save(core: _core.Tokenizer, path: str | os.PathLike[str], format: str, verify: bool = True) -> None:
    """Write a tokenizer in a format. See `Tokenizer.save`."""
    _, names = _core.FORMATS[format]
    paths: list[str | os.PathLike[str]] = [*(Path(path, name) for name in names)] or [path]
    text, _, name, *_ = core.pattern()
    template = core.pipeline and core.pipeline.template
    contents = zip(paths, core.written(format), strict=True)
    check = functools.partial(verification.verify, core, format) if verify else None
    whole_files.write_all([(path, [content]) for path, content in contents], check, make_folder=bool(names))
    if format == "gpt2" and name != "gpt2":
        pattern = shown(name or text, 400)
        warnings.warn(f"{' and '.join(names)} hold no pattern: load them with pattern={pattern}", stacklevel=3)
    if format == "sentencepiece" and template and template.added():
        warnings.warn(f"{path} holds no template: add the tokens around a text as its library does", stacklevel=3)


def save_huggingface(
    core: _core.Tokenizer,
    folder: str | os.PathLike[str],
    roles: Roles,
    chat_template: str | None,
    model_max_length: int | None,
    verify: bool = True,
) -> None:
    """Write the files of `transformers`. See `Tokenizer.save_huggingface`."""
    if chat_template is not None:
        templates.checked_source(chat_template)
    chosen = {role: name for role, name in roles.items() if not isinstance(name, EllipsisType)}
    files, warned = core.folder(chosen, chat_template, model_max_length)
    for warning in warned:
        warnings.warn(warning, stacklevel=3)
    whole_files.write_all(
        [(Path(folder, name), [content]) for name, content in files.items()],
        functools.partial(verification.verify, core, "huggingface") if verify else None,
        make_folder=True,
    )
