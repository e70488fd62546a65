"""Checks that a written file holds a tokenizer.

Before a file takes its name it is read back, and compared with the tokenizer on stress texts: by the library that it
is for, if that is installed, and by toksmith. A rank file and GPT-2's files hold no pattern, so their libraries
compare pretokens instead of texts.
"""

import contextlib
import functools
import importlib
import itertools
import types
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from .. import _core, patterns
from ..files import reading
from .stress import PROSE, SPACES

_CATEGORIES = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "P", "S", "Zs"]
_Case = TypeVar("_Case", str, bytes)


@contextlib.contextmanager
def peer(what: str) -> Iterator[None]:
    """Turn errors of another library, and panics of one in Rust, which are no `Exception`, into `ValueError`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        panics = "the other library panics: " if type(error).__name__ == "PanicException" else ""
        raise ValueError(f"{what}: {panics}{error}") from error


def first_difference(ours: Sequence[object], theirs: Sequence[object]) -> int:
    """Return the index of the first items that differ; the length of the shorter sequence if none do."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((i for i, (our, their) in pairs if our != their), min(len(ours), len(theirs)))


def compare(
    kind: str, cases: Iterable[_Case], ours: Callable[[_Case], list[int]], theirs: Callable[[_Case], list[int]]
) -> None:
    """Compare the ids of each case; the first case that differs is cut down to a short part that differs."""
    for case in cases:
        with peer(f"{kind}, read back, cannot be compared, and was not written: of {case[:200]!r}"):
            is_same = ours(case) == theirs(case)
            short = case if is_same else _shortest(case, ours, theirs)
        if not is_same:
            ids, others = ours(short), theirs(short)
            at = first_difference(ids, others)
            near = slice(max(0, at - 3), at + 4)
            raise ValueError(
                f"{kind}, read back, does not encode as this tokenizer does, and was not written: {short[:200]!r} "
                f"has, around id number {at}, {ids[near]} here and {others[near]} there"
            )


def compare_texts(kind: str, core: _core.Tokenizer, other: _core.Tokenizer) -> None:
    """Compare the ids that two tokenizers give for the stress texts of the first."""
    compare(kind, stress_texts(core), lambda text: core.encode(text, True), lambda text: other.encode(text, True))


def _shortest(case: _Case, ours: Callable[[_Case], list[int]], theirs: Callable[[_Case], list[int]]) -> _Case:
    """Return a short part of a case that differs: it is halved as long as one half, or the middle, differs too."""
    while len(case) > 1:
        half, quarter = len(case) // 2, len(case) // 4
        parts = (case[:half], case[half:], case[quarter : quarter + half])
        smaller = next((part for part in parts if len(part) < len(case) and ours(part) != theirs(part)), None)
        if smaller is None:
            break
        case = smaller
    return case


def ordinary(core: _core.Tokenizer) -> dict[int, bytes]:
    """Return the tokens that are not special, by id."""
    special = set(core.special_tokens().values())
    return {id: token for id, token in core.vocab().items() if id not in special}


def stress_texts(core: _core.Tokenizer, keep: Callable[[set[str]], set[str]] | None = None) -> Iterator[str]:
    """Yield texts of many scripts, of whitespace, of special tokens, and of every token that is UTF-8."""
    tokens = [text for text in map(text_of, ordinary(core).values()) if text is not None]
    characters = set().union(PROSE, *SPACES, *tokens)
    dropped = characters - keep(characters) if keep else set()
    table = str.maketrans(dict.fromkeys(dropped))
    for text in _texts(tokens, sorted(core.special_tokens())):
        # Special tokens stay as they are: the pattern does not see them.
        yield text.translate(table) if dropped else text


def text_of(token: bytes) -> str | None:
    """Return the text of a token; None if it is not UTF-8."""
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
    yield "".join(specials)
    for i, special in enumerate(specials[:1000]):
        word, space = words[i % len(words)], SPACES[i % len(SPACES)]
        yield f"{word}{space}{special}{space}{word}{special}{special}{word}"
        yield f"{special[:-1]} {special[1:]}{special}"
    for start in range(0, len(tokens), 2000):
        for between in ("", " "):
            yield between.join(tokens[start : start + 2000])
    # A rank vocabulary may hold tokens that text reaches only as whole pretokens: each is a text of its own.
    yield from (token for token in tokens if len(token) > 1 and token.isalpha())


def _pretokens(core: _core.Tokenizer) -> list[bytes]:
    """Return the pretokens of the stress text, each once, and every ordinary token but the empty one."""
    split = patterns.of_core(core).core().split
    pretokens = dict.fromkeys(itertools.chain.from_iterable(split(text.encode()) for text in _texts([], [])))
    return [*pretokens, *(token for token in ordinary(core).values() if token and token not in pretokens)]


class _Library(NamedTuple):
    """The library that a file is for: what it makes of the file, and of a text or a pretoken."""

    module: str
    read: Callable[[Any, list[Path]], Any]
    encode: Callable[[Any, Any], list[int]]
    cases: Literal["texts", "ordinary texts", "pretokens"]
    is_enough: bool = False
    """Whether toksmith does not read the file as well."""


