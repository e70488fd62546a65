"""Every export is verified before it takes its name: read back, and held against the tokenizer on a stress text.

A file is read by the library that it is for, where that is installed, else by toksmith. What a file does not hold
(a rank file and GPT-2's files have no pattern) is not asked of it: there the pretokens are compared, not the text.
"""

from __future__ import annotations

import functools
import itertools
import unicodedata
from typing import TYPE_CHECKING, Any

from ..comparison.stress import PROSE, SPACES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ..tokenizer import Tokenizer

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
    """Compare the ids of each case; the first that differs is cut down to the shortest end of it that does.

    Raises:
        ValueError: They differ; shows where.
    """
    for case in cases:
        if ours(case) != theirs(case):
            short = _shortest(case, ours, theirs)
            raise refused(kind, short, ours(short), theirs(short))


def _shortest(case: Any, ours: Encode, theirs: Encode) -> Any:
    """Halve a case as long as one half of it, or its middle, differs too."""
    while len(case) > 1:
        half, quarter = len(case) // 2, len(case) // 4
        parts = (case[:half], case[half:], case[quarter : quarter + half])
        smaller = next((part for part in parts if len(part) < len(case) and ours(part) != theirs(part)), None)
        if smaller is None:
            break
        case = smaller
    return case


# What is encoded


def stress_texts(tokenizer: Tokenizer, keep: Callable[[set[str]], set[str]] | None = None) -> Iterator[str]:
    """Yield texts of many scripts, of whitespace, of special tokens, and of every token that is UTF-8.

    Args:
        tokenizer: Whose tokens, ordinary and special, occur in the texts.
        keep: Returns those of some characters that may be used; by default all.
    """
    tokens, specials = _texts_of(tokenizer), sorted(tokenizer.special_tokens)
    found = set().union(PROSE, *SPACES, *tokens)
    dropped = found - keep(found) if keep else set()
    table = str.maketrans(dict.fromkeys(dropped))
    for text in _texts(tokens, specials):
        # Special tokens stay as they are: they are no text that a pattern sees.
        yield text.translate(table) if dropped else text


def _texts_of(tokenizer: Tokenizer) -> list[str]:
    special = set(tokenizer.special_tokens.values())
    texts = (_text(token) for id, token in tokenizer.vocab.items() if id not in special)
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
    # A rank vocabulary may hold tokens that only a whole pretoken reaches: each stands alone, too.
    yield from (token for token in tokens if len(token) > 1 and token.isalpha())


def _with_specials(specials: list[str], words: list[str]) -> Iterator[str]:
    yield "".join(specials)
    for i, special in enumerate(specials[:1000]):
        word, space = words[i % len(words)], SPACES[i % len(SPACES)]
        yield f"{word}{space}{special}{space}{word}{special}{special}{word}"
        yield f"{special[:-1]} {special[1:]}{special}"


def pretokens(tokenizer: Tokenizer) -> list[bytes]:
    """Return the pretokens of the stress text, each once, and every ordinary token."""
    core = tokenizer._pattern.core()
    found = dict.fromkeys(itertools.chain.from_iterable(core.split(text.encode()) for text in _texts([], [])))
    return [*found, *(token for token in _ordinary(tokenizer) if token not in found)]


def _ordinary(tokenizer: Tokenizer) -> Iterator[bytes]:
    special = set(tokenizer.special_tokens.values())
    return (token for id, token in tokenizer.vocab.items() if id not in special)


# What reads it back


def native(tokenizer: Tokenizer, paths: list[Path]) -> None:
    """Verify a file of `Tokenizer.save`."""
    loaded = _reread("the file", lambda: type(tokenizer).load(paths[0]))
    compare("the file", stress_texts(tokenizer), tokenizer.encode, loaded.encode)
    if loaded != tokenizer:
        raise ValueError("the file, read back, is another tokenizer, and was not written")


def gpt2(tokenizer: Tokenizer, paths: list[Path]) -> None:
    """Verify `vocab.json` and `merges.txt`: by toksmith, and by `tokenizers` where that is installed."""
    kind, pattern = "vocab.json and merges.txt", tokenizer._pattern
    specials = list(tokenizer.special_tokens)
    loaded = _reread(kind, lambda: type(tokenizer).from_files(paths[0], paths[1], specials, pattern=pattern))
    compare(kind, stress_texts(tokenizer), tokenizer.encode, loaded.encode)
    models = _module("tokenizers.models")
    if models is None:
        return
    from ..formats.gpt2 import spell

    model = _reread(kind, lambda: models.BPE.from_file(*map(str, paths)))
    bare = _bare(tokenizer)
    compare(kind, pretokens(tokenizer), bare.encode_bytes, lambda piece: [t.id for t in model.tokenize(spell(piece))])


