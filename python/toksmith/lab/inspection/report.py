"""The result of an inspection: as data, as text for a terminal, and as HTML for a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..._internal.messages import aligned
from ..spans import shown, visible
from ..text import plain
from . import results


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
        return "\n".join(map(_text, sections(self))).rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


MAX_CHARACTERS = 60
"""Characters of a token that are shown: of a longer one, its beginning and its length."""
MAX_ROWS = 16
"""Rows of a table; one of counts has one row more, with the sum of the rest."""


class Table(NamedTuple):
    """Rows of cells under a head. One column has words, the last or else the first; all others have numbers."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    ends_with_words: bool = True


class Section(NamedTuple):
    """A section: pairs of a name and a figure, lines of words, then the tables that have rows."""

    title: str
    facts: Sequence[tuple[str, ...]]
    tables: list[Table]
    words: Sequence[str] = ()


def sections(inspection: Inspection) -> list[Section]:
    """Return everything that is shown, in order: the vocabulary, then the texts."""
    makers = (_sizes, _contents, _merging, _reach, _duplicates)
    vocabulary = [make(inspection) for make in makers]
    texts = [] if inspection.usage is None else _usage(inspection, inspection.usage)
    named = (("Vocabulary", vocabulary), ("Texts", texts))
    return [section._replace(title=f"{name}: {section.title}") for name, group in named for section in group]


def word(token: bytes) -> str:
    """Return a token as one visible word, cut if it is long.

    >>> word(b" a"), word(b"=" * 100)[-14:]
    ('␣a', '=… (100 bytes)')
    """
    text = shown(token[: 4 * MAX_CHARACTERS])
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}… ({len(token):,} bytes)"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "-"


def _sizes(inspection: Inspection) -> Section:
    sizes = inspection.sizes
    rules = {
        "merges": "a list of merges, in its order",
        "ranks": "any pair whose bytes are a token, the lowest id first",
        "characters": "a list of merges, from characters",
    }
    pattern = "none" if sizes.pattern is None else visible(sizes.pattern)
    facts = [
        ("tokens", f"{sizes.tokens:,}"),
        ("  ordinary", f"{sizes.ordinary:,}"),
        ("  special", f"{sizes.special:,}"),
        ("highest id", f"{sizes.max_id:,}"),
        ("ids without a token", f"{sizes.free_ids:,}"),
        ("bytes of ordinary tokens", f"{sizes.token_bytes:,}"),
        ("merges", f"{sizes.merges:,}"),
    ]
    words = [f"What merges: {rules[sizes.rule]}.", f"The pattern: {_cut(pattern)}"]
    if sizes.whole_pretokens:
        words.append("A pretoken that is a token stands for itself, before any merge.")
    return Section("sizes", facts, [_tokens("special token", inspection.special)], words)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def _of(rows: Sequence[object], whole: Sequence[object]) -> str:
    """Return the addition to a head that says how many rows a shortened table has, of how many."""
    return f" (the first {len(rows):,} of {len(whole):,})" if len(rows) < len(whole) else ""


def _contents(inspection: Inspection) -> Section:
    ordinary, contents = inspection.sizes.ordinary, inspection.contents
    facts = [("begin with a space", f"{contents.leading_space:,}  {_share(contents.leading_space, ordinary)}")]
    tables = [_counted("kind", contents.kinds), _counted("script", contents.scripts)]
    return Section("what ordinary tokens are made of", facts, tables)


def _counted(name: str, counts: Mapping[Any, int]) -> Table:
    """Return a table of how many tokens each row has; of many rows the last ones are summed."""
    rows = [(str(row), count) for row, count in counts.items() if count]
    if len(rows) > MAX_ROWS:
        others = rows[MAX_ROWS:]
        rows[MAX_ROWS:] = [(f"{len(others)} others", sum(count for _, count in others))]
    whole = sum(counts.values())
    drawn = [(row, f"{count:,}", _share(count, whole)) for row, count in rows]
    return Table((name, "tokens", "share"), drawn, ends_with_words=False)


def _merging(inspection: Inspection) -> Section:
    merging = inspection.merging
    facts = [
        ("mean depth", f"{merging.mean_depth:.2f}"),
        ("greatest depth", f"{max(merging.by_depth, default=0):,}"),
    ]
    rows = [(str(item.id), str(depth), word(item.token)) for item, depth in merging.deepest]
    tables = [_counted("depth", merging.by_depth), Table(("id", "depth", "deepest tokens"), rows)]
    return Section("depth of merges", facts, tables)


