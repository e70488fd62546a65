"""Patterns: named patterns with their published spellings, and `regex` for any other pattern.

A pattern says where text is cut into pretokens. A name stands for one exact pattern, which runs as a scanner in Rust.
Any other pattern has its meaning in the `regex` package; the core compiles it if it can, else that package runs it.
`explain` says which of them runs a pattern.
"""

import contextlib
import difflib
import functools
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from . import _core
from ._internal import arguments, choices
from ._internal.messages import printable, shown

NAMED: dict[str, str] = _core.NAMED_PATTERNS
"""The pattern of each name. `r50k` is another name of `gpt2`, and `llama3` of `cl100k_old`.

The names of published encodings, such as `cl100k_base`, are taken as well: `ALIASES`.
"""
ALIASES: dict[str, str] = _core.PATTERN_ALIASES
"""Published encodings, with the name of the pattern that each has. `gpt2` is the name of both."""

GPT2, CL100K, CL100K_OLD, O200K = map(NAMED.__getitem__, ("gpt2", "cl100k", "cl100k_old", "o200k"))
QWEN2, NANOCHAT, QWEN35, TEKKEN = map(NAMED.__getitem__, ("qwen2", "nanochat", "qwen3.5", "tekken"))

COMPILED: dict[str, str] = _core.COMPILED_PATTERNS
"""The pattern of each name that runs compiled rather than as a scanner, in tiktoken's dialect: `kimi`."""

SPELLINGS: dict[str, str] = _core.PATTERN_SPELLINGS
"""Published spellings, with the name of the pattern that each is proven equal to in
tests/python/regex_dialects/test_patterns.py. The core has them: src/pretokenize/spellings.rs."""

# All flags of `regex` but TEMPLATE, which does nothing, and DEBUG, which prints.
_FLAGS = 0x1FDFE
_REVERSE = 0x400
_SURROGATE = re.compile("((?:\\\\\\\\)*)\\\\?([\ud800-\udfff])")
_SCOPED_CASE = re.compile(r"\(\?[a-zA-Z0-9-]*i")


Regex = Any
"""A compiled pattern of the package `regex`, which has no types."""
Spans = Callable[[str], Iterator[tuple[int, int]]]
"""What finds the spans of all matches in a text."""


class Engine(NamedTuple):
    """The engine that runs a pattern, and why: see `explain`."""

    engine: Literal["scanner", "compiled", "regex", "none"]
    reason: str

    def __str__(self) -> str:
        return f"{self.engine}: {self.reason}"


class Pattern(NamedTuple):
    """A pattern, and what becomes of text that it does not match.

    `text` is the pattern's source (None: no pretokenization), `flags` the flags that it was compiled with beyond the
    defaults, `name` the named pattern that it is proven equal to, `unicode` the Unicode version of its classes.
    """

    text: str | None
    flags: int
    name: str | None
    unmatched: choices.Unmatched
    unicode: str | None

    def __str__(self) -> str:
        return shown(self)

    def fields(self) -> dict[str, Any]:
        """Return what files hold of the pattern. It decides the name."""
        return {
            "pattern": self.text,
            "pattern_flags": self.flags,
            "unmatched": self.unmatched,
            "unicode": self.unicode,
        }

    def compiled(self) -> Regex:
        """Return the compiled `regex` pattern, or None for no pretokenization."""
        return None if self.text is None else _compile(self.text, self.flags)

    def searched(self) -> Regex:
        """Return the compiled `regex` pattern that finds the matches, or None for no pretokenization."""
        return None if self.text is None else _searched(self.text, self.flags)

    def engine(self) -> Engine:
        """Return the engine that runs the pattern, and why: see `explain`."""
        if self.text is None:
            return Engine("none", "without a pattern, text between special tokens is one pretoken")
        if self.name is not None:
            return Engine("scanner", f"the named pattern {self.name}")
        automaton = _automaton(self.text, self.flags)
        if isinstance(automaton, str):
            return Engine("regex", automaton)
        size = f"{automaton.states} states over {automaton.classes} classes of characters"
        return Engine("compiled", size if automaton.is_bimachine else f"{size}, too many for the faster bimachine")

    def core(self) -> _core.Pretokenizer:
        """Return what the core runs."""
        runs = None if self.text is None else self.name or runner(self.text, self.flags)
        return _core.Pretokenizer(
            runs, unmatched=self.unmatched, source=self.text, flags=self.flags, unicode=self.unicode
        )


