"""The files beside a `tokenizer.json`: roles of special tokens, chat templates, settings of `transformers`."""

from __future__ import annotations

import copy
import json
import tempfile
import warnings
from typing import Any, Protocol, runtime_checkable

from ... import _core

Files = dict[str, Any]
"""The files by name: JSON objects, and the texts of chat templates."""

CONFIG, SPECIALS, GENERATION = "tokenizer_config.json", "special_tokens_map.json", "generation_config.json"
TEMPLATE, TEMPLATES = "chat_template.jinja", "additional_chat_templates"
MODEL = "config.json"


@runtime_checkable
class _Pretrained(Protocol):
    """A tokenizer of `transformers`."""

    def save_pretrained(self, folder: str, /) -> object: ...


def of_object(source: object) -> str | None:
    """Return the JSON of the files that an object of `transformers` writes, without `tokenizer.json`."""
    if not isinstance(source, _Pretrained):
        return None
    light = copy.copy(source)
    light.__dict__["_save_pretrained"] = lambda *_args, **_options: ()
    try:
        with tempfile.TemporaryDirectory() as folder:
            light.save_pretrained(folder)
            files, warned = _core.side_files(folder)
    except Exception as error:  # a class from elsewhere may raise any error
        warnings.warn(
            f"{type(source).__name__}: its roles of special tokens and chat templates are not kept, since its "
            f"save_pretrained failed: {error}",
            stacklevel=6,
        )
        return None
    for warning in warned:
        warnings.warn(warning, stacklevel=6)
    return files


def tokenizer_class(files: Files) -> str | None:
    """Return the class of `transformers` that `AutoTokenizer` takes for these files; None if they do not say."""
    name, warned = _core.tokenizer_class(json.dumps(files))
    for warning in warned:
        warnings.warn(warning, stacklevel=7)
    return name


def written(files: Files) -> dict[str, bytes]:
    """Return the content of the files that are written beside `tokenizer.json`, without the model's configuration."""
    beside = {name: value for name, value in files.items() if name != MODEL}
    return {name: value.encode() if isinstance(value, str) else as_json(value) for name, value in beside.items()}


def as_json(content: dict[str, Any]) -> bytes:
    """Return a JSON object as the bytes of a file."""
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode(errors="backslashreplace")
