"""An inspection as sections of facts and tables, all strings, from which text and HTML are made."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..viewing.spans import shown, visible
from . import results

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .inspect import Inspection

    Row = tuple[str, ...]

MAX_CHARACTERS = 60
"""Characters of a token that are shown: of a longer one, its beginning and its length."""
MAX_ROWS = 16
"""Rows of a table. A distribution has one row more, with the sum of the rest."""
_BAR = 30
"""Characters of the longest bar of a distribution."""


class Table(NamedTuple):
    """Rows of cells under a head. One column has words, the last or else the first; all others have numbers."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    ends_with_words: bool = True


class Section(NamedTuple):
    """A section: pairs of a name and a figure, lines of words, then tables, in this order."""

    title: str
    facts: Sequence[tuple[str, ...]]
    tables: list[Table]
    words: Sequence[str] = ()


def sections(found: Inspection) -> list[Section]:
    """Return everything that is shown, in order: the vocabulary, then the texts."""
    vocabulary = [_sizes(found), _contents(found), _lengths(found), _merging(found), _partial(found), _reach(found)]
    vocabulary.append(_duplicates(found))
    texts = [] if found.usage is None else _usage(found, found.usage)
    named = (("Vocabulary", vocabulary), ("Texts", texts))
    return [one._replace(title=f"{name}: {one.title}") for name, group in named for one in group]


def word(token: bytes) -> str:
    """Return a token as one visible word, cut if it is long.

    >>> word(b" a"), word(b"=" * 100)[-14:]
    ('␣a', '=… (100 bytes)')
    """
    text = shown(token[: 4 * MAX_CHARACTERS])
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}… ({len(token):,} bytes)"


def _number(value: int) -> str:
    return f"{value:,}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "-"


def _sizes(found: Inspection) -> Section:
    sizes = found.sizes
    rules = {
        "merges": "a list of merges, in its order",
        "ranks": "any pair whose bytes are a token, the lowest id first",
        "characters": "a list of merges, from characters",
    }
    pattern = "none" if sizes.pattern is None else visible(sizes.pattern)
    facts = [
        ("tokens", _number(sizes.tokens)),
        ("  ordinary", _number(sizes.ordinary)),
        ("  special", _number(sizes.special)),
        ("highest id", _number(sizes.max_id)),
        ("ids without a token", _number(sizes.free_ids)),
        ("bytes of ordinary tokens", _number(sizes.token_bytes)),
        ("merges", _number(sizes.merges)),
    ]
    words = [f"What merges: {rules[sizes.rule]}.", f"The pattern: {_cut(pattern)}"]
    if sizes.whole_pretokens:
        words.append("A pretoken that is a token stands for itself, before any merge.")
    rows = [(str(id), word(token)) for id, token in found.special[:MAX_ROWS]]
    tables = [Table(("id", f"special token{_of(rows, found.special)}"), rows)] if rows else []
    return Section("sizes", facts, tables, words)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def _of(rows: Sequence[object], whole: Sequence[object]) -> str:
    """Return the addition to a head that says how many rows a shortened table has, of how many."""
    return f" (the first {len(rows):,} of {len(whole):,})" if len(rows) < len(whole) else ""


def _contents(found: Inspection) -> Section:
    ordinary, contents = found.sizes.ordinary, found.contents
    whole = sum(contents.scripts.values())
    kinds = [(kind, _number(count), _share(count, ordinary)) for kind, count in contents.kinds.items() if count]
    named = [(script, _number(count), _share(count, whole)) for script, count in contents.scripts.items()]
    facts = [("begin with a space", f"{_number(contents.leading_space)}  {_share(contents.leading_space, ordinary)}")]
    if len(named) > MAX_ROWS:
        rest = sum(itertools.islice(contents.scripts.values(), MAX_ROWS, None))
        named[MAX_ROWS:] = [(f"{len(named) - MAX_ROWS} others", _number(rest), _share(rest, whole))]
    tables = [
        Table(("kind", "tokens", "share"), kinds, ends_with_words=False),
        Table(("script", "tokens", "share"), named, ends_with_words=False),
    ]
    return Section("what ordinary tokens are made of", facts, [table for table in tables if table.rows])


def _lengths(found: Inspection) -> Section:
    lengths = found.lengths
    facts = [("mean, in bytes", f"{lengths.mean_bytes:.2f}"), ("median, in bytes", _number(lengths.median_bytes))]
    tables = [_distribution("bytes", lengths.by_bytes), _distribution("characters", lengths.by_characters)]
    rows = [(str(id), _number(len(token)), word(token)) for id, token in lengths.longest]
    tables.append(Table(("id", "bytes", "longest tokens"), rows))
    return Section("lengths", facts, [table for table in tables if table.rows])


def _distribution(name: str, counts: Mapping[int, int]) -> Table:
    """Return a table of numbers with how many tokens have each, and a bar."""
    rows = [(str(number), count) for number, count in itertools.islice(counts.items(), MAX_ROWS)]
    rest = list(itertools.islice(counts.items(), MAX_ROWS, None))
    if rest:
        rows.append((f"{rest[0][0]}-{rest[-1][0]}" if len(rest) > 1 else str(rest[0][0]), sum(n for _, n in rest)))
    most, total = max((count for _, count in rows), default=1), sum(counts.values())
    drawn = [(n, _number(count), _share(count, total), "█" * round(_BAR * count / most)) for n, count in rows]
    return Table((name, "tokens", "share", ""), drawn)


