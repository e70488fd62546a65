"""The page: one HTML file with its style, its program and the tokenizers inside."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ... import anatomy
from ...tokenizer import Tokenizer, tokenizer_of
from ..text import quoted, write_whole
from . import chat, preprocessing, pretokens, vocabulary

SCRIPTS = [
    "unpack.js",
    "automaton.js",
    "stages.js",
    "vocabulary.js",
    "merging.js",
    "normalizing.js",
    "preparing.js",
    "before.js",
    "tokenizer.js",
    "places.js",
    "marks.js",
    "blocks.js",
    "copying.js",
    "panel.js",
    "details.js",
    "link.js",
    "chat.js",
    "samples.js",
    "picker.js",
    "page.js",
]
"""The modules of the program, each after the modules that it imports."""
STYLES = ("page.css", "tokens.css")


def write(path: str | os.PathLike[str], tokenizers: Mapping[str, Tokenizer | object], *, text: str = "") -> None:
    r"""Write one HTML file that shows the tokens of a text that is typed into it, for all `tokenizers` side by side.

    The file needs no network and makes no request: it holds the tokenizers. Its ids are those of
    `Tokenizer.encode`; a lone surrogate is read as U+FFFD. A browser's text box has no carriage returns: it turns
    them into newlines. A chat template that cannot be run is left out, with a warning.

    Args:
        path: The file; an older one is replaced.
        tokenizers: The tokenizers, in order, by the names that the page shows. Each takes about 5 bytes for each
            token.
        text: The text in the text box when the page is opened.

    Raises:
        ValueError: There are no tokenizers, or one of them has a part that a page cannot run: a pattern that needs
            the `regex` package, a normalizer other than Unicode's forms and Lowercase, added tokens with conditions,
            or a vocabulary of characters. The message names the tokenizer and the part. Nothing is written.
        OSError: The file cannot be written.

    >>> import tempfile, pathlib, toksmith
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "page.html"
    >>> write(page, {"bytes": toksmith.Tokenizer()}, text="Hello")
    >>> page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    write_whole(path, document(tokenizers, text).encode())


def document(tokenizers: Mapping[str, Tokenizer | object], text: str) -> str:
    """Return the content of the file that `write` writes.

    Raises:
        ValueError: As `write`.
    """
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
    data = _Data()
    described = [_described(name, tokenizer_of(each), data) for name, each in tokenizers.items()]
    parts = {
        "POLICY": f"{policy}; base-uri 'none'; form-action 'none'",
        "STYLE": style,
        "DATA": _json({"text": text, "tokenizers": described}),
        "BLOCKS": "\n".join(data.elements()),
        "PROGRAM": program,
    }
    return re.sub(r"{{([A-Z]+)}}", lambda match: parts[match[1]], _asset("page.html"))


class _Data:
    """The blocks of a page. Equal blocks are stored once: several tokenizers may have the same pattern."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, block: str) -> int:
        """Return the number of a block, which is added if need be."""
        return self._numbers.setdefault(block, len(self._numbers))

    def elements(self) -> Iterator[str]:
        """Yield the element of each block."""
        for block, number in self._numbers.items():
            yield f'<script type="text/plain" id="block-{number}">{block}</script>'


def _described(name: str, tokenizer: Tokenizer, data: _Data) -> dict[str, Any]:
    """Return the data of a tokenizer that the program needs besides its blocks, as plain data."""
    try:
        if reasons := preprocessing.unknown(tokenizer):
            raise ValueError(f"it has {' and '.join(reasons)}")
        stages = pretokens.stages(anatomy.pattern(tokenizer))
    except ValueError as reason:
        raise ValueError(f"a page cannot run the tokenizer {quoted(name)}: {reason}") from None
    added = preprocessing.tokens(tokenizer)
    return {
        "name": name.encode(errors="backslashreplace").decode(),  # a path may have lone surrogates
        "vocabulary": data.number(vocabulary.packed(tokenizer)),
        "ranks": not anatomy.has_merges(tokenizer),
        "wholes": anatomy.ignores_merges(tokenizer),
        "added": added,
        "steps": [
            {"table": data.number(step.block), "sorts": step.sorts, "composes": step.composes}
            for step in preprocessing.steps(tokenizer)
        ],
        "prefix": preprocessing.has_prefix(tokenizer),
        "chat": chat.described(name, anatomy.huggingface_files(tokenizer), [token["content"] for token in added]),
        "stages": [
            {"automaton": data.number(stage.automaton.packed()), "behavior": stage.behavior, "invert": stage.invert}
            for stage in stages
        ],
    }


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


def _json(value: Any) -> str:
    """Return JSON that may stand in an element of a page: nothing in it can end the element."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
