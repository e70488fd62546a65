"""The figures of all documents, and of the documents of each language, script and file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .results import Figures, Group

if TYPE_CHECKING:
    from .bootstrap import Bootstrap
    from .measure import Table


def of(table: Table, tokenizers: list[str], bootstrap: Bootstrap) -> list[Group]:
    """Return the group of all documents, then those by language, script and file, the largest of each first."""
    found = [_group("all", "all", table, tokenizers, bootstrap)]
    for by, column in (("language", table.language), ("script", table.script), ("file", table.file)):
        # Groups are found by sorting: a scan for each name would be slow with as many files as documents.
        order = np.argsort(column, kind="stable")
        numbers, starts = np.unique(column[order], return_index=True)
        rows = zip(numbers.tolist(), np.split(order, starts[1:]), strict=True)
        groups = [
            _group(by, table.names[number], table.rows(chosen), tokenizers, bootstrap)
            for number, chosen in rows
            if table.names[number]
        ]
        found += sorted(groups, key=lambda group: -group.bytes)
    return found


def _group(by: str, name: str, table: Table, tokenizers: list[str], bootstrap: Bootstrap) -> Group:
    # Bytes, characters, words, and the tokens of each tokenizer.
    columns = np.stack([table.bytes, table.characters, table.words, *table.tokens])
    pairs: list[tuple[int, int]] = []
    for tokens in range(3, len(columns)):
        pairs += [(0, tokens), (tokens, 2), (tokens, 1), (tokens, 3)]
    ratios = bootstrap.ratios(columns, pairs)
    has_spaces = 2 * table.unspaced.sum() < table.letters.sum() or not table.letters.any()
    totals = columns.sum(axis=1).tolist()
    figures = []
    for number, tokenizer in enumerate(tokenizers):
        per_token, per_word, per_character, relative = ratios[4 * number : 4 * number + 4]
        per_word = per_word if has_spaces else None
        figures.append(Figures(tokenizer, totals[3 + number], per_token, per_word, per_character, relative))
    size, characters, words = totals[:3]
    return Group(by, name, len(table.bytes), size, characters, words, tuple(figures))
