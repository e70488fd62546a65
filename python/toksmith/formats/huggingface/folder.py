"""A tokenizer as `transformers` writes it: a folder with `tokenizer.json` and the files beside it."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import os
import unicodedata
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import EllipsisType, ModuleType
from typing import Any

from ... import _core, patterns
from ..._internal.messages import shown
from ...files import whole_files
from .. import stress, verification
from . import side_files, templates
from .side_files import CONFIG, GENERATION, SPECIALS, TEMPLATE, TEMPLATES, Files

Json = dict[str, Any]

ROLES = ("bos_token", "eos_token", "unk_token", "pad_token")
"""The roles of special tokens that `transformers` knows."""

Roles = Mapping[str, str | EllipsisType | None]
"""Special tokens by role; None for none, `...` for the one that the tokenizer came with."""

_END, _BOTH = ("<|end_of_text|>", "</s>", "<eos>", "<|eos|>", "[EOS]"), ("<|endoftext|>",)
_BY_NAME = {
    "eos_token": (*_BOTH, *_END),
    "bos_token": ("<|begin_of_text|>", "<|startoftext|>", "<s>", "<bos>", "<|bos|>", "[BOS]", *_BOTH),
    "unk_token": ("<unk>", "<|unk|>", "[UNK]"),
    "pad_token": ("<pad>", "<|pad|>", "[PAD]", "<|padding|>", "<|finetune_right_pad_id|>", *_BOTH, *_END),
}

_NO_LIMIT = 10**30  # what `transformers` reads as "this model has no longest input"


def roles(core: _core.Tokenizer, chosen: Roles) -> dict[str, str]:
    """Return the special token of each role: the chosen one, or, for `...`, one with a usual name, if any."""
    by_role: dict[str, str] = {}
    for role in ROLES:
        name = chosen.get(role, ...)
        if name is ...:
            name = next((usual for usual in _BY_NAME[role] if usual in core.special_tokens()), None)
            if name is None and role == "pad_token":
                name = by_role.get("eos_token")
        elif name is not None and name not in core.special_tokens():
            raise ValueError(f"{role} is {shown(name)}, which is not a special token of this tokenizer")
        if name is not None:
            by_role[role] = name
    return by_role


def end_of_text(core: _core.Tokenizer) -> str | None:
    """Return the special token that ends a text: one with a usual name, else the eos token that came with it."""
    usual = roles(core, {}).get("eos_token")
    if usual is not None:
        return usual
    files = core.origin()["files"]
    for file in (SPECIALS, CONFIG):
        token = files.get(file, {}).get("eos_token")
        name = token.get("content") if isinstance(token, dict) else token
        if isinstance(name, str) and name in core.special_tokens():
            return name
    return None


def _own_files(
    core: _core.Tokenizer, by_role: Mapping[str, str], rows: list[Json], model_max_length: int | None
) -> Json:
    """Return the configuration and the map of special tokens of a tokenizer that came without any."""
    usual = {*by_role.values(), *(row["content"] for row in rows if not row["special"])}
    others = [
        name for _, name in sorted((id, name) for name, id in core.special_tokens().items()) if name not in usual
    ]
    specials = {**by_role, **({"additional_special_tokens": others} if others else {})}
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "added_tokens_decoder": {str(row["id"]): {k: v for k, v in row.items() if k != "id"} for row in rows},
        "clean_up_tokenization_spaces": False,
        "model_max_length": _NO_LIMIT if model_max_length is None else model_max_length,
        **specials,
    }
    return {CONFIG: config, SPECIALS: specials}


def _beside(
    core: _core.Tokenizer, chosen: Roles, chat_template: str | None, model_max_length: int | None, rows: list[Json]
) -> Files:
    """Return the files beside `tokenizer.json`: those that the tokenizer came with, changed by the arguments."""
    came_with = core.origin()["files"]
    if came_with:
        files = _changed(core, came_with, chosen, model_max_length)
    else:
        files = _own_files(core, roles(core, chosen), rows, model_max_length)
    if chat_template is not None:
        templates.checked_source(chat_template)
        in_file = any(name == TEMPLATE or name.startswith(TEMPLATES) for name in files)
        files[CONFIG].pop("chat_template", None)
        (files if in_file else files[CONFIG])[TEMPLATE if in_file else "chat_template"] = chat_template
    return files


def _changed(core: _core.Tokenizer, came_with: Files, chosen: Roles, model_max_length: int | None) -> Files:
    files = copy.deepcopy(came_with)
    config, specials = files.setdefault(CONFIG, {}), files.get(SPECIALS, {})
    if not config.get("tokenizer_class"):
        config["tokenizer_class"] = side_files.tokenizer_class(files) or "PreTrainedTokenizerFast"
    if "auto_map" in config:
        warnings.warn(
            f"tokenizer_config.json: auto_map names code beside it ({shown(config['auto_map'])}), which is not kept: "
            "copy those files if you trust them",
            stacklevel=6,
        )
    if model_max_length is not None:
        config["model_max_length"] = model_max_length
    for role in ROLES:
        name = chosen.get(role, ...)
        if name is ...:
            continue
        if name is not None and name not in core.special_tokens():
            raise ValueError(f"{role} is {shown(name)}, which is not a special token of this tokenizer")
        config[role] = name
        specials.pop(role, None)
        if name is not None and specials:
            specials[role] = name
        _check_generation(core, files.get(GENERATION, {}), role, name)
    return files


def _check_generation(core: _core.Tokenizer, generation: Json, role: str, name: str | None) -> None:
    """Warn if generation_config.json gives a role to another token than the one that is chosen now."""
    ids = generation.get(f"{role}_id")
    allowed = ids if isinstance(ids, list) else [ids]
    if ids is not None and (name is None or core.special_tokens()[name] not in allowed):
        warnings.warn(
            f"generation_config.json keeps {role}_id {shown(ids)}, which is not the {role} that is chosen here, "
            f"{shown(name)}: change it there, too",
            stacklevel=7,
        )


def files_of(
    core: _core.Tokenizer, chosen: Roles, chat_template: str | None, model_max_length: int | None
) -> dict[str, bytes]:
    """Return the files of the folder by name."""
    data = core.written("huggingface")[0]
    content = json.loads(data)
    model = content["model"]
    beside = _beside(core, chosen, chat_template, model_max_length, content["added_tokens"])
    files = {"tokenizer.json": data, **side_files.written(beside)}
    # GPT-2's two files hold neither a pattern nor `ignore_merges`: they are written only where the usual ones apply.
    if core.pattern()[2] == "gpt2" and not model["ignore_merges"]:
        files["vocab.json"] = json.dumps(model["vocab"], ensure_ascii=False).encode()
        files["merges.txt"] = "\n".join(["#version: 0.2", *model["merges"], ""]).encode()
    return files


def save(
    core: _core.Tokenizer,
    folder: str | os.PathLike[str],
    roles: Roles,
    chat_template: str | None,
    model_max_length: int | None,
    verify: bool = True,
) -> None:
    """Write the files of `transformers`. See `Tokenizer.save_huggingface`."""
    content = files_of(core, roles, chat_template, model_max_length)
    # The first of the paths that are read back is that of tokenizer.json.
    names = sorted(content, key=lambda name: name != "tokenizer.json")
    whole_files.write_all(
        [(Path(folder, name), [content[name]]) for name in names],
        functools.partial(verify_file, core) if verify else None,
        make_folder=True,
    )


def verify_file(core: _core.Tokenizer, paths: list[Path]) -> None:
    """Verify a `tokenizer.json`: ids and text, by `tokenizers` where that is installed."""
    path, ours = paths[0], verification.encoder(core)
    module = verification.module("tokenizers")
    if module is None:
        loaded = verification.reread("tokenizer.json", lambda: _core.Tokenizer.load(path, format="huggingface"))
        verification.compare_texts("tokenizer.json", core, loaded)
        return
    other = verification.reread("tokenizer.json", lambda: module.Tokenizer.from_buffer(path.read_bytes()))
    other.no_truncation()
    other.no_padding()
    keep = functools.partial(_of_one_class, module)
    texts = verification.stress_texts(core, keep)
    verification.compare("tokenizer.json", texts, ours, lambda text: other.encode(text, add_special_tokens=False).ids)
    # SentencePiece's decoder becomes that of converters, which shows special tokens.
    is_same = core.pipeline is None or (core.pipeline.spec["decoder"] or {}).get("type") != "SentencePiece"
    specials = sorted(core.special_tokens().values()) if is_same else []
    ids = ours(stress.PROSE) + specials + ours(stress.PROSE[:99])
    with verification.peer("tokenizer.json, read back, cannot be decoded, and was not written"):
        there = other.decode(ids, skip_special_tokens=False)
    here = core.decode(ids, "replace")
    if here != there:
        at = next(i for i, pair in enumerate(itertools.zip_longest(here, there)) if pair[0] != pair[1])
        around = slice(max(0, at - 20), at + 20)
        raise ValueError(
            f"tokenizer.json, read back, does not decode as this tokenizer does, and was not written: "
            f"{here[around]!r} here is {there[around]!r} there"
        )


# Characters that both libraries put into the same classes


_CATEGORIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "P", "S", "Zs")
_CLASSES = (*(rf"\p{{{name}}}" for name in _CATEGORIES), r"\s")


def _of_one_class(module: ModuleType, characters: set[str]) -> set[str]:
    """Return the characters that `regex` and Oniguruma's tables in `tokenizers` put into the same classes.

    Characters that this Python's own tables lack are left out too: they may be newer than one of the libraries.
    """
    known = "".join(sorted(c for c in characters if unicodedata.category(c) not in ("Cn", "Cs")))
    unequal: set[str] = set()
    for source in _CLASSES:
        here = set(patterns.resolve(source).compiled().findall(known))
        others = module.pre_tokenizers.Split(module.Regex(source), "removed").pre_tokenize_str(known)
        unequal |= here ^ set(known).difference(*(text for text, _ in others))
    return set(known) - unequal
