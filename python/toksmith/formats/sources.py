"""The kind of a name or a path, and the tokenizer that it names: a published encoding, a file or a folder."""

import copy
import difflib
import errno
import os
import re
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .. import _core, patterns
from .._internal import arguments, choices
from .._internal.messages import shown
from ..files import reading, text_files
from . import verification
from .published import encodings

StrPath = str | os.PathLike[str]
Specials = Iterable[str] | Mapping[str, int] | None

_HUB_NAME = re.compile(r"([\w-][\w.-]*)/([\w-][\w.-]*)(?:@([\w./-]+))?", re.ASCII)
_HUB_FILES = ["*.json", "*.jinja", "*.txt", "*.model", "*.bpe", "*.tiktoken"]
ALLOW_DOWNLOAD = "TOKSMITH_DOWNLOAD"
"""The environment variable that allows downloads from the Hugging Face Hub, if it is 1."""
_SUFFIXES = (".json", ".tiktoken", ".txt", ".model", ".bpe", ".gguf")  # those that only a path has


def kind_of(source: StrPath, download: bool | None = None) -> str:
    """Return the format of a name or a path, "published" for a published encoding.

    A file or a folder goes before a published encoding of the same name.
    """
    path = _located(source, download)
    return "published" if path is None else _core.tokenizer_kind(path)


def takes_options(source: StrPath, download: bool | None = None) -> bool:
    """Return whether a pattern and special tokens are given beside a file: a rank file, or GPT-2's two files."""
    path = _located(source, download)
    return path is not None and _core.tokenizer_kind(path, True) in ("tiktoken", "gpt2")


def _located(source: StrPath, download: bool | None) -> str | None:
    """Return the path of the file or folder of a name or a path; None for the name of a published encoding."""
    path = Path(in_hub_cache(source, download) or source)
    if path.exists():
        return os.fspath(path)
    if isinstance(source, str) and encoding_of(source) is not None:
        return None
    raise _unknown(os.fspath(source))


def _hub_cache() -> Path:
    """Return the folder where `huggingface_hub` keeps what it downloads. It need not exist."""
    home = os.environ.get("HF_HOME") or f"{os.environ.get('XDG_CACHE_HOME') or '~/.cache'}/huggingface"
    named = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return Path(named or f"{home}/hub").expanduser()


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
            f"{name}@{revision} could not be downloaded from the Hugging Face Hub: {error}"
        ) from None


def files_of(source: StrPath) -> list[Path]:
    """Return the paths of the files that a tokenizer may be read from; not all need exist."""
    return [Path(path) for path in _core.tokenizer_files(in_hub_cache(source) or source)]


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
        return encodings.encoding_name_for_model(name)
    except KeyError:
        return None


def _unknown(source: str) -> OSError:
    if source.endswith(_SUFFIXES) or source.startswith((".", "~", os.sep)):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)
    names = [*encodings.ENCODINGS, *encodings.MODEL_TO_ENCODING]
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
    special_tokens: Specials,
    unmatched: choices.Unmatched | None,
    download: bool | None,
) -> _core.Tokenizer:
    """Load the tokenizer of a name or a path. See `Tokenizer.from_pretrained`; a pattern of `...` is not given."""
    is_bare = pattern is ... and special_tokens is None and unmatched is None
    if not isinstance(source, (str, os.PathLike)):
        if is_bare:
            return _of_object(source)
        raise ValueError("an object has its own pattern and special tokens: leave them and unmatched out")
    path = _located(source, download)
    if is_bare and path is None:
        return published(encoding_of(os.fspath(source)) or "")
    if is_bare and path is not None:
        try:
            return _core.Tokenizer.load(path)
        except ValueError as error:
            lead, separator, _ = str(error).rpartition(f": {_core.NO_PATTERN}")
            raise ValueError(no_pattern(lead, "pattern=")) if separator else error from None
    if path is not None and takes_options(path):
        return _load_with(path, pattern, special_tokens, unmatched)
    if path is not None and _core.tokenizer_kind(path) == "gguf" and special_tokens is None and unmatched is None:
        if not isinstance(pattern, str | None):
            raise ValueError(f"the pattern is the name of a pre-tokenizer of llama.cpp, not {pattern!r:.80}")
        return _core.Tokenizer.load(path, pre_tokenizer=pattern or "none")
    raise ValueError(
        f"{source} has its own pattern and special tokens: leave pattern, special_tokens and unmatched out"
    )


def _load_with(
    path: str, pattern: object, special_tokens: Specials, unmatched: choices.Unmatched | None
) -> _core.Tokenizer:
    """Load a file that has neither a pattern nor special tokens."""
    if _core.tokenizer_kind(path, True) == "tiktoken":
        lead = _core.tokenizer_lead(path)
        if pattern is ...:
            raise ValueError(no_pattern(lead, "pattern="))
        return load_ranks(lead, pattern, special_tokens, unmatched)
    resolved = patterns.resolve("gpt2" if pattern is ... else pattern, unmatched or "keep")
    specials = arguments.special_list(special_tokens)
    return _core.Tokenizer.load(path, format="gpt2", pattern=resolved.core(), special_tokens=specials)