def tiktoken(tokenizer: Tokenizer, paths: list[Path]) -> None:
    """Verify a rank file: by `tiktoken` where that is installed."""
    kind, module = "the rank file", _module("tiktoken")
    bare = _bare(tokenizer)
    if module is None:
        loaded = _reread(kind, lambda: type(tokenizer).from_tiktoken(paths[0], pattern=None))
        compare(kind, pretokens(tokenizer), bare.encode_bytes, loaded.encode_bytes)
        return
    other = _reread(kind, lambda: _encoding(module, paths[0]))
    compare(kind, pretokens(tokenizer), bare.encode_bytes, other._core_bpe.encode_single_piece)


def _encoding(module: Any, path: Path) -> Any:
    """Return tiktoken's encoding of a rank file, read as its own loader does, but without a copy in its cache."""
    import base64

    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    return module.Encoding("export", pat_str=".", mergeable_ranks=ranks, special_tokens={})


def huggingface(tokenizer: Tokenizer, paths: list[Path]) -> None:
    """Verify a `tokenizer.json`: ids and text, by `tokenizers` where that is installed."""
    path = paths[0]
    module = _module("tokenizers")
    kind: Any = type(tokenizer)
    if module is None:
        loaded = _reread("tokenizer.json", lambda: kind.from_huggingface(path))
        compare("tokenizer.json", stress_texts(tokenizer), tokenizer.encode, loaded.encode)
        return
    other = _reread("tokenizer.json", lambda: module.Tokenizer.from_file(str(path)))
    other.no_truncation()
    other.no_padding()
    keep = functools.partial(_of_one_class, module)
    texts = stress_texts(tokenizer, keep)
    compare("tokenizer.json", texts, tokenizer.encode, lambda text: other.encode(text, add_special_tokens=False).ids)
    ids = tokenizer.encode(PROSE) + sorted(tokenizer.special_tokens.values()) + tokenizer.encode(PROSE[:99])
    ours, theirs = tokenizer.decode(ids), other.decode(ids, skip_special_tokens=False)
    if ours != theirs:
        at = next(i for i, pair in enumerate(itertools.zip_longest(ours, theirs)) if pair[0] != pair[1])
        there = slice(max(0, at - 20), at + 20)
        raise ValueError(
            f"tokenizer.json, read back, does not decode as this tokenizer does, and was not written: "
            f"{ours[there]!r} here is {theirs[there]!r} there"
        )


def _bare(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer of the same ordinary tokens and merges that takes each text as one pretoken."""
    vocab = {id: token for token, id in ((token, tokenizer.token_id(token)) for token in _ordinary(tokenizer))}
    if not tokenizer._core.has_merges():
        return type(tokenizer)(vocab, pattern=None)
    return type(tokenizer)(vocab, tokenizer.merges, pattern=None, ignore_merges=tokenizer.ignore_merges)


def _reread(kind: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic of a library in Rust is no Exception
        raise ValueError(f"{kind} cannot be read back, and was not written: {error}") from error


def _module(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# Which characters both sides know


_CATEGORIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "P", "S", "Zs")
_CLASSES = (*(rf"\p{{{name}}}" for name in _CATEGORIES), r"\s")


def _of_one_class(module: Any, characters: set[str]) -> set[str]:
    """Return the characters that `regex` and Oniguruma's tables in `tokenizers` put into the same classes.

    What this Python's own tables do not know yet is left out too: it may be newer than one of them.
    """
    known = "".join(sorted(c for c in characters if unicodedata.category(c) not in ("Cn", "Cs")))
    unequal: set[str] = set()
    for source in _CLASSES:
        unequal |= _matched_by_regex(source, known) ^ _matched_there(module, source, known)
    return set(known) - unequal


def _matched_by_regex(source: str, characters: str) -> set[str]:
    from .. import patterns

    return set(patterns.resolve(source).compiled().findall(characters))


def _matched_there(module: Any, source: str, characters: str) -> set[str]:
    split = module.pre_tokenizers.Split(module.Regex(source), "removed")
    left = split.pre_tokenize_str(characters)
    return set(characters).difference(*(text for text, _ in left))
