"""What the files of a folder make of its tokenizer, as `AutoTokenizer` of transformers reads them.

The files beside a vocabulary add tokens, set their flags, and name a class, which has parts of its own: a pattern, a
normalizer, a space before the text. `changed` takes the content of a `tokenizer.json` and those files, and returns
the content that means the same without them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..._internal.messages import shown
from ..spelling import spell
from .checks import BPE_OPTIONS, Json
from .origin import CONFIG, MODEL, SPECIALS, Files, tokenizer_class
from .templates import ROLES

ADDED = "added_tokens.json"
_MAX_COMPARISONS = 10**7
"""The maximum number of characters that are compared to find added tokens that overlap."""
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_OPTIONS: Json = {"dropout": None, **BPE_OPTIONS, "ignore_merges": False}
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class _Class(NamedTuple):
    """A class of transformers that makes its parts anew, whatever `tokenizer.json` says."""

    parts: Callable[[Json], Json]
    tokens: dict[str, str]
    options: Json


def _byte_level(prefix: object, use_regex: bool = True) -> Json:
    return {"type": "ByteLevel", "add_prefix_space": bool(prefix), "trim_offsets": True, "use_regex": use_regex}


def _gpt2(fields: Json) -> Json:
    pre_tokenizer = _byte_level(fields.get("add_prefix_space"))
    return {"normalizer": None, "pre_tokenizer": pre_tokenizer, "decoder": _byte_level(True)}


def _qwen2(fields: Json) -> Json:
    split = {"type": "Split", "pattern": {"Regex": _QWEN2}, "behavior": "Isolated", "invert": False}
    steps = [split, _byte_level(fields.get("add_prefix_space"), use_regex=False)]
    return {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "decoder": _byte_level(True),
    }


def _llama(fields: Json) -> Json:
    add_prefix_space = fields.get("add_prefix_space")
    has_prefix = add_prefix_space is None or bool(add_prefix_space)
    scheme = ("always" if fields.get("legacy") else "first") if has_prefix else "never"
    steps: list[Json] = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if has_prefix else []
    return {
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": False},
        "decoder": {"type": "Sequence", "decoders": steps + strip},
    }


_END = "<|endoftext|>"
_CLASSES = {
    "GPT2Tokenizer": _Class(_gpt2, {"unk_token": _END, "bos_token": _END, "eos_token": _END}, {}),
    "Qwen2Tokenizer": _Class(_qwen2, {"unk_token": _END, "eos_token": _END, "pad_token": _END}, {}),
    "LlamaTokenizer": _Class(
        _llama,
        {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"},
        {"fuse_unk": True, "byte_fallback": True},
    ),
}
_STEPS = {
    **{
        f"{name}Tokenizer": [None, "ByteLevel"]
        for name in ("Roberta", "Bart", "LED", "Mvp", "CodeGen", "Whisper", "Deberta", "Luke", "Blenderbot")
    },
    "GPTNeoXTokenizer": ["NFC", "ByteLevel"],
    "CohereTokenizer": ["NFC", "Digits", "ByteLevel"],
}
"""The steps of classes that make them anew, and whose `tokenizer.json` is taken as it is if it has the same."""
_AS_THE_FILE = {
    "TokenizersBackend",
    "PreTrainedTokenizer",
    "PreTrainedTokenizerBase",
    "PythonBackend",
    "BloomTokenizer",
}


def class_of(files: Files) -> str | None:
    """Return the class that the files name, without the suffix "Fast"."""
    name = tokenizer_class(files)
    return None if name is None else name.removesuffix("Fast")


def makes_parts(files: Files) -> bool:
    """Return whether the files beside a `.model` name a class whose parts are made here."""
    return class_of(files) in _CLASSES


def warn_of_no_class(files: Files) -> None:
    """Warn if the files beside a `.model` name no class with parts of its own."""
    name = class_of(files)
    if name is None or name in _AS_THE_FILE:
        what = f"{CONFIG} names no tokenizer_class" if name is None else f"{CONFIG}: tokenizer_class {shown(name)}"
        _warn(
            f"{what}: transformers then takes the pieces of a .model without SentencePiece's steps, such as the "
            "space before a text, which are applied here"
        )


def says_something(files: Files) -> bool:
    """Return whether there are files that may change a tokenizer."""
    return any(name in files for name in (CONFIG, SPECIALS, ADDED, MODEL))


def changed(
    parts: Json, rows: list[Json], content: Callable[[], Json], files: Files, has_file: bool = True
) -> Json | None:
    """Return the content of a `tokenizer.json` with what the files beside it say; None if they change nothing.

    Args:
        parts: Its parts, without the vocabulary.
        rows: Its added tokens.
        content: Returns the whole of it. Not called where nothing changes.
        files: The files beside it.
        has_file: Whether there is a `tokenizer.json`, rather than a vocabulary in another format.
    """
    if not says_something(files):
        return None
    config = files.get(CONFIG, {})
    made = _class(files, parts, has_file)
    fields, decoder = _fields(files, rows if has_file else [], [] if has_file or made is None else rows)
    if isinstance(parts.get("padding"), dict):
        fields.setdefault("pad_token", parts["padding"].get("pad_token"))
    fields = {**(made.tokens if made else {}), **fields}
    start = [] if made else rows
    vocab = _Vocabulary(content)
    is_plain = made is not None and class_of(files) == "Qwen2Tokenizer"
    added, specials = _added(start, decoder, fields, vocab, is_plain)
    new_parts = {**parts, **(made.parts(config) if made else {})}
    if not has_file and (config.get("add_bos_token") is not None or config.get("add_eos_token") is not None):
        new_parts["post_processor"] = _template(config, fields, added)
    hidden: dict[str, int] = {}
    if config.get("split_special_tokens") is True:
        hidden = {spell(row["content"].encode()): row["id"] for row in added if row["content"] in specials}
        added = [row for row in added if row["content"] not in specials]
        _warn_of_overlaps([row["content"] for row in added], specials)
    same = all(_bare(new_parts.get(name)) == _bare(parts.get(name)) for name in new_parts)
    if same and sorted(added, key=_id) == sorted(rows, key=_id):
        return None
    whole = content()
    model = whole["model"]
    model_vocab = {**hidden, **model["vocab"]}  # tokens that no text reaches still decode
    if made:
        model = {"type": "BPE", **_OPTIONS, **made.options, "vocab": model_vocab, "merges": model["merges"]}
    elif hidden:
        model = {**model, "vocab": model_vocab}
    return {**whole, **new_parts, "added_tokens": sorted(added, key=_id), "model": model}


def kept(files: Files, content: Json, pieces: list[Json] | None = None) -> Files:
    """Return the files that are kept beside the content that `changed` made of them.

    The content has all added tokens, of which the files may lack the `pieces` of a vocabulary without a
    `tokenizer.json`. Under `split_special_tokens` it has no special ones, and no file may add them again.
    """
    config = files.get(CONFIG, {})
    if pieces is None and config.get("split_special_tokens") is not True:
        return files
    if isinstance(config.get("added_tokens_decoder"), dict):
        rows = {str(row["id"]): _without_id(row) for row in content["added_tokens"]}
        files = {**files, CONFIG: {**config, "added_tokens_decoder": rows}}
    if pieces:  # they took the place of a list that is not `extra_special_tokens`
        unread = [SPECIALS, CONFIG] if config.get("extra_special_tokens") else [SPECIALS]
        files = {name: _without_list(value) if name in unread else value for name, value in files.items()}
    return {name: value for name, value in files.items() if name != ADDED}


def _warn_of_overlaps(contents: list[str], specials: set[str]) -> None:
    """Warn of added tokens that transformers does not find where it passes over a special token."""
    pairs = ((token, special) for token in contents for special in specials)
    if sum(map(len, contents)) * sum(map(len, specials)) > _MAX_COMPARISONS:
        pair = next(pairs, None)  # too many to compare
    else:
        pair = next((pair for pair in pairs if _overlap(*pair)), None)
    if pair is not None:
        _warn(
            f"{CONFIG}: split_special_tokens: added tokens may overlap special ones, such as {shown(pair[0])} and "
            f"{shown(pair[1])}, and are found inside of these here, but not in transformers"
        )


def _overlap(first: str, second: str) -> bool:
    ends = range(1, min(len(first), len(second)))
    meet = (first.endswith(second[:end]) or second.endswith(first[:end]) for end in ends)
    return first in second or second in first or any(meet)


def _without_list(specials: Json) -> Json:
    return {name: value for name, value in specials.items() if name != "additional_special_tokens"}


def _id(row: Json) -> int:
    return int(row["id"])


def _bare(part: object) -> object:
    """Return a part without what changes neither ids nor texts."""
    if isinstance(part, list):
        return [_bare(item) for item in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "ByteLevel" and "use_regex" not in part:
        part = {**part, "use_regex": True}
    return {name: _bare(value) for name, value in part.items() if name != "trim_offsets"}


def _class(files: Files, parts: Json, has_file: bool) -> _Class | None:
    """Return the class whose parts replace those of the file."""
    name = class_of(files)
    if name is None or name in _AS_THE_FILE:
        return None
    if name == "LlamaTokenizer" and has_file and '"ByteLevel"' in str(parts).replace("'", '"'):
        return None  # transformers takes the file as it is
    # A tokenizer.json of another class has the steps of that class, if this class wrote it.
    if name not in _CLASSES and (not has_file or _STEPS.get(name, _steps(parts)) != _steps(parts)):
        _warn(
            f"{CONFIG}: tokenizer_class {shown(name)} has a pattern or other steps of its own in transformers, "
            "which are not applied here; the steps are those of the vocabulary's file"
        )
    return _CLASSES.get(name)


def _steps(parts: Json) -> list[str | None]:
    """Return the types of the normalizer and of each pre-tokenizer."""
    normalizer, pre = parts.get("normalizer") or {}, parts.get("pre_tokenizer") or {}
    return [normalizer.get("type"), *(step.get("type") for step in pre.get("pretokenizers", [pre]))]


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=7)


def _token(value: object, special: bool | None = None, place: str = CONFIG) -> Json | str | None:
    """Return an added token without its id, as a row; a str as it is."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, dict) or not isinstance(value.get("content"), str):
        _warn(f"{place}: {shown(value)} is not an added token, and is left out")
        return None
    is_special = bool(value.get("special", False)) if special is None else special
    flags: Json = {flag: bool(value.get(flag, False)) for flag in _FLAGS}
    if value.get("normalized") is None:
        flags["normalized"] = None  # not special, once that is known
    return {"content": value["content"], **flags, "special": is_special}