class Staged(Pattern):
    """What cuts pretokens where no single pattern does: stages, or Metaspace. `text` names them."""

    cuts: _core.Pretokenizer

    def compiled(self) -> Regex:
        """Return None if nothing is cut; refuse anything else, which is no pattern of `regex`."""
        if self.text is None:
            return None
        raise ValueError(f"this tokenizer splits in stages ({self.text}): no single pattern describes it")

    def core(self) -> _core.Pretokenizer:
        """Return what the core runs."""
        return self.cuts


def of_core(core: _core.Tokenizer | _core.Pipeline) -> Pattern:
    """Return the `Pattern` of a tokenizer, or of a pipeline."""
    text, flags, name, unmatched, unicode, has_stages, cuts = core.pattern()
    if not has_stages:
        return Pattern(text, flags, name, unmatched, unicode)
    staged = Staged(text, flags, name, unmatched, unicode)
    staged.cuts = cuts
    return staged


def resolve(pattern: object, unmatched: choices.Unmatched = "keep") -> Pattern:
    """Return the `Pattern` of a name, a regular expression, a compiled `regex` pattern, or None.

    Raises:
        ValueError: The regular expression is broken (the message says where), or looks like a name but is none.
        TypeError: `pattern` is none of these.
    """
    if isinstance(pattern, Pattern):
        return pattern
    if pattern is None:
        return of_source(None, 0, unmatched)
    if isinstance(pattern, str):
        return of_source(expression(pattern), 0, unmatched)
    return of_source(*_source(pattern), unmatched)


def expression(pattern: str) -> str:
    """Return the regular expression of a name; any other expression as it is, unless it looks like a name.

    It does if it is similar to a name; or if it has from 2 to 64 characters, a letter or a digit among them, and no
    metacharacter of a regular expression.

    >>> expression("cl100k_base") == CL100K, expression("[a-z]+")
    (True, '[a-z]+')
    """
    name = ALIASES.get(pattern, pattern)
    if name in NAMED:
        return NAMED[name]
    if pattern in COMPILED:
        return _core.from_fancy_regex(COMPILED[pattern])
    meant = None if pattern in SPELLINGS else _suggestion(pattern)
    is_literal = any(map(str.isalnum, pattern)) and _METACHARACTERS.isdisjoint(pattern)
    if meant is not None or (is_literal and 1 < len(pattern) <= _MAX_NAME):
        question = "." if meant is None else f": did you mean {meant}?"
        names = ", ".join([*NAMED, *COMPILED, *ALIASES])
        raise ValueError(
            f"{shown(pattern)} looks like the name of a pattern, but no pattern has this name{question} The names "
            f"are {names}. An expression for these very characters is (?:{printable(pattern)})"
        )
    return pattern


def of_tiktoken(pattern: object, unmatched: choices.Unmatched | None = None) -> Pattern:
    """Return the `Pattern` of a rank file: an expression is in the dialect of tiktoken's engine (fancy-regex).

    By default text that does not match is dropped, as in tiktoken. Errors are those of `resolve`; or one that names a
    part of the expression without an equal in `regex`.
    """
    if isinstance(pattern, str) and pattern not in COMPILED:
        return of_tiktoken_source(expression(pattern), unmatched)
    if unmatched is None and pattern is not None and not isinstance(pattern, (str, Pattern)):
        unmatched = "drop"
    return resolve(pattern, unmatched or "keep")


def of_tiktoken_source(text: str, unmatched: choices.Unmatched | None = None) -> Pattern:
    """Return the `Pattern` of an expression in tiktoken's dialect, which is never a name; warns if it is like one."""
    warn_of_name(text)
    if text in SPELLINGS:
        return of_source(text, 0, unmatched or "keep")
    return of_source(_core.from_fancy_regex(text), 0, unmatched or "drop")