def _tokens(title: str, tokens: Sequence[results.VocabularyToken]) -> Table:
    rows = [(str(id), word(token)) for id, token in tokens[:MAX_ROWS]]
    return Table(("id", f"{title}{_of(rows, tokens)}"), rows)


def _reach(inspection: Inspection) -> Section:
    reach = inspection.reach
    facts = [
        ("reachable: a text was found", f"{reach.reachable:,}"),
        ("unreachable: proved", f"{len(reach.unreachable):,}"),
        *((f"  {reason}", f"{count:,}") for reason, count in reach.by_reason.items()),
        ("undecided", f"{len(reach.undecided):,}"),
    ]
    tables = []
    for reason in reach.by_reason:
        chosen = [item for item in reach.unreachable if item.reason == reason]
        rows = [(str(item.id), word(item.token), _instead(item)) for item in chosen[:MAX_ROWS]]
        title = f"{results.REASONS[reason]}{_of(rows, chosen)}"
        if any(item.instead for item in chosen):
            tables.append(Table(("id", "token", title), rows))
        else:
            tables.append(Table(("id", title), [row[:2] for row in rows]))
    return Section("tokens that no text gives", facts, [*tables, _tokens("undecided", reach.undecided)])


def _instead(item: results.Unreachable) -> str:
    ids = item.instead
    more = f" … ({len(ids):,})" if len(ids) > 8 else ""
    return f"-> {' '.join(map(str, ids[:8]))}{more}" if ids else ""


def _duplicates(inspection: Inspection) -> Section:
    same = inspection.duplicates
    facts = [
        ("pairs that differ by a space in front", f"{same.by_space:,}"),
        ("groups that differ by case", f"{same.by_case:,} of {same.by_case_tokens:,} tokens"),
        ("groups that differ by either", f"{same.by_both:,} of {same.by_both_tokens:,} tokens"),
    ]
    rows = [(str(len(group)), " ".join(word(token) for _, token in group)) for group in same.largest]
    return Section("near duplicates", facts, [Table(("tokens", "largest groups"), rows)])


def _usage(inspection: Inspection, usage: results.Usage) -> Iterator[Section]:
    facts = [
        ("documents", f"{usage.documents:,}"),
        ("bytes", f"{usage.bytes:,}"),
        ("characters", f"{usage.characters:,}"),
        ("tokens", f"{usage.tokens:,}"),
        ("  special", f"{usage.special:,}"),
        ("bytes per token", f"{usage.bytes_per_token:.4f}"),
        ("characters per token", f"{usage.characters_per_token:.4f}"),
    ]
    yield Section("sizes", facts, [])
    yield _used(inspection, usage)
    yield _saved(usage)


def _used(inspection: Inspection, usage: results.Usage) -> Section:
    ordinary = inspection.sizes.ordinary
    counts = (
        ("used", usage.used),
        ("only as a part of others", usage.parts_only),
        ("never", usage.unused),
    )
    facts = [(name, f"{count:,}  {_share(count, ordinary)}") for name, count in counts]
    if usage.slope is not None:
        facts.append(("slope of uses over rank", f"{usage.slope:.3f}"))
    rows = [(f"{uses:,}", _share(uses, usage.tokens), str(id), word(token)) for id, token, uses in usage.most_used]
    candidates = _tokens("candidates for glitch tokens: reachable, never used, lowest ids", usage.candidates)
    tables = [Table(("uses", "share", "id", "most used tokens"), rows), candidates]
    return Section("use of ordinary tokens", facts, tables)


def _saved(usage: results.Usage) -> Section:
    facts = [
        ("merges that were applied, each saving a token", f"{usage.merged:,}"),
        ("merges never applied", f"{usage.idle_merges:,}"),
    ]
    rows = [
        (
            f"{item.applied:,}",
            _share(item.applied, usage.merged),
            f"{item.left} + {item.right}",
            str(item.id),
            word(item.token),
        )
        for item in usage.most_saved
    ]
    return Section("what merges saved", facts, [Table(("applied", "share", "parts", "id", "token"), rows)])


def _text(section: Section) -> str:
    """Return plain text of any width, without control characters."""
    lines = list(section.words)
    if section.facts:
        lines.insert(0, aligned(section.facts))
    for table in filter(lambda table: table.rows, section.tables):
        lines += ["", aligned([table.head, *table.rows], words_last=table.ends_with_words)]
    indented = (f"  {line}".rstrip() for part in lines for line in part.split("\n"))
    return "\n".join([visible(section.title), *indented]) + "\n"