def load_ranks(
    path: StrPath, pattern: object, special_tokens: Specials, unmatched: choices.Unmatched | None
) -> _core.Tokenizer:
    """Load a rank file; warns of a published one if `special_tokens` is None. See `Tokenizer.from_tiktoken`."""
    resolved = patterns.of_tiktoken(pattern, unmatched)
    specials = arguments.special_list(special_tokens)
    data = reading.read(path)
    with text_files.naming(path):
        core = _core.Tokenizer.load(data, format="tiktoken", special_tokens=specials, pattern=resolved.core())
    encodings.warn_of_published(path, data, resolved, special_tokens is not None, stacklevel=3)
    return core


def load_huggingface(source: object, seed: int | None = None) -> _core.Tokenizer:
    """Load a `tokenizer.json`, or an object that gives one. `seed` is that of the model's dropout."""
    if isinstance(source, (str, os.PathLike)):
        return _core.Tokenizer.load(source, format="huggingface", dropout_seed=seed)
    kind = type(source).__name__
    inner = getattr(source, "backend_tokenizer", source)
    to_str = getattr(inner, "to_str", None)
    if not callable(to_str):
        raise TypeError(
            "a tokenizer is a name, a path, or an object of tiktoken, tokenizers, transformers (a fast tokenizer) or "
            f"mistral_common, not {kind}"
        )
    if getattr(inner, "encode_special_tokens", False):
        raise ValueError(f"{kind}: encode_special_tokens is set: unset it, and give special=False when encoding")
    with verification.peer(kind):
        data = str(to_str()).encode()
    with text_files.naming(kind):
        return _core.Tokenizer.of_huggingface(data, _files_of_object(source), dropout_seed=seed)


def _files_of_object(source: Any) -> str | None:
    """Return the JSON of the files that an object of `transformers` writes, without `tokenizer.json`."""
    if not hasattr(source, "save_pretrained"):
        return None
    light = copy.copy(source)
    light.__dict__["_save_pretrained"] = lambda *_args, **_options: ()
    try:
        with tempfile.TemporaryDirectory() as folder:
            light.save_pretrained(folder)
            files, warned = _core.side_files(folder)
    except Exception as error:  # a class from elsewhere may raise any error
        what = "its roles of special tokens and chat templates are not kept, since its save_pretrained failed"
        files, warned = None, [f"{type(source).__name__}: {what}: {error}"]
    for warning in warned:
        warnings.warn(warning, stacklevel=6)
    return files


def _of_object(source: object) -> _core.Tokenizer:
    """Return the tokenizer that an object of another library is."""
    if _is_of_mistral(source):
        inner: Any = getattr(getattr(source, "instruct_tokenizer", None), "tokenizer", source)
        return open_source(inner.file_path, ..., None, None, None)
    if not hasattr(source, "_mergeable_ranks"):
        return load_huggingface(source)
    encoding: Any = source  # of tiktoken
    pattern = patterns.of_tiktoken_source(encoding._pat_str)
    vocab = {rank: token for token, rank in encoding._mergeable_ranks.items()}
    return _core.Tokenizer(vocab, None, one_name_each(encoding._special_tokens), pattern.core())


def one_name_each(special_tokens: Mapping[str, int]) -> list[tuple[str, int | None]]:
    """Return special tokens with their ids; of several with one id the first, as `o200k_harmony` has."""
    first = {id: token for token, id in reversed([*special_tokens.items()])}
    return [(token, id) for id, token in reversed(first.items())]


def is_source(source: object) -> bool:
    """Return whether this is a name, a path, or an object of a library whose tokenizers are read."""
    names = ("_mergeable_ranks", "to_str", "backend_tokenizer")
    return (
        isinstance(source, (str, os.PathLike))
        or _is_of_mistral(source)
        or any(hasattr(source, name) for name in names)
    )


def _is_of_mistral(source: object) -> bool:
    return type(source).__module__.startswith("mistral_common.")


def no_pattern(name: str, option: str) -> str:
    """Return the message of a rank file without a pattern: `option` is how to give one."""
    try:
        known = encodings.names_of(reading.read(name))
    except (OSError, ValueError):
        known = []
    hint = f". It is the published file of {' and '.join(known)}: load it by that name" if known else ""
    return f"{name} is a rank file, which holds no pattern: give {option}, such as gpt2, cl100k or o200k{hint}"


def published(name: str) -> _core.Tokenizer:
    """Return a published encoding: its rank file is looked for on this machine, else downloaded.

    Of several special tokens that have one id (`o200k_harmony` has two), the tokenizer has the first.
    """
    file, pat_str, special_tokens, _ = encodings.ENCODINGS[name]
    pattern = patterns.of_tiktoken_source(pat_str)
    data, specials = encodings.rank_file(file), one_name_each(special_tokens)
    return _core.Tokenizer.load(data, format="tiktoken", special_tokens=specials, pattern=pattern.core())
