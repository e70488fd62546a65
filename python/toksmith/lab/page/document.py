"""The page: one HTML file with its style, its program and the tokenizers inside."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import itertools
import json
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...files import whole_files
from ...tokenizer import Tokenizer, tokenizer_of
from .. import automata, parts
from ..automata import Automaton
from ..spans import Spans
from .texts import Text, texts

_SCRIPTS = "unpack automaton merging tokenizer marks copying panel details link picker page"
SCRIPTS = [f"{name}.js" for name in _SCRIPTS.split()]
"""The modules of the program, each after the modules that it imports."""
STYLES = ("page.css", "tokens.css")


def write(path: str | os.PathLike[str], tokenizers: Mapping[str, Tokenizer | object], *, text: str = "") -> None:
    r"""Write one HTML file that shows the tokens of a text that is typed into it, for all `tokenizers` side by side.

    The file needs no network and makes no request: it holds the tokenizers. Its ids are those of
    `Tokenizer.encode`; a lone surrogate is read as U+FFFD. A browser's text box has no carriage returns: it turns
    them into newlines. A chat template that cannot be run is left out, with a warning.

    Typed text is encoded for tokenizers of bytes with a named pattern, one that compiles, or none. All others
    (with a normalizer, stages, added tokens with conditions, a pattern that runs in `regex`, or a vocabulary of
    characters) show the tokens of the page's own texts: `text`, samples, and conversations.

    Args:
        path: The file; an older one is replaced.
        tokenizers: The tokenizers, in order, by the names that the page shows. One that the page runs takes about
            7 bytes for each token.
        text: The text in the text box when the page is opened.

    Raises:
        ValueError: There are no tokenizers, or the text has a lone surrogate. Nothing is written.
        OSError: The file cannot be written.

    >>> import tempfile, pathlib, toksmith
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "page.html"
    >>> write(page, {"bytes": toksmith.Tokenizer()}, text="Hello")
    >>> page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    whole_files.write(path, [document(tokenizers, text).encode()])


def document(tokenizers: Mapping[str, Tokenizer | object], text: str) -> str:
    """Return the content of the file that `write` writes."""
    if not isinstance(tokenizers, Mapping):
        raise TypeError(f"tokenizers is a mapping of names to tokenizers, not {type(tokenizers).__name__}")
    if not tokenizers:
        raise ValueError("a page shows the tokens of at least one tokenizer")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"the text has a lone surrogate at character {error.start}") from None
    program, style = _program(), "".join(_asset(name) for name in STYLES)
    # Only this style and this program may be used, and nothing may be loaded.
    policy = f"default-src 'none'; script-src '{_hash(program)}'; style-src '{_hash(style)}'; img-src data:"
    named = {name: tokenizer_of(each) for name, each in tokenizers.items()}
    shown = texts(named, text)
    blocks: dict[str, int] = {}  # equal ones are stored once: several tokenizers may have the same pattern
    described = [
        # A path may have lone surrogates.
        {"name": name.encode(errors="backslashreplace").decode(), **(_live(one, blocks) or _computed(one, shown))}
        for name, one in named.items()
    ]
    content = {
        "texts": [each._asdict() for each in shown],
        "hasSpecial": any(tokenizer.special_tokens for tokenizer in named.values()),
        "tokenizers": described,
    }
    fields = {
        "POLICY": f"{policy}; base-uri 'none'; form-action 'none'",
        "STYLE": style,
        "DATA": json.dumps(content, ensure_ascii=False).replace("<", "\\u003c"),  # so that nothing ends the element
        "BLOCKS": "\n".join(
            f'<script type="text/plain" id="block-{number}">{block}</script>' for block, number in blocks.items()
        ),
        "PROGRAM": program,
    }
    return re.sub(r"{{([A-Z]+)}}", lambda match: fields[match[1]], _asset("page.html"))


