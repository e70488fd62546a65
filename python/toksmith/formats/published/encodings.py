"""The encodings that tiktoken 0.14 has (tiktoken_ext/openai_public.py): files, patterns and special tokens.

The ranks of `gpt2` are those of `r50k_base`; `r50k_base` can be made of GPT-2's `vocab.bpe`, and `p50k_base` of
`r50k_base`. A file that is made is checked like one that is downloaded: by the published SHA-256 of the file.
"""

import base64
import os
import warnings
from collections.abc import Iterable
from typing import NamedTuple

from ... import patterns
from ..._core import spell, unspell
from ..._internal.messages import shown
from . import rank_cache


class RankFile(NamedTuple):
    """A file: its address, and its SHA-256."""

    url: str
    sha256: str


_HOST = "https://openaipublic.blob.core.windows.net"

FILES = {
    name: RankFile(f"{_HOST}/encodings/{name}.tiktoken", sha256)
    for name, sha256 in {
        "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    }.items()
}
"""Rank files by the encoding that they are named after."""

_VOCAB_BPE = RankFile(
    f"{_HOST}/gpt-2/encodings/main/vocab.bpe", "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"
)

_R50K = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
_END = "<|endoftext|>"
_O200K_SPECIAL = {_END: 199999, "<|endofprompt|>": 200018}
_HARMONY = (
    "return constrain reserved_200004 channel start end message reserved_200009 reserved_200010 reserved_200011 call"
)


def _fim(first: int) -> dict[str, int]:
    return {f"<|fim_{part}|>": id for id, part in enumerate(("prefix", "middle", "suffix"), first)}


class Published(NamedTuple):
    """The definition of an encoding without its ranks, and the file that has the ranks."""

    file: str
    pat_str: str
    special_tokens: dict[str, int]
    explicit_n_vocab: int | None = None


ENCODINGS = {
    "gpt2": Published("r50k_base", _R50K, {_END: 50256}, 50257),
    "r50k_base": Published("r50k_base", _R50K, {_END: 50256}, 50257),
    "p50k_base": Published("p50k_base", _R50K, {_END: 50256}, 50281),
    "p50k_edit": Published("p50k_base", _R50K, {_END: 50256, **_fim(50281)}),
    "cl100k_base": Published(
        "cl100k_base", patterns.CL100K, {_END: 100257, **_fim(100258), "<|endofprompt|>": 100276}
    ),
    "o200k_base": Published("o200k_base", patterns.O200K, _O200K_SPECIAL),
    "o200k_harmony": Published(
        "o200k_base",
        patterns.O200K,
        {
            **_O200K_SPECIAL,
            "<|startoftext|>": 199998,
            "<|reserved_200000|>": 200000,
            "<|reserved_200001|>": 200001,
            **{f"<|{name}|>": id for id, name in enumerate(_HARMONY.split(), 200002)},
            # <|reserved_200018|> and <|endofprompt|> have the same id, as in tiktoken.
            **{f"<|reserved_{id}|>": id for id in range(200013, 201088)},
        },
    ),
}
"""All published encodings, by name."""


def rank_file(name: str) -> bytes:
    """Return the content of a rank file: found on this machine, made of another file found there, or downloaded."""
    data = here(name)
    return rank_cache.obtain(*FILES[name], name) if data is None else data


def here(name: str) -> bytes | None:
    """Return the content of a rank file that is on this machine, or can be made of one that is; None otherwise."""
    data = rank_cache.cached(*FILES[name])
    if data is not None:
        return data
    if name == "r50k_base" and (merges := rank_cache.cached(*_VOCAB_BPE)) is not None:
        data = _lines(tokens_of_merges(merges.decode()), 0)
    if name == "p50k_base" and (r50k := here("r50k_base")) is not None:
        data = r50k + _lines((b" " * count for count in range(2, 26)), 50257)
    return data if data is not None and rank_cache.digest(data) == FILES[name].sha256 else None


def tokens_of_merges(text: str) -> list[bytes]:
    """Return the tokens of GPT-2's merges file in the order of its ids: 256 bytes, then the token of each line."""
    tokens = sorted((bytes([byte]) for byte in range(256)), key=spell)
    for number, line in enumerate(text.split("\n")[1:-1], 2):
        parts = [unspell(part) for part in line.split()]
        if len(parts) != 2 or None in parts:
            raise ValueError(f"line {number} is not a merge of two tokens: {shown(line)}")
        tokens.append(b"".join(part for part in parts if part))
    return tokens


def _lines(tokens: Iterable[bytes], first: int) -> bytes:
    return b"".join(base64.b64encode(token) + b" %d\n" % id for id, token in enumerate(tokens, first))


# Special tokens, which rank files do not hold

_LLAMA3 = "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55"
"""The SHA-256 of Llama 3's tokenizer.model."""
_BY_RANKS = {128_000: ("cl100k_old", "Llama 3", 256), 151_643: ("qwen2", "Qwen", 3)}
"""From a number of ranks to the pattern, the model, and the fewest special tokens of its versions.

Their ids follow the ranks. Other files of the same tokens have another SHA-256, and versions have other names for
the special tokens of the same ranks.
"""
_MAX_NAMED = 3


def names_of(data: bytes) -> list[str]:
    """Return the encodings whose rank file this is."""
    digest = rank_cache.digest(data)
    return [name for name, entry in ENCODINGS.items() if FILES[entry.file].sha256 == digest]


def warn_of_published(
    path: str | os.PathLike[str], data: bytes, pattern: patterns.Pattern, has_specials: bool, *, stacklevel: int
) -> None:
    """Warn if a published rank file is read under another pattern than its own, or without its special tokens."""
    path, names = os.fspath(path), names_of(data)
    own = patterns.of_tiktoken_source(ENCODINGS[names[0]].pat_str).name if names else None
    if rank_cache.digest(data) == _LLAMA3:
        names, own = ["Llama 3"], "llama3"
    if own is not None and patterns.resolve(own).name != pattern.name:
        warnings.warn(
            f"{path} is the rank file of {' and '.join(names)}, whose pattern is {own}. Under another one many ids "
            f'differ from the published ones: give pattern="{own}"',
            stacklevel=stacklevel + 1,
        )
    if not has_specials and (missing := _missing(data, pattern.name)):
        warnings.warn(
            f"{path} is the rank file of {missing}. Missing ones are read as ordinary text: give them in "
            "special_tokens",
            stacklevel=stacklevel + 1,
        )


def _missing(data: bytes, pattern: str | None) -> str | None:
    """Return the model or encoding of a rank file and its special tokens; None if it is no published one."""
    if known := names_of(data):
        name = min(known, key=lambda name: len(ENCODINGS[name].special_tokens))
        specials = list(ENCODINGS[name].special_tokens)
        more = f" and {len(specials) - _MAX_NAMED} more" if len(specials) > _MAX_NAMED else ""
        return f"{name}, and lacks its special tokens {', '.join(map(shown, specials[:_MAX_NAMED]))}{more}"
    digest = rank_cache.digest(data)
    ranks = 128_000 if digest == _LLAMA3 else data.count(b"\n") + (not data.endswith(b"\n"))
    of_pattern, model, count = _BY_RANKS.get(ranks, (None, "", 0))
    if not count or (pattern != of_pattern and digest != _LLAMA3):
        return None
    return f"{model}, which has at least {count} special tokens, from id {ranks} on"


# Models of OpenAI, as tiktoken 0.14 has them (model.py)

# In tiktoken's order. The first prefix that fits decides.
_PREFIXES = (
    ("o200k_base", "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o-"),
    ("cl100k_base", "gpt-4- gpt-3.5-turbo- gpt-35-turbo-"),
    ("o200k_harmony", "gpt-oss-"),
    ("o200k_base", "ft:gpt-4o"),
    ("cl100k_base", "ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 ft:babbage-002"),
)
_MODELS = (
    ("o200k_base", "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o"),
    ("cl100k_base", "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002"),
    ("cl100k_base", "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large"),
    ("p50k_base", "text-davinci-003 text-davinci-002"),
    ("r50k_base", "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada"),
    ("p50k_base", "code-davinci-002 code-davinci-001 code-cushman-002 code-cushman-001 davinci-codex cushman-codex"),
    ("p50k_edit", "text-davinci-edit-001 code-davinci-edit-001"),
    ("r50k_base", "text-similarity-davinci-001 text-similarity-curie-001"),
    ("r50k_base", "text-similarity-babbage-001 text-similarity-ada-001"),
    ("r50k_base", "text-search-davinci-doc-001 text-search-curie-doc-001"),
    ("r50k_base", "text-search-babbage-doc-001 text-search-ada-doc-001"),
    ("r50k_base", "code-search-babbage-code-001 code-search-ada-code-001"),
    ("gpt2", "gpt2 gpt-2"),
)

MODEL_PREFIX_TO_ENCODING = {prefix: encoding for encoding, prefixes in _PREFIXES for prefix in prefixes.split()}
MODEL_TO_ENCODING = {model: encoding for encoding, models in _MODELS for model in models.split()}


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding of a model; for a model that is not listed, by the prefix of its name.

    Raises:
        KeyError: No encoding is known for it.

    >>> encoding_name_for_model("gpt-4o-2024-05-13")
    'o200k_base'
    """
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    for prefix, name in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return name
    raise KeyError(
        f"Could not automatically map {model_name} to a tokeniser: name its encoding yourself, with get_encoding"
    )
