"""Verifying exports: before a file takes its name it is read back, and compared with the tokenizer on stress texts.

A file is read by the library that it is for, if that is installed, else by toksmith. A rank file and GPT-2's files
hold no pattern, so pretokens are compared instead of texts.
"""

from __future__ import annotations

import functools
import itertools
import unicodedata
from typing import TYPE_CHECKING, Any

from .. import _core, patterns
from . import head, load, load_ranks, rank_file
from .gpt2 import spell
from .huggingface import read
from .stress import PROSE, SPACES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from .parts import Parts

    Encode = Callable[[Any], list[int]]


def refused(kind: str, text: Any, ours: list[int], theirs: list[int]) -> ValueError:
    """Return the error that shows the first difference with its context."""
    pairs = itertools.zip_longest(ours, theirs)
    at = next(i for i, (our, their) in enumerate(pairs) if our != their)
    shown = text if len(text) <= 200 else text[:200]
    return ValueError(
        f"{kind}, read back, does not encode as this tokenizer does, and was not written: {shown!r} "
        f"{'… ' if len(text) > 200 else ''}has {_near(ours, at)} here and {_near(theirs, at)} there, "
        f"first different at id number {at}"
    )


def _near(ids: list[int], at: int) -> str:
    before, after = "… " if at > 3 else "", " …" if at + 4 < len(ids) else ""
    return f"[{before}{', '.join(map(str, ids[max(0, at - 3) : at + 4]))}{after}]"


def compare(kind: str, cases: Iterable[Any], ours: Encode, theirs: Encode) -> None:
    """Compare the ids of each case; the first case that differs is cut down to a short part that differs.

    Raises:
        ValueError: The ids differ; shows where.
    """
    for case in cases:
        if ours(case) != theirs(case):
            short = _shortest(case, ours, theirs)
            raise refused(kind, short, ours(short), theirs(short))


def _shortest(case: Any, ours: Encode, theirs: Encode) -> Any:
    """Return a short part of a case that differs: it is halved as long as one half, or the middle, differs too."""
    while len(case) > 1:
        half, quarter = len(case) // 2, len(case) // 4
        parts = (case[:half], case[half:], case[quarter : quarter + half])
        smaller = next((part for part in parts if len(part) < len(case) and ours(part) != theirs(part)), None)
        if smaller is None:
            break
        case = smaller
    return case


# Texts to compare


def stress_texts(parts: Parts, keep: Callable[[set[str]], set[str]] | None = None) -> Iterator[str]:
    """Yield texts of many scripts, of whitespace, of special tokens, and of every token that is UTF-8.

    Args:
        parts: The tokenizer whose tokens, ordinary and special, occur in the texts.
        keep: Returns those of some characters that may be used; by default all.
    """
    tokens, specials = _texts_of(parts), sorted(parts.special_tokens)
    found = set().union(PROSE, *SPACES, *tokens)
    dropped = found - keep(found) if keep else set()
    table = str.maketrans(dict.fromkeys(dropped))
    for text in _texts(tokens, specials):
        # Special tokens stay as they are: the pattern does not see them.
        yield text.translate(table) if dropped else text


def _texts_of(parts: Parts) -> list[str]:
    texts = map(_text, parts.ordinary.values())
    return [text for text in texts if text is not None]