_LIBRARIES = {
    "tiktoken": _Library(
        "tiktoken",
        # Its own loader would keep a copy of the file in its cache.
        lambda module, paths: module.Encoding(
            "export",
            pat_str=".",
            mergeable_ranks={token: id for id, token in _core.tokens_of_ranks(reading.read(paths[0])).items()},
            special_tokens={},
        ),
        lambda encoding, piece: encoding._core_bpe.encode_single_piece(piece),
        "pretokens",
        is_enough=True,
    ),
    "gpt2": _Library(
        "tokenizers.models",
        lambda module, paths: module.BPE.from_file(*map(str, paths)),
        lambda model, piece: [token.id for token in model.tokenize(_core.spell(piece))],
        "pretokens",
    ),
    "tekken": _Library(
        "mistral_common.tokens.tokenizers.tekken",
        lambda module, paths: module.Tekkenizer.from_file(paths[0]),
        lambda tekkenizer, text: tekkenizer.encode(text, bos=False, eos=False),
        "ordinary texts",
    ),
    "sentencepiece": _Library(
        "sentencepiece",
        lambda module, paths: module.SentencePieceProcessor(model_proto=paths[0].read_bytes()),
        lambda processor, text: processor.encode(text),
        "ordinary texts",
    ),
    "huggingface": _Library(
        "tokenizers",
        lambda module, paths: _without_settings(module.Tokenizer.from_buffer(paths[0].read_bytes())),
        lambda tokenizer, text: tokenizer.encode(text, add_special_tokens=False).ids,
        "texts",
        is_enough=True,
    ),
}


def verify(core: _core.Tokenizer, format: str, paths: list[Path]) -> None:
    """Read the files of a format back, and raise ValueError if they do not hold the tokenizer."""
    kind = " and ".join(_core.FORMATS[format][1]) or "the file"
    library, installed = _LIBRARIES.get(format), None
    with contextlib.suppress(ImportError):
        installed = library and importlib.import_module(library.module)
    if library is None or installed is None or not library.is_enough:
        _verify_own(kind, core, format, paths)
    if library is None or installed is None:
        return
    with peer(f"{kind} cannot be read back, and was not written"):
        other = library.read(installed, paths)

    def theirs(case: str | bytes) -> list[int]:
        return library.encode(other, case)

    if library.cases == "pretokens":
        compare(kind, _pretokens(core), core.encode_pretoken, theirs)
        return
    keep = functools.partial(_of_one_class, installed) if format == "huggingface" else None
    special = library.cases == "texts"
    compare(kind, stress_texts(core, keep), lambda text: core.encode(text, special), theirs)
    if format == "huggingface":
        _compare_decoding(kind, core, other)


def _verify_own(kind: str, core: _core.Tokenizer, format: str, paths: list[Path]) -> None:
    options: dict[str, Any] = {}
    if format in ("tiktoken", "gpt2"):
        specials = [(name, id if format == "tiktoken" else None) for name, id in core.special_tokens().items()]
        options = {"pattern": patterns.of_core(core).core(), "special_tokens": specials}
    source = (paths[0], paths[1]) if format == "gpt2" else paths[0]
    with peer(f"{kind} cannot be read back, and was not written"):
        loaded = _core.Tokenizer.load(source, format=format, **options)
    compare_texts(kind, core, loaded)
    if loaded.special_tokens() != core.special_tokens():
        raise ValueError(f"{kind}, read back, has other special tokens, and was not written")
    if format == "toksmith" and loaded.fingerprint != core.fingerprint:
        raise ValueError(f"{kind}, read back, differs from this tokenizer, and was not written")


def _without_settings(tokenizer: Any) -> Any:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _compare_decoding(kind: str, core: _core.Tokenizer, other: Any) -> None:
    # SentencePiece's decoder becomes that of converters, which shows special tokens.
    is_same = core.pipeline is None or (core.pipeline.spec["decoder"] or {}).get("type") != "SentencePiece"
    specials = sorted(core.special_tokens().values()) if is_same else []
    ids = core.encode(PROSE, True) + specials + core.encode(PROSE[:99], True)
    with peer(f"{kind}, read back, cannot be decoded, and was not written"):
        there = other.decode(ids, skip_special_tokens=False)
    here = core.decode(ids, "replace")
    if here != there:
        at = first_difference(here, there)
        around = slice(max(0, at - 20), at + 20)
        raise ValueError(
            f"{kind}, read back, does not decode as this tokenizer does, and was not written: "
            f"{here[around]!r} here is {there[around]!r} there"
        )


def _of_one_class(module: types.ModuleType, characters: set[str]) -> set[str]:
    """Return the characters that `regex` and Oniguruma's tables in `tokenizers` put into the same classes.

    Characters that this Python's own tables lack are left out too: they may be newer than one of the libraries.
    """
    known = "".join(sorted(c for c in characters if unicodedata.category(c) not in ("Cn", "Cs")))
    unequal: set[str] = set()
    for source in (*(rf"\p{{{name}}}" for name in _CATEGORIES), r"\s"):
        here = set(patterns.resolve(source).compiled().findall(known))
        others = module.pre_tokenizers.Split(module.Regex(source), "removed").pre_tokenize_str(known)
        unequal |= here ^ set(known).difference(*(text for text, _ in others))
    return set(known) - unequal
