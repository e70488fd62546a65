"""Converting minbpe's `.model` files to a `toksmith.Tokenizer`, and back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..._internal.messages import shown
from ...files import text_files
from ...formats import save as saving
from ...formats import verification
from . import model
from .basic import BasicTokenizer
from .regex import RegexTokenizer

if TYPE_CHECKING:
    import toksmith

    from ...formats.parts import Parts
    from .backed import BackedTokenizer

    StrPath = str | os.PathLike[str]

_KIND = "a .model file of minbpe"


def is_model(path: StrPath) -> bool:
    """Return whether `path` is a file that begins like a model of minbpe's."""
    if not os.path.isfile(path):  # noqa: PTH113
        return False
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read(len(model.VERSION)) == model.VERSION.encode()


def load(path: StrPath) -> toksmith.Tokenizer:
    """Return the tokenizer of a `.model` file.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is no model file (names file and line), or minbpe never finds one of its special tokens.
    """
    name = os.fspath(path)
    parts = model.parsed(text_files.read_text(name), name)
    with text_files.naming(name):
        _check_order(list(parts.special_tokens))
        return _shell(parts).tokenizer


def save(tokenizer: toksmith.Tokenizer, path: StrPath) -> None:
    """Write the `.model` file of a tokenizer, and beside it the `.vocab` file, which minbpe writes for people.

    Args:
        tokenizer: The tokenizer to save.
        path: The file; its name ends in `.model`.

    Raises:
        OSError: A file cannot be written.
        ValueError: The file cannot hold the tokenizer: a `.model` file numbers the bytes by value, then the merges,
            then the special tokens; or the file would give other ids. Nothing is written.
    """
    name = os.fspath(path)
    if not name.endswith(".model"):
        raise ValueError(f"{name}: the name of a model file ends in .model")
    parts = tokenizer._parts
    _check_pattern(parts)
    # minbpe finds the first name in the list that fits: with the longest first, it is the longest, as in toksmith.
    specials = dict(sorted(parts.special_tokens.items(), key=lambda item: (-len(item[0]), item[1])))
    shell = _shell(model.Model(parts.pattern.text or "", specials, _merges(parts)))
    ours, theirs = parts.core, shell.tokenizer._core
    verification.compare(
        _KIND,
        verification.stress_texts(parts),
        lambda text: ours.encode(text, True),
        lambda text: theirs.encode(text, True),
    )
    shell.save(name.removesuffix(".model"))


def _shell(parts: model.Model) -> BackedTokenizer:
    shell: BackedTokenizer = RegexTokenizer(parts.pattern) if parts.pattern else BasicTokenizer()
    shell._replace(parts.pattern, parts.merges, parts.special_tokens)
    return shell


def _check_order(names: list[str]) -> None:
    """Refuse special tokens of which minbpe never finds one, while toksmith finds it, since it is longer."""
    for number, name in enumerate(names):
        for earlier in names[:number]:
            if name.startswith(earlier):
                raise ValueError(
                    f"the special token {shown(name)} begins with {shown(earlier)}, which stands before it: minbpe "
                    "finds the earlier one, and toksmith the longer: put the longer one first"
                )


def _check_pattern(parts: Parts) -> None:
    if parts.pipeline is not None:
        parts.pipeline.check_fits(_KIND)
    pattern = parts.pattern
    if pattern.text is None and parts.special_tokens:
        name = shown(next(iter(parts.special_tokens)))
        raise ValueError(f"{_KIND} without a pattern holds no special tokens, and there is {name}")
    if pattern.flags:
        raise ValueError(f"{_KIND} holds no flags of the pattern: write them into it, as in (?i)")
    if pattern.text is not None and pattern.name is None and pattern.unmatched == "keep":
        raise ValueError(f"{_KIND} loses text that the pattern does not match, and this tokenizer keeps it")


def _merges(parts: Parts) -> dict[tuple[int, int], int]:
    """Return the merges by the ids of their parts, which must be minbpe's."""
    for byte in range(256):
        id = parts.core.token_id(bytes([byte]))
        if id != byte:
            raise ValueError(
                f"{_KIND} numbers the bytes by their values, and here {shown(bytes([byte]))} has the id {id}: "
                'only a tokenizer that was trained with special_ids="last" has that'
            )
    saving.check_merges_list(parts, _KIND)
    merges = {}
    for number, (left, right) in enumerate(parts.core.merges(), 256):
        token = parts.vocab[left] + parts.vocab[right]
        id = parts.core.token_id(token)
        if id != number:
            raise ValueError(
                f"{_KIND} numbers the merges from 256 on, and here {shown(token)} has the id {id}, not {number}"
            )
        merges[left, right] = id
    return merges
