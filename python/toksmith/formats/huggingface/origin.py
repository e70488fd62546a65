"""The data of a Hugging Face folder or object that do not decide the ids of a tokenizer.

These are the roles of special tokens, chat templates, the side on which batches are padded, the class of
`transformers`, and how `tokenizer.json` spells its parts. They are no part of a tokenizer's identity. They are kept
so that `save_huggingface` and `toksmith.compat.huggingface` can give them back.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from ... import patterns
from ..._internal.messages import shown
from ...files import reading, text_files
from .checks import BPE_OPTIONS, Json
from .pipeline import Pipeline

CONFIG, SPECIALS, GENERATION = "tokenizer_config.json", "special_tokens_map.json", "generation_config.json"
TEMPLATE, TEMPLATES = "chat_template.jinja", "additional_chat_templates"
MODEL = "config.json"
_OBJECTS = (CONFIG, SPECIALS, GENERATION, "added_tokens.json", MODEL)

MAX_BYTES = 16 << 20
"""Most bytes of a file beside `tokenizer.json`."""
MAX_TEMPLATES = 100
"""Most files of chat templates."""

Files = Json

_SPELLED = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")
_CLASS_OF_MODEL = ("model_type", "tokenizer_class", "transformers_version")


class Origin:
    """Where a tokenizer came from.

    `content` has the parts of `tokenizer.json` as they were spelled, without vocabulary and merges; None once the
    tokenizer has been changed. `beside` are the added tokens that are not in the vocabulary of the model. `files` are
    those beside `tokenizer.json` by name: JSON objects, and the texts of chat templates.
    """

    __slots__ = ("beside", "content", "files")

    def __init__(self, content: Json | None, beside: frozenset[str], files: Files) -> None:
        self.content, self.beside, self.files = content, beside, files

    @classmethod
    def of(cls, content: Json, rows: list[Json], beside: list[str], files: Files) -> Origin:
        """Return the origin of a `tokenizer.json`: parts, added tokens, those `beside` the model, and other files."""
        spelled = {name: content.get(name) for name in _SPELLED}
        options = {name: content["model"].get(name) for name in BPE_OPTIONS}
        return cls({**spelled, "added_tokens": rows, "model": options}, frozenset(beside), files)

    def moved(self) -> Origin:
        """Return the origin of a tokenizer whose ids have changed: without ids and without flags by id."""
        gone = (GENERATION, "added_tokens.json")
        files = {name: value for name, value in self.files.items() if name not in gone}
        if CONFIG in files:
            files[CONFIG] = {key: value for key, value in files[CONFIG].items() if key != "added_tokens_decoder"}
        return Origin(None, frozenset(), files)

    def check(self, pattern: patterns.Pattern, pipeline: Pipeline | None, special_tokens: Mapping[str, int]) -> None:
        """Check that the parts of the `tokenizer.json` belong to a tokenizer."""
        if self.content is None:
            return
        names = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens")
        spec = {name: self.content.get(name) for name in names}
        if pipeline is None:
            made = Pipeline.of_spec({**spec, "kept": []})
            ids = {token.content: token.id for token in made.added_tokens}
            same = made.is_trivial and made.pattern == pattern and ids == special_tokens
        else:
            known = pipeline.spec
            same = all(spec[name] == known.get(name) for name in names)
        contents = {row["content"] for row in self.content["added_tokens"]} if same else set()
        if not same or not self.beside <= contents:
            raise ValueError("the field 'huggingface' is that of another tokenizer")

    def state(self) -> Json:
        """Return the origin as a dictionary for JSON."""
        return {"content": self.content, "beside": sorted(self.beside), "files": self.files}

    @classmethod
    def of_state(cls, state: object) -> Origin:
        """Return the origin of a `state`."""
        fields = state if isinstance(state, dict) else {}
        content, beside, files = (fields.get(name) for name in ("content", "beside", "files"))
        is_whole = isinstance(files, dict) and isinstance(beside, list) and isinstance(content, (dict, type(None)))
        if not is_whole or not all(isinstance(name, str) for name in beside or ()):
            raise ValueError(f"the field 'huggingface' is {shown(state)}, not what save() writes")
        for name, value in (files or {}).items():
            if not is_known(name) or not isinstance(value, dict if name in _OBJECTS else str):
                raise ValueError(
                    f"the field 'huggingface' holds {shown(name)}, which is not a file that toksmith reads"
                )
        if content is not None and not (isinstance(content.get("model"), dict) and "added_tokens" in content):
            raise ValueError("the field 'huggingface' has no parts of a tokenizer.json")
        return cls(content, frozenset(beside or ()), files or {})


def is_known(name: str) -> bool:
    """Return whether a file of this name is read and written beside `tokenizer.json`."""
    folder, _, base = name.rpartition("/")
    is_template = folder == TEMPLATES and base.endswith(".jinja") and "\\" not in base
    return name in _OBJECTS or name == TEMPLATE or is_template


@runtime_checkable
class _Pretrained(Protocol):
    """A tokenizer of `transformers`."""

    def save_pretrained(self, folder: str, /) -> object: ...


def files_of(source: object) -> Files:
    """Return the files beside the `tokenizer.json` of a source, or those that an object of `transformers` writes.

    A file that cannot be read is left out, and a warning names it.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.is_dir():
            return _files_in(path)
        return _files_in(path.parent) if path.name == "tokenizer.json" else {}
    return _files_of_object(source) if isinstance(source, _Pretrained) else {}