def _fields(files: Files, rows: list[Json], pieces: list[Json]) -> tuple[Json, dict[int, Json]]:
    """Return the special tokens by role, with the others under `extra`, and the added tokens by id.

    `rows` are the added tokens of a `tokenizer.json`; `pieces` are those of a `.model`, which come under `extra`
    unless the files have a list for it.
    """
    config = dict(files.get(CONFIG, {}))
    if not config.get("extra_special_tokens") and "additional_special_tokens" in config:
        config["extra_special_tokens"] = config.pop("additional_special_tokens")
    decoder: dict[int, Json] = {}
    listed = config.get("added_tokens_decoder")
    if isinstance(listed, dict):
        for id, value in listed.items():
            token = _token(value, None, f"{CONFIG}: added_tokens_decoder")
            if isinstance(token, dict) and str(id).isdecimal():
                decoder[int(id)] = token
    else:
        _take_old_files(files, config, decoder, bool(pieces))
        decoder.update({row["id"]: _without_id(row) for row in rows})
    by_content = {token["content"]: token for token in decoder.values()}
    fields: Json = {}
    for role in ROLES:
        if role in config:
            token = _token(config[role], None, f"{CONFIG}: {role}")
            content = token["content"] if isinstance(token, dict) else token
            fields[role] = by_content.get(content, token)
    for name, value in config.items():
        if name.endswith("_token") and name not in ROLES and isinstance(value, (str, dict)):
            fields[name] = _token(value, None, f"{CONFIG}: {name}")
    of_pieces = [_without_id(row) for row in pieces]
    extra = config.get("extra_special_tokens", of_pieces) or []
    if isinstance(extra, dict):
        fields.update({name: _token(value) for name, value in extra.items()})
        extra = of_pieces or config.get("additional_special_tokens") or []
    fields["extra"] = [token for token in map(_token, extra if isinstance(extra, list) else []) if token]
    return fields, decoder


