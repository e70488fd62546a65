"""Training that balances languages: the next merge serves the one that is compressed worst."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .. import _core
from .._internal import arguments, choices
from .._internal.choices import ParityRule
from .._internal.messages import shown
from ..corpus import Corpus, TextSources
from .counts import PretokenCounts

Text = Corpus | TextSources | PretokenCounts
Languages: TypeAlias = (
    "tuple[list[_core.PretokenCounts], list[float] | list[_core.PretokenCounts], tuple[int, float] | None]"
)
"""What the core learns from: languages, what tells which is compressed worst, and a window."""

WINDOW = (100, 2.0)
"""Choices that the rule "window" remembers, and the multiple of its equal share of them at which a language is passed
over. The values are those of the paper."""


@dataclass(frozen=True)
class Parity:
    """Balances languages in `train`: each merge is the most frequent pair of the language that is compressed worst.

    Args:
        dev: The same text in each language. The one with most tokens there is compressed worst.
        ratio: In place of `dev`: the bytes that a token of each language should have. Only proportions matter: the
            language that falls shortest in its own text is compressed worst.
        rule: "base": that language is always served; "window": not if it had more than twice its equal share of the
            last 100 merges.

    >>> Parity(ratio={"en": 1, "hi": 2.5}).rule
    'base'
    """

    dev: Mapping[str, Text] | None = None
    ratio: Mapping[str, float] | None = None
    rule: ParityRule = "base"

    def __post_init__(self) -> None:
        arguments.one_of("rule", self.rule, choices.ParityRule)
        if (self.dev is None) == (self.ratio is None):
            raise ValueError("Parity needs either dev, one text in all languages, or ratio")
        for name, value in (self.ratio or {}).items():
            if not 0 < value < math.inf:
                raise ValueError(f"ratio[{name!r}] is {value}, not a positive number")

    def all_texts(self, sources: object) -> list[Text]:
        """Return the texts to learn from, then those to measure, each in the order of the languages."""
        if not isinstance(sources, Mapping) or not sources:
            raise TypeError(f"parity balances languages: sources is a dict of them, not {shown(sources)}")
        for option, mapping in (("dev", self.dev), ("ratio", self.ratio)):
            if mapping is not None and set(mapping) != set(sources):
                raise ValueError(f"{option} is for {list(mapping)}, and sources for {list(sources)}")
        return [*sources.values(), *(self.dev[name] for name in sources if self.dev is not None)]

    def languages(self, sources: Mapping[str, object], counts: list[PretokenCounts]) -> Languages:
        """Return what the core learns from; `counts` are those of `all_texts`."""
        names = list(sources)
        for number, text in enumerate(counts):
            if not len(text):
                option = "dev" if number >= len(names) else "sources"
                raise ValueError(f"{option}[{names[number % len(names)]!r}] has no text")
        cores = [text._core for text in counts]
        measure = [float(self.ratio[name]) for name in names] if self.ratio else cores[len(names) :]
        return cores[: len(names)], measure, WINDOW if self.rule == "window" else None
