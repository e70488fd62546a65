"""Training of tokens that are several words: merges in a second stage, whose pretokens are runs of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from .. import patterns
from .._internal import arguments, choices
from .._internal.choices import SuperwordRule
from ..corpus import Corpus
from ..patterns import Pattern

_WORDS = r" ?[\p{L}\p{M}]+(?: [\p{L}\p{M}]+)+(?![\p{L}\p{M}'’])"
"""Two words or more with single spaces between them. A word before an apostrophe is left to the other pattern."""
_SPACES = (
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
    r"|(?:\p{L}|[^\S ]| (?=[\p{L}\p{N}])| ?[^\s\p{L}\p{N}](?![^\s\p{L}\p{N}]))+"
)
"""The pattern of SuperBPE's second stage (github.com/PythonNut/superbpe, scripts/extend_tokenizer.sh), which is the
first line. The second one matches what that leaves between two matches: so the core knows where to cut text."""


@dataclass(frozen=True)
class Superwords:
    """Tokens of several words, such as " of the", which `train` learns after the ordinary ones.

    Args:
        transition: The part of the vocabulary that is learned first, as without superwords. A `base` takes its place.
        rule: What a token may cross. "words": single spaces between words of letters, and nothing else. "spaces": all
            that the published second stage of SuperBPE crosses, also newlines and single punctuation marks.
        max_words: The maximum number of words of a token that is learned second. Whitespace of ASCII separates words.

    >>> Superwords(rule="words").cuts(patterns.resolve("gpt2")).unmatched
    'keep'
    """

    transition: float = 0.9
    rule: SuperwordRule = "words"
    max_words: int = 4

    def __post_init__(self) -> None:
        arguments.one_of("rule", self.rule, choices.SuperwordRule)
        arguments.checked_limit("max_words", self.max_words, 2)
        if not 0 < self.transition < 1:
            raise ValueError(f"transition is {self.transition}, not a part between 0 and 1")

    @classmethod
    def of(cls, superwords: Superwords | SuperwordRule) -> Superwords:
        """Return the value of an argument, which may be the name of a rule."""
        if isinstance(superwords, Superwords):
            return superwords
        if not isinstance(superwords, str):
            rules = " or ".join(map(repr, get_args(choices.SuperwordRule)))
            raise TypeError(f"superwords is a toksmith.Superwords, {rules}, not {superwords!r}")
        arguments.one_of("superwords", superwords, choices.SuperwordRule)
        return cls(rule=superwords)

    def first_size(self, vocab_size: int) -> int:
        """Return the number of tokens of the first stage."""
        size = int(vocab_size * self.transition)
        if size < 256:
            raise ValueError(
                f"transition {self.transition} leaves {size} of {vocab_size} tokens for the first stage: at least 256"
            )
        return size

    def cuts(self, first: Pattern) -> Pattern:
        """Return the pattern of the second stage, and of the result; `first` is that of the first stage."""
        if first.flags:
            raise ValueError(f"superwords need a pattern without flags: write them into {first}")
        if self.rule == "spaces":
            return patterns.of_source(_SPACES, 0, first.unmatched)
        return patterns.of_source(_WORDS if first.text is None else f"{_WORDS}|{first.text}", 0, first.unmatched)


def check_read_twice(corpus: Corpus) -> None:
    """Check that all texts can be read again, since each stage reads them: that none is a pipe or an iterator."""
    for source in corpus.sources:
        if source.texts is not None and iter(source.texts) is source.texts:
            raise ValueError("superwords read the texts several times, and sources is an iterator")
        if source.texts is None and source.seen is None:
            raise ValueError(f"superwords read the texts several times, and {source.name} is a pipe")