def _without_id(row: Json) -> Json:
    return {name: row[name] for name in ("content", *_FLAGS)}


def _take_old_files(files: Files, config: Json, decoder: dict[int, Json], has_pieces: bool) -> None:
    """Take what stands in `special_tokens_map.json` and `added_tokens.json`: only without `added_tokens_decoder`.

    `has_pieces`: whether the added tokens of a `.model` take the place of its `additional_special_tokens`.
    """
    taken: Json = {}
    has_no_list = isinstance(config.get("extra_special_tokens", {}), dict)
    for name, value in files.get(SPECIALS, {}).items():
        if name == "extra_special_tokens" and isinstance(value, list):
            old = config.get(name)
            old = old if isinstance(old, list) else []
            value = [*old, *(token for token in value if token not in old)]
        elif name == "additional_special_tokens" and (has_pieces or not has_no_list):
            continue
        elif isinstance(value, dict) and name != "extra_special_tokens":
            value = {**value, "special": True, "normalized": value.get("normalized", False)}
        if name.endswith("_token") and name not in ROLES and isinstance(config.get(name), str):
            continue  # the one in the configuration counts
        if name == "additional_special_tokens" and "extra_special_tokens" not in config:
            taken["extra_special_tokens"] = value  # which makes no token of the other file special
        else:
            config[name] = value
    # transformers converts an object in the configuration later, so that its name is not special here.
    is_converted = lambda role: not isinstance(config.get(role), dict) or role in files.get(SPECIALS, {})  # noqa: E731
    named = [config.get(role) for role in filter(is_converted, ROLES)]
    extra = config.get("extra_special_tokens") if "extra_special_tokens" not in taken else None
    named += extra if isinstance(extra, list) else []
    contents = [value.get("content") if isinstance(value, dict) else value for value in named]
    special = {content for content in contents if isinstance(content, str)}
    for content, id in files.get(ADDED, {}).items():
        if type(id) is not int or id < 0:
            _warn(f"{ADDED}: the id of {shown(content)} is {shown(id)}; it is left out")
            continue
        is_special = content in special
        flags = dict.fromkeys(_FLAGS, False)
        decoder[id] = {"content": content, **flags, "normalized": not is_special, "special": is_special}
    config.update(taken)


