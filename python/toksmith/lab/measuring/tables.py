"""The tables of a comparison: what text, Markdown and HTML have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._internal.numbers import counted, size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .bootstrap import Estimate
    from .comparison import Comparison
    from .results import Difference, Figures, Group

GROUPS_SHOWN = 30
"""The most groups of one kind that a table shows; JSON has all."""
NOTHING = "–"
"""The text in place of a missing figure."""


class Row(NamedTuple):
    """A line of a table: a label and cells. A line without cells is a heading of the lines below it."""

    label: str
    cells: tuple[str, ...] = ()


class Section(NamedTuple):
    """A table with a title and a sentence that explains it."""

    title: str
    note: str
    header: tuple[str, ...]
    rows: list[Row]


def of(comparison: Comparison) -> list[Section]:
    """Return all tables that have something to show."""
    found = [_all(comparison)]
    of_languages = [group.figures for group in comparison.by("language")]
    for by, title in (("language", "By language"), ("script", "By script"), ("file", "By file")):
        groups = comparison.by(by)
        # If each language has one file, the table by file would repeat the one by language.
        if by == "file" and [group.figures for group in groups] == of_languages:
            continue
        if len(groups) > 1 or (by == "language" and groups):
            found.append(_groups(comparison, title, groups))
    if comparison.parity:
        found.append(_parity(comparison))
    found.append(_uses(comparison))
    if comparison.overlaps:
        found.append(_overlaps(comparison))
    curve = _curves(comparison)
    return [*found, curve] if curve.rows else found


def number(value: float | None, digits: int) -> str:
    """Return a number with `digits` digits after the point; "–" for None."""
    return NOTHING if value is None else f"{value:,.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share in percent; "–" for None.

    >>> percent(0.1234), percent(None)
    ('12.3%', '–')
    """
    return NOTHING if value is None else f"{100 * value:.{digits}f}%"


def change(ratio: float) -> str:
    """Return a ratio as a change in percent.

    >>> change(0.877), change(1.5), change(1.0)
    ('-12.3%', '+50.0%', '0.0%')
    """
    shown = f"{100 * (ratio - 1):+.1f}%"
    return shown[1:] if shown[1:] == "0.0%" else shown


def estimate(found: Estimate | None, form: Callable[[float], str]) -> str:
    """Return an estimate with its interval, if it has one."""
    if found is None:
        return NOTHING
    if found.low is None or found.high is None:
        return form(found.value)
    return f"{form(found.value)} [{form(found.low)}, {form(found.high)}]"


def about(group: Group) -> str:
    """Return the size of a group in words."""
    return f"{counted(group.documents, 'document')}, {size(group.bytes)}"


def _header(comparison: Comparison) -> tuple[str, ...]:
    columns = ("tokens", "bytes/token", "tokens/word", "tokens/character")
    return (*columns, f"tokens vs {comparison.tokenizers[0]}") if len(comparison.tokenizers) > 1 else columns


def _cells(comparison: Comparison, figures: Figures) -> tuple[str, ...]:
    cells = (
        f"{figures.tokens:,}",
        estimate(figures.bytes_per_token, lambda value: number(value, 2)),
        estimate(figures.tokens_per_word, lambda value: number(value, 2)),
        estimate(figures.tokens_per_character, lambda value: number(value, 3)),
    )
    if len(comparison.tokenizers) == 1:
        return cells
    is_first = figures.tokenizer == comparison.tokenizers[0]
    return (*cells, NOTHING if is_first else estimate(figures.relative, change))


def _all(comparison: Comparison) -> Section:
    rows = [Row(figures.tokenizer, _cells(comparison, figures)) for figures in comparison.all.figures]
    note = f"In brackets: {percent(comparison.level, 0)} intervals by the bootstrap over documents."
    has_intervals = any(one.bytes_per_token and one.bytes_per_token.low is not None for one in comparison.all.figures)
    return Section("All documents", note if has_intervals else "", _header(comparison), rows)


def _uses(comparison: Comparison) -> Section:
    rows = []
    for use in comparison.uses:
        share = None if use.vocab_size is None else use.used / use.vocab_size
        size = NOTHING if use.vocab_size is None else f"{use.vocab_size:,}"
        rows.append(Row(use.tokenizer, (size, f"{use.used:,}", percent(share), number(use.renyi_efficiency, 3))))
    header = ("ordinary tokens", "in the text", "share", f"Rényi efficiency, α = {comparison.alpha:g}")
    return Section("Use of the vocabulary", "", header, rows)


def _groups(comparison: Comparison, title: str, groups: Sequence[Group]) -> Section:
    rows = []
    for group in groups[:GROUPS_SHOWN]:
        rows.append(Row(f"{group.name}: {about(group)}"))
        rows += [Row(figures.tokenizer, _cells(comparison, figures)) for figures in group.figures]
    left = len(groups) - GROUPS_SHOWN
    note = f"The {GROUPS_SHOWN} largest; {left:,} more are in the JSON." if left > 0 else ""
    return Section(title, note, _header(comparison), rows)


def _parity(comparison: Comparison) -> Section:
    first = comparison.parity[0]
    rows = []
    for parity in comparison.parity:
        ratios = [parity.bytes, parity.characters, *(one.premium for one in parity.premiums)]
        if parity.language == parity.reference:
            cells = tuple(NOTHING if one is None else number(one.value, 2) for one in ratios)
        else:
            cells = tuple(estimate(one, lambda value: number(value, 2)) for one in ratios)
        rows.append(Row(parity.language, cells))
    note = (
        f"{counted(first.sentences, 'sentence')} in each language: their bytes, characters and tokens, over those "
        f"in {first.reference}."
    )
    return Section("Parity of languages", note, ("UTF-8 bytes", "characters", *comparison.tokenizers), rows)


def _overlaps(comparison: Comparison) -> Section:
    rows = []
    for one in comparison.overlaps:
        shared = f"{one.first} and {one.second}: {counted(one.shared, 'token')} in both, Jaccard {one.jaccard:.3f}"
        rows += [
            Row(shared),
            Row(one.first, (percent(one.shared / one.first_size), percent(one.first_tokens_shared))),
            Row(one.second, (percent(one.shared / one.second_size), percent(one.second_tokens_shared))),
        ]
    note = "Ordinary tokens with the same bytes: their share of each vocabulary, and of the tokens of the text."
    return Section("Overlap of vocabularies", note, ("of the vocabulary", "of the text"), rows)


def _curves(comparison: Comparison) -> Section:
    curves = [curve for curve in comparison.curves if curve.points]
    sizes = sorted({point.vocab_size for curve in curves for point in curve.points})
    by_size = [{point.vocab_size: point.bytes_per_token for point in curve.points} for curve in curves]
    rows = [Row(f"{one:,}", tuple(number(points.get(one), 2) for points in by_size)) for one in sizes]
    left_out = [f"{curve.tokenizer} has none: {curve.reason}." for curve in comparison.curves if curve.reason]
    note = " ".join(["Bytes per token of smaller vocabularies: each tokenizer without its last merges.", *left_out])
    return Section("Compression by size of the vocabulary", note, tuple(curve.tokenizer for curve in curves), rows)


def what(difference: Difference) -> str:
    """Return which document two tokenizers differ on, and by how many tokens."""
    return (
        f"{difference.file}, document {difference.document:,}: {difference.first_count:,} tokens of "
        f"{difference.first}, {difference.second_count:,} of {difference.second}"
    )