def _text(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def _texts(tokens: list[str], specials: list[str]) -> Iterator[str]:
    yield from PROSE.split("\n")
    yield PROSE
    words = PROSE.split()
    yield "".join(f"{word}{SPACES[i % len(SPACES)]}" for i, word in enumerate(words * 3))
    yield from (f"{before}a{after}{end}" for before in SPACES for after in SPACES for end in ("", "b"))
    yield from _with_specials(specials, words)
    size = 2000
    for start in range(0, len(tokens), size):
        some = tokens[start : start + size]
        for between in ("", " "):
            yield between.join(some)
    # A rank vocabulary may hold tokens that text reaches only as whole pretokens: each is a text of its own.
    yield from (token for token in tokens if len(token) > 1 and token.isalpha())


def _with_specials(specials: list[str], words: list[str]) -> Iterator[str]:
    yield "".join(specials)
    for i, special in enumerate(specials[:1000]):
        word, space = words[i % len(words)], SPACES[i % len(SPACES)]
        yield f"{word}{space}{special}{space}{word}{special}{special}{word}"
        yield f"{special[:-1]} {special[1:]}{special}"


def pretokens(parts: Parts) -> list[bytes]:
    """Return the pretokens of the stress text, each once, and every ordinary token but the empty one."""
    split = parts.pattern.core().split
    found = dict.fromkeys(itertools.chain.from_iterable(split(text.encode()) for text in _texts([], [])))
    return [*found, *(token for token in parts.ordinary.values() if token and token not in found)]


# Verification, a function for each format


def native(parts: Parts, paths: list[Path]) -> None:
    """Verify a file of `Tokenizer.save`."""
    loaded = _reread("the file", lambda: load.native(paths[0]))
    compare("the file", stress_texts(parts), _encode(parts.core), _encode(loaded.core))
    if head.state(loaded) != head.state(parts):
        raise ValueError("the file, read back, is another tokenizer, and was not written")


def gpt2(parts: Parts, paths: list[Path]) -> None:
    """Verify `vocab.json` and `merges.txt`: by toksmith, and by `tokenizers` where that is installed."""
    kind = "vocab.json and merges.txt"
    specials = list(parts.special_tokens)
    loaded = _reread(kind, lambda: load.gpt2(paths[0], paths[1], specials, parts.pattern, "keep"))
    compare(kind, stress_texts(parts), _encode(parts.core), _encode(loaded.core))
    models = _module("tokenizers.models")
    if models is None:
        return
    model = _reread(kind, lambda: models.BPE.from_file(*map(str, paths)))
    bare = _encode_bytes(_bare(parts))
    compare(kind, pretokens(parts), bare, lambda piece: [t.id for t in model.tokenize(spell(piece))])


def tiktoken(parts: Parts, paths: list[Path]) -> None:
    """Verify a rank file: by `tiktoken` where that is installed."""
    kind, module = "the rank file", _module("tiktoken")
    bare = _encode_bytes(_bare(parts))
    if module is None:
        loaded = _reread(kind, lambda: load_ranks.load(paths[0], None, (), None))
        compare(kind, pretokens(parts), bare, _encode_bytes(loaded.core))
        return
    other = _reread(kind, lambda: _encoding(module, paths[0]))
    compare(kind, pretokens(parts), bare, other._core_bpe.encode_single_piece)


def _encoding(module: Any, path: Path) -> Any:
    """Return tiktoken's encoding of a rank file. Its own loader would keep a copy of the file in its cache."""
    ranks = {token: rank for rank, token in rank_file.read(path).items()}
    return module.Encoding("export", pat_str=".", mergeable_ranks=ranks, special_tokens={})


def huggingface(parts: Parts, paths: list[Path]) -> None:
    """Verify a `tokenizer.json`: ids and text, by `tokenizers` where that is installed."""
    path, ours = paths[0], _encode(parts.core)
    module = _module("tokenizers")
    if module is None:
        loaded = _reread("tokenizer.json", lambda: read.read(path))
        compare("tokenizer.json", stress_texts(parts), ours, _encode(loaded.core))
        return
    other = _reread("tokenizer.json", lambda: module.Tokenizer.from_buffer(path.read_bytes()))
    other.no_truncation()
    other.no_padding()
    keep = functools.partial(_of_one_class, module)
    texts = stress_texts(parts, keep)
    compare("tokenizer.json", texts, ours, lambda text: other.encode(text, add_special_tokens=False).ids)
    ids = ours(PROSE) + sorted(parts.special_tokens.values()) + ours(PROSE[:99])
    here, there = parts.core.decode(ids, "replace"), other.decode(ids, skip_special_tokens=False)
    if here != there:
        at = next(i for i, pair in enumerate(itertools.zip_longest(here, there)) if pair[0] != pair[1])
        around = slice(max(0, at - 20), at + 20)
        raise ValueError(
            f"tokenizer.json, read back, does not decode as this tokenizer does, and was not written: "
            f"{here[around]!r} here is {there[around]!r} there"
        )


def _bare(parts: Parts) -> _core.Tokenizer:
    """Return a core of the same ordinary tokens and merges that takes each text as one pretoken."""
    vocab = {parts.core.token_id(token): token for token in parts.ordinary.values()}
    whole = patterns.resolve(None).core()
    if not parts.core.has_merges():
        return _core.Tokenizer(vocab, None, [], whole)
    return _core.Tokenizer(vocab, parts.merges, [], whole, parts.core.ignores_merges())


def _encode(core: _core.Tokenizer) -> Encode:
    return lambda text: core.encode(text, True)


def _encode_bytes(core: _core.Tokenizer) -> Encode:
    return lambda data: core.encode_bytes(data, True)


def _reread(kind: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic of a Rust library is no Exception
        raise ValueError(f"{kind} cannot be read back, and was not written: {error}") from error


def _module(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# Characters that both libraries put into the same classes


_CATEGORIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "P", "S", "Zs")
_CLASSES = (*(rf"\p{{{name}}}" for name in _CATEGORIES), r"\s")


def _of_one_class(module: Any, characters: set[str]) -> set[str]:
    """Return the characters that `regex` and Oniguruma's tables in `tokenizers` put into the same classes.

    Characters that this Python's own tables lack are left out too: they may be newer than one of the libraries.
    """
    known = "".join(sorted(c for c in characters if unicodedata.category(c) not in ("Cn", "Cs")))
    unequal: set[str] = set()
    for source in _CLASSES:
        unequal |= _matched_by_regex(source, known) ^ _matched_there(module, source, known)
    return set(known) - unequal


def _matched_by_regex(source: str, characters: str) -> set[str]:
    return set(patterns.resolve(source).compiled().findall(characters))


def _matched_there(module: Any, source: str, characters: str) -> set[str]:
    split = module.pre_tokenizers.Split(module.Regex(source), "removed")
    left = split.pre_tokenize_str(characters)
    return set(characters).difference(*(text for text, _ in left))