class _Vocabulary:
    """The vocabulary of a model, read when it is first asked for."""

    def __init__(self, content: Callable[[], Json]) -> None:
        self._content, self._ids = content, None

    @property
    def ids(self) -> dict[str, int]:
        """Ids by token."""
        if self._ids is None:
            self._ids = self._content()["model"]["vocab"]
        return self._ids or {}


def _added(
    rows: list[Json], decoder: dict[int, Json], fields: Json, vocab: _Vocabulary, is_plain: bool
) -> tuple[list[Json], set[str]]:
    """Return the added tokens after those of the files were added in the order of transformers.

    Also those that were special once: they stay so for `split_special_tokens`, whatever flags follow. `is_plain`:
    whether the class adds all special tokens again without flags.
    """
    known = {row["content"]: row for row in rows}
    named = [token for role, token in fields.items() if role != "extra" and token is not None]
    ordered = [fields[role] for role in ROLES if fields.get(role)]
    named = ordered + [token for token in named if all(token is not other for other in ordered)]
    names = {_content(token) for token in named}
    first: list[Json] = []
    have = set(known)
    for _, token in sorted(decoder.items()):
        first.append({**token, "special": token["special"] or token["content"] in names})
        have.add(token["content"])
    seen: set[object] = set()  # tokens of one name and other flags are added one after the other
    for token in [*named, *fields["extra"]]:
        content = _content(token)
        key = tuple(map(_resolved(token).get, ("content", *_FLAGS))) if isinstance(token, dict) else content
        if content not in have and key not in seen:
            seen.add(key)
            first.append(_row(token, special=content in names))
    if is_plain:
        first += [_row(_content(token)) for token in [*named, *fields["extra"]]]
    _add(known, first, vocab)
    return list(known.values()), {row["content"] for row in [*rows, *first] if row["special"]}