def _merging(found: Inspection) -> Section:
    merging = found.merging
    facts = [
        ("mean depth", f"{merging.mean_depth:.2f}"),
        ("greatest depth", _number(max(merging.by_depth, default=0))),
    ]
    rows = [(str(one.id), str(depth), word(one.token)) for one, depth in merging.deepest]
    tables = [_distribution("depth", merging.by_depth)]
    if rows:
        tables.append(Table(("id", "depth", "deepest tokens"), rows))
        chain = [(str(id), str(depth), word(token)) for depth, (id, token) in enumerate(merging.chain)]
        tables.append(Table(("id", "depth", "the longest chain of merges"), chain))
    return Section("depth of merges", facts, [table for table in tables if table.rows])


def _partial(found: Inspection) -> Section:
    partial, ordinary = found.partial, found.sizes.ordinary
    facts = [
        (name, f"{_number(count)}  {_share(count, ordinary)}")
        for name, count in (
            ("tokens", partial.tokens),
            ("  single bytes", partial.single_bytes),
            ("  several bytes of one character", partial.inside_character),
            ("  a part of a character, and others", partial.across_characters),
            ("  in no UTF-8 text", partial.in_no_text),
        )
    ]
    return Section("tokens that are no whole characters", facts, _tokens("lowest ids", partial.examples))


def _tokens(title: str, tokens: Iterable[results.VocabularyToken]) -> list[Table]:
    rows = [(str(id), word(token)) for id, token in tokens]
    return [Table(("id", title), rows)] if rows else []


def _reach(found: Inspection) -> Section:
    reach = found.reach
    facts = [
        ("reachable: a text was found", _number(reach.reachable)),
        ("unreachable: proved", _number(len(reach.unreachable))),
        *((f"  {reason}", _number(count)) for reason, count in reach.by_reason.items()),
        ("undecided", _number(len(reach.undecided))),
    ]
    tables = []
    for reason in reach.by_reason:
        chosen = [one for one in reach.unreachable if one.reason == reason]
        rows: list[Row] = [(str(one.id), word(one.token), _instead(one)) for one in chosen[:MAX_ROWS]]
        title = f"{results.REASONS[reason]}{_of(rows, chosen)}"
        if any(one.instead for one in chosen):
            tables.append(Table(("id", "token", title), rows))
        else:
            tables.append(Table(("id", title), [row[:2] for row in rows]))
    tables += _tokens(f"undecided{_of(reach.undecided[:MAX_ROWS], reach.undecided)}", reach.undecided[:MAX_ROWS])
    return Section("tokens that no text gives", facts, tables)


def _instead(one: results.Unreachable) -> str:
    ids = one.instead
    more = f" … ({len(ids):,})" if len(ids) > 8 else ""
    return f"-> {' '.join(map(str, ids[:8]))}{more}" if ids else ""


def _duplicates(found: Inspection) -> Section:
    same = found.duplicates
    facts = [
        ("pairs that differ by a space in front", _number(same.by_space)),
        ("groups that differ by case", f"{_number(same.by_case)} of {_number(same.by_case_tokens)} tokens"),
        ("groups that differ by either", f"{_number(same.by_both)} of {_number(same.by_both_tokens)} tokens"),
    ]
    rows = [(str(len(group)), " ".join(word(token) for _, token in group)) for group in same.largest]
    return Section("near duplicates", facts, [Table(("tokens", "largest groups"), rows)] if rows else [])


def _usage(found: Inspection, usage: results.Usage) -> Iterator[Section]:
    facts = [
        ("documents", _number(usage.documents)),
        ("bytes", _number(usage.bytes)),
        ("characters", _number(usage.characters)),
        ("tokens", _number(usage.tokens)),
        ("  special", _number(usage.special)),
        ("bytes per token", f"{usage.bytes_per_token:.4f}"),
        ("characters per token", f"{usage.characters_per_token:.4f}"),
        ("single bytes of characters", f"{_number(usage.single_bytes)}  {_share(usage.single_bytes, usage.tokens)}"),
        ("no whole characters", f"{_number(usage.partial)}  {_share(usage.partial, usage.tokens)}"),
    ]
    yield Section("sizes", facts, [])
    yield _used(found, usage)
    yield _saved(usage)


def _used(found: Inspection, usage: results.Usage) -> Section:
    ordinary = found.sizes.ordinary
    counts = (
        ("used", usage.used),
        ("  once", usage.used_once),
        ("only as a part of others", usage.parts_only),
        ("never", usage.unused),
    )
    facts = [(name, f"{_number(count)}  {_share(count, ordinary)}") for name, count in counts]
    facts.append(("make half of the text", _number(usage.half)))
    if usage.zipf is not None:
        facts.append(("slope of uses over rank", f"{usage.zipf.slope:.3f}  (R² {usage.zipf.r_squared:.3f})"))
    rows = [(_number(uses), _share(uses, usage.tokens), str(id), word(token)) for id, token, uses in usage.most_used]
    tables = [Table(("uses", "share", "id", "most used tokens"), rows)] if rows else []
    title = "candidates for glitch tokens: reachable, never used, lowest ids"
    return Section("use of ordinary tokens", facts, [*tables, *_tokens(title, usage.candidates)])


def _saved(usage: results.Usage) -> Section:
    facts = [
        ("merges that were applied, each saving a token", _number(usage.merged)),
        ("merges never applied", _number(usage.idle_merges)),
    ]
    rows = [
        (
            _number(one.applied),
            _share(one.applied, usage.merged),
            f"{one.left} + {one.right}",
            str(one.id),
            word(one.token),
        )
        for one in usage.most_saved
    ]
    return Section(
        "what merges saved", facts, [Table(("applied", "share", "parts", "id", "token"), rows)] if rows else []
    )
