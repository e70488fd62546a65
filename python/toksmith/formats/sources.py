"""The kind of a name or a path, and the tokenizer that it names: a published encoding, a file or a folder."""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from .. import _core, patterns
from .._internal import choices
from .._internal.messages import shown
from ..files import reading, text_files
from . import gpt2, native, ranks, tekken
from .huggingface import auto, origin, read, write
from .huggingface.checks import Json
from .parts import Parts
from .published import encodings, models
from .spelling import spell

StrPath = str | os.PathLike[str]
Kind = Literal["published", "huggingface", "gpt2", "ranks", "native", "tekken", "sentencepiece", "gguf"]

_PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
"""Names of GPT-2's two files: the usual ones, and those of its release."""
_WHOLE = ("tekken.json", "tokenizer.model", "*.model", "qwen.tiktoken", "*.gguf")
"""Names of a file that is a whole tokenizer: Mistral's, SentencePiece's, and any of SentencePiece or llama.cpp."""
_HEAD_BYTES = 1 << 12
_HUB_NAME = re.compile(r"([\w-][\w.-]*)/([\w-][\w.-]*)(?:@([\w./-]+))?", re.ASCII)
_HUB_FILES = ["*.json", "*.jinja", "*.txt", "*.model", "*.bpe", "*.tiktoken"]
ALLOW_DOWNLOAD = "TOKSMITH_DOWNLOAD"
"""The environment variable that allows downloads from the Hugging Face Hub, if it is 1."""
_SUFFIXES = (".json", ".tiktoken", ".txt", ".model", ".bpe", ".gguf")  # those that only a path has


def kind_of(source: StrPath, download: bool | None = None) -> Kind:
    """Return the kind of a name or a path. A file or a folder goes before a published encoding of the same name."""
    return _located(source, download)[0]


def _located(source: StrPath, download: bool | None) -> tuple[Kind, str]:
    """Return the kind of a name or a path, and the path of the file or folder, or the name of the encoding."""
    path = Path(in_hub_cache(source, download) or source)
    if path.is_dir():
        return _in_folder(path)
    if path.exists():
        return _kind_of_file(path), os.fspath(path)
    if isinstance(source, str) and encoding_of(source) is not None:
        return "published", source
    raise _unknown(os.fspath(source))


def _hub_cache() -> Path:
    """Return the folder where `huggingface_hub` keeps what it downloads. It need not exist."""
    if named := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("HF_HOME") or f"{base}/huggingface").expanduser() / "hub"


def in_hub_cache(source: object, download: bool | None = None) -> str | None:
    """Return the folder that the Hub's cache has for the name of a model, as "org/name" or "org/name@revision".

    The revision is a branch, a tag or a commit; "main" without one. None if a path has this name, or the cache has
    no such snapshot and `download` does not allow to fetch it; by default, the environment decides on that.
    """
    match = _HUB_NAME.fullmatch(source) if isinstance(source, str) else None
    if match is None or ".." in match[0] or Path(match[0]).exists():
        return None
    folder, revision = _hub_cache() / f"models--{match[1]}--{match[2]}", match[3] or "main"
    ref = folder / "refs" / revision
    commit = ref.read_text("ascii").strip() if ref.is_file() else revision
    snapshot = folder / "snapshots" / commit
    if "/" not in commit and snapshot.is_dir():
        return str(snapshot)
    if download is None:
        download = os.environ.get(ALLOW_DOWNLOAD) == "1"
    return _downloaded(f"{match[1]}/{match[2]}", revision) if download else None


def _downloaded(name: str, revision: str) -> str:
    """Download the files of a tokenizer by `huggingface_hub`, which keeps them in its cache; return their folder."""
    try:
        import huggingface_hub
    except ImportError:
        raise ImportError(
            "a download from the Hugging Face Hub needs huggingface_hub: pip install 'toksmith[hub]'"
        ) from None
    try:
        return huggingface_hub.snapshot_download(name, revision=revision, allow_patterns=_HUB_FILES)
    except Exception as error:  # its errors, and those of the HTTP library beneath it
        raise FileNotFoundError(
            f"{name}@{revision} could not be downloaded from the Hugging Face Hub: {_reason(error)}"
        ) from None


def _reason(error: Exception) -> str:
    """Return what to do about an error of `huggingface_hub`."""
    return {
        "GatedRepoError": "accept the model's terms on its page, and set HF_TOKEN or run `hf auth login`",
        "RepositoryNotFoundError": "there is no model of this name, or it is private: check the name, and set "
        "HF_TOKEN or run `hf auth login`",
        "RevisionNotFoundError": "the model has no such branch, tag or commit",
    }.get(type(error).__name__, str(error))