def of_source(text: str | None, flags: int, unmatched: choices.Unmatched) -> Pattern:
    """Return the `Pattern` of a regular expression, which is never taken for a name, and its flags."""
    arguments.one_of("unmatched", unmatched, choices.Unmatched)
    if text is None:
        return Pattern(None, 0, None, unmatched, None)
    # The core keeps patterns as UTF-8, which has no lone surrogates: they are escaped.
    text = _SURROGATE.sub(lambda match: f"{match[1]}\\u{ord(match[2]):04x}", text)
    if flags & ~_FLAGS:
        shown_flags = hex(flags) if flags < 1 << 64 else shown(flags)
        raise ValueError(f"the flags {shown_flags} of the pattern {shown(text)} are not supported")
    name = SPELLINGS.get(text) if flags == 0 else None
    if name is not None:
        return Pattern(text, flags, name, unmatched, _core.UNICODE_VERSION)
    if _compile(text, flags).flags & _REVERSE:
        raise ValueError(
            f"the pattern {shown(text)} matches backwards, from the end of the text: leave its flag r out"
        )
    return Pattern(text, flags, None, unmatched, installed_unicode())


def _source(pattern: Regex) -> tuple[str, int]:
    """Return the source and the flags of a compiled pattern, without the flags that `regex` sets by itself."""
    if hasattr(pattern, "finditer") and isinstance(getattr(pattern, "pattern", None), str):
        text: str = pattern.pattern
        if getattr(pattern, "named_lists", None):
            raise ValueError("a pattern with named lists cannot be saved: write the alternatives into it")
        if type(pattern).__module__ == "re":
            raise ValueError("compile the pattern with the `regex` package: `re` knows no \\p{L}")
        with contextlib.suppress(ValueError):  # the source may be one that can be read only with flags
            if pattern.flags == _compile(text, 0).flags:
                return text, 0
        return text, pattern.flags
    kind = type(pattern).__name__
    raise TypeError(f"a pattern is a name ({', '.join(NAMED)}), a regular expression, or None, not {kind}")


