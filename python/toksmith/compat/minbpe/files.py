"""minbpe's files: `.model`, which is loaded, and `.vocab`, which people read.

A model file has a line "minbpe v1", the pattern, the number of special tokens, a line for each of them (name, a
space, id), and a line of two ids for each merge; the first merge makes id 256.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ... import _core, patterns
from ..._internal.messages import shown
from ...files import text_files, whole_files
from ...formats import verification
from ...tokenizer import Tokenizer
from .. import _merges
from .._merges import Pair


class Model(NamedTuple):
    """The content of a model file."""

    pattern: str
    special_tokens: dict[str, int]
    merges: dict[Pair, int]


def tokenizer_of(model: Model) -> Tokenizer:
    """Return the tokenizer of a model."""
    pattern = patterns.of_source(model.pattern or None, 0, "drop")
    return _merges.tokenizer_of(model.merges, model.special_tokens, pattern)


def read(path: str | os.PathLike[str]) -> Model:
    """Return the content of a model file."""
    text = text_files.read_text(path)
    with text_files.naming(path):
        return Model(*_core.minbpe_model(text))


def save(core: _core.Tokenizer, path: str | os.PathLike[str]) -> None:
    """Write the `.model` file of a tokenizer, and beside it the `.vocab` file, which minbpe writes for people.

    A tokenizer is refused unless its ids are those of the bytes by value, the merges, then the special tokens.
    """
    prefix = prefix_of(path)
    model = Model(*_core.minbpe_model(core.written("minbpe")[0].decode()))
    verification.compare_texts("a .model file of minbpe", core, tokenizer_of(model)._core)
    write(prefix, model, verification.ordinary(core))


def prefix_of(path: str | os.PathLike[str]) -> str:
    """Return the path of a model file without `.model`; `ValueError` if it ends otherwise."""
    name = os.fspath(path)
    if not name.endswith(".model"):
        raise ValueError(f"{name}: the name of a model file ends in .model")
    return name.removesuffix(".model")


def write(prefix: str, model: Model, vocab: Mapping[int, bytes]) -> None:
    """Write `prefix`.model and `prefix`.vocab, byte for byte as minbpe does, as UTF-8."""
    for what, text in [("pattern", model.pattern), *(("special token", name) for name in model.special_tokens)]:
        if "\n" in text or "\r" in text:
            raise ValueError(
                f"a .model file has one line for the {what}, and {shown(text)} has a line break: "
                "save `tokenizer`, the toksmith.Tokenizer inside, instead"
            )
    lines = ["minbpe v1", model.pattern, str(len(model.special_tokens))]
    lines += [f"{name} {id}" for name, id in model.special_tokens.items()]
    lines += [f"{left} {right}" for left, right in model.merges]
    text = "\n".join(lines) + "\n"
    whole_files.write_all(
        [(f"{prefix}.model", [text.encode()]), (f"{prefix}.vocab", vocab_lines(vocab, model.merges))]
    )


def vocab_lines(vocab: Mapping[int, bytes], merges: Mapping[Pair, int]) -> Iterator[bytes]:
    """Yield the lines of a `.vocab` file: each token, with the two tokens that it was made of."""
    parts = {id: pair for pair, id in merges.items()}
    for id, token in vocab.items():
        made_of = "".join(f"[{render_token(vocab[part])}]" for part in parts.get(id, ()))
        arrow = " -> " if made_of else ""
        yield f"{made_of}{arrow}[{render_token(token)}] {id}\n".encode()


def replace_control_characters(s: str) -> str:
    """Return `s` with control, format and unassigned characters as escapes: they would spoil the lines."""
    return "".join(c if unicodedata.category(c)[0] != "C" else f"\\u{ord(c):04x}" for c in s)


def render_token(t: bytes) -> str:
    """Return the text of a token, with U+FFFD for bytes that are not UTF-8, and control characters escaped."""
    return replace_control_characters(t.decode(errors="replace"))
