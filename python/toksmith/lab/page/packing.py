"""What the page needs of a tokenizer to run it, as blocks: JSON, compressed, in base64. `unpack.js` reads them."""

from __future__ import annotations

import base64
import itertools
import json
import zlib
from typing import Any

import numpy as np

from ...tokenizer import Tokenizer
from .. import parts
from ..automata import Automaton


def _packed(content: Any) -> str:
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(data, 9)).decode()


def of_automaton(automaton: Automaton) -> str:
    """Return an automaton as a block; `automaton.js` reads it. Classes are packed as stretches of equal ones."""
    firsts = np.flatnonzero(np.diff(automaton.classes, prepend=255))
    classes = automaton.classes[firsts].tolist()
    return _packed([firsts.tolist(), classes, automaton.symbols, automaton.transitions])


def of_vocabulary(tokenizer: Tokenizer) -> str:
    """Return the ordinary tokens and the merges of a tokenizer as a block; `tokenizer.js` reads it.

    Tokens, with a character for each byte, come in runs of consecutive ids, each with its first id. A merge is the
    places of its two tokens among all; without a list of merges there is null in its place. A vocabulary of 200,000
    tokens takes about 1.4 megabytes.
    """
    tokens = sorted(parts.ordinary_tokens(tokenizer).items())
    runs: list[tuple[int, list[str]]] = []
    for _, run in itertools.groupby(enumerate(tokens), lambda row: row[1][0] - row[0]):
        (first, token), *others = (row for _, row in run)
        runs.append((first, [each.decode("latin-1") for each in (token, *(other for _, other in others))]))
    place_of = {token: place for place, (_, token) in enumerate(tokens)}
    merges = [[place_of[left], place_of[right]] for left, right in tokenizer.merges]
    return _packed([runs, merges if parts.has_merges(tokenizer) else None])
