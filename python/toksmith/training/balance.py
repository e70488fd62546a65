"""Training that balances languages: the next merge serves the one that is compressed worst."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from .. import _core
from .._internal import arguments, choices, memory
from .._internal.choices import Parity
from .._internal.messages import shown
from .._internal.progress import Report, reporter
from ..corpus import Corpus, TextSources
from ..tokenizer import Tokenizer
from .counts import PretokenCounts
from .learning import build, warn_if_short
from .options import Options

Text = Corpus | TextSources | PretokenCounts

_WINDOW = (100, 2.0)
"""Choices that `parity="window"` remembers, and the multiple of its equal share of them at which a language is passed
over. The values are those of the paper."""


@dataclass(frozen=True)
class Languages:
    """The texts of several languages, and how it is measured which one is compressed worst."""

    texts: Mapping[str, Text]
    parity: Parity
    dev: Mapping[str, Text] | None
    ratio: Mapping[str, float] | None

    def __post_init__(self) -> None:
        arguments.one_of("parity", self.parity, choices.Parity)
        if not isinstance(self.texts, Mapping) or not self.texts:
            raise TypeError(f"parity balances languages: sources is a dict of them, not {shown(self.texts)}")
        if (self.dev is None) == (self.ratio is None):
            raise ValueError("parity needs either dev, one text in all languages, or ratio")
        self._check_names("dev", self.dev)
        self._check_names("ratio", self.ratio)
        for name, value in (self.ratio or {}).items():
            if not 0 < value < math.inf:
                raise ValueError(f"ratio[{name!r}] is {value}, not a positive number")

    def _check_names(self, option: str, mapping: Mapping[str, object] | None) -> None:
        if mapping is not None and set(mapping) != set(self.texts):
            raise ValueError(f"{option} is for {list(mapping)}, and sources for {list(self.texts)}")

    def all_texts(self) -> list[Text]:
        """Return the texts to learn from, then those to measure, each in the order of the languages."""
        return [*self.texts.values(), *(self.dev[name] for name in self.texts if self.dev is not None)]

    def learn(
        self, counts: list[PretokenCounts], options: Options, progress: bool | Report, *, consume_counts: bool
    ) -> Tokenizer:
        """Learn from the counts of `all_texts`. With `consume_counts` they are gone afterwards."""
        names = list(self.texts)
        for number, text in enumerate(counts):
            if not len(text):
                option = "dev" if number >= len(names) else "sources"
                raise ValueError(f"{option}[{names[number % len(names)]!r}] has no text")
        cores = [text._core for text in counts]
        with reporter(progress) as report:
            learned = _core.learn_balanced(
                cores[: len(names)],
                options.max_merges,
                [float(self.ratio[name]) for name in names] if self.ratio else cores[len(names) :],
                window=_WINDOW if self.parity == "window" else None,
                # Hugging Face's trainer for languages compares spellings where its other one compares ids.
                ties="spelling" if options.ties == "huggingface" and not options.base else options.tie_rule,
                min_frequency=options.min_frequency,
                **options.for_core(),
                progress=report,
                forget=consume_counts,
            )
        warn_if_short(options, learned.added())
        return build(options, learned)


def languages_of(
    sources: object, parity: Parity | None, dev: Mapping[str, Text] | None, ratio: Mapping[str, float] | None
) -> Languages | None:
    """Return the languages to balance; None for a training on one text."""
    if parity is not None:
        return Languages(sources, parity, dev, ratio)  # type: ignore[arg-type]  # checked there
    if isinstance(sources, Mapping) or dev is not None or ratio is not None:
        raise ValueError('a dict of languages, dev and ratio are for parity="base" or parity="window"')
    return None


def memory_left(limit: int | str | None, counts: list[PretokenCounts]) -> int:
    """Return the bytes that a memory limit leaves for counting beside the counts of other languages."""
    taken = sum(32 * len(text) + text._core.pretoken_bytes() for text in counts)
    return max(1, memory.limit(limit) - taken)