@functools.lru_cache(maxsize=16)
def _compile(text: str, flags: int) -> Regex:
    """Compile a pattern, after a check of its size. Every pattern that is not our own is compiled here."""
    import regex

    # A program may have made version 1 the default.
    _core.check_pattern_size(text, flags | int(regex.DEFAULT_VERSION & regex.VERSION1))
    try:
        # `regex` would keep up to 500 patterns of any size in its own cache.
        return regex.compile(text, flags, cache_pattern=False)
    except RecursionError:
        raise ValueError(f"the pattern {shown(text)} is nested too deep") from None
    # `regex` itself fails in different ways, for example at numbers that are infinite.
    except (regex.error, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(f"the pattern {shown(text)} is broken: {error}") from None


def _searched(text: str, flags: int) -> Regex:
    r"""Compile a pattern such that a flag as in `(?i:…)` ends with its group.

    Before it tries a match, `regex` 2026.11.15 looks whether one may begin with the next character. If a part of the
    pattern has the flag i, that look takes all sets for case-insensitive: `[^\p{Lu}]|(?i:s)` finds no "b". An
    alternative that never matches, and takes no character, turns the look off.
    """
    compiled = _compile(text, flags)
    return _compile(f"(?!)|{text}", flags) if _SCOPED_CASE.search(text) else compiled


# A letter that came with each version of Unicode, newest first; the oldest `regex` that is supported has the last.
_FIRST_LETTERS = {
    "18.0": 0x3D000,
    "17.0": 0x088F,
    "16.0": 0x1C89,
}


@functools.lru_cache(maxsize=1)
def installed_unicode() -> str:
    """Return the Unicode version of the installed `regex`, found by asking for letters.

    >>> installed_unicode() >= "16.0"
    True
    """
    letter = _compile(r"\p{L}", 0)
    known = (version for version, code in _FIRST_LETTERS.items() if letter.match(chr(code)))
    return next(known, "before 16.0")


@functools.lru_cache(maxsize=16)
def _automaton(text: str, flags: int) -> _core.CompiledPattern | str:
    """Compile a pattern for the core; return the reason if that cannot be done."""
    try:
        return _core.CompiledPattern(text, _compile(text, flags).flags)
    except ValueError as reason:
        return str(reason)


def runner(text: str, flags: int) -> Spans | _core.CompiledPattern:
    """Return what runs a pattern without a scanner: the core's automaton, or else what finds the spans of matches.

    Cost: for an automaton some 1 to 300 ms, once for each pattern in a process.
    """
    automaton = _automaton(text, flags)
    return functools.partial(spans, _searched(text, flags)) if isinstance(automaton, str) else automaton


def engine_of(text: str, is_nullable: bool) -> Spans | _core.CompiledPattern:
    """Return what runs a pattern of a file. Only `regex` finds empty matches."""
    compiled = of_source(text, 0, "keep").compiled()
    return functools.partial(_nullable_spans, compiled) if is_nullable else runner(text, 0)


def spans(pattern: Regex, text: str) -> Iterator[tuple[int, int]]:
    """Return the spans of the matches of a compiled pattern, in characters."""
    # Releasing the GIL for each match would make two threads several times slower than one.
    return map(operator.methodcaller("span"), pattern.finditer(text, concurrent=False))


def _nullable_spans(pattern: Regex, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans as callers of Oniguruma find them.

    An empty match directly after the previous match is left out, and the search continues one character later.
    """
    at, last = 0, -1
    while text and at <= len(text) and (match := pattern.search(text, at, concurrent=False)):
        start, end = match.span()
        if start == end == last:
            at += 1
        else:
            yield start, end
            at = last = end


def explain(pattern: object, dialect: Literal["regex", "tiktoken"] = "regex") -> Engine:
    r"""Return which engine runs a pattern, and why.

    A "scanner" runs a named pattern, and is the fastest. A "compiled" pattern is an automaton of the core. Both run
    on all threads. A pattern that is not regular runs in the "regex" package, under the interpreter's lock, and is
    far slower.

    Args:
        pattern: As in `toksmith.train`: a name, a regular expression, a compiled pattern of `regex`, or None.
        dialect: The dialect of an expression: "regex", or "tiktoken", as in rank files.

    Raises:
        ValueError, TypeError: As `resolve`.

    >>> print(explain("cl100k"))
    scanner: the named pattern cl100k
    >>> explain(r" ?\p{L}+| ?[^\p{L}]").engine
    'compiled'
    >>> print(explain(r"(?<=a)b"))
    regex: a look behind, at character 0
    """
    return (of_tiktoken(pattern) if dialect == "tiktoken" else resolve(pattern)).engine()


# Names that are nearly right
#
# A name with a typing error would be an expression that matches its own letters and nothing else, and training would
# merge across words without a warning. So a string that looks like a name is refused unless it is one.

_METACHARACTERS = frozenset("\\.^$*+?{}[]()|")
# A name has no more characters than this.
_MAX_NAME = 64
# Least similarity, from 0 to 1, of two names of which one may be meant by the other.
_ALIKE = 0.8


def warn_of_name(text: str) -> None:
    """Warn of an expression that is the name of a pattern, or similar to one, where only expressions are taken.

    The stand-ins for other libraries take every expression that the originals take, and the originals have no names.
    """
    meant = repr(text) if text in NAMED or text in ALIASES else _suggestion(text)
    if meant not in (None, "None"):
        warnings.warn(
            f"the pattern {shown(text)} is taken as a regular expression, as by the original library: it matches "
            f"these very characters alone. The expression of the pattern {meant} is in toksmith.patterns.NAMED or "
            "COMPILED",
            stacklevel=4,
        )


def _suggestion(text: str) -> str | None:
    """Return the name that may be meant by a string that is no name, as a message shows it; None for no similar name.

    >>> _suggestion("GPT2"), _suggestion("[a-z]+")
    ("'gpt2'", None)
    """
    letters = _letters(text)
    if not letters or len(text) > _MAX_NAME or not all(c.isalnum() or c in " -_./:" for c in text):
        return None
    if letters in ("none", "null"):
        return "None"
    spelled = {_letters(name): name for name in (*ALIASES, *COMPILED, *NAMED)}
    close = difflib.get_close_matches(letters, spelled, 1, _ALIKE)
    return repr(spelled[close[0]]) if close else None


def _letters(name: str) -> str:
    """Return only letters and digits, in lower case, so that spellings of a name are equal."""
    return "".join(filter(str.isalnum, name)).lower()