def _live(tokenizer: Tokenizer, blocks: dict[str, int]) -> dict[str, Any] | None:
    """Return what the page needs to encode any text; None for a tokenizer that it cannot run."""
    pipeline, pattern = tokenizer.pipeline, parts.pattern(tokenizer)
    if parts.merges_characters(tokenizer) or not (pipeline is None or pipeline.is_plain):
        return None
    try:
        automaton = automata.automaton(pattern)
    except ValueError:
        return None
    return {
        "vocabulary": blocks.setdefault(_vocabulary_block(tokenizer), len(blocks)),
        "automaton": None if automaton is None else blocks.setdefault(_automaton_block(automaton), len(blocks)),
        "wholes": parts.ignores_merges(tokenizer),
        "drops": automaton is not None and pattern.unmatched == "drop",
        "special": dict(tokenizer.special_tokens),
    }


def _packed(content: Any) -> str:
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _automaton_block(automaton: Automaton) -> str:
    """Return an automaton as a block; `automaton.js` reads it. Classes are packed as stretches of equal ones."""
    firsts = np.flatnonzero(np.diff(automaton.classes, prepend=255))
    classes = automaton.classes[firsts].tolist()
    return _packed([firsts.tolist(), classes, automaton.symbols, automaton.transitions])


def _vocabulary_block(tokenizer: Tokenizer) -> str:
    """Return the ordinary tokens and the merges of a tokenizer as a block; `tokenizer.js` reads it.

    Tokens, with a character for each byte, come in runs of consecutive ids, each with its first id. A merge is the
    places of its two tokens among all; without a list of merges there is null in its place. A vocabulary of 200,000
    tokens takes about 1.4 megabytes.
    """
    tokens = sorted(parts.ordinary_tokens(tokenizer).items())
    runs: list[tuple[int, list[str]]] = []
    for _, run in itertools.groupby(enumerate(tokens), lambda row: row[1][0] - row[0]):
        rows = [row for _, row in run]
        runs.append((rows[0][0], [token.decode("latin-1") for _, token in rows]))
    if not parts.has_merges(tokenizer):
        return _packed([runs, None])
    place_of = {token: place for place, (_, token) in enumerate(tokens)}
    return _packed([runs, [[place_of[left], place_of[right]] for left, right in tokenizer.merges]])


def _computed(tokenizer: Tokenizer, shown: Sequence[Text]) -> dict[str, Any]:
    """Return the tokens of the page's texts, once more where special tokens in them may be read as text."""
    encodings = []
    for place, (_, _, text) in enumerate(shown):
        both = [_encoding(tokenizer, text, special) for special in (True, False)]
        encodings += [{"text": place, **one} for one in (both if both[0]["ids"] != both[1]["ids"] else both[:1])]
    spans = Spans(tokenizer)
    used = sorted({id for encoding in encodings for id in encoding["ids"]})
    return {
        "encodings": encodings,
        "bytes": {id: spans[id].token.decode("latin-1") for id in used},
        "special": [id for id in used if spans[id].special],
    }


def _encoding(tokenizer: Tokenizer, text: str, special: bool) -> dict[str, Any]:
    """Return the ids of a text, and where the tokens begin and end in the UTF-16 of a browser."""
    ids, spans = tokenizer.encode_with_offsets(text, special=special)
    units = [0, *itertools.accumulate(1 + (character > "\uffff") for character in text)]
    starts, ends = ([units[place] for place in column] for column in spans.T.tolist())
    return {"readsSpecial": special, "ids": ids, "starts": starts, "ends": ends}


def _program() -> str:
    """Return the modules as one program: without their imports and exports, since they are all in one scope."""
    lines = []
    for name in SCRIPTS:
        for line in _asset(name).splitlines():
            if not line.startswith("import "):
                lines.append(line.removeprefix("export "))
    return '"use strict";\n{\n' + "\n".join(lines) + "\n}\n"


def _asset(name: str) -> str:
    return (importlib.resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """Return the hash by which a policy allows an element of this content."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