def _in_folder(folder: Path) -> tuple[Kind, str]:
    """Return the kind of a folder and its path, or those of the file in it that is a whole tokenizer."""
    path = folder / "tokenizer.json"  # other files in the folder are for older readers
    if path.is_file():
        kind = _kind_of_file(path)
        return kind, os.fspath(folder if kind == "huggingface" else path)
    if pair_in(folder) is not None:
        return "gpt2", os.fspath(folder)
    for pattern in _WHOLE:
        paths = _files_like(folder, pattern)
        if len(paths) > 1:
            names = ", ".join(path.name for path in paths[:3]) + (", …" if len(paths) > 3 else "")
            raise ValueError(f"{folder}: {len(paths)} files are {pattern} ({names}): name the file of the tokenizer")
        if paths:
            return _kind_of_file(paths[0]), os.fspath(paths[0])
    raise ValueError(
        f"{folder}: this folder holds neither tokenizer.json nor vocab.json with merges.txt, {' or '.join(_WHOLE)}: "
        "name the file of the tokenizer"
    )


def _files_like(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.glob(pattern) if path.is_file())


def pair_in(folder: StrPath) -> tuple[Path, Path] | None:
    """Return GPT-2's two files in a folder; None if it does not have both."""
    pairs = ((Path(folder, vocab), Path(folder, merges)) for vocab, merges in _PAIRS)
    return next((pair for pair in pairs if pair[0].is_file() and pair[1].is_file()), None)


def files_of(source: StrPath) -> list[Path]:
    """Return the paths of the files that a tokenizer may be read from; not all need exist."""
    path = Path(in_hub_cache(source) or source)
    folder = path if path.is_dir() else path.parent if path.name == "tokenizer.json" else None
    if folder is None:
        return [path]
    pairs = [folder / name for names in _PAIRS for name in names]
    whole = [path for pattern in _WHOLE for path in _files_like(folder, pattern)]
    return [folder / "tokenizer.json", *pairs, *whole, *origin.paths_in(folder)]


def _kind_of_file(path: Path) -> Kind:
    if path.suffix == ".tiktoken":
        return "ranks"
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES) if path.is_file() else b""
    _core.check_whole(path, head)
    with text_files.naming(path):
        kind: Kind | None = _core.tokenizer_format(head)
    return kind or "native"  # whose reader raises the error


def encoding_of(name: str) -> str | None:
    """Return the published encoding of this name, or of the model of this name; None if there is none.

    >>> encoding_of("o200k_base"), encoding_of("gpt-4o-mini"), encoding_of("tokenizer.json")
    ('o200k_base', 'o200k_base', None)
    """
    if name in encodings.ENCODINGS:
        return name
    if name.endswith(_SUFFIXES):
        return None
    try:
        return models.encoding_name_for_model(name)
    except KeyError:
        return None


def _unknown(source: str) -> OSError:
    if source.endswith(_SUFFIXES) or source.startswith((".", "~", os.sep)):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)
    names = [*encodings.ENCODINGS, *models.MODEL_TO_ENCODING]
    close = difflib.get_close_matches(source.lower(), names, 1)
    question = f": did you mean {close[0]!r}?" if close else "."
    if source in patterns.NAMED:
        return FileNotFoundError(
            f"{source} is the name of a pattern, not of a tokenizer: name the tokenizer.json of a model with it, or "
            f"its name on the Hugging Face Hub, whose cache is {_hub_cache()}. Of a rank file, such as the "
            f'tokenizer.model of Llama 3, give pattern="{source}"'
        )
    hub = ""
    if _HUB_NAME.fullmatch(source):
        hub = (
            f" It is not in the cache of the Hugging Face Hub ({_hub_cache()}): download=True, --download or "
            f"{ALLOW_DOWNLOAD}=1 in the environment allow a download."
        )
    return FileNotFoundError(
        f"{shown(source)} is neither a file nor a folder, a published encoding or the name of a model{question} "
        f"Encodings are {', '.join(encodings.ENCODINGS)}.{hub}"
    )


