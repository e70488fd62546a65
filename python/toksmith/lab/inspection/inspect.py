"""A vocabulary at a glance, and how texts use it: as data, as text for a terminal, and as HTML for a notebook."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._internal.arguments import naming_keywords, whole
from ..._internal.messages import aligned
from ..._internal.progress import Report, reporter, summing
from ...corpus import Corpus, TextSources
from ...tokenizer import Tokenizer, tokenizer_of
from ..spans import shown, visible
from . import results
from . import vocabulary as figures
from .reach import reach
from .usage import Counter, usage


@dataclass(frozen=True, repr=False)
class Inspection:
    """The result of `toksmith.lab.inspect`. `print` shows it, a notebook draws it, and `to_dict` gives plain data.

    Attributes:
        sizes: How large the vocabulary is, and by which rules it encodes.
        special: The special tokens, by id.
        contents: What they are made of.
        reach: Which of them some text is encoded to, and which ones no text is encoded to.
        merging: How they are merged.
        duplicates: Which of them differ only by case or by a space.
        usage: How the texts use the vocabulary; None without texts.
    """

    sizes: results.Sizes
    special: tuple[results.VocabularyToken, ...]
    contents: results.Contents
    reach: results.Reach
    merging: results.Merging
    duplicates: results.Duplicates
    usage: results.Usage | None

    def to_dict(self) -> dict[str, Any]:
        r"""Return everything but the arrays as dicts, lists, numbers and str.

        In the str of a token a byte that is not text is `\xNN`, and a backslash is `\\`.
        """
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def __repr__(self) -> str:
        texts = "" if self.usage is None else f", {self.usage.tokens:,} in texts"
        return f"<Inspection of {self.sizes.tokens:,} tokens{texts}; print it>"

    def __str__(self) -> str:
        parts = ((title, getattr(self, name)) for name, title in _TITLES.items())
        return "\n".join(_section(title, part) for title, part in parts if part).rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def plain(value: Any) -> Any:
    r"""Return a result as dicts, lists, numbers and str. In bytes, what is not text is `\xNN`, and a backslash `\\`.

    A field of a dataclass whose metadata has `left_out` is left out.

    >>> plain({1: (b"\xff", 2.5, None)})
    {'1': ['\\xff', 2.5, None]}
    """
    if isinstance(value, bytes):
        return value.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    if dataclasses.is_dataclass(value):
        fields = (field for field in dataclasses.fields(value) if not field.metadata.get("left_out"))
        return {field.name: plain(getattr(value, field.name)) for field in fields}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value


MAX_CHARACTERS = 60
"""Characters of a token that are shown: of a longer one, its beginning and its length."""
MAX_ROWS = 16
"""Rows of a table; one of counts has one row more, with the sum of the others."""
_TITLES = {
    "sizes": "Vocabulary: sizes",
    "special": "Vocabulary: special tokens",
    "contents": "Vocabulary: what ordinary tokens are made of",
    "merging": "Vocabulary: depth of merges",
    "reach": "Vocabulary: which tokens texts give",
    "duplicates": "Vocabulary: near duplicates",
    "usage": "Texts: use of the vocabulary",
}


def word(token: bytes) -> str:
    """Return a token as one visible word, cut if it is long.

    >>> word(b" a"), word(b"=" * 100)[-14:]
    ('␣a', '=… (100 bytes)')
    """
    text = shown(token[: 4 * MAX_CHARACTERS])
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}… ({len(token):,} bytes)"


def _section(title: str, part: Any) -> str:
    """Return the figures of a part of an inspection, by the names of its fields, then its tables."""
    facts: list[tuple[str, str]] = []
    blocks: list[str] = []
    for name, value in ({"tokens": part} if isinstance(part, tuple) else _values(part)).items():
        if isinstance(value, dict):
            blocks.append(_counts(name, value))
        elif isinstance(value, tuple):
            facts.append((name, f"{len(value):,}"))
            blocks.append(_rows(name, value))
        else:
            facts.append((name, _figure(value)))
    lines = "\n\n".join([aligned(facts), *filter(None, blocks)]).split("\n")
    return "\n".join([title, *(f"  {line}".rstrip() for line in lines)]) + "\n"


def _values(part: Any) -> dict[str, Any]:
    fields = (field for field in dataclasses.fields(part) if not field.metadata.get("left_out"))
    return {field.name.replace("_", " "): getattr(part, field.name) for field in fields}


def _figure(value: float | str | bool | None) -> str:
    if value is None or isinstance(value, (bool, str)):
        text = visible({True: "yes", False: "no", None: "none"}.get(value, value))  # type: ignore[arg-type]
        return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"


def _counts(name: str, counts: Mapping[Any, int]) -> str:
    """Return a table of how many tokens each kind has; of many kinds the last ones are summed."""
    rows = [(str(kind), count) for kind, count in counts.items() if count]
    if len(rows) > MAX_ROWS:
        rows[MAX_ROWS:] = [(f"{len(rows) - MAX_ROWS} others", sum(count for _, count in rows[MAX_ROWS:]))]
    whole = sum(counts.values())
    shares = [(kind, f"{count:,}", f"{100 * count / whole:.2f}%") for kind, count in rows]
    return aligned([(name.removeprefix("by "), "tokens", "share"), *shares]) if rows else ""


def _rows(name: str, rows: tuple[Any, ...]) -> str:
    """Return a table of tokens: their numbers, then what is shown of them."""
    more = f" (the first {MAX_ROWS})" if len(rows) > MAX_ROWS else ""
    table = [_cells(row) for row in rows[:MAX_ROWS]]
    return "\n".join([f"{name}{more}", aligned(table, words_last=True)]) if table else ""


def _cells(row: Iterable[Any]) -> tuple[str, ...]:
    numbers: list[str] = []
    words: list[str] = []
    for value in row:
        if isinstance(value, int):
            numbers.append(f"{value:,}")
        elif isinstance(value, results.VocabularyToken):
            words.append(word(value.token))
        elif isinstance(value, tuple):  # ids that the token becomes instead
            words += [f"-> {' '.join(map(str, value[:8]))}"] if value else []
        else:
            words.append(word(value) if isinstance(value, bytes) else value)
    return (*numbers, "  ".join(words))


@naming_keywords
def inspect(
    tokenizer: Tokenizer | object,
    on: Corpus | TextSources | None = None,
    *,
    top: int = 10,
    special: bool = True,
    workers: int | None = None,
    progress: bool | Report = False,
) -> Inspection:
    """Return what the vocabulary is made of, which tokens no text is encoded to, and how texts use it.

    `print` shows it, a notebook draws it, and `to_dict` gives plain data. The figures are defined in
    `docs/inspecting.md`.

    Args:
        tokenizer: A `Tokenizer`, or what `Tokenizer.from_pretrained` takes, such as "gpt2".
        on: Texts to count the uses of tokens on: a `Corpus`, or what makes one. None looks at the vocabulary alone.
        top: How many tokens each list of examples has at most.
        special: Whether special tokens in the texts become their ids.
        workers: Threads; default: all cores.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes.

    Cost: each token is encoded once, and texts are encoded once: some seconds for a vocabulary of 200,000 and
    100 MB. Memory does not grow with the length of texts, beyond the longest record of JSON lines or Parquet.

    Raises:
        OSError: A file cannot be read, or changes meanwhile.
        ValueError: A file is not UTF-8, is damaged, or a record has no text; names file and place.

    >>> import toksmith
    >>> usage = toksmith.lab.inspect(toksmith.Tokenizer(), iter(["low low", "lower"])).usage
    >>> usage.tokens, usage.most_used[0]
    (12, Used(id=108, token=b'l', uses=3))
    """
    tokenizer, top = tokenizer_of(tokenizer), whole("top", top, 0)
    texts = Corpus.of(iter([]) if on is None else on)
    texts.check_local()
    vocabulary = figures.Vocabulary(tokenizer)
    reached = reach(vocabulary, workers)
    tree = figures.Tree(vocabulary)
    used = None
    if on is not None:
        counter = Counter(tokenizer, vocabulary.ids, special, workers)
        with reporter(progress) as report:
            counter.add(texts.documents(summing(report, "encode", texts.total_bytes)))
        used = usage(vocabulary, tree, reached, counter, top)
    return Inspection(
        sizes=figures.sizes(vocabulary),
        special=tuple(vocabulary.token(id) for id in sorted(vocabulary.special)),
        contents=figures.contents(vocabulary),
        reach=reached,
        merging=figures.merging(vocabulary, tree, top),
        duplicates=figures.duplicates(vocabulary, top),
        usage=used,
    )