def paths_in(folder: Path) -> list[Path]:
    """Return the paths of files that may stand beside the `tokenizer.json` of a folder; not all need exist."""
    templates = sorted((folder / TEMPLATES).glob("*.jinja"))[:MAX_TEMPLATES]
    return [*(folder / name for name in _OBJECTS), folder / TEMPLATE, *templates]


def _files_in(folder: Path) -> Files:
    files: Files = {}
    for path in paths_in(folder):
        name = path.relative_to(folder).as_posix()
        if not path.is_file():
            continue
        try:
            text = text_files.text_of(reading.read(path, MAX_BYTES), path)
            files[name] = text_files.parse_object(text, str(path), name) if name in _OBJECTS else text
        except (OSError, ValueError) as error:
            warnings.warn(f"{error}; what {name} says of the tokenizer is not kept", stacklevel=5)
    if MODEL in files:  # keep only the fields of the model's configuration that decide the class of the tokenizer
        model = files.pop(MODEL)
        if kept := {key: model[key] for key in _CLASS_OF_MODEL if isinstance(model.get(key), str)}:
            files[MODEL] = kept
    return files


def _files_of_object(source: _Pretrained) -> Files:
    """Return the files that `save_pretrained` of a tokenizer of `transformers` writes, without `tokenizer.json`."""
    light = copy.copy(source)
    light.__dict__["_save_pretrained"] = lambda *_args, **_options: ()
    try:
        with tempfile.TemporaryDirectory() as folder:
            light.save_pretrained(folder)
            return _files_in(Path(folder))
    except Exception as error:  # a class from elsewhere may raise any error
        warnings.warn(
            f"{type(source).__name__}: its roles of special tokens and chat templates are not kept, since its "
            f"save_pretrained failed: {error}",
            stacklevel=5,
        )
        return {}


def tokenizer_class(files: Files) -> str | None:
    """Return the class of `transformers` that `AutoTokenizer` takes for these files; None if they do not say."""
    named = files.get(CONFIG, {}).get("tokenizer_class") or files.get(MODEL, {}).get("tokenizer_class")
    if isinstance(named, str):
        return named
    model = files.get(MODEL, {}).get("model_type")
    if model is None:
        return None
    name = None
    with contextlib.suppress(ImportError):
        from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

        name = TOKENIZER_MAPPING_NAMES.get(model)
        name = name[-1] or name[0] if isinstance(name, tuple) else name
    if name is None:
        warnings.warn(
            f"config.json says that the model is of type {shown(model)}; which class of tokenizer that means is not "
            "known here, and is not kept: write tokenizer_class into tokenizer_config.json",
            stacklevel=5,
        )
    return name


def written(files: Files) -> dict[str, bytes]:
    """Return the content of the files that are written beside `tokenizer.json`, without the model's configuration."""
    beside = {name: value for name, value in files.items() if name != MODEL}
    return {name: value.encode() if isinstance(value, str) else as_json(value) for name, value in beside.items()}


def as_json(content: Json) -> bytes:
    """Return a JSON object as the bytes of a file."""
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode(errors="backslashreplace")