def open_source(
    source: object,
    pattern: object,
    special_tokens: Iterable[str] | Mapping[str, int] | None,
    unmatched: choices.Unmatched | None,
    download: bool | None = None,
) -> Parts:
    """Load the tokenizer of a name or a path. See `Tokenizer.from_pretrained`; a pattern of `...` is not given."""
    is_bare = pattern is ... and special_tokens is None and unmatched is None
    if not isinstance(source, (str, os.PathLike)):
        if not is_bare:
            raise ValueError("an object has its own pattern and special tokens: leave them and unmatched out")
        return _of_object(source)
    kind, name = _located(source, download)
    if kind == "huggingface" and not is_bare and pair_in(name) is not None:
        kind = "gpt2"
    if is_bare and (kind == "gpt2" or name != os.fspath(source)):
        made = _beside(kind, Path(name))
        if made is not None:
            return made
    if kind == "ranks":
        if pattern is ...:
            raise ValueError(no_pattern(name, "pattern="))
        return ranks.load(name, pattern, special_tokens, unmatched)
    if kind == "gpt2":
        vocab, merges = pair_in(name) or _PAIRS[0]
        chosen = "gpt2" if pattern is ... else pattern
        return gpt2.load(vocab, merges, special_tokens, chosen, unmatched or "keep")
    if kind == "gguf" and pattern is not ... and special_tokens is None and unmatched is None:
        return read.read_gguf(name, pattern or "none")
    if not is_bare:
        raise ValueError(
            f"{name} has its own pattern and special tokens: leave pattern, special_tokens and unmatched out"
        )
    if kind == "published":
        return published(encoding_of(name) or name)
    readers: dict[Kind, Callable[[str], Parts]] = {
        "huggingface": read.read,
        "sentencepiece": read.read_sentencepiece,
        "gguf": read.read_gguf,
        "tekken": tekken.load,
        "native": native.load,
    }
    return readers[kind](name)


def _beside(kind: Kind, path: Path) -> Parts | None:
    """Return the tokenizer of a vocabulary in a folder and of the files beside it; None where they say nothing."""
    files = origin.files_of(path if path.is_dir() else path.parent)
    if kind == "gpt2" and auto.says_something(files):
        vocab, merges = pair_in(path) or _PAIRS[0]
        lines = (f"{spell(left)} {spell(right)}" for left, right in gpt2.read_merges(merges))
        content = auto.content_of_pair(text_files.read_object(vocab, "vocabulary"), lines)
        return read.read_beside(content, path, files)
    if kind == "sentencepiece" and auto.says_something(files):
        return read.read_sentencepiece_beside(path, files)
    if kind == "ranks":
        return _of_model_ranks(path, files)
    return None


def _of_model_ranks(path: Path, files: Json) -> Parts | None:
    """Return the tokenizer of a rank file of Kimi or Qwen 1, whose pattern and special tokens stand in their code."""
    count = len(ranks.read(path))
    pattern_and_tokens = auto.of_rank_file(path.name, count, files)
    if pattern_and_tokens is None:
        return None
    pattern, special_tokens, normalizer = pattern_and_tokens
    parts = ranks.load(path, pattern, special_tokens, None)
    if normalizer is None:
        return Parts(parts.core, parts.pattern, None, None, origin.Origin(None, frozenset(), files))
    content = {**write.tokenizer_object(parts), "normalizer": normalizer}
    return read.parts_of(content, files)


def _of_object(source: object) -> Parts:
    """Return the tokenizer that an object of another library is."""
    if _library_of(source) == "mistral_common":
        inner: Any = getattr(getattr(source, "instruct_tokenizer", None), "tokenizer", source)
        return open_source(inner.file_path, ..., None, None)
    if hasattr(source, "_mergeable_ranks"):
        return ranks.of_encoding(source)
    if not is_source(source):
        raise TypeError(
            "a tokenizer is a name, a path, a tiktoken.Encoding, a tokenizers.Tokenizer, a fast tokenizer of "
            f"transformers, or a tokenizer of mistral_common, not {type(source).__name__}"
        )
    return read.read(source)


def is_source(source: object) -> bool:
    """Return whether this is a name, a path, or an object of a library whose tokenizers are read."""
    if isinstance(source, (str, os.PathLike)) or _library_of(source) in (
        "tokenizers",
        "transformers",
        "mistral_common",
    ):
        return True
    return any(hasattr(source, name) for name in ("_mergeable_ranks", "to_str", "backend_tokenizer"))


def _library_of(source: object) -> str:
    return type(source).__module__.partition(".")[0]


def no_pattern(name: str, option: str) -> str:
    """Return the message of a rank file without a pattern: `option` is how to give one."""
    try:
        known = encodings.names_of(reading.read(name))
    except (OSError, ValueError):
        known = []
    hint = f". It is the published file of {' and '.join(known)}: load it by that name" if known else ""
    return f"{name} is a rank file, which holds no pattern: give {option}, such as gpt2, cl100k or o200k{hint}"


def published(name: str) -> Parts:
    """Return a published encoding: its rank file is looked for on this machine, else downloaded.

    Of several special tokens that have one id (`o200k_harmony` has two), the tokenizer has the first.
    """
    file, pat_str, special_tokens, _ = encodings.ENCODINGS[name]
    pattern = patterns.of_tiktoken_source(pat_str)
    specials = ranks.one_name_each(special_tokens)
    return Parts(_core.Tokenizer.from_ranks(encodings.rank_file(file), specials, pattern.core()), pattern)