def _content(token: Any) -> str:
    return str(token["content"] if isinstance(token, dict) else token)


def _resolved(token: Json) -> Json:
    """Return an added token that is normalized unless it is special, where it does not say."""
    return {**token, "normalized": not token["special"]} if token["normalized"] is None else token


def _row(token: Any, special: bool = False) -> Json:
    if isinstance(token, dict):
        return {**token, "special": token["special"] or special}
    return {"content": token, **dict.fromkeys(_FLAGS, False), "special": True}


def _add(known: dict[str, Json], tokens: Iterable[Json], vocab: _Vocabulary) -> None:
    """Add tokens as tokenizers does: one that has an id keeps it, and another gets the next one."""
    for token in tokens:
        content = token["content"]
        if not content:
            continue
        if content in known:
            id = known[content]["id"]
        elif content in vocab.ids:
            id = vocab.ids[content]
        else:
            id = max([len(vocab.ids), *(row["id"] + 1 for row in known.values())])
        known[content] = {"id": id, **_resolved(token)}


def _template(config: Json, fields: Json, added: list[Json]) -> Json:
    """Return the post-processor that puts BOS and EOS around a text."""
    ids = {row["content"]: row["id"] for row in added}
    bos, eos = (
        _content(fields[f"{name}_token"]) if config.get(f"add_{name}_token") and fields.get(f"{name}_token") else None
        for name in ("bos", "eos")
    )

    def around(name: str, type_id: int) -> list[Json]:
        steps: list[Json] = [{"Sequence": {"id": name, "type_id": type_id}}]
        before = [{"SpecialToken": {"id": bos, "type_id": type_id}}] if bos else []
        after = [{"SpecialToken": {"id": eos, "type_id": type_id}}] if eos else []
        return [*before, *steps, *after]

    tokens = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in (bos, eos) if token}
    single = around("A", 0)
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, *around("B", 1)],
        "special_tokens": tokens,
    }


def of_rank_file(name: str, count: int, files: Files) -> tuple[str, dict[str, int], Json | None] | None:
    """Return the pattern, the special tokens and the normalizer of a rank file with `count` tokens.

    They stand in the code of the models that publish such files, Qwen 1 and Kimi. None for another file.
    """
    if name == "qwen.tiktoken":
        names = [_END, "<|im_start|>", "<|im_end|>", *(f"<|extra_{number}|>" for number in range(205))]
        return "qwen2", {token: count + at for at, token in enumerate(names)}, {"type": "NFC"}
    config = files.get(CONFIG, {})
    is_kimi = config.get("tokenizer_class") == "TikTokenTokenizer" or "tokenization_kimi" in str(
        config.get("auto_map")
    )
    if name != "tiktoken.model" or not is_kimi:
        return None
    decoder = _fields(files, [], [])[1]
    names = [decoder.get(id, {}).get("content", f"<|reserved_token_{id}|>") for id in range(count, count + 256)]
    return "kimi", {token: count + at for at, token in enumerate(names)}, None


def content_of_pair(vocab: dict[str, int], merges: Iterable[str]) -> Json:
    """Return the content of a `tokenizer.json` for GPT-2's two files."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        **_gpt2({}),
        "post_processor": None,
        "model": {"type": "BPE", **_OPTIONS, "vocab": vocab, "merges": list(merges)},
    }
